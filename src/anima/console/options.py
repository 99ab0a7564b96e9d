"""Options that several commands of the tool take, each said once, and the settings that they stand for."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Seed = Annotated[int, typer.Option(help="Where the objects lie, and every random number of the simulator.")]
Speed = Annotated[
    float, typer.Option(help="How much faster than the clock simulated time may run while the robot moves.")
]


def _several(names: str) -> str:
    found = names.split(",") if names else []
    if not all(name.isidentifier() and name.isascii() for name in found) or len(set(found)) < len(found):
        raise typer.BadParameter(f"{names}: different names of letters, digits and _, commas between, e.g. ada,bob")
    return names


Sim = Annotated[
    str,
    typer.Option(help="mujoco, gazebo (after scripts/gazebo), firmware: the emulated board, or none: a real body."),
]
Robots = Annotated[
    str,
    typer.Option(
        metavar="NAMES", callback=_several, help="Several robots in one simulated world: their namespaces, ada,bob."
    ),
]
Model = Annotated[str, typer.Option(help="A name in models/manifest.yaml, or the path of a GGUF file.")]
Memory = Annotated[
    str,
    typer.Option(help="Where it remembers across restarts: a database URL, or none. Empty: as config/anima.yaml says."),
]
Record = Annotated[
    bool, typer.Option("--record", help="Record every topic and step, for `anima why`, `anima replay` and Foxglove.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting of config/anima.yaml, e.g. --set temperament=driven."),
]


def _switch(name: str, what: str) -> Any:
    return typer.Option(f"--{name}/--no-{name}", help=f"Whether it learns and uses {what}.")


Lessons = Annotated[bool, _switch("lessons", "lessons about dealing with people")]
SelfModel = Annotated[bool, _switch("selfmodel", "beliefs about itself and its portrait")]
Intentions = Annotated[bool, _switch("intentions", "what it promised for later")]
Facts = Annotated[bool, _switch("facts", "facts about people")]
Parts = Annotated[bool, _switch("parts", "dynamic parts: viewpoints that bid, and a Self that chooses")]
Who = Annotated[str, typer.Option("--self", help="Who it is inside: a name of `anima parts selves`.")]
Packs = Annotated[str, typer.Option(help="Packs of core parts, with commas between: safety,social.")]
Isolated = Annotated[
    bool, typer.Option("--isolated", help="The Self sees no text from outside, only the closed form of the bids.")
]


def inner(who: str, packs: str, isolated: bool) -> dict[str, str]:
    """Who it is inside, as settings; what is left open stays as the settings file says."""
    given = {"inner.self_name": who, "inner.packs": packs, "inner.isolated": "true" if isolated else ""}
    return {key: value for key, value in given.items() if value}


def switched(**on: bool) -> dict[str, str]:
    """The switches that are off, as settings."""
    return {f"learn.{name}": "false" for name, is_on in on.items() if not is_on}
