"""The set-up: done once, quick afterwards, and clear when it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from provision import llama_wheel, ros_wheels
from provision.progress import CommandFailed, Progress, SetupError, Stamp, fingerprint
from provision.ros import environment_script, installed_distribution
from provision.steps import LISTS, WHEELS, Place, merged, read_list, workspace_inputs

ROOT = Path(__file__).parents[3]


def test_a_step_is_done_again_when_and_only_when_its_inputs_change(tmp_path: Path) -> None:
    source = tmp_path / "requirements.txt"
    source.write_text("numpy==2\n", encoding="utf-8")
    stamp = Stamp(tmp_path / "venv" / "stamp")
    assert not stamp.matches(fingerprint([source]))
    stamp.write(fingerprint([source]))
    assert stamp.matches(fingerprint([source]))
    source.write_text("numpy==3\n", encoding="utf-8")
    assert not stamp.matches(fingerprint([source]))


def test_inputs_do_not_run_into_each_other() -> None:
    assert fingerprint(["ab", "c"]) != fingerprint(["a", "bc"])


def test_a_failing_command_shows_its_last_lines_and_what_to_do(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "logs", total=1)
    progress.begin("Workspace", "workspace", "look at the first error")
    script = "for n in $(seq 40); do echo line $n; done; echo broken >&2; exit 3"
    with pytest.raises(CommandFailed, match="exit code 3") as failure:
        progress.run(["sh", "-c", script])
    assert failure.value.tail.splitlines()[-2:] == ["line 40", "broken"]
    assert "line 1\n" not in failure.value.tail
    assert "line 1\n" in failure.value.log.read_text(encoding="utf-8")
    assert failure.value.what_to_do == "look at the first error"


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    progress = Progress(tmp_path, total=1)
    progress.begin("Workspace", "workspace", "install it")
    with pytest.raises(SetupError, match="cannot run no-such-program"):
        progress.run(["no-such-program"])


def test_the_wheels_forget_the_machine_that_they_were_built_on(tmp_path: Path) -> None:
    cmake = tmp_path / "share" / "std_msgs" / "cmake" / "export.cmake"
    cmake.parent.mkdir(parents=True)
    image = "/opt/python/cp312-cp312"
    folders = f"{image}/include/python3.12;{image}/lib/python3.12/site-packages/numpy"
    cmake.write_text(f'set(D "{folders}")', encoding="utf-8")
    index = tmp_path / "share" / "ament_index" / "resource_index" / "parent_prefix_path" / "std_msgs"
    index.parent.mkdir(parents=True)
    index.write_text("/somewhere/else", encoding="utf-8")

    assert ros_wheels.repair(tmp_path, Path("/usr/include/python3.12"), tmp_path / "site") == 2
    assert cmake.read_text(encoding="utf-8") == f'set(D "/usr/include/python3.12;{tmp_path}/site/numpy")'
    assert index.read_text(encoding="utf-8") == str(tmp_path)
    assert ros_wheels.repair(tmp_path, Path("/usr/include/python3.12"), tmp_path / "site") == 0


def test_an_installed_ros_is_used_instead_of_the_wheels(tmp_path: Path) -> None:
    manifest = tmp_path / "opt" / "share" / "rclpy" / "package.xml"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    environment = {"AMENT_PREFIX_PATH": f"/other:{tmp_path / 'opt'}", "ROS_DISTRO": "jazzy"}
    assert installed_distribution(environment, tmp_path / "checkout") == "jazzy"
    with pytest.raises(SetupError, match="humble is sourced; Anima needs jazzy"):
        installed_distribution({**environment, "ROS_DISTRO": "humble"}, tmp_path / "checkout")


def test_the_project_s_own_environment_does_not_count_as_an_installed_ros(tmp_path: Path) -> None:
    manifest = tmp_path / ".venv" / "share" / "rclpy" / "package.xml"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    assert installed_distribution({"AMENT_PREFIX_PATH": str(tmp_path / ".venv")}, tmp_path) is None
    assert installed_distribution({}, tmp_path) is None


def test_the_remembered_variables_go_in_front_of_the_user_s_and_only_once(tmp_path: Path) -> None:
    script = tmp_path / "env.sh"
    path = f"{tmp_path}/it's here/lib"
    script.write_text(environment_script({"PYTHONPATH": path, "ROS_DISTRO": "jazzy"}), encoding="utf-8")
    command = '. "$0"; . "$0"; printf "%s|%s|%s" "$PYTHONPATH" "$ROS_DISTRO" "${LD_LIBRARY_PATH-unset}"'
    said = subprocess.run(
        ["sh", "-c", command, str(script)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": "/mine"},
    ).stdout
    assert said == f"{path}:/mine|jazzy|unset"


def test_a_processor_without_avx2_gets_a_build_without_it() -> None:
    name, options = llama_wheel.cpu_baseline("x86_64", frozenset({"sse4_2", "avx"}))
    assert name == "x86_64-v2" and options["GGML_AVX2"] == "OFF"
    name, options = llama_wheel.cpu_baseline("x86_64", frozenset({"avx", "avx2", "bmi2", "f16c", "fma"}))
    assert name == "x86_64-v3" and options == {}
    assert llama_wheel.cpu_baseline("riscv64", frozenset()) == ("riscv64", {})


def _checkout(tmp_path: Path) -> tuple[Place, Path]:
    package = tmp_path / "ros2_ws" / "src" / "some_nodes"
    package.mkdir(parents=True)
    (package / "setup.py").write_text("# one", encoding="utf-8")
    (package / "node.py").write_text("# one", encoding="utf-8")
    (tmp_path / "requirements").mkdir()
    for name in ("ros2_ws/colcon.yaml", "requirements/ros-wheels.txt", "requirements/constraints.txt"):
        (tmp_path / name).touch()
    return Place(tmp_path, tmp_path / "cache", None, {}), package


def test_an_edited_python_node_needs_no_rebuild_but_a_new_one_does(tmp_path: Path) -> None:
    place, package = _checkout(tmp_path)
    before = workspace_inputs(place)
    (package / "node.py").write_text("# two", encoding="utf-8")
    assert workspace_inputs(place) == before
    (package / "other.py").touch()
    assert workspace_inputs(place) != before


def test_a_changed_entry_point_needs_a_rebuild(tmp_path: Path) -> None:
    place, package = _checkout(tmp_path)
    before = workspace_inputs(place)
    (package / "setup.py").write_text("# two", encoding="utf-8")
    assert workspace_inputs(place) != before


def test_every_requirement_is_pinned_to_one_version() -> None:
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        loose = [line for line in read_list(path) if "==" not in line and not line.startswith("setuptools")]
        assert loose == [], path.name


def test_a_demo_needs_nothing_that_only_tests_use() -> None:
    demo, others = (set(_packages(LISTS["demo"])), set(_packages(LISTS["tests"])))
    assert demo and others and not demo & others
    assert {"postgresql", "clang", "qemu-system-arm", "gcc-avr"} <= others
    tools = {re.split(r"[=<\[]", line)[0].lower() for line in read_list(ROOT / "requirements" / "dev.txt")}
    base = {re.split(r"[=<\[]", line)[0].lower() for line in read_list(ROOT / "requirements" / "base.txt")}
    assert not tools & base
    imported = re.compile(rf"^\s*(?:import|from) ({'|'.join(sorted(tools))})\b", re.MULTILINE)
    for folder in ("src", "sim", "ros2_ws/src"):
        for file in (ROOT / folder).rglob("*.py"):
            assert imported.search(file.read_text(encoding="utf-8")) is None, file


def _packages(lists: tuple[str, ...]) -> list[str]:
    return [package for name in lists for package in read_list(ROOT / "scripts" / "debian" / f"{name}.txt")]


def test_every_list_of_debian_packages_is_for_something_and_no_package_is_in_two() -> None:
    files = {path.stem for path in (ROOT / "scripts" / "debian").glob("*.txt")}
    assert files == {name for lists in LISTS.values() for name in lists}
    everything = _packages(tuple(sorted(files)))
    assert len(everything) == len(set(everything))


def test_another_distribution_s_wheels_leave_the_usual_environment_and_workspace_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    usual, other = Place.find(tmp_path), Place.find(tmp_path, "jazzy")
    assert usual.venv != other.venv and usual.products != other.products
    assert other.products.is_relative_to(other.venv)
    assert other.environment["AMENT_PREFIX_PATH"] == str(other.venv)
    assert other.requirement_files()[-1].name == WHEELS["jazzy"]


def test_over_a_ros_built_for_numpy_1_the_fitting_versions_take_the_place_of_the_newer() -> None:
    base = ["numpy==2.4.6", "PyYAML==6.0.4", "Pin==4.1.0"]
    assert merged(base, ["numpy==1.26.4", "pin==2.7.0"]) == ["PyYAML==6.0.4", "numpy==1.26.4", "pin==2.7.0"]
    replaced = {line.partition("==")[0] for line in read_list(ROOT / "requirements" / "numpy1.txt")}
    assert replaced <= {line.partition("==")[0] for line in read_list(ROOT / "requirements" / "base.txt")}


def test_the_command_without_a_set_up_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "anima").write_bytes((ROOT / "anima").read_bytes())
    answer = subprocess.run(["sh", tmp_path / "anima", "doctor"], capture_output=True, text=True, check=False)
    assert answer.returncode == 78
    assert f"make -C '{tmp_path}' setup" in answer.stderr


def test_the_command_works_through_a_link_from_anywhere_and_passes_on_words_and_exit_code(tmp_path: Path) -> None:
    checkout = tmp_path / "check out"
    (checkout / "scripts").mkdir(parents=True)
    (checkout / ".venv" / "bin").mkdir(parents=True)
    for name in ("anima", "scripts/env.sh"):
        (checkout / name).write_bytes((ROOT / name).read_bytes())
    (checkout / "anima").chmod(0o755)
    (checkout / ".venv" / "anima-setup-done").touch()
    python = checkout / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\nshift 2\nprintf "%s;" "$@" "$MUJOCO_GL" "$PWD"\nexit 5\n', encoding="utf-8")
    python.chmod(0o755)
    link = tmp_path / "link"
    link.symlink_to(checkout / "anima")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MUJOCO_GL": "osmesa"}
    answer = subprocess.run(
        [link, "say", "two words"], capture_output=True, text=True, check=False, cwd=tmp_path, env=env
    )
    assert answer.returncode == 5
    assert answer.stdout == f"say;two words;osmesa;{tmp_path};"


def test_the_set_up_needs_nothing_but_the_standard_library() -> None:
    # -S and -I: no site-packages, no variables of the user.
    code = "import sys; sys.path.insert(0, sys.argv[1]); import provision.__main__"
    subprocess.run([sys.executable, "-I", "-S", "-c", code, str(ROOT / "scripts")], check=True)
