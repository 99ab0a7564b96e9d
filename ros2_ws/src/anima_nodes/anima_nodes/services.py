"""The services and the action of the nodes that have them: each turns a request into a value in the inbox."""

from __future__ import annotations

import time
from typing import Any

from anima_msgs.action import ExecuteSkill
from anima_msgs.srv import InjectFault, Say
from rclpy.action import ActionServer, CancelResponse
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.task import Future
from std_srvs.srv import Trigger

from anima import topics as t
from anima.audit.journal import Journal
from anima.brain import Row
from anima.config import Settings
from anima.failure import Failure
from anima.runtime.component import Component
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Fault, Outcome, SkillCall, StopRequest, Verdict
from anima.voice.ears import NotHeard

from .region_node import RegionNode


class ReflexNode(RegionNode):
    """The reflex kernel, with `software_stop/stop` and `software_stop/reset` for people and tools."""

    def __init__(self, row: Row, settings: Settings, journal: Journal | None = None) -> None:
        super().__init__(row, settings, journal)
        self.create_service(Trigger, "software_stop/stop", self._stop)
        self.create_service(Trigger, "software_stop/reset", self._reset)

    def begin_stopped(self) -> None:
        """Latch the stop in the first step: whether it was latched before a restart is not known."""
        self.put(t.STOP_REQUEST.of(StopRequest(header=Header.at(0.0), stop=True, source="a restart of the reflexes")))

    def _stop(self, request: Any, response: Any) -> Any:
        return self._request(True, response, "stopped; nothing moves until a reset and a new command")

    def _reset(self, request: Any, response: Any) -> Any:
        return self._request(False, response, "reset; nothing moves until a new command")

    def _request(self, stop: bool, response: Any, message: str) -> Any:
        self.put(t.STOP_REQUEST.of(StopRequest(header=Header.at(self.now), stop=stop, source="service")))
        self.step()
        response.success, response.message = True, message
        return response


class SimulatedBodyNode(RegionNode):
    """A simulated body, with `sim/inject_fault`; it draws pictures only for those who look."""

    def __init__(
        self,
        row: Row,
        settings: Settings,
        journal: Journal | None = None,
        namespace: str = "",
        component: Component | None = None,
    ) -> None:
        super().__init__(row, settings, journal, namespace, component)
        self.create_service(InjectFault, "sim/inject_fault", self._inject)
        self.create_timer(0.5, self._look_who_watches, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _look_who_watches(self) -> None:
        names = (topic.name for topic in self.row.gives if self.publishes_to_someone(topic))
        self.component.watched = frozenset(names)  # type: ignore[attr-defined]  # as above

    def _inject(self, request: Any, response: Any) -> Any:
        fault = Fault(kind=request.kind, target=request.target, duration_s=request.duration_s)
        try:
            self.component.inject(fault)  # type: ignore[attr-defined]  # this row builds a SimulatedBody
        except ValueError as error:
            response.success, response.message = False, str(error)
            return response
        response.success, response.message = True, f"injected {request.kind}" if request.kind else "all faults cleared"
        return response


class EarsNode(RegionNode):
    """The ears, with the service `say`.

    A service and not a topic for tools: a tool that has just started can't know whether every listener has found its
    publisher yet, and its first words would be lost unnoticed.
    """

    def __init__(self, row: Row, settings: Settings, journal: Journal | None = None) -> None:
        del journal  # they hear outside of their steps, which do nothing; the words are written down by who takes them
        super().__init__(row, settings)
        self.create_service(Say, "say", self._hear)

    def _hear(self, request: Any, response: Any) -> Any:
        response.id = request.id or f"u{time.time_ns() // 1_000_000}"  # unique across restarts of the graph
        try:
            heard = self.component.hear(  # type: ignore[attr-defined]  # this row builds Ears
                self.now, response.id, request.speaker, request.text
            )
        except NotHeard as error:
            response.success, response.message = False, str(error)
            return response
        if heard is not None:
            self.publish(t.UTTERANCE.of(heard))
        response.success, response.message = True, "heard" if heard is not None else "heard before"
        return response


class GateNode(RegionNode):
    """The gate, with the action `execute_skill`: a skill driven by hand, through the same checks and leases."""

    def __init__(self, row: Row, settings: Settings, journal: Journal | None = None) -> None:
        super().__init__(row, settings, journal)
        self._calls = 0
        self._goals: dict[str, tuple[Any, Future]] = {}
        self._server = ActionServer(
            self, ExecuteSkill, "execute_skill", self._execute, cancel_callback=self._cancel
        )

    def destroy_node(self) -> None:
        # rclpy doesn't count actions among what a node takes with it.
        self._server.destroy()
        super().destroy_node()

    def put(self, sent: Sent) -> None:
        super().put(sent)
        value = sent.value
        if isinstance(value, Outcome):
            self._finish(value.call.id, Failure(value.failure), value.detail, value.duration_s)
        elif sent.topic.name == t.SKILL_FEEDBACK.name:
            self._tell_progress(value)

    def publish(self, sent: Sent) -> None:
        super().publish(sent)
        if isinstance(sent.value, Verdict) and not sent.value.accepted:
            verdict = sent.value
            reason = f"{verdict.reason}; try {verdict.repair}" if verdict.repair else verdict.reason
            self._finish(verdict.call.id, Failure(verdict.failure), reason, 0.0)

    async def _execute(self, goal: Any) -> Any:
        self._calls += 1
        call = self._call(f"operator-{self.now:.2f}-{self._calls}", goal.request.skill, goal.request.arguments)
        future: Future = Future(executor=self.executor)
        self._goals[call.id] = (goal, future)
        self.put(t.OPERATOR_CALL.of(call))
        failure, detail, duration_s = await future
        if goal.is_cancel_requested:
            goal.canceled()
        elif failure is Failure.NONE:
            goal.succeed()
        else:
            goal.abort()
        return ExecuteSkill.Result(error_code=int(failure), error_msg=detail, duration_s=duration_s)

    def _cancel(self, goal: Any) -> CancelResponse:
        self._calls += 1
        self.put(t.OPERATOR_CALL.of(self._call(f"operator-cancel-{self.now:.2f}-{self._calls}", "stop", "{}")))
        return CancelResponse.ACCEPT

    def _call(self, call_id: str, skill: str, arguments: str) -> SkillCall:
        return SkillCall(
            header=Header.at(self.now), id=call_id, skill=skill, arguments=arguments or "{}",
            objective="", source="operator", because=[],
        )

    def _finish(self, call_id: str, failure: Failure, detail: str, duration_s: float) -> None:
        if pending := self._goals.pop(call_id, None):
            pending[1].set_result((failure, detail, duration_s))

    def _tell_progress(self, value: Any) -> None:
        if (pending := self._goals.get(value.call)) and pending[0].is_active:
            pending[0].publish_feedback(ExecuteSkill.Feedback(phase=value.phase, progress=value.progress))


NODES: dict[str, type[RegionNode]] = {
    "reflex_kernel": ReflexNode,
    "body": SimulatedBodyNode,
    "world": SimulatedBodyNode,
    "ears": EarsNode,
    "basal_ganglia_gate": GateNode,
}
