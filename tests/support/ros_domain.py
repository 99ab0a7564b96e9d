"""A ROS domain of one's own, so that runs of the tests at the same time don't hear each other."""

from __future__ import annotations

import fcntl
import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Killed processes haunt their domain for a while, so each caller gets the next one.
_next = itertools.count()
# Up to 101 no port of a domain is one that Linux hands out to others; the low ones are where people work.
_DOMAINS = range(60, 101)


@contextmanager
def own_domain() -> Iterator[int]:
    """A domain id that no other run on this machine holds."""
    first = next(_next)
    for i in range(len(_DOMAINS)):
        number = _DOMAINS[(first + i) % len(_DOMAINS)]
        lock = (Path(tempfile.gettempdir()) / f"anima-ros-domain-{number}.lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        with lock:
            yield number
        return
    raise RuntimeError("all ROS domains for tests are taken; are old test runs still going?")
