"""llama.cpp, driven call by call: one context, one KV sequence per role, greedy decoding under a grammar.

Everything here runs in one thread; `llama.py` gives it that thread.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anima.planner.llm.base import Completion, LlmError, Message, Request

BATCH_TOKENS = 256
SEQUENCES = 4  # roles that keep their own prefix; the last one also serves the canary
SHORTLIST = 256  # most likely tokens that the grammar is asked about before the whole vocabulary is
KEPT_PREFIX_FILES = 6
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)], align=True)


class Aborted(Exception):
    """A budget ran out or the turn was cancelled."""


@dataclass
class _Sequence:
    """What the KV cache holds for a role."""

    id: int
    tokens: list[int] = field(default_factory=list)
    used: int = 0


class Engine:
    """A loaded model. Not thread-safe: construct and use it in one thread.

    Raises `LlmError` at construction when the file is missing, is no model, or ignores grammars.
    """

    def __init__(self, path: Path, threads: int, context_tokens: int, cache: Path | None) -> None:
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # busy waiting collapses throughput on shared cores
        try:
            import llama_cpp.llama_cpp as lib
        except (ImportError, OSError, RuntimeError) as error:
            raise LlmError(f"llama-cpp-python can't be loaded ({error}): run `make setup` or set llm.server") from error
        if not path.is_file():
            raise LlmError(f"{path}: no such model file; get it with `./anima models fetch`, or set llm.model")
        self._lib: Any = lib
        self._log = lib.llama_log_callback(lambda level, text, data: None)
        lib.llama_log_set(self._log, ctypes.c_void_p(0))
        lib.llama_backend_init()
        self._model = lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
        if not self._model:
            raise LlmError(f"{path}: llama.cpp can't read this file as a GGUF model")
        self._vocab = lib.llama_model_get_vocab(self._model)
        self._n_vocab = int(lib.llama_vocab_n_tokens(self._vocab))
        self.context_tokens = min(context_tokens, int(lib.llama_model_n_ctx_train(self._model)))
        self._deadline = math.inf
        self._is_cancelled: Callable[[], bool] = lambda: False
        self._abort = lib.ggml_abort_callback(lambda data: self._must_stop())
        self._context = self._new_context(threads)
        self._batch = lib.llama_batch_init(BATCH_TOKENS, 0, 1)
        self._template = lib.llama_model_chat_template(self._model, None) or b"chatml"
        self._sequences: dict[str, _Sequence] = {}
        self._uses = 0
        self._cache = cache
        self._key = _model_key(path)
        self._canary()

    def _new_context(self, threads: int) -> Any:
        lib = self._lib
        params = lib.llama_context_default_params()
        params.n_ctx = self.context_tokens
        params.n_batch = params.n_ubatch = BATCH_TOKENS
        params.n_seq_max = SEQUENCES
        params.kv_unified = True  # roles share the cells, none has a fixed quarter
        params.n_threads = params.n_threads_batch = threads
        params.abort_callback = self._abort
        params.no_perf = True
        context = lib.llama_init_from_model(self._model, params)
        if not context:
            raise LlmError(f"llama.cpp can't make a context of {self.context_tokens} tokens; lower llm.context_tokens")
        return context

    def close(self) -> None:
        """Free model and context."""
        if self._context:
            self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self._context)
            self._lib.llama_model_free(self._model)
            self._context = self._model = None

    # --- a turn -------------------------------------------------------------------------------

    def complete(self, request: Request, is_cancelled: Callable[[], bool]) -> Completion:
        """Work off one turn. Errors are in the completion; figures are filled in as far as the turn got."""
        prompt_tokens = cached = written = 0
        prefill_s = 0.0
        text, confidence, error = "", 0.0, ""
        self._is_cancelled = is_cancelled
        grammar = None
        began = time.perf_counter()
        phase, budget = "prefill", request.prefill_budget_s
        try:
            grammar = self._grammar(request.grammar)
            stable = self.tokenize(self.render(request.messages[: request.stable], answer=False))
            prompt = self.tokenize(self.render(request.messages, answer=True))
            prompt_tokens = len(prompt)
            if len(prompt) + request.max_tokens > self.context_tokens:
                raise LlmError(f"the prompt has {len(prompt)} tokens, too many for a context of {self.context_tokens}")
            self._deadline = began + budget
            sequence = self._sequence(request.role)
            cached = self._prefill(sequence, stable, prompt, request.role)
            prefill_s = time.perf_counter() - began
            phase, budget = "decode", request.decode_budget_s
            began = time.perf_counter()
            self._deadline = began + budget
            text, confidence, written = self._decode(sequence, grammar, request)
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
            cached_tokens=cached,
            completion_tokens=written,
            prefill_s=spent if phase == "prefill" else prefill_s,
            decode_s=spent if phase == "decode" else 0.0,
            confidence=confidence,
            error=error,
        )

    def _must_stop(self) -> bool:
        return time.perf_counter() > self._deadline or self._is_cancelled()

    def _sequence(self, role: str) -> _Sequence:
        """The role's KV sequence; a new role takes a free one, or the one unused for longest."""
        self._uses += 1
        if role not in self._sequences:
            if len(self._sequences) < SEQUENCES:
                free = set(range(SEQUENCES)) - {s.id for s in self._sequences.values()}
                self._sequences[role] = _Sequence(min(free))
            else:
                oldest = min(self._sequences, key=lambda r: self._sequences[r].used)
                sequence = self._sequences.pop(oldest)
                self._truncate(sequence, 0)
                self._sequences[role] = sequence
        sequence = self._sequences[role]
        sequence.used = self._uses
        return sequence

    def _prefill(self, sequence: _Sequence, stable: list[int], prompt: list[int], role: str) -> int:
        """Bring the sequence to hold `prompt`; returns how many of its tokens were there already."""
        if stable == prompt[: len(stable)] and _common(sequence.tokens, stable) < len(stable):
            if self._load_prefix(sequence, stable, role):
                cached = len(stable)
            else:
                cached = min(_common(sequence.tokens, prompt), len(prompt) - 1)
                self._truncate(sequence, cached)
                self._make_room(sequence, len(prompt) - cached)
                self._evaluate(sequence, stable[cached:])
                self._save_prefix(sequence, role)
        else:
            cached = min(_common(sequence.tokens, prompt), len(prompt) - 1)
        kept = min(_common(sequence.tokens, prompt), len(prompt) - 1)
        self._truncate(sequence, kept)
        self._make_room(sequence, len(prompt) - kept)
        self._evaluate(sequence, prompt[kept:])
        return cached

    def _make_room(self, sequence: _Sequence, tokens: int) -> None:
        """Drop other roles' sequences, unused for longest first, until `tokens` more and an answer fit."""
        others = sorted((s for s in self._sequences.values() if s is not sequence), key=lambda s: s.used)
        for other in others:
            held = sum(len(s.tokens) for s in self._sequences.values())
            if held + tokens + BATCH_TOKENS <= self.context_tokens:
                return
            self._truncate(other, 0)

    def _truncate(self, sequence: _Sequence, length: int) -> None:
        memory = self._lib.llama_get_memory(self._context)
        self._lib.llama_memory_seq_rm(memory, sequence.id, length, -1)
        del sequence.tokens[length:]

    def _evaluate(self, sequence: _Sequence, tokens: Sequence[int]) -> None:
        for start in range(0, len(tokens), BATCH_TOKENS):
            chunk = tokens[start : start + BATCH_TOKENS]
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
                sequence.tokens.extend(chunk)
                continue
            self._truncate(sequence, position)
            if code == 2:
                raise Aborted
            raise LlmError(f"llama.cpp refused to evaluate {len(chunk)} tokens (code {code})")

    def _decode(self, sequence: _Sequence, grammar: Any, request: Request) -> tuple[str, float, int]:
        data, count, log_p = b"", 0, 0.0
        while count < request.max_tokens:
            token, p = self._pick(grammar)
            count += 1
            log_p += math.log(max(p, 1e-12))
            if self._lib.llama_vocab_is_eog(self._vocab, token):
                return data.decode("utf-8", "replace"), math.exp(log_p), count
            data += self._piece(token)
            left = [choice for choice in request.choices if choice.encode().startswith(data)]
            if len(left) == 1:
                return left[0], math.exp(log_p), count
            self._lib.llama_sampler_accept(grammar, token)
            self._evaluate(sequence, [token])
        raise LlmError(f"the answer was not complete after {request.max_tokens} tokens: {data[:80]!r}")

    def _pick(self, grammar: Any) -> tuple[int, float]:
        """The likeliest token that the grammar admits, and its probability among those."""
        pointer = self._lib.llama_get_logits_ith(self._context, -1)
        logits: NDArray[np.float32] = np.ctypeslib.as_array(pointer, shape=(self._n_vocab,))
        if self._n_vocab > SHORTLIST:
            likely = np.argpartition(logits, -SHORTLIST)[-SHORTLIST:]
            found = self._admitted(grammar, likely, logits)
            if found is not None:
                return found
        found = self._admitted(grammar, np.arange(self._n_vocab), logits)
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

    # --- text and tokens ----------------------------------------------------------------------

    def tokenize(self, text: str) -> list[int]:
        """Tokens of a rendered prompt; special tokens are read as such."""
        data = text.encode()
        buffer = (self._lib.llama_token * (len(data) + 8))()
        count = self._lib.llama_tokenize(self._vocab, data, len(data), buffer, len(buffer), True, True)
        if count < 0:
            raise LlmError(f"a text of {len(data)} bytes can't be tokenized")
        return list(buffer[:count])

    def render(self, messages: Sequence[Message], answer: bool) -> str:
        """The messages in the model's own chat template; `answer` opens the assistant's turn."""
        lib = self._lib
        chat = (lib.llama_chat_message * len(messages))(
            *(lib.llama_chat_message(role=m.role.encode(), content=defused(m.content).encode()) for m in messages)
        )
        size = 2 * sum(len(m.content.encode()) + 64 for m in messages) + 256
        for template in (self._template, b"chatml"):
            buffer = ctypes.create_string_buffer(size)
            length = lib.llama_chat_apply_template(template, chat, len(messages), answer, buffer, size)
            if 0 <= length <= size:
                return buffer.raw[:length].decode()
        raise LlmError("the model's chat template is not understood and ChatML failed too")

    def _piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(64)
        length = self._lib.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, False)
        return buffer.raw[: max(length, 0)]

    def _grammar(self, text: str) -> Any:
        """A sampler for the GBNF `text`. An unreadable grammar is an error, never a free decode."""
        sampler = self._lib.llama_sampler_init_grammar(self._vocab, text.encode(), b"root") if text.strip() else None
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
        self._truncate(self._sequences["canary"], 0)
        del self._sequences["canary"]
        if good.text not in ("zq7", "zq8"):
            raise LlmError(f"this build of llama.cpp does not obey grammars: {good.text!r} {good.error}")
        if not bad.error:
            raise LlmError("this build of llama.cpp decodes freely under a broken grammar; it must not plan")

    # --- prefixes on disk ---------------------------------------------------------------------

    def _prefix_file(self, role: str, stable: list[int]) -> Path | None:
        if self._cache is None or not stable:
            return None
        digest = hashlib.sha256(np.asarray(stable, np.int32).tobytes() + self._key.encode()).hexdigest()
        return self._cache / f"{role}-{digest[:24]}.kv"

    def _load_prefix(self, sequence: _Sequence, stable: list[int], role: str) -> bool:
        file = self._prefix_file(role, stable)
        if file is None or not file.is_file():
            return False
        self._truncate(sequence, 0)
        self._make_room(sequence, len(stable))
        tokens = (self._lib.llama_token * len(stable))()
        count = ctypes.c_size_t(0)
        read = self._lib.llama_state_seq_load_file(
            self._context, str(file).encode(), sequence.id, tokens, len(stable), ctypes.byref(count)
        )
        if read and list(tokens[: count.value]) == stable:
            sequence.tokens = list(stable)
            os.utime(file)
            return True
        self._truncate(sequence, 0)
        file.unlink(missing_ok=True)
        return False

    def _save_prefix(self, sequence: _Sequence, role: str) -> None:
        file = self._prefix_file(role, sequence.tokens)
        if file is None:
            return
        tokens = (self._lib.llama_token * len(sequence.tokens))(*sequence.tokens)
        part = file.with_suffix(f".{os.getpid()}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            written = self._lib.llama_state_seq_save_file(
                self._context, str(part).encode(), sequence.id, tokens, len(tokens)
            )
            if written:
                part.replace(file)
            for old in sorted(file.parent.glob("*.kv"), key=lambda f: f.stat().st_mtime)[:-KEPT_PREFIX_FILES]:
                old.unlink(missing_ok=True)
        except OSError:
            part.unlink(missing_ok=True)  # a full disk costs the next start some seconds, not this turn


def defused(text: str) -> str:
    """`text` without anything that a chat template reads as the border of a turn: words are data."""
    return text.replace("<|", "< |").replace("|>", "| >")


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    length = min(len(a), len(b))
    return next((i for i in range(length) if a[i] != b[i]), length)


def _model_key(path: Path) -> str:
    """Identifies model file and llama.cpp without reading a gigabyte: size, head and tail of the file, version."""
    size = path.stat().st_size
    digest = hashlib.sha256(f"{size}".encode())
    with path.open("rb") as file:
        digest.update(file.read(1 << 20))
        file.seek(max(0, size - (1 << 20)))
        digest.update(file.read())
    return f"{digest.hexdigest()} {importlib.metadata.version('llama-cpp-python')}"
