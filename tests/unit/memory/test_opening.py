"""Where a robot remembers by default."""

from __future__ import annotations

import pytest

from anima.memory.opening import default_file
from anima.runtime.supervisor import NAMESPACE_VARIABLE


def test_robots_in_different_namespaces_do_not_share_a_mind(monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for namespace in ("", "ada", "/bob", "fleet/ada"):
        monkeypatch.setenv(NAMESPACE_VARIABLE, namespace)
        names.append(default_file().name)
    assert names == ["mind.db", "mind-ada.db", "mind-bob.db", "mind-fleet-ada.db"]
