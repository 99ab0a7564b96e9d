"""Repairs two places in which the ROS 2 wheels remember the machine that they were built on."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# The exported CMake targets of the message packages name the headers and the numpy of the builders' image.
_INCLUDE = re.compile(r"/opt/python/cp3\d+-cp3\d+/include/python3\.\d+")
_SITE = re.compile(r"/opt/python/cp3\d+-cp3\d+/lib/python3\.\d+/site-packages")


def repair(prefix: Path, include: Path, site_packages: Path) -> int:
    """Point the wheels' CMake files and their prefix index at the environment `prefix`; returns how many files changed.

    `include` is the folder of the interpreter's Python.h, `site_packages` the environment's. Doing it twice changes
    nothing the second time. Needed after every change of the packages, as pip puts the originals back.
    """
    changed = 0
    for path in sorted(prefix.glob("share/*/cmake/*.cmake")):
        before = path.read_text(encoding="utf-8")
        after = _SITE.sub(lambda _: str(site_packages), _INCLUDE.sub(lambda _: str(include), before))
        changed += _replace(path, before, after)
    for path in sorted(prefix.glob("share/ament_index/resource_index/parent_prefix_path/*")):
        changed += _replace(path, path.read_text(encoding="utf-8"), str(prefix))
    return changed


def _replace(path: Path, before: str, after: str) -> bool:
    if before == after:
        return False
    path.write_text(after, encoding="utf-8")
    return True


def main() -> None:
    """Repair the environment whose interpreter runs this."""
    import sysconfig

    paths = sysconfig.get_paths()
    # In a virtual environment `include` is the base interpreter's, which is where Python.h is.
    count = repair(Path(sys.prefix), Path(paths["include"]), Path(paths["purelib"]))
    print(f"{count} files repaired")


if __name__ == "__main__":
    main()
