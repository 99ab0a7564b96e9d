"""What is asked of the store at every event costs the same however much it holds."""

from __future__ import annotations

from sqlalchemy import text

from anima.memory.store import _SINCE_AT_MOST, IN_MEMORY, Store


def test_what_is_new_is_looked_for_at_the_end_and_not_among_everything_of_its_kind() -> None:
    with Store(IN_MEMORY) as store, store._transaction() as connection:
        asked = str(_SINCE_AT_MOST.compile(connection)).replace("?", "7")
        plan = [row[-1] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {asked}"))]
    assert len(plan) == 1 and "PRIMARY KEY (rowid>?)" in plan[0], plan
