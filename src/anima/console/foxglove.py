"""`anima foxglove`: the running robot live in Foxglove."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from anima.config import CONFIG

console = Console(highlight=False)


def foxglove(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port on this machine's own address.")] = 8765,
    host: Annotated[
        str, typer.Option(help="The address to listen on. 0.0.0.0 lets every machine of the network look.")
    ] = "127.0.0.1",
) -> None:
    """Show a running robot live in Foxglove, until Ctrl-C. It only looks: nothing that a viewer sends is taken.

    In Foxglove: Open connection, Foxglove WebSocket, the address that is printed; then import the layout.
    """
    try:
        from anima_nodes.foxglove_server import serve
    except ImportError as error:
        console.print(f"[red]the package foxglove-sdk is not there ({error}); run: make setup[/red]", soft_wrap=True)
        raise typer.Exit(2) from None
    layout = CONFIG / "foxglove" / "layout.json"
    console.print(f"ws://{host}:{port}; layout: {layout}. Ctrl-C ends it.", soft_wrap=True)
    try:
        serve(port, host)
    except RuntimeError as error:
        why = f"can't listen on {host}:{port}: {error}; try another: --port {port + 1}"
        console.print(f"[red]{why}[/red]", soft_wrap=True)
        raise typer.Exit(1) from None
