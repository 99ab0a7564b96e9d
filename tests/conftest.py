"""What holds for all tests."""

import os

from hypothesis import settings

# A slow or busy machine is no failure. Where a whole change hangs on the outcome, the same examples are tried each
# time; on people's machines new ones, which is how the rare cases are found.
settings.register_profile("anima", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("anima")
