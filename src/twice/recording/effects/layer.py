"""The one layer through which a program reads the world, in two modes.

Recording, a read asks the world and is written down; replaying, it is served from the record.
Which of the two is a matter of the source and the journal that the layer was made with; the code
path is the same. Reads by user code are strict: their order and arguments must match. Reads by the
standard library for its own purposes (asyncio, logging) are recorded, lenient and counted. Reads
on a thread that has no declared actor go to the world and are counted as ungoverned.

What it does not cover: files, network, subprocesses, environment variables, standard input, and
whatever C code reads by itself. The manifest says how much of each covered source was read.

Invariant: while a layer is active, every governed read is either served, written down or counted.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from sys import _getframe
from threading import current_thread, get_ident
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from twice.errors import StreamOffThread
from twice.foundation.digests import Algorithm, short_digest
from twice.foundation.encoding import decode, encode
from twice.recording.effects.events import (
    LENIENT,
    STRICT,
    Waiting,
    little_endian,
    pack_columns,
)
from twice.recording.effects.ops import OPS, WITH_ARGUMENTS, Op
from twice.recording.effects.sources import LiveSource, Source
from twice.recording.program import is_user_file

if TYPE_CHECKING:
    from collections.abc import Mapping

Journal = Callable[[str, bytes], None]
# Python wrappers around entropy whose caller is the one who really asks.
_PASS_THROUGH = ("/random.py", "/secrets.py", "/uuid.py", "/tempfile.py", "/effects/entropy.py")


class EffectLayer:
    """Governed reads of one run's main actor.

    Args:
        source: where values come from.
        journal: called with (kind, payload) for each frame of reads; None when nothing is written.
        opted_in: path prefixes of installed packages whose reads are strict as well.
    """

    def __init__(
        self,
        source: Source,
        journal: Journal | None,
        *,
        opted_in: tuple[str, ...] = (),
        algorithm: Algorithm = Algorithm.BLAKE3,
    ) -> None:
        self.source = source
        self.live = isinstance(source, LiveSource)
        self.thread = get_ident()
        self.active = True
        self._calls = 0
        self._disowned = False
        self._journal = journal
        self._opted_in = opted_in
        # By identity: hashing a code object reads all of its instructions. The code is kept, so
        # that its identity is not given to another.
        self._strictness: dict[int, tuple[CodeType, bool]] = {}
        self.strict_reads = Waiting()
        self.lenient_reads = Waiting()
        self._strict_reads = 0
        self._lenient_reads: dict[int, int] = {}
        self._short = short_digest(algorithm)
        self._ask_chain = b""
        self._asked = bytearray()
        self._arguments: list[object] = []
        self.counts: dict[int, int] = {}
        self.lenient_counts: dict[int, int] = {}
        self.ungoverned: dict[int, int] = {}

    # -- reading ------------------------------------------------------------------------------

    def read(self, op: Op, live: Callable[[], object], arguments: object = None) -> object:
        """Answer a read by user code and write it down.

        Raises:
            EffectMismatch: E-EFFECT-001, in replay, when the record answers another question.
        """
        if self._calls:
            return live()
        value = self.source.strict(op, arguments, live)
        self.note(op.number, value if arguments is None else (arguments, value))
        return value

    def note(self, number: int, value: object) -> None:
        """Write a strict read down."""
        self.strict_reads.add(number, value)
        if self.strict_reads.full:
            self.flush()

    def read_lenient(self, op: Op, live: Callable[[], object]) -> object:
        """Answer a read that the standard library makes for itself."""
        value = self.source.lenient(op, live)
        self.lenient_reads.add(op.number, value)
        if self.lenient_reads.full:
            self.flush()
        return value

    def is_governed(self) -> bool:
        """Whether this thread is the one whose reads are governed."""
        return self.active and get_ident() == self.thread

    @contextmanager
    def within_call(self) -> Iterator[None]:
        """Govern nothing while a declared effect runs: what it reads is part of its one result.

        In replay it does not run, so nobody would ask for those reads again.
        """
        was, self.active = self.active, False
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            self.active = was and not self._disowned

    def require_main(self, op: Op) -> None:
        """Refuse an effect that is asked for by name on a thread without an actor.

        Raises:
            StreamOffThread: E-RNG-003.
        """
        if (self.active or self._calls) and get_ident() != self.thread:
            raise StreamOffThread(
                f"{op.name} was asked for on the thread {current_thread().name!r}.",
                "Expected the run's own thread: other threads have no declared actor yet.",
                "Read it on the main thread and hand the value over.",
                op=op.name,
            )

    def count_ungoverned(self, op: Op) -> None:
        """Count a read that went to the world because no actor owns its thread."""
        if self._calls and get_ident() == self.thread:
            return
        self.ungoverned[op.number] = self.ungoverned.get(op.number, 0) + 1

    def is_strict(self, code: CodeType) -> bool:
        """Whether reads made by this code are strict: user code, or a package opted in."""
        known = self._strictness.get(id(code))
        if known is not None:
            return known[1]
        name = code.co_filename
        strict = is_user_file(name) or (
            bool(self._opted_in) and os.path.realpath(name).startswith(self._opted_in)
        )
        self._strictness[id(code)] = (code, strict)
        return strict

    def asker(self, depth: int = 2) -> CodeType:
        """The code that really asks for entropy: the first one that is no wrapper around it."""
        frame: FrameType | None = _getframe(depth)
        while frame is not None:
            code = frame.f_code
            if not code.co_filename.endswith(_PASS_THROUGH):
                return code
            frame = frame.f_back
        return _getframe(depth).f_code

    # -- writing ------------------------------------------------------------------------------

    def flush(self) -> None:
        """Hand the reads so far to the journal and add them to the counts."""
        if self.strict_reads.runs:
            numbers, values = self.strict_reads.take()
            _count(numbers, self.counts)
            self._strict_reads += len(numbers)
            self._asked += little_endian(array("H", numbers))
            if not WITH_ARGUMENTS.isdisjoint(numbers):
                asked = zip(numbers, values, strict=True)
                self._arguments += [value[0] for number, value in asked if number in WITH_ARGUMENTS]  # type: ignore[index]
            if self._journal is not None:
                self._journal(STRICT, pack_columns(numbers, values))
        if self.lenient_reads.runs:
            numbers, values = self.lenient_reads.take()
            _count(numbers, self.lenient_counts)
            _count(numbers, self._lenient_reads)
            if self._journal is not None:
                self._journal(LENIENT, pack_columns(numbers, values))

    def position(self) -> bytes:
        """Digest of the questions asked so far: operations and arguments, not the answers."""
        if self.strict_reads.runs or self.lenient_reads.runs:
            self.flush()
        if self._asked:
            # Folded here and never while reading: when reads are flushed must not show.
            arguments = encode(self._arguments) if self._arguments else b""
            self._ask_chain = self._short(self._ask_chain + self._asked + arguments)
            self._asked.clear()
            self._arguments.clear()
        return self._ask_chain

    def snapshot(self) -> dict[str, object]:
        """Cursors and question digest, to be restored with ``restore``."""
        self.flush()
        return {
            "reads": self._strict_reads,
            "asked": self._ask_chain,
            "unfolded": encode((bytes(self._asked), list(self._arguments))),
            "lenient": dict(self._lenient_reads),
        }

    def restore(self, state: Mapping[str, object]) -> None:
        """Put cursors and question digest back; a live source keeps going with the world.

        A state without ``lenient`` (the end of an earlier loop) leaves those cursors alone.
        ``unfolded`` are questions asked since the last compare-point, which the digest of the next
        one will hold.
        """
        self.flush()
        reads, asked = state["reads"], state["asked"]
        assert isinstance(reads, int), "a cursor is a count of reads"
        assert isinstance(asked, bytes), "a question digest is bytes"
        lenient = state.get("lenient")
        assert lenient is None or isinstance(lenient, dict), "lenient cursors are counts by number"
        self.source.seek(reads, lenient)
        if lenient is not None:
            self._lenient_reads = dict(lenient)
        self._ask_chain = asked
        unfolded: Any = decode(state["unfolded"]) if state.get("unfolded") else (b"", [])  # type: ignore[arg-type]
        self._asked[:], self._arguments[:] = unfolded
        self._strict_reads = reads

    def manifest(self) -> dict[str, object]:
        """Closed-world manifest: reads per source, strict, lenient and ungoverned."""
        self.flush()
        return {
            "strict": _named(self.counts),
            "lenient": _named(self.lenient_counts),
            "ungoverned": _named(self.ungoverned),
        }

    def disown(self) -> None:
        """In a forked child: forget what was buffered, serve and govern nothing more."""
        self.active, self._disowned = False, True
        self.source = LiveSource()
        self.strict_reads.take()
        self.lenient_reads.take()


def _count(numbers: Sequence[int], counts: dict[int, int]) -> None:
    for number in sorted(set(numbers)):
        counts[number] = counts.get(number, 0) + numbers.count(number)


def _named(counts: dict[int, int]) -> dict[str, int]:
    return {OPS[number].name: counts[number] for number in sorted(counts) if number in OPS}
