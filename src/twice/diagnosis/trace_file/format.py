"""A trace file: one tick of one run, executed twice and traced, and the bytes that hold it.

The bytes are a header, a checksum over everything and one compressed canonical value, laid out in
``docs/format/trace.md``. Whoever reads a file may have it from a stranger.

Invariant: opening a file executes nothing. A file that was cut, changed or made by something else is
refused before anything in it is read, and one that was read has the shape of one that was written.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.tracing.trace import Sample, Trace
from twice.errors import DecodingRefused, TraceRefused, TwiceError
from twice.foundation.dataclass import dataclass
from twice.foundation.dataclass_codec import from_plain, to_plain
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import decode, encode
from twice.foundation.environment import Fingerprint
from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.setup import Setup

FORMAT: Final = "twice.trace/1"
MAGIC: Final = b"\x89twtrace\r\n\x1a\n\x00\x00\x00\x00"
VERSION: Final = 1
_HEAD: Final = struct.Struct("<16sIIQQ")  # magic, version, zero, stored bytes, raw bytes
_CHECKSUM_SIZE: Final = 32  # bytes
_LEVEL: Final = 6
_RAW_MAX: Final = 1 << 32  # bytes; what a reader is ready to expand
# What reading a document of another shape ends in; values are decoded at any depth.
_MISFITS: Final = (
    TwiceError, KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TracedPoint:
    """A compare-point of the window, as it was recorded: ``digests`` are 16 bytes per column."""

    index: int
    tick: int
    name: str
    digests: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class TracedExecution:
    """One execution: every event (``flow``), and the full state at some of them (``samples``)."""

    flow: Trace
    samples: Trace


@dataclass(frozen=True)
class TraceFile:
    """One tick of one run. The fields are the keys of the document, in its order.

    Attributes:
        run_id: of the record, 32 hexadecimal digits.
        identity: the identity document of the record.
        ending: of the record's ending, what comparing needs: ``components`` and ``files``.
        tick: the tick.
        points: the compare-point before the window, if there is one, and those inside; the last
            closes it.
        opens_at_start: the window begins before the program is loaded.
        reproduces: executed here, the run gave the digests that it had recorded.
        states: component -> canonical form at the end of the window.
        streams: stream -> public state there.
        reads: source of the world -> digest of all that the run read from it.
        sources: path relative to the program's folder -> text of the user's files in the window.
        executions: two of them, and what differs between them is noise; paths in them are relative to
            the program's folder.
    """

    run_id: str
    identity: dict[str, Any]
    ending: dict[str, dict[str, str]] | None
    tick: int
    points: tuple[TracedPoint, ...]
    opens_at_start: bool
    reproduces: bool
    states: Mapping[str, bytes]
    streams: Mapping[str, Mapping[str, Any]]
    reads: Mapping[str, str]
    sources: Mapping[str, str]
    executions: tuple[TracedExecution, TracedExecution] = field(repr=False)

    @property
    def setup(self) -> Setup:
        """Program, seed, configuration, class and policies."""
        return Setup.from_json(self.identity["setup"])

    @property
    def seed(self) -> Seed:
        """The master seed."""
        return self.setup.seed

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration."""
        return self.setup.config

    @property
    def surroundings(self) -> Surroundings:
        """What was pinned around the run."""
        return Surroundings.from_json(self.identity["surroundings"])

    @property
    def environment(self) -> Fingerprint:
        """What was measured around the run."""
        return Fingerprint.from_json(self.identity["environment"])

    @property
    def window(self) -> tuple[bool, tuple[tuple[int, int, str], ...]]:
        """What two files must share to be of one window."""
        named = tuple((point.index, point.tick, point.name) for point in self.points)
        return self.opens_at_start, named

    def to_document(self) -> dict[str, object]:
        """As canonical data: points and executions are rows, everything else is as it stands here."""
        rows = [[point.index, point.tick, point.name, point.digests] for point in self.points]
        traces = [[each.flow.to_bytes(), each.samples.to_bytes()] for each in self.executions]
        return {"format": FORMAT, **vars(self), "points": rows, "executions": traces}


def read_trace_file(path: str | os.PathLike[str]) -> TraceFile:
    """Open a trace file.

    Raises:
        TraceRefused: E-TRACE-001, it is torn, changed, foreign or of another version.
    """
    document = unseal(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise refuse_file(path, f"holds no {FORMAT}")
    try:
        points = [to_plain(TracedPoint(*row)) for row in document["points"]]
        executions = []
        for flow, samples in document["executions"]:
            each = TracedExecution(Trace.from_bytes(flow), Trace.from_bytes(samples))
            # Between our own processes nobody forges a trace: these are not checked with its bytes.
            lanes, plain = each.flow.lanes, to_plain(each.samples.samples)
            from_plain(tuple[str, ...], [lane.name for lane in lanes], "lanes", _refuse_place)
            checked = from_plain(tuple[Sample, ...], plain, "samples", _refuse_place)
            executions.append(replace(each, samples=replace(each.samples, samples=checked)))
        document = {**document, "points": points, "executions": executions}
        found: TraceFile = from_plain(TraceFile, document, "", _refuse_place)
        # Touch everything that is read later: a bad file is refused here and nowhere else.
        _ = found.setup, found.surroundings, found.environment
        if found.ending is not None:
            _ = found.ending["components"], found.ending["files"]
        for part in (found.identity["code"]["files"], found.identity["behaviours"]):
            from_plain(dict[str, Any], part, "identity", _refuse_place)
        for state in found.states.values():
            decode(state)
    except _MISFITS as error:
        raise refuse_file(path, f"is not whole: {type(error).__name__}: {error}") from error
    if not found.points:
        raise refuse_file(path, "is not whole: no compare-point closes its window")
    return found


def _refuse_place(place: str, found: object, expected: str) -> TypeError:
    return TypeError(f"{expected} was expected at {place}, not {type(found).__name__}")


def seal(value: object) -> bytes:
    """Write a value as the bytes of a trace file.

    Raises:
        EncodingRefused: E-ENCODE-001, the value is not canonical data.
    """
    import zstandard

    raw = encode(value)
    stored = zstandard.ZstdCompressor(level=_LEVEL).compress(raw)
    head = _HEAD.pack(MAGIC, VERSION, 0, len(stored), len(raw))
    return head + _checksum(head + stored) + stored


def unseal(path: str | os.PathLike[str]) -> Any:
    """Read the value of a trace file.

    Raises:
        TraceRefused: E-TRACE-001, it is unreadable, foreign, torn, changed or of another version.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise refuse_file(path, f"cannot be read: {error.strerror or error}") from error
    if len(data) < _HEAD.size + _CHECKSUM_SIZE or not data.startswith(MAGIC):
        raise refuse_file(path, "does not begin as a trace file does")
    _, version, zero, size, raw_size = _HEAD.unpack_from(data)
    if version != VERSION:
        raise refuse_file(path, f"is of version {version}; this version of twice reads {VERSION}")
    start = _HEAD.size + _CHECKSUM_SIZE
    head, checksum, stored = data[: _HEAD.size], data[_HEAD.size : start], data[start:]
    if len(stored) != size:
        raise refuse_file(
            path, f"is torn: {len(stored):,} of {pluralize(size, 'byte is', 'bytes are')} there"
        )
    if zero or checksum != _checksum(head + stored):
        raise refuse_file(path, "was changed: its checksum does not hold")
    import zstandard

    try:
        # A forger can compute a checksum too: no room is made before the size is known.
        if raw_size > _RAW_MAX or zstandard.frame_content_size(stored) != raw_size:
            raise refuse_file(path, f"does not expand to {pluralize(raw_size, 'byte')}")
        return decode(zstandard.ZstdDecompressor().decompress(stored, allow_extra_data=False))
    except (zstandard.ZstdError, DecodingRefused) as error:
        raise refuse_file(path, f"holds no canonical value: {error}") from error


def _checksum(data: bytes) -> bytes:
    return digest_bytes(data, Algorithm.SHA256).raw


def refuse_file(path: str | os.PathLike[str], why: str) -> TraceRefused:
    """Build the refusal of a trace file, with its reason."""
    return TraceRefused(
        f"{os.fspath(path)} {why}.",
        "Expected a file that `twice trace` wrote, whole.",
        "Trace the run again: twice trace RECORD --tick T -o FILE",
        path=os.fspath(path),
    )
