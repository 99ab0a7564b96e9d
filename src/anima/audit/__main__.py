"""`python -m anima.audit RECORDING`: replay with the configuration in `ANIMA_CONFIG_DIR`; see `anima replay`."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from anima.audit.command import replay_here

if __name__ == "__main__":
    sys.exit(replay_here(Path(sys.argv[1]), Console(highlight=False)))
