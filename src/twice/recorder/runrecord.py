"""A run record, open for reading, in the words of a run: setup, ending, inputs, compare-points, snapshots, output.

It judges nothing; verifying and diagnosing do.

Invariant: opening a record from a stranger runs none of its code, and reading never changes it.
"""

from __future__ import annotations

import math
import os
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from twice.errors import OutputUnwritable, UsageError
from twice.foundation.encoding import decode
from twice.foundation.seeds import Seed
from twice.foundation.with_blocks import Closing
from twice.recorder.effects.events import (
    ACTOR,
    CONNECTION,
    LENIENT,
    STRICT,
    Event,
    read_numbers,
    unpack,
)
from twice.recorder.effects.files.carried_contents import CONTENT, CarriedContents
from twice.recorder.effects.ops import FILE_OPENED, FILES_LEFT, MAIN
from twice.recorder.effects.recorded_lines import RecordedLine, gather_lines
from twice.recorder.identity import check_identity
from twice.recorder.inputs import InputEvent, read_input
from twice.recorder.kernel.paths import unescape_path
from twice.recorder.native_files import NATIVE_FILES, RecordedFiles, read_native_files
from twice.recorder.output import list_folders
from twice.recorder.program import PathNames
from twice.recorder.record import RecordReader
from twice.recorder.record_form import (
    ERRORS,
    INPUT,
    LOOP,
    OUTPUT,
    ROLLBACK,
    LoopSpan,
    Redacted,
    Rollback,
    reading,
    require_form,
)
from twice.recorder.redaction.redaction import REDACTION
from twice.recorder.setup import Setup
from twice.recorder.snapshots import load
from twice.recorder.states import PREFIX
from twice.recorder.trust import UNTRUSTED_BYTES_MAX, choose_allowed, digest_identity, is_trusted


class RunRecord(Closing):
    """One run record.

    Attributes:
        path: the file, or the URL of the object.
        reader: the bytes underneath.
        identity: the document it opens with.
        digest: of that document, in hexadecimal digits.
        recorded_program: the program, at the place where it was recorded.
        recorded_allow: what its own run might use of the world.
        setup: program, seed, configuration, class and policies, as a replay here executes them.
        ending: how the run ended, or None when the record is torn.
    """

    def __init__(self, reader: RecordReader) -> None:
        self.reader = reader
        self.path = reader.path
        self.identity: dict[str, Any] = dict(reader.identity)
        check_identity(self.identity, self.path)
        require_form(self.identity, reader.ending, self.path)
        with reading("a setup", self.path, UsageError):  # its writer may not have been twice
            setup = Setup.from_json(self.identity["setup"])
        self.digest = digest_identity(self.identity)
        self.recorded_program, self.recorded_allow = setup.program, setup.allow
        allow = choose_allowed(self.digest, setup.allow)
        reader.blobs.bytes_max = None if is_trusted(self.digest) else UNTRUSTED_BYTES_MAX
        self.setup = replace(setup, program=setup.program.near(self.path.parent), allow=allow)
        self.ending: dict[str, Any] | None = reader.ending
        self._native_writes: list[str] | None = None
        self._contents: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RunRecord:
        """Open a record.

        Raises:
            RecordForeign, RecordVersion, RecordUnreadable, RecordCorrupt: E-RECORD-001 to 005.
        """
        reader = RecordReader.open(path)
        try:
            return cls(reader)
        except BaseException:
            reader.close()
            raise

    @property
    def run_id(self) -> str:
        """Random identity of the run, 32 hexadecimal digits."""
        return self.reader.run_id.hex()

    @property
    def seed(self) -> Seed:
        """The master seed."""
        return self.setup.seed

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration."""
        return self.setup.config

    @property
    def is_prefix(self) -> bool:
        """Whether it holds the beginning of its run alone: it is torn, or was when it was closed by ``migrate``."""
        return not self.complete or (self.ending or {}).get("how") == "torn"

    @property
    def complete(self) -> bool:
        """Whether the record was closed; a killed run's is not."""
        return self.reader.complete

    @property
    def ticks(self) -> int:
        """The number of ticks, by the last compare-point."""
        points = self.reader.points
        return points.point(len(points) - 1).tick + 1 if len(points) else 0

    @property
    def ticks_held(self) -> str:
        """The ticks of the record, in words."""
        return f"ticks 0 to {self.ticks - 1}" if self.ticks else "no tick"

    @property
    def parent(self) -> Mapping[str, Any] | None:
        """For a branch: run id of its parent and where it left."""
        return self.identity["parent"]  # type: ignore[no-any-return]

    def inputs(self, *, tick: int | None = None) -> list[InputEvent]:
        """Return inputs in order, of one tick if it is given, from the record alone."""
        frames = self.input_frames(0)
        return [read_input(at, payload) for at, payload in frames if tick is None or at == tick]

    def input_frames(self, count: int) -> Iterator[tuple[int, bytes]]:
        """Yield inputs after the first ``count``, as (tick, journal frame)."""
        for at, frame in enumerate(self.reader.frames(kinds=[INPUT])):
            if at >= count:
                yield frame.tick, bytes(frame.payload)

    def strict_reads(self, count: int = 0) -> Iterator[Event]:
        """Yield reads of the world by the main program, after the first ``count``, in order."""
        return chain.from_iterable(events for _, events in self.strict_frames(count))

    def strict_frames(self, count: int = 0) -> Iterator[tuple[int, list[Event]]]:
        """Yield the same reads as they were written, with the index of the compare-point that follows."""
        seen = 0
        for frame in self.reader.frames(kinds=[STRICT], actor=0):
            events = unpack(frame.payload)
            if count < seen + len(events):
                yield frame.point, events[max(0, count - seen) :]
            seen += len(events)

    def lenient_reads(self) -> Iterator[Event]:
        """Yield reads of the world by the standard library, in order."""
        for frame in self.reader.frames(kinds=[LENIENT]):
            yield from unpack(frame.payload)

    def library_reads(self, until: int) -> dict[int, list[Event]]:
        """Return the same reads by the index of the compare-point that followed, up to a point."""
        found: dict[int, list[Event]] = {}
        for frame in self.reader.frames(kinds=[LENIENT], last_point=until):
            found.setdefault(frame.point, []).extend(unpack(frame.payload))
        return found

    def contents(self) -> Iterator[bytes]:
        """Return pieces of the files that the record carries, in order."""
        return (frame.payload for frame in self.reader.frames(kinds=[CONTENT]))

    @property
    def was_supervised(self) -> bool:
        """Whether the files of all processes of the run were seen while it was recorded."""
        return ((self.ending or {}).get("native_files") or {}).get("tier") == "supervisor"

    def contents_folder(self) -> str:
        """Return a folder with the files that the record carries, by digest; empty where it carries none.

        It is private to this account, and goes when the record is closed.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the folder for temporary files takes no more.
        """
        if self._contents is None and next(iter(self.contents()), None) is not None:
            self._contents = tempfile.TemporaryDirectory(prefix="twice-contents-")
            try:
                CarriedContents(self.contents, self._contents.name)
            except OSError as error:
                folder = tempfile.gettempdir()
                raise OutputUnwritable(
                    f"The files that the record carries cannot be written to {folder}: {error.strerror}.",
                    "Expected a folder for temporary files with room for them.",
                    "Make room there, or name another one: TMPDIR=/path/to/folder.",
                    path=folder,
                ) from error
        return "" if self._contents is None else self._contents.name

    def native_writes(self) -> list[str]:
        """Return the files that other code than Python of the run itself changed, at their paths here."""
        if self._native_writes is None:
            by_python: set[str] = set()
            for number, value in self.lenient_reads():
                fields: Any = value
                if number == FILE_OPENED.number:
                    by_python.add(fields[0])
                elif number == FILES_LEFT.number:
                    by_python.update(dict(fields[1] or ()))
            names = PathNames(self.setup.program)
            own = {os.path.normpath(names.to_local(unescape_path(str(name)))) for name in by_python}
            files = self.native_files()
            changed = [each for each in files.histories if each.has_effect and not each.is_served]
            self._native_writes = [each.path for each in changed if each.path not in own]
            self._native_writes += files.changed
        return self._native_writes

    def native_files(self) -> RecordedFiles:
        """Return the processes' changes of files below Python, at the paths that they have here.

        Raises:
            RecordForeign: E-RECORD-002, for histories that no recording writes.
        """
        frames = (frame.payload for frame in self.reader.frames(kinds=[NATIVE_FILES]))
        return read_native_files(self.ending, frames, PathNames(self.setup.program))

    def actors(self) -> dict[str, int]:
        """Return the numbers of the actors other than the main program, by their keys."""
        return {str(decode(each.payload)): each.actor for each in self.reader.frames(kinds=[ACTOR])}

    def locate(self, kind: str, until: int | None = None) -> Iterator[tuple[str, int, bytes]]:
        """Yield frames of a kind: the key of the actor, the place for ``payload``, and the bytes."""
        keys = {number: key for key, number in self.actors().items()}
        for place, frame in self.reader.locate(kind, until):
            yield keys.get(frame.actor, MAIN), place, frame.payload

    def payload(self, place: int) -> bytes:
        """Return the bytes of the frame at a place, from any thread."""
        return self.reader.payload(place)

    def actor_reads(self) -> dict[str, RecordedLine]:
        """Return reads of the world by every other actor's own code, in its order."""
        others = (frame for frame in self.locate(STRICT) if frame[0] != MAIN)
        return gather_lines(others, self.payload)

    def connections(self, until: int | None = None) -> dict[str, RecordedLine]:
        """Return the events of every connection, by its key, in the order in which they were made.

        Args:
            until: index of the last compare-point that it was written before; None for all.
        """
        return gather_lines(self.locate(CONNECTION, until), self.payload)

    def connection_order(self) -> list[str]:
        """Return the key of the connection of each event on one, in the order of the record."""
        frames = self.locate(CONNECTION)
        return [key for key, _, payload in frames for _ in read_numbers(payload)]

    def loops(self) -> list[LoopSpan]:
        """Return loops that ended, with the cursors at their ends."""
        with reading("a loop", self.path):
            return [
                LoopSpan(next_tick, {"reads": reads, "asked": asked}, inputs)
                for _, (next_tick, reads, asked, inputs) in self._decode_frames(LOOP)
            ]

    def redactions(self) -> list[Redacted]:
        """Return the blanked secrets in order: before the program ran, then by compare-point."""
        stated: Any = self.identity.get("redaction") or {}
        found = [Redacted(-1, *one) for one in stated.get("blanked", ())]
        with reading("a count of what was blanked", self.path):
            for point, counted in self._decode_frames(REDACTION):
                found += [Redacted(point, *one) for one in counted]
        return found

    def rollbacks(self) -> list[Rollback]:
        """Return the rollbacks of the run, in order."""
        with reading("a rollback", self.path):
            return [
                Rollback(tick, to, point) for point, (tick, to) in self._decode_frames(ROLLBACK)
            ]

    def _decode_frames(self, kind: str) -> Iterator[tuple[int, Any]]:
        for frame in self.reader.frames(kinds=[kind]):
            yield frame.point, decode(frame.payload)

    def begins_after(self, tick: int) -> int:
        """Return the index of the last rollback point before the tick as it counted, or -1.

        A tick that was rolled back happened more than once; what counts is the last time.
        """
        return max((back.point for back in self.rollbacks() if back.to <= tick), default=-1)

    def point_before(self, tick: int) -> int:
        """Return the index of the last compare-point before the tick's body as it counted, or -1."""
        points, base = self.reader.points, self.begins_after(tick)
        later = [back.point for back in self.rollbacks() if back.point > base]
        low, high = base + 1, min(later, default=len(points))
        if base >= 0:
            left = points.point(base).tick
            while low < high and points.point(low).tick == left > tick:
                low += 1
        return bisect_left(range(low, high), tick, key=lambda at: points.point(at).tick) + low - 1

    def other_checkout(self) -> Path | None:
        """Return the recorded folder, where the program is in it too and another folder is executed."""
        recorded = self.recorded_program
        root, chosen = Path(recorded.root or "."), self.setup.program.folder()
        is_another = recorded.is_in(root) and root.resolve() != chosen.resolve()
        return root if is_another else None

    def program_folders(self) -> tuple[str, ...]:
        """Return the folders of the program, as it was recorded and as it is executed now."""
        return list_folders(self.recorded_program, self.setup.program)

    def printed(self, *, before_point: int | None = None) -> tuple[bytes, bytes]:
        """Return standard output and error, up to a compare-point (exclusive) when given."""
        last = None if before_point is None else before_point - 1
        if last is not None and last < 0:
            return b"", b""
        pieces: dict[str, list[bytes]] = {OUTPUT: [], ERRORS: []}
        for frame in self.reader.frames(kinds=[OUTPUT, ERRORS], last_point=last):
            pieces[frame.kind].append(bytes(frame.payload))
        return b"".join(pieces[OUTPUT]), b"".join(pieces[ERRORS])

    def snapshot_before(self, tick: int) -> int | None:
        """Return the number of the latest snapshot at or before a tick that no rollback abandoned, or None."""
        if self.rollbacks():
            numbers = self.list_snapshots()
            at = bisect_right(numbers, tick, key=lambda each: self.reader.snapshots[each].tick)
            return numbers[at - 1] if at else None
        latest = self.reader.latest_snapshot(tick)
        return None if latest is None else latest.number

    def list_snapshots(self, before: int | None = None) -> Sequence[int]:
        """Return the numbers of the snapshots that no rollback abandoned, in order; their ticks rise.

        Args:
            before: number of a snapshot: only snapshots and rollbacks before that one; None for all.
        """
        backs = self.rollbacks()
        if before is not None:
            now = self.reader.snapshot(before)[0].point
            backs = [back for back in backs if back.point < now]
        if not backs:
            return range(self.reader.snapshot_count if before is None else before)
        points = [back.point for back in backs]
        # The earliest tick that each rollback or a later one went back to; none follows the last.
        ticks = (back.to for back in reversed(backs))
        earliest = [*accumulate(ticks, min, initial=math.inf)][::-1]
        return [
            entry.number
            for entry in self.reader.snapshots[:before]
            if entry.tick <= earliest[bisect_left(points, entry.point)]
        ]

    def state_at(self, number: int) -> dict[str, Any]:
        """Return a snapshot's components as plain values; types that are not loaded stay opaque."""
        captured = load(self.reader, number)
        return {
            name: decode(b"".join(parts))
            for name, parts in sorted(captured.subsystems.items())
            if not name.startswith(PREFIX)
        }

    def close(self) -> None:
        """Close the file."""
        self.reader.close()
        if self._contents is not None:
            self._contents.cleanup()

    def _repr_html_(self) -> str:
        from twice.recorder.record_summary import summarize_record  # only a notebook asks for it

        return summarize_record(self)

    def __repr__(self) -> str:
        return f"RunRecord({str(self.path)!r}, program={self.setup.program}, ticks={self.ticks})"
