"""What a trace file holds, as a value: one tick of one run, executed twice and traced.

For: the fields of ``docs/format/trace.md``, read with care, because a stranger may have written them.

Not for: the bytes (``packing``), making one (``writing``) or comparing two (``offline``).

Invariant: a ``TraceFile`` that was read has the shape that one that was written has, or was refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from twice.diagnosis.trace_file.packing import refused, unseal
from twice.diagnosis.tracing.trace import Lane, Position, Trace
from twice.errors import TwiceError
from twice.foundation.encoding import decode
from twice.foundation.environment import Fingerprint
from twice.foundation.seeds import Seed
from twice.recording.setup import Setup
from twice.recording.surroundings import Surroundings

FORMAT = "twice.trace/1"
REPEATS = 2
"""Executions in a file: what differs between them is noise."""


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
    """One tick of one run.

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
        executions: two of them; paths in them are relative to the program's folder.
    """

    run_id: str
    identity: dict[str, Any]
    ending: dict[str, Any] | None
    tick: int
    points: tuple[TracedPoint, ...]
    opens_at_start: bool
    reproduces: bool
    states: Mapping[str, bytes]
    streams: Mapping[str, Any]
    reads: Mapping[str, str]
    sources: Mapping[str, str]
    executions: tuple[TracedExecution, ...] = field(repr=False)

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
        """As canonical data."""
        return {
            "format": FORMAT,
            "run_id": self.run_id,
            "identity": self.identity,
            "ending": self.ending,
            "tick": self.tick,
            "points": [
                [point.index, point.tick, point.name, dict(point.digests)] for point in self.points
            ],
            "opens_at_start": self.opens_at_start,
            "reproduces": self.reproduces,
            "states": dict(self.states),
            "streams": dict(self.streams),
            "reads": dict(self.reads),
            "sources": dict(self.sources),
            "executions": [
                [each.flow.to_bytes(), each.samples.to_bytes()] for each in self.executions
            ],
        }


def read_trace_file(path: str | os.PathLike[str]) -> TraceFile:
    """Open a trace file.

    Raises:
        TraceRefused: E-TRACE-001, it is torn, changed, foreign or of another version.
    """
    held = unseal(path)
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise refused(path, f"holds no {FORMAT}")
    try:
        found = _from_document(held)
        _check(found)
    except (TwiceError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise refused(path, f"is not whole: {type(error).__name__}: {error}") from error
    return found


def _from_document(held: dict[str, Any]) -> TraceFile:
    return TraceFile(
        run_id=_of(str, held["run_id"]),
        identity=_of(dict, held["identity"]),
        ending=None if held["ending"] is None else _of(dict, held["ending"]),
        tick=_of(int, held["tick"]),
        points=tuple(
            TracedPoint(_of(int, index), _of(int, tick), _of(str, name), _texts(digests, bytes))
            for index, tick, name, digests in held["points"]
        ),
        opens_at_start=_of(bool, held["opens_at_start"]),
        reproduces=_of(bool, held["reproduces"]),
        states=_texts(held["states"], bytes),
        streams=_texts(held["streams"], dict),
        reads=_texts(held["reads"], str),
        sources=_texts(held["sources"], str),
        executions=tuple(
            TracedExecution(Trace.from_bytes(flow), Trace.from_bytes(samples))
            for flow, samples in held["executions"]
        ),
    )


def _check(found: TraceFile) -> None:
    """Touch everything that is read later, so that a bad file is refused here and nowhere else."""
    _ = found.setup, found.surroundings, found.environment
    _of(dict, found.identity["code"]["files"])
    _of(dict, found.identity["behaviours"])
    if found.ending is not None:
        _texts(found.ending["components"], str)
        _texts(found.ending["files"], str)
    for state in found.states.values():
        decode(state)
    if len(found.executions) != REPEATS or not found.points:
        raise ValueError("two executions and a compare-point are expected")
    for execution in found.executions:
        for lane in execution.flow.lanes:
            _of(str, lane.name)
        for sample in execution.samples.samples:
            _of(str, sample.lane)
            _of(int, sample.index)
            _texts(sample.digests, bytes)
            _texts(sample.aliases, str)
            for paths in _texts(sample.references, tuple).values():
                for path in paths:
                    _of(str, path)
            for shown in sample.shown.values():
                _of(str, shown.text), _of(bytes, shown.unordered), _of(bytes, shown.cells)
                _of(int, shown.cell), _of(str, shown.kind)
                for where, digest, text in _of(tuple, shown.parts):
                    _of(str, where), _of(bytes, digest), _of(str, text)


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{kind.__name__} was expected, not {type(value).__name__}")
    return value


def _texts(value: Any, kind: type) -> dict[str, Any]:
    """A dict from text to one kind of value."""
    return {_of(str, key): _of(kind, held) for key, held in _of(dict, value).items()}


def renamed(trace: Trace, names: Mapping[str, str]) -> Trace:
    """A trace whose source files have other names."""

    def moved(place: Position) -> Position:
        return replace(place, file=names.get(place.file, place.file))

    return replace(
        trace,
        positions=tuple(map(moved, trace.positions)),
        samples=tuple(
            replace(
                sample,
                position=moved(sample.position),
                stack=tuple(map(moved, sample.stack)),
            )
            for sample in trace.samples
        ),
    )


def files_of(trace: Trace) -> list[str]:
    """Source files that a flow went through, sorted."""
    return sorted({place.file for place in trace.positions})


def events_of(lanes: tuple[Lane, ...]) -> int:
    """How many events there are."""
    return sum(len(lane.places) for lane in lanes)
