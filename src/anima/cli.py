"""The `anima` command: start the robot, talk to it, drive it by hand, measure it."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from anima import topics as t
from anima.console.bench import PASSED_ON, bench
from anima.console.company import keep_up
from anima.console.folders import state_folder
from anima.console.foxglove import foxglove
from anima.console.mind import mind_app
from anima.console.namespace import for_every_command
from anima.console.options import (
    Facts,
    Intentions,
    Isolated,
    Lessons,
    Memory,
    Model,
    Packs,
    Parts,
    Record,
    Robots,
    Seed,
    SelfModel,
    Set,
    Sim,
    Speed,
    Who,
    inner,
    switched,
)
from anima.console.skills import skills
from anima.console.start import NotArmed, arm, graph
from anima.console.turns import turns
from anima.console.view import view
from anima.install.commands import doctor, models_app
from anima.learning.commands import add_to as add_learning
from anima.parts.command import add_to as add_parts
from anima.planner.judging.commands import judges_app
from anima.runtime.supervisor import AGAIN, Death, Supervisor
from anima.types.glue import ContextPacket

app = typer.Typer(
    name="anima",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="The mind of a robot, on ROS 2, with no cloud.\n\n"
    "Start it with `anima up` (or `make demo`), then, in another terminal: "
    '`anima say "bring the red cube to the kitchen table"`.',
)
app.add_typer(models_app, name="models")
app.add_typer(judges_app, name="judges")
add_parts(app)
app.add_typer(mind_app, name="mind")
app.command()(doctor)
app.command(add_help_option=False, context_settings=PASSED_ON)(bench)
app.command()(foxglove)
app.command()(view)
app.command()(skills)
app.command()(turns)
app.callback()(for_every_command)
add_learning(app)

console = Console(highlight=False)
ONCE_S = 2.5  # in which every process has said at least twice how it works


def _more(record: bool, pairs: list[str] | None) -> dict[str, str]:
    """The settings of `--record` and `--set`, for `graph`; a bad one ends the command before anything starts."""
    from anima.config import ConfigError, load_settings
    from anima_nodes.process import overrides

    try:
        load_settings(overrides(pairs or []))
    except ConfigError as error:
        raise _fail(str(error), 2) from None
    more = dict(pair.split("=", 1) for pair in pairs or [])
    return {**more, "record.on": "true"} if record else more


def _fail(message: str, code: int = 1) -> typer.Exit:
    console.print(f"[red]{message}[/red]", soft_wrap=True)
    return typer.Exit(code)


@app.command()
def up(
    sim: Sim = "mujoco", seed: Seed = 1, speed: Speed = 1.0, model: Model = "", memory: Memory = "",
    record: Record = False, sets: Set = None, lessons: Lessons = True, selfmodel: SelfModel = True,
    intentions: Intentions = True, facts: Facts = True, parts: Parts = True, who: Who = "", packs: Packs = "",
    isolated: Isolated = False, robots: Robots = "",
) -> None:
    """Start the robot's processes and keep them until Ctrl-C. Talk to it from another terminal."""
    from anima_nodes.client import Client, NotReady

    off = switched(lessons=lessons, selfmodel=selfmodel, intentions=intentions, facts=facts, parts=parts)
    more = {"memory_url": memory, **_more(record, sets), **off, **inner(who, packs, isolated)}
    if robots:
        model_of = {"llm.model": model} if model else {}
        settings = {"sim": sim, "seed": str(seed), "speed": str(speed), **model_of, **more}
        raise typer.Exit(0 if keep_up(robots.split(","), settings, console) else 1)
    with graph(sim, seed, speed, model, **more) as running, Client([]) as client:
        console.print(f"starting {', '.join(running.processes)}; logs in {running.log('brain').parent}")
        try:
            client.wait_ready(120.0, alive=lambda: _raise_deaths(running))
            console.print("[green]up[/green]; in another terminal: anima chat. Ctrl-C stops everything.")
            while client.receive(0.5) is None:
                for death in running.deaths():
                    console.print(f"[red]{death}[/red]", soft_wrap=True)
                for name in running.revive(time.monotonic()):
                    console.print(f"[yellow]the {name} process is started again[/yellow]{AGAIN.get(name, '')}")
        except (NotReady, ProcessDied) as error:
            raise _fail(str(error)) from None
        except KeyboardInterrupt:
            console.print("stopping")


class ProcessDied(RuntimeError):
    """A process of the graph ended while something still needed it."""


def _raise_deaths(running: Supervisor) -> None:
    deaths: list[Death] = running.deaths()
    if deaths:
        raise ProcessDied(str(deaths[0]))


@app.command()
def demo(
    errand: Annotated[str, typer.Option(help="One order to carry out; without it a conversation opens.")] = "",
    sim: Sim = "mujoco", seed: Seed = 1, speed: Speed = 2.0, model: Model = "", memory: Memory = "none",
    out: Annotated[Path | None, typer.Option(help="Folder for the film and the map picture.")] = None,
    record: Record = False, sets: Set = None, lessons: Lessons = True, selfmodel: SelfModel = True,
    intentions: Intentions = True, facts: Facts = True, parts: Parts = True, who: Who = "", packs: Packs = "",
    isolated: Isolated = False,
) -> None:
    """Start the robot in its simulated flat and talk to it, or run one errand and exit with its result.

    Exit codes: 0 done (and the simulator's truth agrees), 1 failed, 2 could not start, 3 declined.
    """
    from anima_nodes.client import Client, NotReady
    from anima_sim.errand import TOPICS, run_conversation, run_one

    folder = out or state_folder() / "errands"
    off = switched(lessons=lessons, selfmodel=selfmodel, intentions=intentions, facts=facts, parts=parts)
    more = {"memory_url": memory, **_more(record, sets), **off, **inner(who, packs, isolated)}
    try:
        with graph(sim, seed, speed, model, **more) as running, Client(TOPICS) as client:
            console.print(f"starting the robot (logs in {running.log('brain').parent}) …")
            client.wait_ready(180.0, alive=lambda: _raise_deaths(running))
            if sim == "firmware":
                arm(client)
            if errand:
                code = run_one(client, running, errand, seed, folder, console)
            else:
                code = run_conversation(client, running, folder, console)
    except (NotReady, NotArmed, ProcessDied) as error:
        raise _fail(str(error), 2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    raise typer.Exit(code)


@app.command()
def chat(
    lessons: Lessons = True, selfmodel: SelfModel = True, intentions: Intentions = True, facts: Facts = True,
    parts: Parts = True,
) -> None:
    """Talk to a running robot; shows what it thinks, calls and does. Ctrl-D leaves, the robot stays up.

    A robot keeps the switches that it was started with. Given one here, e.g. --no-lessons, a simulated robot is started
    for this conversation, which remembers as config/anima.yaml says: `anima demo` with the same switches.
    """
    if not (lessons and selfmodel and intentions and facts and parts):
        demo(memory="", lessons=lessons, selfmodel=selfmodel, intentions=intentions, facts=facts, parts=parts)
    from anima_nodes.client import Client, NotReady
    from anima_sim.errand import TOPICS, run_conversation

    try:
        with Client(TOPICS) as client:
            client.wait_ready(10.0)
            run_conversation(client, None, state_folder() / "errands", console)
    except NotReady as error:
        raise _fail(str(error)) from None


@app.command()
def say(text: Annotated[str, typer.Argument(help="What to say, e.g. “bring me the red cube”.")]) -> None:
    """Say one thing to a running robot and watch until it has ended. Exit codes as for `demo`."""
    from anima_nodes.client import Client, NotReady
    from anima_sim.errand import TOPICS, run_one

    try:
        with Client(TOPICS) as client:
            client.wait_ready(10.0)
            code = run_one(client, None, text, None, None, console)
    except (NotReady, ValueError) as error:
        raise _fail(str(error)) from None
    raise typer.Exit(code)


@app.command()
def do(
    skill: Annotated[str, typer.Argument(help="A skill, e.g. go_to. `anima skills` lists them.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Its parameters, e.g. place=kitchen_table.")] = None,
) -> None:
    """Drive one skill by hand, through the same checks as the planner. Ctrl-C cancels it."""
    from anima_nodes.client import Client, NotReady

    values: dict[str, object] = {}
    for pair in arguments or []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise _fail(f"{pair!r}: write parameters as name=value", 2)
        try:
            number = json.loads(value)
            values[key] = float(number) if isinstance(number, int | float) else value
        except ValueError:
            values[key] = value
    try:
        with Client([]) as client:
            failure, detail = client.execute(
                skill, json.dumps(values), lambda phase, progress: console.print(f"  … {phase} ({progress:.0%})")
            )
    except NotReady as error:
        raise _fail(str(error)) from None
    if failure:
        raise _fail(f"{failure.word}: {detail}")
    console.print(f"[green]done[/green] {detail}")


@app.command()
def teleop() -> None:
    """Drive base and arm by hand with the keyboard (the keys of teleop_twist_keyboard). Ctrl-C ends.

    It comes before what the robot wants, which waits and goes on when you let go; reflexes still stop the robot. A
    gamepad needs no command: run `ros2 run joy joy_node`; its buttons and axes are in config/teleop.yaml.
    """
    from anima.console.teleop import NoTerminal, drive_by_hand
    from anima_nodes.client import Client, NotReady

    try:
        with Client([t.STOP_STATE, t.CMD_VEL]) as client:
            client.wait_ready(10.0)
            drive_by_hand(client, console)
    except (NotReady, NoTerminal) as error:
        raise _fail(str(error)) from None


@app.command()
def end(person: Annotated[str, typer.Argument(help="Whose encounter; everybody's without a name.")] = "") -> None:
    """End an encounter: the robot looks back at it, and what it learned guides the next one."""
    _client_call(lambda client: client.end_encounter(person))


@app.command()
def stop() -> None:
    """Latch the software stop: the robot halts and stays halted until `anima reset`."""
    _client_call(lambda client: client.stop())


@app.command()
def reset() -> None:
    """Reset the software stop. Nothing moves by that; give a new order."""
    _client_call(lambda client: client.reset())


@app.command()
def fault(
    kind: Annotated[str, typer.Argument(help="stalled_wheel, slip, blocked_path, lost_sensor, … or none.")],
    target: Annotated[str, typer.Argument(help="Which one, e.g. left_wheel or lidar.")] = "",
    seconds: Annotated[float, typer.Option("--for", help="How long; 0 lasts until cleared.")] = 0.0,
) -> None:
    """Break something in the simulated body, to see what the mind does. `anima fault none` mends everything."""
    _client_call(lambda client: client.inject("" if kind == "none" else kind, target, seconds))


def _client_call(call: Callable[[Any], str]) -> None:
    from anima_nodes.client import Client, NotReady

    try:
        with Client([]) as client:
            console.print(call(client))
    except (NotReady, ValueError) as error:
        raise _fail(str(error)) from None


@app.command("brain")
def show_brain(
    topics: Annotated[bool, typer.Option("--topics", help="The table itself: what each node takes and gives.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Print it once and leave.")] = False,
) -> None:
    """Show the brain at work, live: each node's rate, last output, why, and the decision that it last changed.

    With `--topics` it prints the table that the graph is started from instead, which needs no running robot.
    """
    from rich.live import Live

    from anima.console.brain_table import SOURCES, BrainTable, rows_and_topics
    from anima_nodes.client import Client, NotReady

    if topics:
        console.print(rows_and_topics())
        return
    seen = BrainTable()
    try:
        with Client(SOURCES) as client:
            client.wait_ready(10.0)
            until = time.monotonic() + ONCE_S
            with Live(seen.table(), console=console, refresh_per_second=2, transient=once) as live:
                while not once or time.monotonic() < until:
                    if (sent := client.receive(0.5)) is not None:
                        seen.feed(sent)
                    live.update(seen.table())
            console.print(seen.table())
    except NotReady as error:
        raise _fail(str(error)) from None
    except KeyboardInterrupt:
        return


@app.command()
def why(
    call: Annotated[str, typer.Argument(help="The id of a call, as the trace and the record show it.")],
    file: Annotated[Path | None, typer.Option("--file", help="A recording; the newest one without it.")] = None,
) -> None:
    """Explain one decision from the record: what was said, seen, thought, allowed and done, in a screenful."""
    from anima.audit.command import explain

    raise typer.Exit(explain(call, file, console))


@app.command()
def replay(
    file: Annotated[Path | None, typer.Argument(help="A recording (folder or .mcap); the newest without it.")] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a number, e.g. gate.retries_per_signature=1."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs: every region's first difference.")] = False,
) -> None:
    """Decide everything in a recording again and compare. Exit codes: 0 identical, 1 diverged, 2 not possible.

    With `--set` it shows what another number would have changed, where, and why. Keys are files of config/ and what
    stands in them (gate.patience, acc.same_failures, insula.weights.slip), or `settings.` and a setting.
    """
    from anima.audit.command import replay as run_replay

    raise typer.Exit(run_replay(file, change or [], as_json, console))


@app.command("context")
def show_context(
    as_json: Annotated[bool, typer.Option("--json", help="For programs: sections, tokens, cuts, text.")] = False,
) -> None:
    """Print what the planner's model saw at its last decision: each section, its tokens, and what was cut."""
    from anima.console import context
    from anima_nodes.client import Client, NotReady

    try:
        with Client([t.CONTEXT]) as client:
            client.wait_ready(10.0)
            seen = client.receive(2.0)
    except NotReady as error:
        raise _fail(str(error)) from None
    if seen is None or not isinstance(seen.value, ContextPacket):
        raise _fail('the planner has decided nothing yet; give it an order first: anima say "…"')
    if as_json:
        print(context.as_json(seen.value))
    else:
        context.show(seen.value, console)


def main() -> None:
    """Entry point of `./anima`. An interrupt and a request to terminate end it alike: in order."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(app(prog_name="anima"))


if __name__ == "__main__":
    main()
