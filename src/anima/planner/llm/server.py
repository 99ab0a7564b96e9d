"""A language model behind an OpenAI-compatible HTTP server, such as llama.cpp's own."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from anima.planner.llm.base import Completion, LlmError, Meter, Read, Reading, Request, Slot, Weighed, Weighing
from anima.planner.llm.turns import Turns

LOOPBACK = "127.0.0.1"
TOP_LOGPROBS = 20
UNLIKELY = -12.0  # of an option that is not among them


class Server:
    """Sends each turn to ``POST <address>/v1/chat/completions``, one after the other, in a worker thread.

    The grammar travels in llama.cpp's `grammar` field. A server that refuses the field is asked again without it:
    then nothing but the reader of the answer keeps it to the offered choices, and a wrong answer costs a turn.
    `address` is a URL; without a host it is this machine (``:8080``).
    """

    def __init__(self, address: str, model: str) -> None:
        self._url = _endpoint(address)
        self._model = model
        self._takes_grammar = True
        self._turns = Turns()
        self._meter = Meter()
        self._worker = threading.Thread(target=self._work, name="llm-server", daemon=True)
        self._worker.start()

    def start(self, request: Request) -> Slot[Completion]:
        """Queue a turn; returns at once. Turns of the background go after all others, but are not interrupted."""
        slot = Slot[Completion](request, self._meter)
        self._turns.put(slot)
        return slot

    def read(self, reading: Reading) -> Slot[Read]:
        """A server shows no hidden states: the answer is an error that says so."""
        slot = Slot[Read](reading, self._meter)
        slot.fail(f"{self._url}: a server shows no hidden states; judge by weighing options, or set llm.model")
        return slot

    def weigh(self, weighing: Weighing) -> Slot[Weighed]:
        """Queue a comparison of options; returns at once."""
        slot = Slot[Weighed](weighing, self._meter)
        self._turns.put(slot)
        return slot

    def close(self) -> None:
        """End the worker after the turn at hand."""
        self._turns.close()

    def _work(self) -> None:
        while (slot := self._turns.take()) is not None:
            began = time.perf_counter()
            slot.begin()
            try:
                match slot.task:
                    case Weighing() as weighing:
                        slot.end(self._weigh(weighing, began))
                    case Request() as request:
                        slot.end(self._ask(request, began))
                    case other:
                        slot.fail(f"{self._url}: a server can't be asked for a {type(other).__name__}")
            except LlmError as error:
                slot.fail(str(error))

    def _ask(self, request: Request, began: float) -> Completion:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": 0,
            "cache_prompt": True,
        }
        budget_s = request.prefill_budget_s + request.decode_budget_s
        if self._takes_grammar:
            body["grammar"] = request.grammar
        try:
            reply = self._post(body, budget_s)
        except _Refusal as refusal:
            if not self._takes_grammar or refusal.status != 400:
                raise LlmError(str(refusal)) from refusal
            self._takes_grammar = False
            del body["grammar"], body["cache_prompt"]
            try:
                reply = self._post(body, budget_s)
            except _Refusal as again:
                raise LlmError(str(again)) from again
        try:
            text = str(reply["choices"][0]["message"]["content"])
            usage = reply.get("usage") or {}
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            prompt, written = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise LlmError(f"{self._url}: the answer is no chat completion: {str(reply)[:120]}") from error
        if request.choices and text.strip() not in request.choices:
            raise LlmError(f"{self._url}: {text[:80]!r} is none of the choices")
        return Completion(
            text=text.strip(),
            prompt_tokens=prompt,
            cached_tokens=int(cached),
            completion_tokens=written,
            decode_s=time.perf_counter() - began,
        )

    def _weigh(self, weighing: Weighing, began: float) -> Weighed:
        """Compares the options by the first token of the answer: what a chat server tells of its probabilities."""
        messages = [{"role": m.role, "content": m.content} for m in weighing.messages]
        if weighing.opening:
            messages.append({"role": "assistant", "content": weighing.opening})
        body = {
            "model": self._model, "messages": messages, "max_tokens": 1, "temperature": 0,
            "logprobs": True, "top_logprobs": TOP_LOGPROBS,
        }
        try:
            reply = self._post(body, weighing.budget_s)
            likely = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            tokens = {str(item["token"]).strip(): float(item["logprob"]) for item in reversed(likely)}
        except _Refusal as refusal:
            raise LlmError(str(refusal)) from refusal
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise LlmError(f"{self._url}: the server tells no log-probabilities to weigh by") from error
        options = [option.strip() for option in weighing.options]
        found = [
            max((p for token, p in tokens.items() if token and option.startswith(token)), default=UNLIKELY)
            for option in options
        ]
        if max(found) == UNLIKELY:
            raise LlmError(f"{self._url}: none of the options is among the {TOP_LOGPROBS} likeliest tokens")
        return Weighed(tuple(found), seconds=time.perf_counter() - began)

    def _post(self, body: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        call = urllib.request.Request(
            self._url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        try:
            with urllib.request.urlopen(call, timeout=timeout_s) as response:
                reply = json.load(response)
        except urllib.error.HTTPError as error:
            raise _Refusal(error.code, f"{self._url}: HTTP {error.code}: {error.read(200)!r}") from error
        except (OSError, ValueError) as error:
            raise LlmError(f"{self._url}: no usable answer ({error}); is the server running?") from error
        if not isinstance(reply, dict):
            raise LlmError(f"{self._url}: the answer is no JSON object")
        return reply


class _Refusal(Exception):
    """The server answered, with an error status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _endpoint(address: str) -> str:
    address = f"{LOOPBACK}{address}" if address.startswith(":") else address
    parts = urllib.parse.urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise LlmError(f"llm.server: {address!r} is no http address; expected for example http://127.0.0.1:8080")
    path = parts.path.rstrip("/")
    path = path if path.endswith("/v1") else f"{path}/v1"
    return f"{parts.scheme}://{parts.netloc}{path}/chat/completions"
