"""The personality that a robot starts from: setpoints and sensitivity, one file each in `config/temperaments/`."""

from __future__ import annotations

from pydantic import Field

from anima.config import CONFIG, ConfigError, Settings, Tuning, parse, read_yaml

LOWEST, HIGHEST = 0.1, 0.9


class Personality(Tuning):
    """Where the dispositions rest (0.1..0.9, 0.5 is neutral), and how loud events are.

    `initiative` up: it starts sooner by itself. `persistence` up: it holds on longer before it lets go.
    `caution` up: it simulates and refuses sooner, and turns back earlier. `salience_sensitivity` up: the same
    event is more urgent (a factor, 1 is neutral).
    """

    initiative: float = Field(ge=LOWEST, le=HIGHEST)
    persistence: float = Field(ge=LOWEST, le=HIGHEST)
    caution: float = Field(ge=LOWEST, le=HIGHEST)
    salience_sensitivity: float = Field(ge=0.25, le=4.0)


def load_personality(settings: Settings) -> Personality:
    """The personality that the settings name. Raises `ConfigError` that names the file and the fault."""
    folder = CONFIG / "temperaments"
    file = folder / f"{settings.temperament}.yaml"
    if not file.exists():
        there = ", ".join(sorted(path.stem for path in folder.glob("*.yaml")))
        raise ConfigError(f"temperament: there is no {settings.temperament!r}; there are {there}")
    personality: Personality = parse(Personality, read_yaml(file), str(file))
    return personality
