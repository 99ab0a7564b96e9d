"""`python -m anima.audit RECORDING [--json]`: replay with the configuration in `ANIMA_CONFIG_DIR`."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from anima.audit.command import replay_here

if __name__ == "__main__":
    sys.exit(replay_here(Path(sys.argv[1]), "--json" in sys.argv[2:], Console(highlight=False)))
