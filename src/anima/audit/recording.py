"""Recordings on disk: a folder that rosbag2 and Foxglove open, MCAP files in it, turned over and bounded in size."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from mcap.exceptions import InvalidMagic, McapError
from mcap.reader import NonSeekingReader
from mcap.writer import Writer
from rosbags.interfaces import Qos as BagQos
from rosbags.interfaces import QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2.metadata import dump_qos_v9
from zstandard import ZstdError

from anima.audit.interfaces import definition, from_cdr, to_cdr, value_in
from anima.audit.journal import read_lines
from anima.topics import Qos, Sent, Topic
from anima.types.audit import JournalChunk

MEBIBYTE = 1 << 20
_FOREVER = QosTime(2147483647, 4294967295)
_NS = 1_000_000_000
JOURNAL_PREFIX = "journal/"
_MAGIC = b"\x89MCAP0\r\n"
_CHUNK_BYTES = 256 * 1024  # what a power cut may cost


class NoRecording(ValueError):
    """A file or folder that holds no record; the message says what to do."""


def _bag_qos(qos: Qos) -> list[dict[str, Any]]:
    latched = qos in (Qos.STATE, Qos.EVENT_LATCHED)
    depth = {Qos.SENSOR: 5, Qos.STATE: 1, Qos.COMMAND: 1}.get(qos, 50)
    profile = BagQos(
        QosHistory.KEEP_LAST, depth,
        QosReliability.BEST_EFFORT if qos is Qos.SENSOR else QosReliability.RELIABLE,
        QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
        _FOREVER, _FOREVER, QosLiveliness.AUTOMATIC, _FOREVER, False,
    )
    return [dict(dumped) for dumped in dump_qos_v9([profile])]


@dataclass
class _File:
    path: Path
    count: int = 0
    first_ns: int = 0
    last_ns: int = 0

    def summary(self) -> dict[str, Any]:
        return {
            "path": self.path.name,
            "starting_time": {"nanoseconds_since_epoch": self.first_ns},
            "duration": {"nanoseconds": max(0, self.last_ns - self.first_ns)},
            "message_count": self.count,
        }


@dataclass
class _Channel:
    interface: str
    qos: Qos
    counts: dict[str, int] = field(default_factory=dict)


class Recording:
    """Writes one recording, a folder `<name>/` with `<name>_0.mcap`, `<name>_1.mcap`, … and `metadata.yaml`.

    A file is closed at `file_bytes`, and the oldest are deleted so that no more than `total_bytes` stay. Times are
    nanoseconds. Use as a context manager; OSError when the disk can't be written.
    """

    def __init__(self, folder: Path, file_bytes: int = 128 * MEBIBYTE, total_bytes: int = 1024 * MEBIBYTE) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self._file_bytes, self._total_bytes = file_bytes, total_bytes
        self._files: list[_File] = []
        self._channels: dict[str, _Channel] = {}
        self._ids: dict[str, int] = {}
        self._turned = 0
        self._stream: io.BufferedWriter | None = None
        self._writer: Writer | None = None
        self._open()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, topic: str, interface: str, qos: Qos, data: bytes, at_ns: int) -> None:
        """One message of a topic, as CDR."""
        assert self._stream is not None, "the recording is closed"
        if self._stream.tell() >= self._file_bytes:
            self._close_file()
            self._open()
        assert self._writer is not None
        channel = self._channels.setdefault(topic, _Channel(interface, qos))
        if topic not in self._ids:
            text, digest = definition(interface)
            schema = self._writer.register_schema(interface, "ros2msg", text.encode())
            profile = yaml.safe_dump(_bag_qos(qos), sort_keys=False)
            about = {"offered_qos_profiles": profile, "topic_type_hash": digest}
            self._ids[topic] = self._writer.register_channel(topic, "cdr", schema, about)
        file = self._files[-1]
        file.first_ns = file.first_ns or at_ns
        file.last_ns = max(file.last_ns, at_ns)
        file.count += 1
        channel.counts[file.path.name] = channel.counts.get(file.path.name, 0) + 1
        self._writer.add_message(self._ids[topic], at_ns, data, at_ns, file.count)

    def put(self, sent: Sent, at_s: float) -> None:
        """One value, converted here: for recording without ROS."""
        topic = sent.topic
        self.write(_absolute(topic.name), topic.type.ros, topic.qos, to_cdr(sent.value), round(at_s * _NS))

    def close(self) -> None:
        """Finish the last file and say what is in the folder."""
        if self._stream is not None:
            self._close_file()

    def _open(self) -> None:
        path = self.folder / f"{self.folder.name}_{self._turned}.mcap"
        self._turned += 1
        self._files.append(_File(path))
        self._ids.clear()
        self._stream = path.open("wb")
        self._writer = Writer(self._stream, chunk_size=_CHUNK_BYTES)
        self._writer.start(profile="ros2", library="anima")

    def _close_file(self) -> None:
        assert self._stream is not None and self._writer is not None
        self._writer.finish()  # type: ignore[no-untyped-call]  # the library does not say
        self._stream.close()
        self._stream = None
        sizes = {file.path: file.path.stat().st_size for file in self._files}
        while len(self._files) > 1 and sum(sizes.values()) > self._total_bytes - self._file_bytes:
            oldest = self._files.pop(0)
            sizes.pop(oldest.path)
            oldest.path.unlink()
        self._describe()

    def _describe(self) -> None:
        kept = {file.path.name for file in self._files}
        first = min(file.first_ns for file in self._files)
        topics = [
            {
                "topic_metadata": {
                    "name": name, "type": channel.interface, "serialization_format": "cdr",
                    "offered_qos_profiles": _bag_qos(channel.qos),
                    "type_description_hash": definition(channel.interface)[1],
                },
                "message_count": sum(count for file, count in channel.counts.items() if file in kept),
            }
            for name, channel in self._channels.items()
        ]
        about = {
            "version": 9, "storage_identifier": "mcap",
            "duration": {"nanoseconds": max(file.last_ns for file in self._files) - first},
            "starting_time": {"nanoseconds_since_epoch": first},
            "message_count": sum(file.count for file in self._files),
            "topics_with_message_count": topics, "compression_format": "", "compression_mode": "",
            "relative_file_paths": [file.path.name for file in self._files],
            "files": [file.summary() for file in self._files], "custom_data": None, "ros_distro": "kilted",
        }
        draft = self.folder / "metadata.yaml.part"
        draft.write_text(yaml.safe_dump({"rosbag2_bagfile_information": about}, sort_keys=False), encoding="utf-8")
        draft.replace(self.folder / "metadata.yaml")


def _absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


def files_of(path: Path) -> list[Path]:
    """The MCAP files of a recording, oldest first: of a folder, or the file itself. Raises `NoRecording`."""
    if path.is_dir():
        files = sorted(path.glob("*.mcap"), key=_turn)
        if files:
            return files
        raise NoRecording(f"{path}: no .mcap file in this folder; recordings are made with `anima up --record`")
    if path.is_file():
        return [path]
    raise NoRecording(f"{path}: no such file or folder; recordings lie in ~/.local/state/anima/recordings")


def _turn(file: Path) -> tuple[int, str]:
    """Files in the order in which they were written: ``run_2`` before ``run_10``."""
    number = file.stem.rpartition("_")[2]
    return (int(number) if number.isdecimal() else 0, file.name)


def newest(folder: Path) -> Path:
    """The newest recording in the folder of recordings; raises `NoRecording`."""
    found = sorted((path for path in folder.glob("*") if any(path.glob("*.mcap"))), key=lambda path: path.name)
    if not found:
        raise NoRecording(f"nothing was recorded yet in {folder}; start the robot with `anima up --record`")
    return found[-1]


@dataclass(frozen=True)
class Chunk:
    """Parsed lines of one process's journal; `gap` says that chunks before it are missing."""

    process: str
    lines: list[dict[str, Any]]
    gap: bool


def read_journals(path: Path) -> Iterator[Chunk]:
    """The journals of a recording in the order in which they were written. A file that was cut off by a crash is read
    as far as it goes. Raises `NoRecording` for what is no MCAP file, or holds no journal."""
    expected: dict[str, int] = {}
    found = False
    for file in files_of(path):
        for _, interface, data, _ in _messages(file, lambda topic: JOURNAL_PREFIX in topic):
            if interface != JournalChunk.ros:
                continue
            found = True
            chunk = from_cdr(interface, data)
            gap = expected.get(chunk.process, chunk.sequence) != chunk.sequence
            expected[chunk.process] = chunk.sequence + 1
            yield Chunk(chunk.process, list(read_lines([chunk.lines])), gap)
    if not found:
        raise NoRecording(f"{path}: there is no step journal in it, so nothing can be replayed or explained")


def read_told(path: Path, topics: Iterable[Topic[Any]]) -> Iterator[tuple[float, Sent]]:
    """What these topics carried, with the wall's time at which each value was recorded, s; of a recording of several
    robots, that of all of them. Raises `NoRecording`."""
    wanted = {topic.name: topic for topic in topics}
    for file in files_of(path):
        for name, interface, data, at_ns in _messages(file, lambda topic: _named(topic, wanted) is not None):
            topic = _named(name, wanted)
            if topic is not None and interface == topic.type.ros:
                yield at_ns / _NS, topic.of(value_in(topic.type, data))


def _named(name: str, topics: Mapping[str, Topic[Any]]) -> Topic[Any] | None:
    """The topic that a recording calls ``/robot/name`` or ``/name``."""
    return next((topic for short, topic in topics.items() if name.endswith(f"/{short}")), None)


def _messages(file: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str, bytes, int]]:
    """Topic, type, content and time of the messages on the topics that are wanted."""
    with file.open("rb") as stream:
        reader = NonSeekingReader(stream)
        try:
            for schema, channel, message in reader.iter_messages(log_time_order=False):
                if schema is not None and wanted(channel.topic):
                    yield channel.topic, schema.name, message.data, message.log_time
        except InvalidMagic as error:
            if stream.seek(0) == 0 and stream.read(len(_MAGIC)) != _MAGIC:
                raise NoRecording(f"{file}: not an MCAP file") from error
        except (McapError, ZstdError, struct.error, ValueError):
            return  # cut off by a crash or a full disk: what came before counts
