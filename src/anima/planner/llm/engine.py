"""llama.cpp, driven call by call: one context, one KV sequence per role, greedy decoding under a grammar.

Everything here runs in one thread; `llama.py` gives it that thread.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anima.planner.llm import cells
from anima.planner.llm.base import (
    Completion,
    LlmError,
    Message,
    Meter,
    Read,
    Reading,
    Request,
    Weighed,
    Weighing,
    Written,
)
from anima.planner.llm.cells import Cells, common, model_key
from anima.planner.llm.tap import Tap
from anima.planner.llm.text import Text, defused

BATCH_TOKENS = 256
SHORT_BATCH_TOKENS = 64  # what is computed of a batch is lost when it is broken off; the next try goes on from there
BACKGROUND_CELLS = 2048  # beside those of the planner's roles, so that neither drives out the other
SHORTLIST = 256  # most likely tokens that the grammar is asked about before the whole vocabulary is
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)], align=True)


class Aborted(Exception):
    """A budget ran out, the task was cancelled, or it was set aside."""


class Engine:
    """A loaded model. Not thread-safe: construct and use it in one thread. Budgets count what that computes.

    Raises `LlmError` at construction when the file is missing, is no model, or ignores grammars.
    """

    def __init__(self, path: Path, threads: int, context_tokens: int, cache: Path | None, meter: Meter) -> None:
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # busy waiting collapses throughput on shared cores
        try:
            import llama_cpp.llama_cpp as lib
        except (ImportError, OSError, RuntimeError) as error:
            raise LlmError(f"llama-cpp-python can't be loaded ({error}): run `make setup` or set llm.server") from error
        if not path.is_file():
            raise LlmError(f"{path}: no such model file; get it with `./anima models fetch`, or set llm.model")
        self._meter = meter
        self._lib: Any = lib
        _silence(lib)
        lib.llama_backend_init()
        self._model = lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
        if not self._model:
            raise LlmError(f"{path}: llama.cpp can't read this file as a GGUF model")
        self.text = Text(lib, self._model)
        self.key = model_key(path)
        self.layers = int(lib.llama_model_n_layer(self._model))
        self.context_tokens = min(context_tokens, int(lib.llama_model_n_ctx_train(self._model)))
        self._spent_s = functools.partial(time.clock_gettime, time.pthread_getcpuclockid(threading.get_ident()))
        self._deadline = math.inf
        self._is_cancelled: Callable[[], bool] = lambda: False
        self._abort = lib.ggml_abort_callback(lambda data: self._must_stop())
        self._tap = Tap(lib, int(lib.llama_model_n_embd(self._model)))
        limit = self.context_tokens + BACKGROUND_CELLS
        self._context = self._new_context(threads, limit)
        self._batch = lib.llama_batch_init(BATCH_TOKENS, 0, 1)
        version = importlib.metadata.version("llama-cpp-python")
        self._cells = Cells(lib, self._context, limit - BATCH_TOKENS, cache, f"{self.key} {version}")
        self._canary()

    def _new_context(self, threads: int, limit: int) -> Any:
        lib = self._lib
        params = lib.llama_context_default_params()
        params.n_ctx = limit
        params.n_batch = params.n_ubatch = BATCH_TOKENS
        params.n_seq_max = cells.SEQUENCES
        params.kv_unified = True  # roles share the cells, none has a fixed part
        params.n_threads = params.n_threads_batch = threads
        params.abort_callback = self._abort
        params.cb_eval = self._tap.callback
        params.no_perf = True
        context = lib.llama_init_from_model(self._model, params)
        if not context:
            raise LlmError(f"llama.cpp can't make a context of {limit} tokens; lower llm.context_tokens")
        return context

    def close(self) -> None:
        """Free model and context."""
        if self._context:
            self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self._context)
            self._lib.llama_model_free(self._model)
            self._context = self._model = None

    # --- a turn -------------------------------------------------------------------------------

    def complete(
        self, request: Request, is_cancelled: Callable[[], bool], written: Written | None = None
    ) -> Completion:
        """Work off one turn. Errors are in the completion; figures are filled in as far as the turn got.

        `written` is what the turn wrote before it was set aside, and takes up what it writes now.
        """
        written = Written() if written is None else written
        prompt_tokens = cached = 0
        prefill_s = 0.0
        text, error = "", ""
        self._is_cancelled = is_cancelled
        grammar = None
        began = time.perf_counter()
        phase, budget = "prefill", request.prefill_budget_s
        try:
            grammar = self._grammar(request.grammar)
            stable = self._stable(request)
            prompt = self.text.tokenize(self.text.render(request.messages, answer=True))
            prompt_tokens = len(prompt)
            self._check_fits(len(prompt) + request.max_tokens)
            self._deadline = self._spent_s() + budget
            sequence = self._cells.of(request.role, request.background)
            cached = self._prefill(sequence, stable, prompt + written.tokens)
            prefill_s = time.perf_counter() - began
            phase, budget = "decode", request.decode_budget_s
            began = time.perf_counter()
            self._deadline = self._spent_s() + budget
            text = self._decode(sequence, grammar, request, written)
        except Aborted:
            why = "cancelled" if is_cancelled() else f"over its budget of {budget:g} s"
            text, error = "", f"{phase} {why}"
        except LlmError as failure:
            text, error = "", str(failure)
        finally:
            self._deadline = math.inf
            if grammar:
                self._lib.llama_sampler_free(grammar)
        spent = time.perf_counter() - began
        return Completion(
            text=text,
            prompt_tokens=prompt_tokens,
            cached_tokens=min(cached, prompt_tokens),
            completion_tokens=len(written.tokens),
            prefill_s=spent if phase == "prefill" else prefill_s,
            decode_s=spent if phase == "decode" else 0.0,
            confidence=math.exp(written.log_p) if text else 0.0,
            error=error,
        )

    def read(self, reading: Reading, is_cancelled: Callable[[], bool]) -> Read:
        """Read hidden states. Errors are in the answer."""
        began = time.perf_counter()
        self._is_cancelled, self._deadline = is_cancelled, self._spent_s() + reading.budget_s
        try:
            stable = self._stable(reading)
            before, span, after = self._pieces(reading)
            prompt = before + span + after
            self._check_fits(len(prompt))
            if stable != prompt[: len(stable)] or len(stable) > len(before):
                raise LlmError(f"{reading.role}: the span is not behind the stable messages")
            layers = [max(0, min(self.layers - 2, round(state.depth * self.layers))) for state in reading.states]
            # The computation ends at a middle layer: such cells are of use to no turn, so they get a role of their own.
            sequence = self._cells.of(f"read.{reading.role}", reading.background)
            self._tap.open(layers)
            cached = len(stable)
            if sequence.tokens[:cached] != stable and not self._cells.restore(sequence, stable):
                cached = 0
                self._fill(sequence, stable, 0)
                self._cells.save(sequence)
            states = self._read_rows(sequence, prompt, len(stable), layers)
            part = slice(len(before) - len(stable), len(before) - len(stable) + len(span))
            rows = [
                states[layer][-1] if state.over == "last" else states[layer][part].mean(axis=0)
                for state, layer in zip(reading.states, layers, strict=True)
            ]
            return Read(np.stack(rows), self.key, len(prompt), cached, time.perf_counter() - began)
        except Aborted:
            why = "cancelled" if is_cancelled() else f"over its budget of {reading.budget_s:g} s"
            return Read(error=f"reading {why}", model=self.key, seconds=time.perf_counter() - began)
        except LlmError as failure:
            return Read(error=str(failure), model=self.key, seconds=time.perf_counter() - began)
        finally:
            self._tap.close()
            self._deadline = math.inf

    def weigh(self, weighing: Weighing, is_cancelled: Callable[[], bool]) -> Weighed:
        """Compare how likely options are. Errors are in the answer."""
        began = time.perf_counter()
        self._is_cancelled, self._deadline = is_cancelled, self._spent_s() + weighing.budget_s
        try:
            stable = self._stable(weighing)
            prompt = self.text.tokenize(self.text.render(weighing.messages, answer=True) + weighing.opening)
            options = [self.text.tokenize(option, begins=False) for option in weighing.options]
            if not options or not all(options):
                raise LlmError(f"{weighing.role}: there is nothing to compare, or an option is empty")
            self._check_fits(len(prompt) + max(map(len, options)))
            sequence = self._cells.of(weighing.role, weighing.background)
            cached = self._prefill(sequence, stable, prompt)
            found = [0.0] * len(options)
            self._weigh_from(sequence, options, list(range(len(options))), 0, found)
            return Weighed(tuple(found), len(prompt), cached, time.perf_counter() - began)
        except Aborted:
            why = "cancelled" if is_cancelled() else f"over its budget of {weighing.budget_s:g} s"
            return Weighed(error=f"weighing {why}", seconds=time.perf_counter() - began)
        except LlmError as failure:
            return Weighed(error=str(failure), seconds=time.perf_counter() - began)
        finally:
            self._deadline = math.inf

    def _must_stop(self) -> bool:
        return self._spent_s() > self._deadline or self._is_cancelled()

    def _stable(self, task: Request | Reading | Weighing) -> list[int]:
        return self.text.tokenize(self.text.render(task.messages[: task.stable], answer=False)) if task.stable else []

    def _check_fits(self, tokens: int) -> None:
        if tokens > self.context_tokens:
            raise LlmError(f"the prompt has {tokens} tokens, too many for a context of {self.context_tokens}")

    def _pieces(self, reading: Reading) -> tuple[list[int], list[int], list[int]]:
        """Tokens before, in and behind the span, each cut on its own, so that a span's tokens are its own."""
        whole = self.text.render(reading.messages, answer=True) + reading.opening
        span = defused(reading.span)
        start = whole.rfind(span, 0, len(whole) - len(reading.opening)) if span.strip() else -1
        if start < 0:
            raise LlmError(f"{reading.role}: the span {reading.span[:40]!r} is not in the last message")
        cut = (whole[:start], span, whole[start + len(span) :])
        before, inside, after = (self.text.tokenize(text, begins=i == 0) for i, text in enumerate(cut))
        return before, inside, after

    def _read_rows(
        self, sequence: cells.Sequence, prompt: list[int], kept: int, layers: list[int]
    ) -> dict[int, NDArray[np.float32]]:
        """The wanted layers' outputs for every token of `prompt` behind the first `kept`."""
        found: dict[int, list[NDArray[np.float32]]] = {layer: [] for layer in layers}
        self._cells.truncate(sequence, kept)
        self._cells.make_room(sequence, len(prompt) - kept)
        for start in range(kept, len(prompt), SHORT_BATCH_TOKENS):
            self._tap.rows = {}
            self._evaluate(sequence, prompt[start : start + SHORT_BATCH_TOKENS])
            for layer, rows in found.items():
                if layer not in self._tap.rows:
                    raise LlmError("this model's layers have no outputs with names; judge by weighing instead")
                rows.append(self._tap.rows[layer])
        return {layer: np.concatenate(rows) for layer, rows in found.items()}

    def _weigh_from(
        self, sequence: cells.Sequence, options: list[list[int]], alive: list[int], depth: int, found: list[float]
    ) -> None:
        """Walk the options' tokens as a tree: what they share is computed once, and a leaf needs no computation."""
        logits = self._logits()
        peak = float(logits.max())
        total = peak + math.log(float(np.sum(np.exp(logits - peak, dtype=np.float64))))
        log_p = {options[i][depth]: float(logits[options[i][depth]]) - total for i in alive}
        length = len(sequence.tokens)
        for token, value in log_p.items():
            here = [i for i in alive if options[i][depth] == token]
            for i in here:
                found[i] += value
            longer = [i for i in here if len(options[i]) > depth + 1]
            if longer:
                self._evaluate(sequence, [token])
                self._weigh_from(sequence, options, longer, depth + 1, found)
                self._cells.truncate(sequence, length)

    def _prefill(self, sequence: cells.Sequence, stable: list[int], prompt: list[int]) -> int:
        """Bring the sequence to hold `prompt`; returns how many of its tokens were there already."""
        if stable == prompt[: len(stable)] and common(sequence.tokens, stable) < len(stable):
            if self._cells.restore(sequence, stable):
                cached = len(stable)
            else:
                cached = min(common(sequence.tokens, prompt), len(prompt) - 1)
                self._fill(sequence, stable, cached)
                self._cells.save(sequence)
        else:
            cached = min(common(sequence.tokens, prompt), len(prompt) - 1)
        self._fill(sequence, prompt, min(common(sequence.tokens, prompt), len(prompt) - 1))
        return cached

    def _fill(self, sequence: cells.Sequence, tokens: list[int], kept: int) -> None:
        self._cells.truncate(sequence, kept)
        self._cells.make_room(sequence, len(tokens) - kept)
        self._evaluate(sequence, tokens[kept:])

    def _evaluate(self, sequence: cells.Sequence, tokens: Sequence[int]) -> None:
        size = SHORT_BATCH_TOKENS if sequence.background or len(tokens) <= BATCH_TOKENS else BATCH_TOKENS
        for start in range(0, len(tokens), size):
            chunk = tokens[start : start + size]
            batch, position = self._batch, len(sequence.tokens)
            batch.n_tokens = len(chunk)
            for i, token in enumerate(chunk):
                batch.token[i] = token
                batch.pos[i] = position + i
                batch.n_seq_id[i] = 1
                batch.seq_id[i][0] = sequence.id
                batch.logits[i] = i == len(chunk) - 1
            code = 2 if self._must_stop() else self._lib.llama_decode(self._context, batch)
            if code == 0:
                self._meter.tokens += len(chunk)
                sequence.tokens.extend(chunk)
                continue
            self._cells.truncate(sequence, position)
            if code == 2:
                raise Aborted
            raise LlmError(f"llama.cpp refused to evaluate {len(chunk)} tokens (code {code})")

    def _logits(self) -> NDArray[np.float32]:
        pointer = self._lib.llama_get_logits_ith(self._context, -1)
        logits: NDArray[np.float32] = np.ctypeslib.as_array(pointer, shape=(self.text.n_vocab,))
        return logits

    def _decode(self, sequence: cells.Sequence, grammar: Any, request: Request, written: Written) -> str:
        data = b"".join(self.text.piece(token) for token in written.tokens)
        for token in written.tokens:
            self._lib.llama_sampler_accept(grammar, token)
        while len(written.tokens) < request.max_tokens:
            token, p = self._pick(grammar)
            log_p = written.log_p + math.log(max(p, 1e-12))
            ended = bool(self._lib.llama_vocab_is_eog(self.text.vocab, token))
            data += b"" if ended else self.text.piece(token)
            left = [choice for choice in request.choices if choice.encode().startswith(data)]
            if not ended and len(left) != 1:
                self._lib.llama_sampler_accept(grammar, token)
                self._evaluate(sequence, [token])
            written.add(token, log_p)
            if ended or len(left) == 1:
                return data.decode("utf-8", "replace") if ended else left[0]
        raise LlmError(f"the answer was not complete after {request.max_tokens} tokens: {data[:80]!r}")

    def _pick(self, grammar: Any) -> tuple[int, float]:
        """The likeliest token that the grammar admits, and its probability among those."""
        logits = self._logits()
        if len(logits) > SHORTLIST:
            likely = np.argpartition(logits, -SHORTLIST)[-SHORTLIST:]
            found = self._admitted(grammar, likely, logits)
            if found is not None:
                return found
        found = self._admitted(grammar, np.arange(len(logits)), logits)
        if found is None:
            raise LlmError("the grammar admits no token here")
        return found

    def _admitted(self, grammar: Any, ids: NDArray[Any], logits: NDArray[np.float32]) -> tuple[int, float] | None:
        candidates = np.zeros(len(ids), dtype=_CANDIDATE)
        candidates["id"] = ids
        candidates["logit"] = logits[ids]
        array = self._lib.llama_token_data_array(
            data=candidates.ctypes.data_as(self._lib.llama_token_data_p), size=len(ids), selected=-1, sorted=False
        )
        self._lib.llama_sampler_apply(grammar, ctypes.byref(array))
        kept = candidates["logit"][: array.size]
        best = int(np.argmax(kept))
        if not np.isfinite(kept[best]):
            return None
        total = float(np.sum(np.exp(kept - kept[best], dtype=np.float64)))
        return int(candidates["id"][best]), 1.0 / total

    def _grammar(self, text: str) -> Any:
        """A sampler for the GBNF `text`. An unreadable grammar is an error, never a free decode."""
        vocab = self.text.vocab
        sampler = self._lib.llama_sampler_init_grammar(vocab, text.encode(), b"root") if text.strip() else None
        if not sampler:
            raise LlmError(f"the grammar can't be parsed, so nothing is decoded: {text[:120]!r}")
        return sampler

    def _canary(self) -> None:
        """Proves once, before anything depends on it, that grammars bind and that broken ones are noticed."""
        ask = (Message("user", "Say yes or no."),)
        bound = Request("canary", ask, 0, 'root ::= "zq7" | "zq8"', 16, 120.0, 60.0)
        broken = replace(bound, grammar='root ::= root "zq7"')  # left recursion: refused without noise on stderr
        good = self.complete(bound, lambda: False)
        bad = self.complete(broken, lambda: False)
        self._cells.forget("canary")
        if good.text not in ("zq7", "zq8"):
            raise LlmError(f"this build of llama.cpp does not obey grammars: {good.text!r} {good.error}")
        if not bad.error:
            raise LlmError("this build of llama.cpp decodes freely under a broken grammar; it must not plan")


@functools.cache
def _silence(lib: Any) -> Any:
    """Has llama.cpp write nothing to stderr. The callback is the library's, not an engine's: it must never be freed."""
    log = lib.llama_log_callback(lambda level, text, data: None)
    lib.llama_log_set(log, ctypes.c_void_p(0))
    return log
