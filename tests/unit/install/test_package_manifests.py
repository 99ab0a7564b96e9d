"""What the ROS 2 packages say that they need is what they use: `rosdep install` on a robot brings that and no more."""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "ros2_ws" / "src"
PACKAGES = sorted(path.parent.name for path in SOURCES.glob("*/package.xml"))
# rosdep's names of what is imported from Python, and is no ROS package.
SYSTEM = {"python3-numpy": "numpy", "python3-opencv": "cv2", "python3-pydantic": "pydantic", "python3-yaml": "yaml"}
# Python packages that no Debian or ROS release has: `make setup` brings them.
FROM_SETUP = {"foxglove"}
# For a person who has gz sim besides.
OPTIONAL = {"ros_gz_bridge"}


def keys(package: str, *kinds: str) -> set[str]:
    """The rosdep keys of a package.xml, of the given kinds of dependency or of all."""
    tree = ET.parse(SOURCES / package / "package.xml").getroot()
    return {str(one.text) for one in tree if one.tag.endswith("depend") and (not kinds or one.tag in kinds)}


def imported(*folders: Path) -> set[str]:
    """The top-level names that Python files import."""
    found: set[str] = set()
    for file in (file for folder in folders for file in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return {name for name in found if name not in sys.stdlib_module_names and name not in ("anima", "anima_sim")}


def message_packages() -> set[str]:
    """The packages of the messages that the mind's values become."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "anima" / "types").glob("*.py")]
    return {name for text in texts for name in re.findall(r'ros: ClassVar\[str\] = "(\w+)/', text)}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_manifest_names_each_dependency_once(package: str) -> None:
    tree = ET.parse(SOURCES / package / "package.xml").getroot()
    names = [one.text for one in tree if one.tag.endswith("depend")]
    assert len(names) == len(set(names))


def test_the_nodes_need_what_they_import_and_the_messages_that_they_send() -> None:
    used = (imported(SOURCES / "anima_nodes" / "anima_nodes") | message_packages()) - FROM_SETUP
    ros = {name for name in used if name not in SYSTEM.values() and name != "anima_nodes"}
    assert keys("anima_nodes", "depend") == ros
    assert keys("anima_nodes", "exec_depend") - set(SYSTEM) == {"anima_description"}


def test_the_system_s_python_packages_are_imported_by_the_mind() -> None:
    named = {SYSTEM[key] for key in keys("anima_nodes", "exec_depend") if key.startswith("python3-")}
    assert named <= imported(ROOT / "src" / "anima", SOURCES / "anima_nodes" / "anima_nodes")


def test_the_launch_files_start_and_import_what_bringup_needs() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "launch").glob("*.launch.py")]
    started = {name for text in texts for name in re.findall(r'package="(\w+)"', text)}
    used = (started | imported(ROOT / "launch")) - OPTIONAL
    # `ros2 launch` itself, and the robot that is launched.
    assert keys("anima_bringup", "exec_depend") == used | {"ros2launch", "anima_description"}


def test_the_messages_need_the_packages_whose_messages_they_hold() -> None:
    held = {"action_msgs"}  # of every action
    for file in SOURCES.glob("anima_msgs/*/*.*"):
        held |= set(re.findall(r"^(\w+)/\w+(?:\[[^]]*\])? ", file.read_text(encoding="utf-8"), re.MULTILINE))
    assert keys("anima_msgs", "depend") == held
    cmake = (SOURCES / "anima_msgs" / "CMakeLists.txt").read_text(encoding="utf-8")
    found = set(re.findall(r"find_package\((\w+) REQUIRED\)", cmake))
    assert found == keys("anima_msgs", "depend", "buildtool_depend")


def test_the_description_needs_what_expands_it() -> None:
    assert keys("anima_description", "exec_depend") == {"xacro"}
    assert "xacro" in imported(ROOT / "src" / "anima")
