"""What holds for all tests."""

from hypothesis import settings

# A slow or busy machine is no failure.
settings.register_profile("anima", deadline=None)
settings.load_profile("anima")
