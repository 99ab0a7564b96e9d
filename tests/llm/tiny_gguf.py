"""Writes a tiny llama model with random weights: real llama.cpp loads it, tokenizes, caches and obeys grammars."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# GGUF v3, little endian: header, key/value pairs, tensor table, padding, tensors.
_MAGIC, _VERSION, _ALIGNMENT = b"GGUF", 3, 32
_UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 6, 7, 8, 9
_INT32 = 5
_NORMAL, _CONTROL = 1, 3  # token types

WIDTH, LAYERS, HEADS, KV_HEADS, FEED_FORWARD, CONTEXT = 32, 2, 4, 2, 64, 8192
TEMPLATE = (
    "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{'<|im_start|>assistant\n'}}{% endif %}"
)


def _byte_letters() -> list[str]:
    """The printable letter that stands for each byte in byte-level BPE vocabularies."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    spare = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(spare)) for byte in range(256)]


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _pair(key: str, value: Any) -> bytes:
    head = _text(key)
    match value:
        case bool():
            return head + struct.pack("<I?", _BOOL, value)
        case int():
            return head + struct.pack("<II", _UINT32, value)
        case float():
            return head + struct.pack("<If", _FLOAT32, value)
        case str():
            return head + struct.pack("<I", _STRING) + _text(value)
        case [str(), *_]:
            items = b"".join(_text(item) for item in value)
            return head + struct.pack("<IIQ", _ARRAY, _STRING, len(value)) + items
        case [int(), *_]:
            return head + struct.pack("<IIQ", _ARRAY, _INT32, len(value)) + np.asarray(value, "<i4").tobytes()
    raise TypeError(f"{key}: {value!r}")


def _tensors(rng: np.random.Generator, vocabulary: int) -> dict[str, NDArray[np.float32]]:
    def weights(*shape: int) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    ones = np.ones(WIDTH, np.float32)
    kv = WIDTH * KV_HEADS // HEADS
    found = {
        "token_embd.weight": weights(vocabulary, WIDTH),
        "output.weight": weights(vocabulary, WIDTH) * 3,
        "output_norm.weight": ones,
    }
    for layer in range(LAYERS):
        found |= {
            f"blk.{layer}.attn_norm.weight": ones,
            f"blk.{layer}.attn_q.weight": weights(WIDTH, WIDTH),
            f"blk.{layer}.attn_k.weight": weights(kv, WIDTH),
            f"blk.{layer}.attn_v.weight": weights(kv, WIDTH),
            f"blk.{layer}.attn_output.weight": weights(WIDTH, WIDTH),
            f"blk.{layer}.ffn_norm.weight": ones,
            f"blk.{layer}.ffn_gate.weight": weights(FEED_FORWARD, WIDTH),
            f"blk.{layer}.ffn_up.weight": weights(FEED_FORWARD, WIDTH),
            f"blk.{layer}.ffn_down.weight": weights(WIDTH, FEED_FORWARD),
        }
    return found


def write_tiny_gguf(file: Path, seed: int = 0) -> Path:
    """Write the model, about 250 kB, the same bytes for the same seed; returns `file`."""
    letters = _byte_letters()
    pairs: Sequence[tuple[str, str]] = (("r", "e"), ("re", "d"), ("g", "o"), ("Ġ", "t"))
    merged = [a + b for a, b in pairs]
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [*letters, *merged, *special]
    first_special = len(letters) + len(merged)
    tensors = _tensors(np.random.default_rng(seed), len(tokens))
    meta: dict[str, Any] = {
        "general.architecture": "llama",
        "general.name": "tiny random test model",
        "general.alignment": _ALIGNMENT,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": LAYERS,
        "llama.feed_forward_length": FEED_FORWARD,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KV_HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [_NORMAL] * first_special + [_CONTROL] * len(special),
        "tokenizer.ggml.merges": [f"{a} {b}" for a, b in pairs],
        "tokenizer.ggml.bos_token_id": first_special + 1,
        "tokenizer.ggml.eos_token_id": first_special + 2,
        "tokenizer.ggml.padding_token_id": first_special,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }
    table, body = b"", b""
    for name, tensor in tensors.items():
        dims = tensor.shape[::-1]  # GGUF lists the fastest dimension first
        table += _text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, 0, len(body))
        data = tensor.tobytes()
        body += data + b"\0" * (-len(data) % _ALIGNMENT)
    head = _MAGIC + struct.pack("<IQQ", _VERSION, len(tensors), len(meta))
    head += b"".join(_pair(key, value) for key, value in meta.items()) + table
    file.write_bytes(head + b"\0" * (-len(head) % _ALIGNMENT) + body)
    return file
