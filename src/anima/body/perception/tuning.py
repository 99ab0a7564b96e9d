"""The numbers of `config/perception.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from anima.config import CONFIG, Tuning, parse, read_yaml

Positive = Annotated[float, Field(gt=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Degrees = Annotated[float, Field(ge=0.0, lt=360.0)]


class Colours(Tuning):
    """Which pixels have which colour. Lower bounds find objects in bad light and mistake furniture for them."""

    min_saturation: Share
    min_value: Share
    hues_deg: dict[str, tuple[Degrees, Degrees]] = Field(min_length=1)


class Blobs(Tuning):
    """Which patches of a colour are looked at. A smaller area sees farther and believes more noise."""

    min_area_px: int = Field(ge=4)
    close_px: int = Field(ge=0, le=5)


class Objects(Tuning):
    """What can be a graspable object, by size and place."""

    min_size_m: Positive
    max_size_m: Positive
    max_range_m: Positive
    on_top_m: tuple[float, float]
    hand_radius_m: Positive
    occluder_m: Positive


class ConfidenceTuning(Tuning):
    """What makes a sighting doubtful: factors for a cut or partly hidden object, bounds for motion."""

    border: Share
    occluded: Share
    coarse_below_px: Positive
    turn_free_radps: Positive
    turn_blind_radps: Positive
    pose_max_age_s: Positive

    @model_validator(mode="after")
    def _ordered(self) -> ConfidenceTuning:
        if self.turn_free_radps >= self.turn_blind_radps:
            raise ValueError("turn_free_radps must be below turn_blind_radps")
        return self


class Views(Tuning):
    """When a point of a surface counts as looked at. A larger `min_object_px` makes the robot go closer to search."""

    grid_m: Positive
    min_object_px: Positive
    object_m: Positive
    depth_tolerance_m: Positive
    border_px: float = Field(ge=0.0)


class PerceptionTuning(Tuning):
    """How the robot sees."""

    colours: Colours
    known_objects: list[Annotated[str, Field(pattern=r"^[a-z]+_[a-z]+$")]]
    blobs: Blobs
    objects: Objects
    confidence: ConfidenceTuning
    views: Views

    @model_validator(mode="after")
    def _one_object_of_a_colour(self) -> PerceptionTuning:
        colours = [name.split("_")[0] for name in self.known_objects]
        if unknown := sorted(set(colours) - set(self.colours.hues_deg)):
            raise ValueError(f"known_objects: no hue is given for {', '.join(unknown)}")
        if len(set(colours)) != len(colours):
            raise ValueError("known_objects: each colour may be that of one object only")
        return self

    @property
    def shape_of(self) -> dict[str, str]:
        """Colour -> shape of the known object of that colour."""
        return dict(name.split("_", 1) for name in self.known_objects)


def load_tuning(path: Path | None = None) -> PerceptionTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    source = path or CONFIG / "perception.yaml"
    tuning: PerceptionTuning = parse(PerceptionTuning, read_yaml(source), str(source))
    return tuning
