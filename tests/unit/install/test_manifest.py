"""The manifest of models says clearly what it holds, and when it is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anima.config import LlmSettings
from anima.install.errors import ManifestError, UnknownModel
from anima.install.manifest import Manifest, Model

NOBODY_ELSE_HAS = {"all-minilm-l6-v2-int8"}


def test_every_model_of_the_project_can_be_had_from_two_places_but_those_that_only_one_has() -> None:
    for model in Manifest.load().models:
        assert model.registry is not None, model.name
        assert (model.upstream is None) == (model.name in NOBODY_ELSE_HAS), model.name


def test_the_planner_s_default_model_is_in_the_manifest_and_required() -> None:
    assert Manifest.load().get(LlmSettings().model).required


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownModel, match=r"qwen2\.5-coder"):
        Manifest.load().get("gpt-17")


def test_pieces_are_counted_from_one_in_order(model: Model) -> None:
    assert model.registry is not None
    assert model.registry.requirements() == [f"tiny-model-part{part}==1.0" for part in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("sha256: [0-9a-f]+", "sha256: abc"), "sha256"),
        (("file: qwen[^\n]+", "file: ../../etc/passwd"), "file"),
        (("required: true", "required: true\n    colour: red"), "colour"),
        (("name: smollm2-135m-instruct", "name: qwen2.5-coder-1.5b-instruct-q4_k_m"), "twice"),
        (("models:", "models: ["), "can't be used"),
    ],
)
def test_a_bad_entry_is_an_error_that_names_file_and_key(
    tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    text = (Path(__file__).parents[3] / "models" / "manifest.yaml").read_text(encoding="utf-8")
    broken = tmp_path / "manifest.yaml"
    broken.write_text(re.sub(change[0], change[1], text, count=1), encoding="utf-8")
    with pytest.raises(ManifestError, match=complaint) as failure:
        Manifest.load(broken)
    assert str(broken) in str(failure.value)
