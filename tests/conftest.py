"""What holds for all tests."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from anima.runtime.supervisor import NAMESPACE_VARIABLE

# A slow or busy machine is no failure. Where a whole change hangs on the outcome, the same examples are tried each
# time; on people's machines new ones, which is how the rare cases are found.
settings.register_profile("anima", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("anima")

# A console that is made when its module is imported keeps the width that this says; tests that look at tables set it.
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True)
def _namespace_of_its_own() -> Iterator[None]:
    """A process and a command take their namespace into the environment: for one test, not for those after it."""
    before = os.environ.get(NAMESPACE_VARIABLE)
    yield
    if before is None:
        os.environ.pop(NAMESPACE_VARIABLE, None)
    else:
        os.environ[NAMESPACE_VARIABLE] = before
