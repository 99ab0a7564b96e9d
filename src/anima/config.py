"""Settings of a run: parsed once, checked, and handed to every component."""

from __future__ import annotations

import copy
import functools
import os
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

ROOT = Path(__file__).resolve().parents[2]
CONFIG = Path(os.environ.get("ANIMA_CONFIG_DIR", ROOT / "config"))


class ConfigError(ValueError):
    """A configuration that can't be used; the message names file, key and what is allowed."""


class Tuning(BaseModel):
    """Base of every block of numbers in `config/`: unknown keys are errors, values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LlmSettings(Tuning):
    """Which language model plans, and what it may cost.

    `model` is a name in `models/manifest.yaml` or a path of a GGUF file; with `server` set, an OpenAI-compatible
    server answers instead. Turning the budgets down makes a slow machine give up sooner and stand idle safely.
    """

    model: str = "qwen2.5-coder-1.5b-instruct-q4_k_m"
    server: str = ""
    threads: int = Field(default=2, ge=1, le=64)
    context_tokens: int = Field(default=4096, ge=512, le=131072)
    prefill_budget_s: float = Field(default=120.0, gt=0)
    decode_budget_s: float = Field(default=30.0, gt=0)


class RecordSettings(Tuning):
    """What is recorded of a run (`anima up --record`), and how much of the disk it may take.

    A file is closed at `file_mib`; the oldest are deleted so that no more than `total_mib` stay of a run. Of each
    camera one image is kept every `image_every_s` seconds, 0 keeps none: they are most of the bytes.
    """

    on: bool = False
    file_mib: int = Field(default=128, ge=1, le=4096)
    total_mib: int = Field(default=1024, ge=2, le=1048576)
    image_every_s: float = Field(default=2.0, ge=0, le=3600)


class Switches(Tuning):
    """What is learned, each for itself (`anima up --no-lessons` …). Off: nothing of it is written or has an effect;
    what was learned before stays in the store.
    """

    lessons: bool = True
    selfmodel: bool = True
    intentions: bool = True
    facts: bool = True
    parts: bool = True


class LinkSettings(Tuning):
    """Where the brainstem is: the serial `device` of the board that drives the body.

    With ``sim: firmware`` it is an emulated board of this machine instead, and `board` tells several of them apart:
    the processes of a robot take its ROS namespace for it.
    """

    device: str = "/dev/ttyACM0"
    board: str = Field(default="", pattern=r"^[A-Za-z0-9_/]*$")


class InnerSettings(Tuning):
    """Who the robot is inside: the Self that decides what matters (a file of `config/selves/`), and the packs of core
    parts that it starts out with (`config/packs/`, several with commas). `isolated`: the Self chooses from the closed
    form of the bids alone, so that no text from outside can reach it.
    """

    self_name: str = Field(default="helper", pattern=r"^[a-z0-9_]+$")
    packs: tuple[str, ...] = ()
    isolated: bool = False

    @field_validator("packs", mode="before")
    @classmethod
    def _split(cls, packs: object) -> object:
        return tuple(name.strip() for name in packs.split(",") if name.strip()) if isinstance(packs, str) else packs


class Settings(Tuning):
    """Everything that a run is configured by (`config/anima.yaml`, then the command line).

    `speed` is how much faster than the wall clock simulated time may run while a skill moves the body; it never
    outruns its slowest node, and is 1 while nobody holds the base. `cmd_vel` is the type of velocity that a robot with
    drivers of its own takes; empty: what its file says. `composed` runs the nodes in the five processes of
    the brain table; false gives each node a process of its own, which costs memory and time. `gui` opens Gazebo's own
    window, where there is a display. With `pose` at ``truth`` a simulated robot knows where it is, so that what the
    errors of its own localization cost can be measured; a real body refuses.

    `memory_url` is where what must survive a restart is kept: ``none`` keeps nothing, empty is the default file
    (`memory.opening.default_file`), anything else a database as SQLAlchemy writes it, e.g.
    ``sqlite:////var/lib/anima/mind.db``. Settings made in code keep nothing, so that no trial remembers the one before;
    `config/anima.yaml` says what a robot does. `temperament` names the personality that the robot starts from,
    a file in `config/temperaments/`.
    """

    robot: str = "anima"
    map: str = "flat"
    scene: str = "flat"
    sim: Literal["mujoco", "gazebo", "firmware", "none"] = "mujoco"
    cmd_vel: Literal["", "Twist", "TwistStamped"] = ""
    gui: bool = False
    composed: bool = True
    pose: Literal["own", "truth"] = "own"
    seed: int = Field(default=0, ge=0)
    speed: float = Field(default=1.0, gt=0, le=100)
    cameras: bool = True
    memory_url: str = "none"
    temperament: str = Field(default="default", pattern=r"^[a-z0-9_]+$")
    llm: LlmSettings = LlmSettings()
    record: RecordSettings = RecordSettings()
    link: LinkSettings = LinkSettings()
    learn: Switches = Switches()
    inner: InnerSettings = InnerSettings()

    @model_validator(mode="after")
    def _truth_needs_a_simulator(self) -> Settings:
        if self.pose == "truth" and self.sim == "none":
            raise ValueError("pose: truth is known of a simulated robot only; with sim: none leave it at own")
        return self

    @property
    def robot_file(self) -> Path:
        """The robot's limits and sensors."""
        return CONFIG / "robots" / f"{self.robot}.yaml"

    @property
    def link_device(self) -> Path:
        """The serial device of the brainstem; with ``sim: firmware`` the emulated board's, one per domain and robot."""
        if self.sim != "firmware":
            return Path(self.link.device)
        whose = [os.environ.get("ROS_DOMAIN_ID") or "0", *filter(None, self.link.board.split("/"))]
        folder = Path(os.environ.get("XDG_RUNTIME_DIR", "/tmp")) / f"anima-{os.getuid()}"
        return folder / f"brainstem-{'-'.join(whose)}"

    @property
    def map_folder(self) -> Path:
        """The known map: `map.yaml`, `map.pgm`, `places.yaml`."""
        return CONFIG / "maps" / self.map


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; raises `ConfigError` naming the file and the fault."""
    try:
        data = _parsed(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected keys and values at the top, found {type(data).__name__}")
    return copy.deepcopy(data)


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> Any:
    """Parsing costs more than all the rest of building a mind, and a process reads the same files many times."""
    return yaml.safe_load(text)


def parse(model: type[Tuning], data: dict[str, Any], source: str) -> Any:
    """`data` as `model`; raises `ConfigError` that names `source`, the key and the allowed range."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults = "\n".join(
            f"  {'.'.join(map(str, e['loc']))}: {e['msg']} (got {e['input']!r})" for e in error.errors()
        )
        raise ConfigError(f"{source}:\n{faults}") from error


def load_settings(overrides: dict[str, Any] | None = None, path: Path | None = None) -> Settings:
    """Settings from `config/anima.yaml` (or `path`), with dotted `overrides` such as ``{"llm.threads": 1}`` on top."""
    source = path or CONFIG / "anima.yaml"
    data = read_yaml(source) if source.exists() or path else {}
    for dotted, value in (overrides or {}).items():
        target = data
        *parents, key = dotted.split(".")
        for parent in parents:
            target = target.setdefault(parent, {})
        target[key] = value
    settings: Settings = parse(Settings, data, str(source))
    return settings
