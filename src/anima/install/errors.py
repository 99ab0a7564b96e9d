"""What can go wrong with model files; every message says what, where and what to do."""


class ModelError(Exception):
    """Base: something about a model file."""


class ManifestError(ModelError):
    """The manifest can't be read or contradicts itself."""


class UnknownModel(ModelError):
    """No model has that name."""


class ModelMissing(ModelError):
    """The file is not on this machine (yet)."""


class HashMismatch(ModelError):
    """A file is not the one that the manifest describes."""


class DiskFull(ModelError):
    """There is not enough room for the file."""


class SourceFailed(ModelError):
    """One source could not give the file: offline, refused, or not what was expected."""


class FetchFailed(ModelError):
    """No source could give the file; `causes` holds why, source by source."""

    def __init__(self, message: str, causes: dict[str, ModelError]) -> None:
        super().__init__(message)
        self.causes = causes
