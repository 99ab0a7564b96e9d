"""What the tests with a language model start from: the default one, or a tiny one with random weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from llm.tiny_gguf import write_tiny_gguf

from anima.config import Settings
from anima.planner.llm.base import Mind
from anima.planner.llm.llama import LlamaCpp, model_file
from anima.planner.session import open_model


@pytest.fixture(scope="module")
def model() -> Iterator[Mind]:
    """The default model, loaded once per file; a test that asks for it is skipped where it was not fetched."""
    settings = Settings().llm
    if not model_file(settings.model).is_file():
        pytest.skip("the model is not there: ./anima models fetch")
    model = open_model(settings)
    yield model
    model.close()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a tiny model: real llama.cpp loads it, its weights are random."""
    return write_tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture
def llama(tiny: Path, tmp_path: Path) -> Iterator[LlamaCpp]:
    """The tiny model, with no prefix kept from before."""
    llama = LlamaCpp(tiny, threads=1, context_tokens=2048, prefix_cache=tmp_path / "prefixes")
    yield llama
    llama.close()
