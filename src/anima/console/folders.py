"""Where runs leave what people look at later."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """Where logs, films and pictures go: `$XDG_STATE_HOME/anima`, else `~/.local/state/anima`."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "anima"
