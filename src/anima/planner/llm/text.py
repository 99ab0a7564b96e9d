"""A model's text side: its chat template and its tokens."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from anima.planner.llm.base import LlmError, Message


class Text:
    """Renders messages and turns text into tokens and back. Any thread may use it while the model is loaded."""

    def __init__(self, lib: Any, model: Any) -> None:
        self._lib = lib
        self.vocab = lib.llama_model_get_vocab(model)
        self.n_vocab = int(lib.llama_vocab_n_tokens(self.vocab))
        self._template = lib.llama_model_chat_template(model, None) or b"chatml"

    def tokenize(self, text: str, begins: bool = True) -> list[int]:
        """Tokens of a rendered prompt, or of a later piece of one; special tokens are read as such."""
        data = text.encode()
        buffer = (self._lib.llama_token * (len(data) + 8))()
        count = self._lib.llama_tokenize(self.vocab, data, len(data), buffer, len(buffer), begins, True)
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

    def piece(self, token: int) -> bytes:
        """The bytes of a token."""
        buffer = ctypes.create_string_buffer(64)
        length = self._lib.llama_token_to_piece(self.vocab, token, buffer, len(buffer), 0, False)
        return buffer.raw[: max(length, 0)]


def defused(text: str) -> str:
    """`text` without anything that a chat template reads as the border of a turn: words are data."""
    return text.replace("<|", "< |").replace("|>", "| >")
