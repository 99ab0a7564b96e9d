"""Who holds which part of the body: at most one lease per resource, each with a deadline, until its outcome."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from anima.skills.registry import Resource, render, skill
from anima.types.base import Header, Time
from anima.types.mind import Lease, SkillCall

MOTION = frozenset({Resource.BASE.value, Resource.ARM.value, Resource.GRIPPER.value})


def resources_of(name: str) -> frozenset[str]:
    """The parts of the body that a skill holds; raises `UnknownSkill`."""
    return frozenset(resource.value for resource in skill(name).resources)


class Held(BaseModel):
    """A lease that was granted and whose outcome hasn't come. `revoked` is why it was taken back, empty while it runs.

    `blameless`: taken back by a person or a reflex, so that how it ends is no failure of the call.
    """

    lease: Lease
    revoked: str = ""
    revoked_at: float = 0.0
    blameless: bool = False
    phase: str = ""

    @property
    def call(self) -> SkillCall:
        """The call that holds."""
        return self.lease.call

    @property
    def resources(self) -> frozenset[str]:
        """What it holds."""
        return frozenset(self.lease.resources)

    @property
    def moves(self) -> bool:
        """Whether it holds a part that moves."""
        return bool(self.resources & MOTION)

    @property
    def text(self) -> str:
        """The call as people read it."""
        return render(self.call.skill, self.call.arguments)


class Leases(BaseModel):
    """The leases by id. A lease that was taken back keeps its resources until the body is reported at rest."""

    held: dict[str, Held] = {}

    def holders(self, resources: Iterable[str]) -> list[Held]:
        """Who holds any of the resources."""
        wanted = frozenset(resources)
        return [held for held in self.held.values() if held.resources & wanted]

    def of_objective(self, objective: str) -> list[Held]:
        """The leases that serve an objective."""
        return [held for held in self.held.values() if held.call.objective == objective]

    def grant(self, now: float, call: SkillCall) -> Lease:
        """A lease for the call. The resources must be free: a ValueError otherwise, since two leases on one part are
        two hands on one wheel."""
        wanted = resources_of(call.skill)
        busy = self.holders(wanted)
        if busy:
            raise ValueError(f"{call.skill} wants {', '.join(sorted(wanted))}, but {busy[0].text} holds them")
        lease = Lease(
            header=Header.at(now),
            id=f"lease-{call.id}-{now:.2f}",  # a number may come again after a restart, and be another call
            call=call,
            resources=sorted(wanted),
            deadline=Time.at(now + skill(call.skill).timeout_s),
            granted=True,
            reason="",
        )
        self.held[lease.id] = Held(lease=lease)
        return lease

    def revoke(self, now: float, held: Held, reason: str, *, blameless: bool) -> Lease | None:
        """Take a lease back; the message that says so, None when it was taken back before."""
        if held.revoked:
            return None
        held.revoked, held.revoked_at, held.blameless = reason, now, blameless
        return held.lease.model_copy(update={"header": Header.at(now), "granted": False, "reason": reason})

    def end(self, lease: str) -> Held | None:
        """The outcome came: what was held is free. None for a lease that isn't held (an outcome told twice)."""
        return self.held.pop(lease, None)
