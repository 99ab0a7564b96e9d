"""Prefrontal cortex: words into objectives, the focus into one checked call at a time, by a language model."""

from __future__ import annotations

from collections import deque

from anima import topics as t
from anima.config import Settings
from anima.planner import act, listen, speech
from anima.planner.act import NotAChoice, load_act_prompt
from anima.planner.budgets import load_budgets
from anima.planner.conversation import Conversation
from anima.planner.lexicon import known_names, load_lexicon
from anima.planner.listen import Hearing, load_listen_prompt
from anima.planner.llm.base import LanguageModel
from anima.planner.memory import Memory, Running, short
from anima.planner.moment import context_packet, gather
from anima.planner.objectives import NotUnderstood, Understanding, check_bodily, objective_of
from anima.planner.options import Options
from anima.planner.packet import Situation, build, quoted
from anima.planner.session import Ended, Session, shared_model, warm_up
from anima.planner.signals import Signals
from anima.planner.validate import validate
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Objective, Objectives, Outcome, SkillCall, Speech, Utterance, WorldState
from anima.world.predicates import Predicate, holds
from anima.world.stop_words import is_resume, is_stop

TRIES_TO_HEAR = 3
REFUSALS = 3
SETTLE_S = 2.0
INTERRUPTED_TURNS = 3  # in a row, then one is thought to its end whatever happens
SILENT_S = 30.0  # without a word of it a call counts as over, another's and our own: who ran it may have died
BEGIN_WITHIN_S = 5.0  # of being sent, else the gate did not let the call begin


class PrefrontalPlanner:
    """The planner. At most one turn of the model runs, at most one call is under way, and people come first.

    A model that fails or hangs costs the turn: the robot stays idle and says once what is wrong.
    """

    def __init__(self, settings: Settings, model: LanguageModel | None = None) -> None:
        """Raises `ConfigError` for names or prompts that can't be used; `model` replaces the one of the settings."""
        self._llm = settings.llm
        self._robot = settings.robot
        self._names = known_names(settings)
        self._lexicon = load_lexicon()
        self._listen_prefix = listen.prefix(load_listen_prompt(), self._lexicon)
        self._act_prefix = act.prefix(load_act_prompt())
        self._session = Session(model or shared_model(settings.llm))
        self._to_warm = deque((("listen", self._listen_prefix), ("act", self._act_prefix)))
        self._heard: deque[tuple[Utterance, int]] = deque(maxlen=8)
        self._memory = Memory()
        self._talk = Conversation(settings, self._names)
        self._signals = Signals(load_budgets())
        self._hearing: tuple[Utterance, int, Hearing] | None = None
        self._deciding: tuple[Situation, Options] | None = None
        self._running: Running | None = None
        self._others: dict[str, float] = {}
        self._focus: Objective | None = None
        self._open_turn = False
        self._ended_at = float("-inf")
        self._refused: list[str] = []
        self._calls = 0
        self._cut_short = 0
        self._complained = False
        self._asked_for_patience = False
        self._doing = "It waits for its model."

    # --- the step --------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Take in what came, read the turn that has ended, begin the next one that is due."""
        sent: list[Sent] = []
        self._talk.take(inbox)
        sent += self._listen_in(now, inbox)
        for feedback in inbox.new(t.SKILL_FEEDBACK):
            self._take_feedback(now, feedback.call)
        for outcome in inbox.new(t.OUTCOME):
            self._take_outcome(outcome)
        if inbox.new(t.BACKLOG):
            sent += self._take_backlog(now, inbox)
        self._take_signals(now, inbox)
        state = inbox.last(t.WORLD_STATE)
        self._watch_running(now)
        if (ended := self._session.poll(now)) is not None:
            sent += self._take_turn(now, ended, state, inbox)
        if not self._heard and self._hearing is None and (reminder := self._talk.next_reminder()) is not None:
            sent.append(self._say(now, reminder.text, reminder.id))
        sent += self._next_turn(now, state)
        return sent + self._ask_for_patience(now)

    def why(self) -> str:
        """One sentence: what it thinks about or waits for."""
        if self._session.is_busy:
            return self._doing
        if self._session.failures:
            return f"The model failed {self._session.failures} times in a row; it tries again after a pause."
        if self._running is not None:
            return f"It waits for {self._running.call} to end."
        return "Nobody has spoken and nothing is in focus." if self._focus is None else self._doing

    # --- taking in -------------------------------------------------------------------------------

    def _listen_in(self, now: float, inbox: Inbox) -> list[Sent]:
        sent = []
        for utterance in inbox.new(t.UTTERANCE):
            if is_stop(utterance.text, self._robot):
                self._heard.clear()
                self._talk.hush()
                self._hearing = None
                self._session.cancel()
            elif text := self._talk.at_once(utterance):
                sent.append(self._say(now, text, utterance.id))
            elif not is_resume(utterance.text, self._robot) and utterance.text.strip():
                self._heard.append((utterance, 0))
                if self._session.role == "act":
                    self._session.cancel()  # a person comes first; the decision is made anew after
        return sent

    def _take_outcome(self, outcome: Outcome) -> None:
        self._others.pop(outcome.call.id, None)
        running = self._running if self._running is not None and outcome.call.id == self._running.id else None
        self._memory.take_outcome(outcome, running.thought if running is not None else "")
        if running is not None:
            self._running = None
        self._ended_at = outcome.header.stamp.seconds
        self._open_turn = True
        if self._session.role == "act":
            self._session.cancel()

    def _take_feedback(self, now: float, call: str) -> None:
        if self._running is not None and call == self._running.id:
            self._running.began, self._running.heard = True, now
        elif call not in self._memory.over:  # feedback may come in after the outcome
            self._others[call] = now

    def _take_signals(self, now: float, inbox: Inbox) -> None:
        """What the glue says; what is pressing has the decision made anew, with it in sight."""
        news, anew = self._signals.take(inbox, self._memory.knows)
        self._memory.tell(now, news)
        if anew and self._session.role == "act" and self._cut_short < INTERRUPTED_TURNS:
            self._cut_short += 1
            self._session.cancel()

    def _take_backlog(self, now: float, inbox: Inbox) -> list[Sent]:
        backlog = inbox.new(t.BACKLOG)[-1]
        sent = []
        for one in inbox.new(t.BACKLOG):
            for objective in self._memory.take_backlog(one):
                steps = self._memory.history(objective.id)
                text = speech.ended(objective, self._talk.report_length, steps)
                if text:
                    sent.append(self._say(now, text, objective.source))
        focus = next((o for o in backlog.objectives if o.id == backlog.focus), None)
        if (focus and focus.id) != (self._focus and self._focus.id):
            self._refused.clear()
            self._open_turn = focus is not None
            if self._session.role == "act":
                self._session.cancel()
        self._focus = focus
        if self._signals.take_backlog(backlog, self._running.call if self._running is not None else ""):
            self._running = None
            self._open_turn = True
        if self._running is not None and (focus is None or self._running.objective != focus.id):
            self._running = self._running if self._running.began else None
        return sent

    def _watch_running(self, now: float) -> None:
        """A call that got no lease, or whose end was never told, must not block decisions for ever."""
        self._others = {call: at for call, at in self._others.items() if 0 <= now - at <= SILENT_S}
        running = self._running
        if running is None:
            return
        patience_s = SILENT_S if running.began else BEGIN_WITHIN_S
        if not 0 <= now - running.heard <= patience_s:
            self._running = None
            self._open_turn = True

    # --- turns -----------------------------------------------------------------------------------

    def _next_turn(self, now: float, state: WorldState | None) -> list[Sent]:
        if not self._session.may_start(now):
            return []
        if self._heard:
            utterance, tries = self._heard.popleft()
            text = self._memory.dialogue.joined(utterance.text, now)
            held = state.holding if state is not None else ""
            hearing = Hearing.of(text, self._names, self._lexicon, held or self._memory.dialogue.thing)
            self._hearing = (utterance, tries, hearing)
            self._doing = f"It thinks about what was said: {utterance.text[:60]!r}."
            self._session.start(
                listen.request(
                    hearing, self._listen_prefix, self._llm.prefill_budget_s, self._llm.decode_budget_s
                )
            )
            return []
        if (request := self._talk.next_talk()) is not None:
            self._doing = "It looks for words."
            self._session.start(request)
            return []
        if self._to_warm:
            role, stable = self._to_warm[0]
            self._doing = f"It reads its instructions for the role {role!r}."
            self._session.start(warm_up(role, stable))
            return []
        return self._decide(now, state)

    def _decide(self, now: float, state: WorldState | None) -> list[Sent]:
        """Begin a turn of the role "act" when something calls for a decision."""
        focus = self._focus
        idle = self._running is None and not self._others
        if focus is None or state is None or not idle:
            return []
        condition = Predicate.parse(focus.condition)
        changed = frozenset(state.facts) != self._memory.facts
        if not (self._open_turn or changed) or not self._has_settled(now, condition, state):
            return []
        refused = self._refused[-1] if self._refused else ""
        situation = gather(now, focus, state, self._names, self._memory, self._signals, refused)
        choices = situation.options()
        self._open_turn = False
        self._deciding = (situation, choices)
        self._doing = f"It chooses the next step towards {focus.condition}."
        packet = build(situation, choices, self._session.count)
        prefill_s, decode_s = map(self._signals.think_s, (self._llm.prefill_budget_s, self._llm.decode_budget_s))
        thought = self._session.start(act.request(packet.text, choices, self._act_prefix, prefill_s, decode_s))
        return [t.CONTEXT.of(context_packet(now, thought, packet, self._session.prefix_tokens(self._act_prefix)))]

    def _has_settled(self, now: float, condition: Predicate, state: WorldState) -> bool:
        """Whether senses and gate have taken in the last outcome, so that a decision is not made in the past."""
        since = now - self._ended_at
        if holds(condition, state):
            return False  # the gate ends it in a moment
        if state.header.stamp.seconds < self._ended_at and 0 <= since < SETTLE_S:
            return False
        steps = self._memory.history(self._focus.id) if self._focus is not None else ()
        told = condition.is_event and bool(steps) and steps[-1].call.startswith("say(") and steps[-1].ended == "ok"
        return not (told and 0 <= since < SETTLE_S)

    def _take_turn(self, now: float, ended: Ended, state: WorldState | None, inbox: Inbox) -> list[Sent]:
        cancelled = self._session.was_cancelled()
        sent: list[Sent] = [t.THOUGHT.of(ended.thought)]
        hearing, self._hearing = self._hearing, None
        deciding, self._deciding = self._deciding, None
        if (answer := self._talk.talked(ended.completion.text)) is not None:
            return [*sent, self._say(now, *answer)]
        if ended.completion.error:
            if hearing is not None and not cancelled:
                sent += self._hear_again(now, hearing[0], hearing[1])
            if deciding is not None:
                self._open_turn = True
                self._memory.tell(now, deciding[0].news)
            return sent if cancelled else [*sent, *self._complain(now, ended.completion.error)]
        self._complained = False
        if hearing is not None:
            return [*sent, *self._understand(now, *hearing, ended.completion.text, inbox)]
        if deciding is not None:
            thought = ended.thought.id
            return [*sent, *self._propose(now, *deciding, thought, ended.completion.text, state, cancelled)]
        if self._to_warm and self._to_warm[0][0] == ended.request.role:
            self._to_warm.popleft()
        return sent

    def _hear_again(self, now: float, utterance: Utterance, tries: int) -> list[Sent]:
        if tries + 1 < TRIES_TO_HEAR:
            self._heard.appendleft((utterance, tries + 1))
            return []
        text = f"I could not make sense of {utterance.text[:60]!r}. Please say it again."
        return [self._say(now, text, utterance.id)]

    def _ask_for_patience(self, now: float) -> list[Sent]:
        """The first start computes the instructions for a minute or so; who speaks meanwhile shall know."""
        warming = self._session.is_busy and self._hearing is None and self._deciding is None
        if not (warming and self._heard and self._to_warm) or self._asked_for_patience:
            return []
        self._asked_for_patience = True
        return [self._say(now, "One moment, I am still waking up.", "")]  # no answer yet, so no cause

    def _complain(self, now: float, error: str) -> list[Sent]:
        """Say what is wrong, once per trouble; nothing moves on a failed turn."""
        if self._complained:
            return []
        self._complained = True
        return [self._say(now, f"I can't think right now: {error}", "")]

    # --- words -> objectives ---------------------------------------------------------------------

    def _understand(
        self, now: float, utterance: Utterance, tries: int, hearing: Hearing, text: str, inbox: Inbox
    ) -> list[Sent]:
        try:
            meant = hearing.read(text)
        except NotUnderstood:
            return self._hear_again(now, utterance, tries)
        self._memory.tell(now, [f"person said {quoted(utterance.text)}: {speech.UNDERSTOOD_AS[meant.kind]}"])
        dialogue = self._memory.dialogue
        dialogue.question = ""
        match meant.kind:
            case "do":
                if why := check_bodily(meant.goals, inbox.last(t.WORLD_STATE)):
                    return self._decline(now, utterance, "not_able", f"Sorry, I can't: {why}.")
                return self._take_order(now, utterance, hearing, meant)
            case "decline":
                return self._decline(now, utterance, meant.detail, speech.declined(meant.detail, hearing.grounding))
            case "ask":
                dialogue.question, dialogue.asked_at = hearing.text, now
                return [self._say(now, meant.detail, utterance.id)]
            case "cancel":
                return [self._objectives(now, [], replace=True), self._say(now, "OK, I let it be.", utterance.id)]
            case "answer":
                state = inbox.last(t.WORLD_STATE)
                return [self._say(now, speech.answer(meant.detail, state, self._focus, self._names), utterance.id)]
            case "reply":
                words = meant.detail or "Yes?"
                return [] if self._talk.talk(utterance, words) else [self._say(now, words, utterance.id)]

    def _decline(self, now: float, utterance: Utterance, kind: str, reason: str) -> list[Sent]:
        declined = objective_of(now, utterance, 0, "", "declined", f"{kind}: {reason}")
        return [self._say(now, reason, utterance.id), self._objectives(now, [declined], replace=False)]

    def _take_order(self, now: float, utterance: Utterance, hearing: Hearing, meant: Understanding) -> list[Sent]:
        things = [arg for goal in meant.goals for arg in goal.args if arg in self._names.objects]
        if things:
            self._memory.dialogue.thing = things[-1]
        adding = hearing.grounding.adding and self._focus is not None
        objectives = [
            objective_of(now, utterance, order, str(goal), "pending", "")
            for order, goal in enumerate(meant.goals)
        ]
        said = speech.understood(meant.goals, adding, self._talk.report_length)
        return [self._say(now, said, utterance.id), self._objectives(now, objectives, replace=not adding)]

    def _objectives(self, now: float, objectives: list[Objective], *, replace: bool) -> Sent:
        return t.OBJECTIVES.of(Objectives(header=Header.at(now), objectives=objectives, replace=replace))

    # --- focus -> one call -----------------------------------------------------------------------

    def _propose(
        self,
        now: float,
        situation: Situation,
        choices: Options,
        thought: str,
        text: str,
        state: WorldState | None,
        cancelled: bool,
    ) -> list[Sent]:
        focus = self._focus
        if focus is None or focus.id != situation.objective.id or self._others:
            cancelled = True  # it was about something else, or another's call began meanwhile
        if cancelled or state is None or focus is None:
            self._open_turn = True
            self._memory.tell(now, situation.news)
            return []
        self._cut_short = 0
        try:
            skill, arguments = act.read(text, situation, choices)
        except NotAChoice as error:
            return self._refuse(now, focus, str(error))
        if skill == act.GIVE_UP:
            return [self._give_up(now, focus, speech.given_up(arguments, choices.hopeless))]
        self._calls += 1
        call = SkillCall(
            header=Header.at(now), id=f"{focus.id}-{self._calls}", skill=skill, arguments=arguments,
            objective=focus.id, source="planner", because=[focus.id, thought, *self._signals.ids(now, focus.id)],
        )
        verdict = validate(call, state, self._names)  # against the newest state, not the one it was chosen in
        sent: list[Sent] = [t.VERDICT.of(verdict)]
        if not verdict.accepted:
            mend = f"; {verdict.repair} would mend it" if verdict.repair else ""
            self._memory.over.append(call.id)
            return [*sent, *self._refuse(now, focus, f"{short(skill, arguments)}: {verdict.reason}{mend}")]
        self._refused.clear()
        chosen = verdict.call
        why = choices.thought(text.strip(), situation.history)
        self._running = Running(call.id, short(chosen.skill, chosen.arguments), focus.id, now, why)
        return sent

    def _refuse(self, now: float, focus: Objective, reason: str) -> list[Sent]:
        self._refused.append(reason)
        self._open_turn = True
        if len(self._refused) < REFUSALS:
            return []
        self._refused.clear()
        return [self._give_up(now, focus, f"{REFUSALS} of my ideas in a row were refused, the last: {reason}")]

    def _give_up(self, now: float, focus: Objective, reason: str) -> Sent:
        """The objective is given up; the gate ends it, and its end is then told."""
        self._open_turn = False
        failed = focus.model_copy(update={"state": "failed", "reason": reason})
        return self._objectives(now, [failed], replace=False)

    def _say(self, now: float, text: str, cause: str) -> Sent:
        return t.REPLY.of(Speech(header=Header.at(now), text=text, cause=cause))
