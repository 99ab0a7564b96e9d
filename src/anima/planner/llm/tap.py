"""Hidden states, taken from the computation while it runs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anima.planner.llm.base import LlmError


class Tap:
    """llama.cpp's evaluation callback. While open it copies the outputs of the wanted layers, one row per token of the
    batch, and ends the computation behind the last of them: what lies above is not needed and saves its time.
    """

    def __init__(self, lib: Any, width: int) -> None:
        self._ggml = _ggml(Path(lib.__file__).parent / "lib")
        self._width = width
        self._wanted: dict[bytes, int] = {}
        self._last: bytes = b""
        self.rows: dict[int, NDArray[np.float32]] = {}
        self.callback = lib.ggml_backend_sched_eval_callback(self._see)

    def open(self, layers: Iterable[int]) -> None:
        """Watch these layers from now on."""
        numbers = sorted(set(layers))
        self._wanted = {b"l_out-%d" % number: number for number in numbers}
        self._last = b"l_out-%d" % numbers[-1]
        self.rows = {}

    def close(self) -> None:
        """Let the computation run as ever."""
        self._wanted, self._last = {}, b""

    def _see(self, tensor: int, ask: bool, data: int) -> bool:
        if not self._wanted:
            return not ask
        name = self._ggml.ggml_get_name(tensor)
        if ask or name not in self._wanted:
            return name in self._wanted or not ask
        size = self._ggml.ggml_nbytes(tensor)
        row = np.empty(size // 4, np.float32)
        self._ggml.ggml_backend_tensor_get(tensor, row.ctypes.data, 0, size)
        self.rows[self._wanted[name]] = row.reshape(-1, self._width)
        return bool(name != self._last)


def _ggml(folder: Path) -> Any:
    for name in ("libggml-base.so", "libggml-base.dylib", "ggml-base.dll"):
        if (folder / name).is_file():
            ggml = ctypes.CDLL(str(folder / name))
            ggml.ggml_get_name.restype = ctypes.c_char_p
            ggml.ggml_get_name.argtypes = [ctypes.c_void_p]
            ggml.ggml_nbytes.restype = ctypes.c_size_t
            ggml.ggml_nbytes.argtypes = [ctypes.c_void_p]
            ggml.ggml_backend_tensor_get.restype = None
            ggml.ggml_backend_tensor_get.argtypes = [
                ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t,
            ]
            return ggml
    raise LlmError(f"{folder}: no ggml library, so hidden states can't be read; build llama-cpp-python by `make setup`")
