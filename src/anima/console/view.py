"""`anima view`: what rviz would show of a running robot, as a picture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from anima.config import load_settings

console = Console(highlight=False)


def view(
    out: Annotated[Path, typer.Argument(help="Where the picture goes.")] = Path("view.png"),
    seconds: Annotated[float, typer.Option("--for", min=0.5, help="How long to listen before it is drawn.")] = 3.0,
) -> None:
    """Draw what rviz would show of a running robot: map, robot, scan, route, particles, and the mind's labels."""
    from anima.view.picture import SHOWN, View
    from anima_nodes.client import Client, NotReady

    seen = View(load_settings({}))
    try:
        with Client(SHOWN) as client:
            client.wait_ready(10.0)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                if (sent := client.receive(0.2)) is not None:
                    seen.feed(sent)
    except NotReady as error:
        console.print(f"[red]{error}[/red]", soft_wrap=True)
        raise typer.Exit(1) from None
    if seen.missing:
        console.print(f"[red]nothing came from {', '.join(seen.missing)} in {seconds:g} s; listen longer: --for[/red]")
        raise typer.Exit(1)
    seen.draw(out)
    console.print(f"drawn: {out}")
