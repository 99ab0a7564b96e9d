"""From sightings to objects: each is tentative, confirmed or absent, and known by the name that people use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, JsonValue

from anima.types.base import Time
from anima.types.mind import Detection, ObjectState
from anima.types.std import Point, Vector3
from anima.world.tuning import TrackTuning

GRIPPER = "gripper"
TENTATIVE, CONFIRMED, ABSENT = "tentative", "confirmed", "absent"
_MAHALANOBIS = 3.5  # a sighting within this many standard deviations is of the same object, beyond the gate too
_VOTES_KEPT = 20.0  # shape votes are scaled down to this sum, so that a wrong first impression can be outvoted

Locate = Callable[[float, float, float], str]
"""The place of a point of the map: a surface's or person's name, ``floor`` or empty."""
Watched = Callable[[float, float, float], bool]
"""Whether a picture showed the point so well that an object there would have been seen."""


class Track(BaseModel):
    """One object. `sightings` are the stamps of the recent good ones, `looks` how often it was missed in a row."""

    colour: str
    votes: dict[str, float]
    x: float
    y: float
    z: float
    yaw: float
    size: tuple[float, float, float]
    variance_m2: float
    confidence: float
    status: str
    place: str
    sightings: list[float]
    looks: int
    last_seen_s: float

    @property
    def measured_shape(self) -> str:
        """The shape that most sightings showed."""
        return max(sorted(self.votes), key=lambda shape: self.votes[shape])

    def distance(self, x: float, y: float, z: float) -> float:
        """Metres to a point."""
        return math.dist((self.x, self.y, self.z), (x, y, z))


class Tracker:
    """Keeps the objects. Pure: the same sightings at the same times give the same objects.

    `known` is colour -> shape of the objects that may be met: the colour decides which of them it is, the shape that
    was seen is only evidence. A colour that isn't known is named by the shape that was seen most.
    """

    def __init__(self, tuning: TrackTuning, known: Mapping[str, str]) -> None:
        self._tuning = tuning
        self._known = dict(known)
        self.tracks: list[Track] = []

    # -- sightings ---------------------------------------------------------------------------------------------------

    def see(self, stamp: float, detections: Sequence[Detection], locate: Locate, watched: Watched) -> None:
        """Take in one picture's detections (frame map); what the picture would have shown and didn't is missed."""
        free = list(self.tracks)
        seen: list[Track] = []
        for detection in sorted(detections, key=lambda d: -d.confidence):
            if detection.confidence < self._tuning.min_confidence:
                continue
            track = self._match(free, detection, stamp)
            if track is None:
                track = _begin(detection, stamp, self._tuning.sighting_sigma_m)
                self.tracks.append(track)
            else:
                free.remove(track)
                self._update(track, detection, stamp)
            seen.append(track)
            if track.place != GRIPPER:
                track.place = locate(track.x, track.y, track.z)
            self._confirm(track, stamp)
        for track in [track for track in self.tracks if track not in seen and track.place != GRIPPER]:
            self._miss(track, stamp, detections, watched)

    def _match(self, free: Iterable[Track], detection: Detection, stamp: float) -> Track | None:
        """The free object of this colour that the sighting is of: the nearest within the gate."""
        at = (detection.position.x, detection.position.y, detection.position.z)
        best, nearest = None, math.inf
        for track in free:
            if track.colour != detection.colour or track.place == GRIPPER:
                continue
            distance = track.distance(*at)
            sigma = math.sqrt(self._variance(track, stamp) + self._noise(detection))
            if distance <= max(self._tuning.gate_m, _MAHALANOBIS * sigma) and distance < nearest:
                best, nearest = track, distance
        return best

    def _noise(self, detection: Detection) -> float:
        return (self._tuning.sighting_sigma_m / max(0.05, detection.confidence)) ** 2

    def _variance(self, track: Track, stamp: float) -> float:
        """The track's position variance now: it grows while nobody looks."""
        return track.variance_m2 + self._tuning.drift_m_per_sqrt_s**2 * max(0.0, stamp - track.last_seen_s)

    def _update(self, track: Track, detection: Detection, stamp: float) -> None:
        """One step of a Kalman filter for a thing that lies still; heading and size follow with the same gain."""
        variance, noise = self._variance(track, stamp), self._noise(detection)
        gain = variance / (variance + noise)
        track.variance_m2 = (1 - gain) * variance
        track.x += gain * (detection.position.x - track.x)
        track.y += gain * (detection.position.y - track.y)
        track.z += gain * (detection.position.z - track.z)
        turn = {"cube": math.pi / 2, "block": math.pi}.get(detection.shape)
        if turn is not None:
            # The heading is only known up to this turn: go the short way round.
            track.yaw += gain * ((detection.yaw - track.yaw + turn / 2) % turn - turn / 2)
            track.yaw = (track.yaw + turn / 2) % turn - turn / 2
        new = (detection.size.x, detection.size.y, detection.size.z)
        a, b, c = (old + gain * (now - old) for old, now in zip(track.size, new, strict=True))
        track.size = (a, b, c)
        track.votes[detection.shape] = track.votes.get(detection.shape, 0.0) + detection.confidence
        if (total := sum(track.votes.values())) > _VOTES_KEPT:
            track.votes = {shape: votes * _VOTES_KEPT / total for shape, votes in track.votes.items()}
        track.confidence += 0.3 * (detection.confidence - track.confidence)
        track.sightings = [t for t in track.sightings if stamp - t <= self._tuning.confirm_window_s] + [stamp]
        track.looks = 0
        track.last_seen_s = stamp

    def _confirm(self, track: Track, stamp: float) -> None:
        if track.status == CONFIRMED or len(track.sightings) < self._tuning.confirm_sightings:
            return
        track.status = CONFIRMED
        name = self.name(track)
        # There is one thing of a name: where it was known before, it is no longer.
        self.tracks = [other for other in self.tracks if other is track or self.name(other) != name]

    def _miss(self, track: Track, stamp: float, detections: Sequence[Detection], watched: Watched) -> None:
        alike = [d.position for d in detections if d.colour == track.colour]
        spoken_for = any(track.distance(at.x, at.y, at.z) <= self._tuning.nearby_m for at in alike)
        if not spoken_for and watched(track.x, track.y, track.z):
            track.looks += 1
        if track.status == CONFIRMED and track.looks >= self._tuning.absent_looks:
            track.status = ABSENT
            track.sightings = []
        idle = track.status == TENTATIVE and track.place != GRIPPER
        if idle and (track.looks >= 2 or stamp - track.last_seen_s > self._tuning.tentative_s):
            self._forget(track)

    def _forget(self, track: Track) -> None:
        self.tracks = [other for other in self.tracks if other is not track]

    # -- the hand ----------------------------------------------------------------------------------------------------

    def find(self, name: str) -> Track | None:
        """The object of that name: the confirmed one before an absent or a tentative one."""
        rank = {CONFIRMED: 0, ABSENT: 1, TENTATIVE: 2}
        found = sorted((t for t in self.tracks if self.name(t) == name), key=lambda t: (rank[t.status], -t.last_seen_s))
        return found[0] if found else None

    def hold(self, name: str, at: tuple[float, float, float], stamp: float) -> Track:
        """The object is in the hand at a point of the map; it is made if it wasn't known. A name is colour_shape."""
        track = self.find(name)
        if track is None:
            colour, _, shape = name.partition("_")
            size = Vector3(x=0.03, y=0.03, z=0.03)
            where = Point(x=at[0], y=at[1], z=at[2])
            seen = Detection(colour=colour, shape=shape, position=where, yaw=0.0, size=size, confidence=0.5)
            track = _begin(seen, stamp, self._tuning.sighting_sigma_m)
        self.tracks = [other for other in self.tracks if self.name(other) != name]
        self.tracks.append(track)
        track.status, track.place, track.looks = CONFIRMED, GRIPPER, 0
        self.carry(track, at, stamp)
        return track

    def carry(self, track: Track, at: tuple[float, float, float], stamp: float) -> None:
        """The held object is where the hand is."""
        track.x, track.y, track.z = at
        track.last_seen_s = stamp

    def release(self, track: Track, at: tuple[float, float, float], place: str, stamp: float) -> None:
        """The hand has let go; where it is, is known only if it was let go just above a `place` (else empty)."""
        track.place = place
        track.status = CONFIRMED if place else TENTATIVE
        self.carry(track, at, stamp)
        # Letting go moves things a little: the next sighting counts for more than the hand.
        track.variance_m2 = (4 * self._tuning.sighting_sigma_m) ** 2
        track.sightings = []

    # -- what is known -----------------------------------------------------------------------------------------------

    def name(self, track: Track) -> str:
        """Colour and shape, as people say it."""
        return f"{track.colour}_{self.shape(track)}"

    def shape(self, track: Track) -> str:
        """The shape of the known object of that colour, or else the one that was seen most."""
        return self._known.get(track.colour) or track.measured_shape

    def objects(self) -> list[ObjectState]:
        """All objects by name, one of each name."""
        names = sorted({self.name(track) for track in self.tracks})
        return [self._state(track) for name in names if (track := self.find(name)) is not None]

    def _state(self, track: Track) -> ObjectState:
        width, depth, height = track.size
        return ObjectState(
            name=self.name(track),
            colour=track.colour,
            shape=self.shape(track),
            status=track.status,
            position=Point(x=track.x, y=track.y, z=track.z),
            yaw=track.yaw,
            size=Vector3(x=width, y=depth, z=height),
            place=track.place,
            last_seen=Time.at(track.last_seen_s),
            confidence=track.confidence,
        )

    def dump(self) -> list[JsonValue]:
        """The objects, as JSON."""
        return [track.model_dump(mode="json") for track in self.tracks]

    def restore(self, data: Iterable[Any]) -> None:
        """Take over what `dump` gave."""
        self.tracks = [Track.model_validate(item) for item in data]


def _begin(detection: Detection, stamp: float, sigma_m: float) -> Track:
    return Track(
        colour=detection.colour,
        votes={detection.shape: detection.confidence},
        x=detection.position.x,
        y=detection.position.y,
        z=detection.position.z,
        yaw=detection.yaw,
        size=(detection.size.x, detection.size.y, detection.size.z),
        variance_m2=(sigma_m / max(0.05, detection.confidence)) ** 2,
        confidence=detection.confidence,
        status=TENTATIVE,
        place="",
        sightings=[stamp],
        looks=0,
        last_seen_s=stamp,
    )
