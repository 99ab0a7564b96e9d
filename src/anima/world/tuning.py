"""The numbers of `config/world.yaml`: when what was seen becomes what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml

Positive = Annotated[float, Field(gt=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=1)]


class TrackTuning(Tuning):
    """How sightings make objects. Turned up, the counts make the robot slow to believe; turned down, gullible."""

    min_confidence: Share
    gate_m: Positive
    confirm_sightings: Count
    confirm_window_s: Positive
    tentative_s: Positive
    absent_looks: Count
    nearby_m: Positive
    sighting_sigma_m: Positive
    drift_m_per_sqrt_s: Positive


class HandTuning(Tuning):
    """When something is held. `seen_in_hand_looks` turned up, the robot rather trusts its gripper than its eyes."""

    reach_m: Positive
    seen_in_hand_m: Positive
    seen_in_hand_looks: Count
    lifted_m: Positive
    dropped_after_s: Positive
    open_by_rad: Positive
    release_height_m: Positive


class PlaceTuning(Tuning):
    """How near an approach pose is at the place."""

    along_m: Positive
    beside_m: Positive
    turn_rad: Positive


class SurfaceTuning(Tuning):
    """How long a look at a surface counts, and when its place was looked at. A long memory searches less often, and
    misses what was moved."""

    memory_s: Positive
    watched_share: Share
    arm_clearance_m: Positive


class WorldTuning(Tuning):
    """All of it."""

    tracks: TrackTuning
    hand: HandTuning
    place: PlaceTuning
    surfaces: SurfaceTuning
    localized_s: Positive
    publish_s: Positive


def load_world_tuning(path: Path | None = None) -> WorldTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    source = path or CONFIG / "world.yaml"
    tuning: WorldTuning = parse(WorldTuning, read_yaml(source), str(source))
    return tuning
