"""The numbers of localization."""

from __future__ import annotations

from pydantic import Field, model_validator

from anima.config import CONFIG, Tuning, parse, read_yaml


class SensorTuning(Tuning):
    """What is believed of a scan.

    `beams` up: each particle is judged by more of the scan, for more computing. `hit_sigma_m` up: a beam that ends
    beside a wall speaks less against a particle, and the estimate follows the scan less sharply; `search_sigma_m` is
    the same while the robot searches the whole map. `stray_share` up: more people and boxes that are not on the map are
    put up with. `trust` up: each scan moves the belief more; above 1 beams count as if they were independent of
    each other, which they are not.
    """

    beams: int = Field(ge=12, le=1440)
    hit_sigma_m: float = Field(gt=0.005, le=0.5)
    search_sigma_m: float = Field(gt=0.02, le=1.0)
    stray_share: float = Field(gt=0.0, lt=1.0)
    trust: float = Field(gt=0.0, le=1.0)


class MotionTuning(Tuning):
    """What is believed of odometry: standard deviations, per metre driven and per radian turned, and the least of each.

    Up: particles spread more with every move, so that slipping wheels are made up for, and the estimate is less sure.
    """

    drive_m_per_m: float = Field(ge=0, le=1)
    drive_m_per_rad: float = Field(ge=0, le=1)
    turn_rad_per_rad: float = Field(ge=0, le=1)
    turn_rad_per_m: float = Field(ge=0, le=1)
    least_m: float = Field(ge=0, le=0.1)
    least_rad: float = Field(ge=0, le=0.1)


class ParticleTuning(Tuning):
    """How many particles there are, and when they are looked at.

    The number follows how many cells of `bin_m` and `bin_rad` they spread over (KLD sampling: with the error
    `kld_error` at the quantile `kld_z`), between `least` and `most`. `search` is how many poses are tried when the
    robot searches the whole map: up finds the way back more surely and holds up the process longer, once. A new look
    is taken after `move_m` or `turn_rad`: up saves computing.
    `forget_slowly` and `forget_fast` are the rates at which the long and the short average of the scans' likelihood
    follow it (augmented Monte Carlo localization): when the short falls below the long, particles are tried elsewhere.
    """

    least: int = Field(ge=20, le=10000)
    most: int = Field(ge=100, le=100000)
    search: int = Field(ge=1000, le=200000)
    bin_m: float = Field(gt=0.02, le=2)
    bin_rad: float = Field(gt=0.02, le=2)
    kld_error: float = Field(gt=0.001, lt=1)
    kld_z: float = Field(gt=0.5, le=5)
    move_m: float = Field(gt=0, le=1)
    turn_rad: float = Field(gt=0, le=1)
    forget_slowly: float = Field(gt=0, lt=1)
    forget_fast: float = Field(gt=0, lt=1)


class SurenessTuning(Tuning):
    """When the robot says that it knows where it is, and when that it is lost.

    The fit is the share of beams that end within `within_m` of something on the map. `lost_fit` up: a changed room is
    taken for another place sooner; `lost_after_s` up: it notices later that it was carried off, and forgives a crowd.
    `sure_fit`, `sure_share` (of the particles that agree), `sure_moves` and `sure_turn_rad` up: once lost, it moves
    about for longer before it trusts a find. `gain` up: the estimate follows each scan faster and jitters more.
    """

    within_m: float = Field(gt=0.02, le=0.5)
    lost_fit: float = Field(gt=0, lt=1)
    lost_after_s: float = Field(gt=0, le=10)
    sure_fit: float = Field(gt=0, lt=1)
    sure_share: float = Field(gt=0.5, lt=1)
    sure_moves: int = Field(ge=1, le=100)
    sure_turn_rad: float = Field(ge=0, le=7)
    search_again_after_s: float = Field(gt=0, le=120)
    least_beams: int = Field(ge=5, le=1440)
    gain: float = Field(gt=0, le=1)

    @model_validator(mode="after")
    def _surer_than_lost(self) -> SurenessTuning:
        if self.sure_fit <= self.lost_fit:
            raise ValueError("sure_fit must be above lost_fit, else the robot is found and lost again with every scan")
        return self


class LocalizationTuning(Tuning):
    """Everything in `config/localization.yaml`. `period_s` up: pose and transform are published less often."""

    sensor: SensorTuning
    motion: MotionTuning
    particles: ParticleTuning
    sureness: SurenessTuning
    period_s: float = Field(gt=0, le=0.5)


def load_localization() -> LocalizationTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    source = CONFIG / "localization.yaml"
    tuning: LocalizationTuning = parse(LocalizationTuning, read_yaml(source), str(source))
    return tuning
