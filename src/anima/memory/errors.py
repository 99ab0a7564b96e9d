"""What can go wrong with memory. After any of these the store holds exactly what it held before."""

from __future__ import annotations

from anima.config import ConfigError


class StoreError(Exception):
    """Something in the store can't be written or read."""


class StoreUnusable(StoreError, ConfigError):
    """The database can't be opened, read or written; the message says which and what to do."""


class UnknownKind(StoreError):
    """No kind of item of that name; the message lists what there is."""


class BadData(StoreError):
    """Data that is not what the kind holds; the message names the fields."""


class RecalledEvidence(BadData):
    """Text that came out of memory was to be kept as if it had been lived."""


class NotThere(StoreError, LookupError):
    """No item, or no version of it, of that name."""


class Overtaken(StoreError):
    """The item is no longer in the version that the change was made on; read it again, then decide anew."""
