"""Door 4, thought -> memory: whatever is written, in whatever order, no version is ever lost, changed or made up."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from support.postgres import fresh_url

from anima.memory.errors import BadData, NotThere, RecalledEvidence, StoreError
from anima.memory.kinds import RECALLED
from anima.memory.rows import Change, Stamp
from anima.memory.store import IN_MEMORY, Store

IDS = st.sampled_from(["default", "driven", "stoic"])
SHARES = st.floats(0.0, 1.0)
MOODS = st.fixed_dictionaries({"initiative": SHARES, "persistence": SHARES, "caution": SHARES})
TIMES = st.floats(-1e9, 4e9).map(lambda s: Stamp(s, "utc", s))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class Remembering(RuleBasedStateMachine):
    """The store against a plain list of versions per item."""

    @staticmethod
    def url() -> str:
        return IN_MEMORY

    def __init__(self) -> None:
        super().__init__()
        self.store = Store(self.url())
        self.model: dict[str, list[tuple[dict[str, float], bool]]] = {}

    def _expect(self, id: str, data: dict[str, float], archived: bool) -> None:
        versions = self.model.setdefault(id, [])
        if not versions or versions[-1] != (data, archived):
            versions.append((data, archived))

    @rule(id=IDS, data=MOODS, at=TIMES)
    def put(self, id: str, data: dict[str, float], at: Stamp) -> None:
        self.store.put("temperament", id, data, who="dmn", why="it drifted", at=at)
        self._expect(id, data, archived=False)

    @rule(id=IDS, at=TIMES)
    def archive(self, id: str, at: Stamp) -> None:
        try:
            self.store.archive("temperament", id, who="ana", why="away", at=at)
        except NotThere:
            assert id not in self.model
        else:
            self._expect(id, self.model[id][-1][0], archived=True)

    @rule(id=IDS, data=st.dictionaries(st.text(max_size=8), JSON, max_size=4), at=TIMES)
    def put_rubbish(self, id: str, data: dict[str, Any], at: Stamp) -> None:
        try:
            self.store.put("temperament", id, data, who="dmn", why="it drifted", at=at)
        except BadData:
            return
        raise AssertionError(f"{data} was taken for a temperament")

    @rule(good=MOODS, at=TIMES, bad=st.sampled_from(["nobody", ""]))
    def write_half(self, good: dict[str, float], at: Stamp, bad: str) -> None:
        changes = [
            Change("temperament", "default", good, "dmn", "it drifted", at),
            Change("temperament", bad, None, "dmn", "away", at, archived=True),
        ]
        try:
            self.store.write(changes)
        except StoreError:
            return
        raise AssertionError("half of a change was taken")

    @invariant()
    def every_version_is_there(self) -> None:
        for id, versions in self.model.items():
            history = self.store.history("temperament", id)
            assert [(dict(i.data), i.archived) for i in history] == versions
            assert [i.version for i in history] == list(range(1, len(versions) + 1))
        shown = {item.id for item in self.store.all("temperament")}
        assert shown == {id for id, versions in self.model.items() if not versions[-1][1]}
        assert self.store.verify() == []

    def teardown(self) -> None:
        self.store.close()


Remembering.TestCase.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
TestRemembering = Remembering.TestCase


class RememberingInPostgres(Remembering):
    """The same, in a server's database."""

    @staticmethod
    def url() -> str:
        return fresh_url()


RememberingInPostgres.TestCase.settings = settings(max_examples=4, stateful_step_count=10, deadline=None)
TestRememberingInPostgres = RememberingInPostgres.TestCase


def _hide(inner: Any, ways: list[str]) -> Any:
    for way in ways:
        inner = {way: inner} if way else [inner]
    return inner


@settings(max_examples=60)
@given(
    ways=st.lists(st.sampled_from(["", "episode", "data", "recall"]), max_size=4), field=st.sampled_from(["x", "fix"])
)
def test_no_wrapping_hides_that_something_came_out_of_memory(ways: list[str], field: str) -> None:
    data = {field: _hide({"situation": "room=kitchen", "origin": RECALLED}, ways)}
    with Store(IN_MEMORY) as store:
        for kind in ("episode", "objective", "temperament"):
            try:
                store.put(kind, "a", data, who="somebody", why="it seemed new", at=Stamp(0.0, "utc", 0.0))
            except RecalledEvidence:
                continue
            raise AssertionError("memory became its own witness")
        assert store.newest_utc_s() is None
