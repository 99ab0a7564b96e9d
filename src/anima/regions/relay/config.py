"""The numbers of the thalamus."""

from __future__ import annotations

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml


class RateTuning(Tuning):
    """A source's token bucket. `per_s` up: it may go on speaking faster. `burst` up: it may say more at once."""

    per_s: float = Field(gt=0, le=100)
    burst: int = Field(ge=1, le=1000)


class HabituationTuning(Tuning):
    """How soon the robot gets used to things.

    `window_s` up: equal events that come close together are told as one for longer. `growth` up: it gets used to what
    repeats more quickly. `longest_s` up: what it is used to is told more rarely. `forget_after_s` up: something must
    have been quiet for longer before it is news again.
    """

    window_s: float = Field(gt=0, le=60)
    growth: float = Field(ge=1, le=10)
    longest_s: float = Field(gt=0, le=3600)
    forget_after_s: float = Field(gt=0, le=3600)


class BatteryTuning(Tuning):
    """When the battery is worth a word, shares of full.

    `low`, `critical` up: it is told earlier. `hysteresis` up: a battery that wavers about a threshold is told less.
    """

    low: float = Field(gt=0, lt=1)
    critical: float = Field(gt=0, lt=1)
    hysteresis: float = Field(ge=0, le=0.2)


class TrendTuning(Tuning):
    """What makes a slow series a trend worth telling.

    `battery_sample_s`, `battery_samples` up: the fall is measured over longer. `fast_fall_per_min` (share of full)
    up: only a steeper fall is told. `wheel_sample_s` up: wheels are looked at less often. `short_s` up: a rise must
    last longer. `long_s` up: it is compared with a longer past. `rise_ratio`, `rise_nm` up: only a stronger rise of
    effort is told. `moving_radps` up: slow wheels count as standing. `settled_samples` up: it looks longer before it
    believes that it knows what is usual.
    """

    battery_sample_s: float = Field(gt=0, le=600)
    battery_samples: int = Field(ge=2, le=100)
    fast_fall_per_min: float = Field(gt=0, lt=1)
    left_wheel: str
    right_wheel: str
    wheel_sample_s: float = Field(gt=0, le=10)
    short_s: float = Field(gt=0, le=60)
    long_s: float = Field(gt=0, le=600)
    rise_ratio: float = Field(gt=1, le=10)
    rise_nm: float = Field(ge=0, le=10)
    moving_radps: float = Field(gt=0, le=10)
    settled_samples: int = Field(ge=1, le=1000)


class RelayTuning(Tuning):
    """What reaches the mind, and how often (`config/thalamus.yaml`).

    `rates`: a bucket per source; `default_rate` for the others. `moved_m` up: an object must be moved farther before
    it is told. `traces_kept` up: more different things are remembered as heard before.
    """

    habituation: HabituationTuning
    default_rate: RateTuning
    rates: dict[str, RateTuning]
    battery: BatteryTuning
    trends: TrendTuning
    moved_m: float = Field(gt=0, le=5)
    traces_kept: int = Field(ge=16, le=100000)


def load_relay() -> RelayTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "thalamus.yaml"
    tuning: RelayTuning = parse(RelayTuning, read_yaml(file), str(file))
    return tuning
