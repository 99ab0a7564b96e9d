"""The doctor tells what is missing, and how to get it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anima.install.doctor import Finding, Verdict, examine, print_findings

GOOD = Finding("Python", Verdict.OK, "3.11")
NOTE = Finding("Cores", Verdict.NOTE, "1", "take two")
BAD = Finding("Rendering", Verdict.MISSING, "no EGL", "make setup")


def test_a_missing_requirement_is_exit_code_1_with_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_findings([GOOD, BAD]) == 1
    said = capsys.readouterr().out
    assert "no EGL" in said and "make setup" in said


def test_a_shortage_alone_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_findings([GOOD, NOTE]) == 0
    assert "take two" in capsys.readouterr().out


def test_json_holds_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_findings([GOOD, NOTE, BAD], as_json=True) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert [row["verdict"] for row in report["findings"]] == ["ok", "note", "missing"]


@pytest.mark.sim
def test_it_looks_at_everything_and_every_trouble_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # a machine on which no model was fetched
    monkeypatch.setenv("MUJOCO_GL", "no-such-backend")
    findings = {finding.what: finding for finding in examine()}
    assert {"Python", "ROS 2", "ROS 2 workspace", "Rendering", "llama.cpp", "Memory", "Disk", "Cores"} <= set(findings)
    assert all(finding.remedy for finding in findings.values() if finding.verdict is not Verdict.OK)
    assert findings["Rendering"].verdict is Verdict.MISSING
    planner = findings["Model qwen2.5-coder-1.5b-instruct-q4_k_m"]
    assert planner.verdict is Verdict.MISSING and planner.remedy.startswith("./anima models fetch")
    assert findings["Model smollm2-135m-instruct"].verdict is Verdict.NOTE
