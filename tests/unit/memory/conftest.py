"""What the tests of memory share."""

from support.stores import url

__all__ = ["url"]
