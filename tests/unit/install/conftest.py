"""A small model in every place where a model can come from: packages on disk, a hub on this machine."""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from anima.install.manifest import HubFile, Model, RegistryPackages
from anima.install.store import ModelStore

CONTENT = bytes(range(256)) * 4096  # 1 MiB
PARTS = 4


@pytest.fixture
def content() -> bytes:
    return CONTENT


@pytest.fixture
def model() -> Model:
    return Model(
        name="tiny",
        use="test",
        required=True,
        file="tiny.gguf",
        size_bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        licence="Apache-2.0",
        registry=RegistryPackages(package="tiny-model-part{part}", version="1.0", parts=PARTS, member="*/data/*.bin"),
        upstream=HubFile(repository="someone/tiny", file="tiny.gguf"),
    )


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models")


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder with the wheels that carry the model in pieces, as pip's `--find-links` takes it."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    size = len(CONTENT) // PARTS
    for index in range(PARTS):
        make_wheel(folder, f"tiny_model_part{index + 1}", CONTENT[index * size : (index + 1) * size])
    return folder


def make_wheel(folder: Path, package: str, piece: bytes) -> Path:
    """A valid wheel of version 1.0 whose code would raise if it were ever run."""
    path = folder / f"{package}-1.0-py3-none-any.whl"
    info = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('a package of model weights was run')")
        archive.writestr(f"{package}/data/piece.bin", piece)
        name = package.replace("_", "-")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr(f"{info}/WHEEL", tag)
        archive.writestr(f"{info}/RECORD", "")
    return path


@dataclass
class Hub:
    """A model hub on this machine: what it serves, how it misbehaves, what it was asked."""

    endpoint: str = ""
    content: bytes = CONTENT
    breaks_after_bytes: int | None = None
    ignores_ranges: bool = False
    ranges: list[str | None] = field(default_factory=list)


@pytest.fixture
def hub() -> Iterator[Hub]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.ranges.append(asked)
            if self.path != "/someone/tiny/resolve/main/tiny.gguf":
                self.send_error(404)
                return
            start = 0 if asked is None or state.ignores_ranges else int(asked.removeprefix("bytes=").rstrip("-"))
            body = state.content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if state.breaks_after_bytes is not None:
                body, state.breaks_after_bytes = body[: state.breaks_after_bytes], None
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()
