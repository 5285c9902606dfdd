"""The one layer through which a program reads the world, in two modes.

Recording, a read asks the world and is written down; replaying, it is served from the record.
Which of the two is a matter of the source and the journal that the layer was made with; the code
path is the same. Reads by user code are strict: their order and arguments must match, actor by
actor. Reads by the standard library for its own purposes (asyncio, logging) are recorded, lenient
and counted. Reads on a thread that has no actor go to the world and are counted as ungoverned.

The main program's reads are written where they are made. Those of other actors are handed over and
written by the main program at its next compare-point, so that one thread alone writes a record.

Invariant: while a layer is active, every governed read is either served, written down or counted.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from threading import current_thread, get_ident
from types import CodeType
from typing import TYPE_CHECKING, Any

from twice.errors import StreamOffThread
from twice.foundation.digests import Algorithm, short_digest
from twice.foundation.encoding import decode, encode
from twice.foundation.source_files import is_user_file
from twice.recorder.effects.actors import OUTSIDE, Actor, ThreadOwners, current, enter
from twice.recorder.effects.events import (
    ACTOR,
    CONNECTION,
    LENIENT,
    STRICT,
    Run,
    join_runs,
    pack_columns,
)
from twice.recorder.effects.ops import MAIN, MASKED_FROM, OPS, Op, has_cursor
from twice.recorder.effects.sources import LiveSource, Source
from twice.recorder.redaction.redaction import ASKED, Redaction

if TYPE_CHECKING:
    from twice.recorder.audit.hook import Watch
    from twice.recorder.effects.files.filesystem import Files
    from twice.recorder.effects.loops.tape import LoopTape
    from twice.recorder.effects.network.connections import Connections
    from twice.recorder.streams import Streams
    from twice.simulation.entropy import SeededEntropy

Journal = Callable[[str, bytes, int], None]
_HANDED_OVER_MAX = 64


class EffectLayer:
    """Governed reads of one run; without a journal nothing is written.

    Packages below the path prefixes ``opted_in`` are strict as well. ``actors`` has the numbers of those that the
    record holds already, by key (a branch's parent).
    """

    def __init__(
        self,
        source: Source,
        journal: Journal | None,
        *,
        opted_in: tuple[str, ...] = (),
        algorithm: Algorithm = Algorithm.BLAKE3,
        actors: Mapping[str, int] | None = None,
        redaction: Redaction | None = None,
    ) -> None:
        self.source = source
        self.redaction = redaction or Redaction()
        self.live = isinstance(source, LiveSource)
        self.thread = get_ident()
        self.active = True
        self.probing = False
        self.main = Actor(MAIN, self, source)
        self.living = set[int]()  # threads, tasks and jobs that were started and have not ended
        self.owners = ThreadOwners(self.thread, self.main)
        self.algorithm = algorithm
        self.parts: list[Files | Connections] = []  # they keep lines of their own
        self._journal, self.writes = journal, journal is not None
        self._opted_in = opted_in
        self._is_strict_file = cache(self._judge_file)
        self._lenient_reads: dict[int, int] = {}
        self._short = short_digest(algorithm)
        self._numbers = {MAIN: 0, **(actors or {})}
        self._waiting_actors: dict[Actor, None] = {}
        self._handed_over: deque[tuple[Actor, str, list[Run]]] = deque()
        self._carried: deque[tuple[str, bytes]] = deque()
        self.descriptor_given: list[Callable[[int], None]] = []
        self.process_ended: list[
            Callable[[str, int | None, Mapping[str, int]], None]
        ] = []  # of one that is served
        self.thread_ended: list[Callable[[], None]] = []
        self.running: dict[
            str, Callable[[], None]
        ] = {}  # by process: what to do when the run ends first
        self.counts: dict[int, int] = {}
        self.lenient_counts: dict[int, int] = {}
        self.line_counts: dict[int, int] = {}
        self.ungoverned: dict[int, int] = {}
        self.remarks: list[str] = []  # what a verdict has to say of the run
        self.streams: Streams | None = None  # which a declared effect may draw from
        self.entropy: SeededEntropy | None = None  # of a simulated run; the kernel's otherwise
        self.own_variables: Callable[[], Mapping[Any, Any]] = dict  # which the program itself set
        self.beside: Callable[[Op], None] | None = None  # told of what nobody owns
        self.find_tape: Callable[[], LoopTape | None] = lambda: None
        """Returns the tape of the recorded loop that runs on this thread."""
        self.loops_listen_at: Callable[[object], bool] = lambda _address: False
        self.flush_loops: Callable[[], None] = lambda: None
        self.descriptors: Watch | None = None
        """Told at every compare-point, and around declared effects, to look for new descriptors."""
        self.owned_descriptors: set[int] = set()
        """Descriptors that governed sources hold: what is done with them is recorded."""

    # -- reading ------------------------------------------------------------------------------

    def actor(self) -> Actor | None:
        """Return the actor whose reads this code makes, or None when the layer governs none of them."""
        if not self.active:
            return None
        found = current()
        if found is None:  # a context made empty by hand, on the run's own thread
            return self.main if get_ident() == self.thread else None
        return found if isinstance(found, Actor) and found.layer is self else None

    def ask(
        self,
        op: Op,
        live: Callable[[], object],
        asker: CodeType,
        arguments: object = None,
        *,
        module: Mapping[str, Any] | None = None,
    ) -> Any:
        """Answer a read that was intercepted: strict, lenient or ungoverned, as its asker is.

        ``arguments`` are plain values; None for an operation without any. ``module`` has the globals of the asker,
        where it may be generated code.
        """
        actor = self.actor()
        if actor is None:
            self.count_ungoverned(op)
            return live()
        if self.is_strict(asker) if module is None else self.is_strict_in(module, asker):
            return self.read(actor, op, live, arguments)
        return self.read_lenient(actor, op, live)

    def read(
        self, actor: Actor | None, op: Op, live: Callable[[], object], arguments: object = None
    ) -> object:
        """Answer a read by an actor's own code and write it down; nobody's is asked of the world."""
        if actor is None:
            return live()
        redaction = self.redaction
        if op.number >= MASKED_FROM:
            arguments = redaction.value(arguments, ASKED) if redaction.active else arguments
            value = actor.source.strict(op, arguments, live)
            # Asked again: this very read may have shown the first secret.
            noted = redaction.value(value, op.name) if redaction.active else value
        else:
            noted = value = actor.source.strict(op, arguments, live)
        actor.note(op.number, noted if arguments is None else (arguments, noted))
        return value

    def read_lenient(self, actor: Actor, op: Op, live: Callable[[], object]) -> object:
        """Answer a read that the standard library makes for itself."""
        value = self.source.lenient(op, live, self.owners.find_owner(actor).key)
        redaction = self.redaction
        masked = redaction.active and op.number >= MASKED_FROM
        actor.note_lenient(op.number, redaction.value(value, op.name) if masked else value)
        return value

    def fact(
        self,
        op: Op,
        arguments: object,
        live: Callable[[], object],
        *,
        needed: bool = True,
        anew: bool = False,
    ) -> Any:
        """Answer a question whose order among others means nothing, whoever asks.

        A replay that does not know the answer asks the world, unless it is ``needed``. With ``anew`` this execution's
        own answer counts instead, of what it did itself.
        """
        actor = self.actor()
        if actor is None:
            self.count_ungoverned(op)
            return live()
        redaction = self.redaction
        arguments = redaction.value(arguments, ASKED)
        value = live() if self.probing else self.source.fact(op, arguments, live, needed=needed)
        if anew:
            value = live()
        actor.note_lenient(op.number, (arguments, redaction.value(value, op.name)))
        return value

    def line(self, key: str) -> Actor:
        """Make a line of the record that belongs to no actor: its events have an order of their own."""
        return Actor(key, self, self.source)

    def note_line(self, line: Actor, op: Op, value: object, *, fact: bool = False) -> None:
        """Note an event on a line, from any thread."""
        kind = LENIENT if fact else CONNECTION
        self._handed_over.append((line, kind, [(op.number, [value])]))
        if len(self._handed_over) >= _HANDED_OVER_MAX and get_ident() == self.thread:
            self._write()

    def carry(self, kind: str, payload: bytes) -> None:
        """Write something that is no read into the journal, whoever has it."""
        if self._journal is not None and get_ident() == self.thread:
            self._journal(kind, payload, 0)
        else:
            self._carried.append((kind, payload))

    def require_actor(self, op: Op) -> Actor | None:
        """Return the actor that asks for an effect by name; None inside another effect."""
        actor = self.actor()
        if actor is None and self.active and current() is not OUTSIDE:
            raise StreamOffThread(
                f"{op.name} was asked for on the thread {current_thread().name!r}.",
                "Expected a thread that Python code of the run started: others have no actor.",
                "Read it on the main thread and hand the value over.",
                op=op.name,
            )
        return actor

    def count_ungoverned(self, op: Op) -> None:
        """Count a read that went to the world because no actor owns its thread."""
        if current() is OUTSIDE:
            return
        self.ungoverned[op.number] = self.ungoverned.get(op.number, 0) + 1
        if self.beside is not None:
            self.beside(op)

    def is_strict(self, code: CodeType) -> bool:
        """Return whether reads made by this code are strict: user code, or a package opted in."""
        return self.probing or self._is_strict_file(code.co_filename)

    def is_strict_in(self, module: Mapping[str, Any], code: CodeType) -> bool:
        """Return whether reads are strict; generated code (a dataclass's) counts by its module's file."""
        origin = module.get("__file__") if code.co_filename.startswith("<") else None
        if not isinstance(origin, str) or self.probing:
            return self.is_strict(code)
        return self._is_strict_file(origin)

    def _judge_file(self, name: str) -> bool:
        return is_user_file(name) or (
            bool(self._opted_in) and os.path.realpath(name).startswith(self._opted_in)
        )

    # -- writing ------------------------------------------------------------------------------

    def begins_to_wait(self, actor: Actor) -> None:
        """Note that an actor has reads that are not written down yet."""
        self._waiting_actors[actor] = None

    def forget(self, actor: Actor) -> None:
        """Drop the waiting reads of an actor: a probe's, a forked child's."""
        self._waiting_actors.pop(actor, None)
        actor.take()
        actor.lenient.take()

    def hand_over(self, actor: Actor) -> None:
        """Take an actor's reads to be written; the main program's are written at once."""
        self._waiting_actors.pop(actor, None)
        for kind, waiting in ((STRICT, actor), (LENIENT, actor.lenient)):
            if waiting.runs:
                self._handed_over.append((actor, kind, waiting.take()))
        if actor is self.main and get_ident() == self.thread:
            self._write()

    def flush(self) -> None:
        """Write down the reads of this thread's actors, and those that other threads handed over."""
        self.flush_loops()
        here = get_ident()
        for actor in list(self._waiting_actors):
            if actor.thread == here:
                self.hand_over(actor)
        self._write()

    def flush_all(self) -> None:
        """Finish the parts, and write all waiting reads of all threads, at the end of a run."""
        self.flush_loops()
        for part in self.parts:
            part.finish()
        for actor in list(self._waiting_actors):
            self.hand_over(actor)
        self._write()

    def _write(self) -> None:
        if self._journal is not None:
            self.redaction.write(self._journal)
            while self._carried:
                self._journal(*self._carried.popleft(), 0)
        while self._handed_over:
            actor, kind, runs = self._handed_over.popleft()
            # A thread hands over one event at a time: those of one line become one frame.
            while self._handed_over and self._handed_over[0][:2] == (actor, kind):
                runs += self._handed_over.popleft()[2]
            numbers, values = join_runs(runs)
            if kind == STRICT:
                _count(runs, self.counts)
                actor.fold(numbers, runs)
            elif kind == LENIENT:
                _count(runs, self.lenient_counts)
                is_main = actor is self.main
                with_cursor = [run for run in runs if has_cursor(run[0], is_main=is_main)]
                _count(with_cursor, self._lenient_reads)
            else:
                _count(runs, self.line_counts)
            if self._journal is not None:
                self._journal(kind, pack_columns(numbers, values), self._number(actor))

    def _number(self, actor: Actor) -> int:
        number = self._numbers.get(actor.key)
        if number is None:
            number = self._numbers[actor.key] = len(self._numbers)
            assert self._journal is not None, "actors are numbered where they are written"
            self._journal(ACTOR, encode(actor.key), number)
        return number

    def position(self) -> bytes:
        """Digest of the questions that the main program asked so far, not of the answers."""
        if self._waiting_actors or self._handed_over:
            self.flush()
        if self.descriptors is not None:
            self.descriptors.look()
        return self.main.fold_digest(self._short)

    def snapshot(self) -> dict[str, object]:
        """Return cursors and question digest of the main program, for ``restore``."""
        self.flush()
        main = self.main
        parts = {part.name: state for part in self.parts if (state := part.state())}
        return {
            "reads": main.reads,
            "asked": main.chain,
            "unfolded": encode((bytes(main.asked), list(main.arguments))),
            "lenient": dict(self._lenient_reads),
            "children": dict(main.children),
            "living": len(self.living),
            **({"parts": encode(parts)} if parts else {}),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put cursors and question digest back; a live source keeps going with the world.

        A state without ``lenient`` (the end of an earlier loop) leaves those cursors alone.
        """
        self.flush()
        lenient = state.get("lenient")
        self.source.seek(state["reads"], lenient)
        if lenient is not None:
            self._lenient_reads = dict(lenient)
        main = self.main
        main.chain, main.reads = state["asked"], state["reads"]
        # Asked since the last compare-point: the digest of the next one will hold them.
        unfolded: Any = decode(state["unfolded"]) if state.get("unfolded") else (b"", [])
        main.asked[:], main.arguments[:] = unfolded
        if state.get("children") is not None:
            main.children = dict(state["children"])
        stood: Any = decode(state["parts"]) if state.get("parts") else {}
        for part in self.parts:
            part.restore(stood.get(part.name, {}))

    def manifest(self) -> dict[str, object]:
        """Return the closed-world manifest: reads per source, strict, lenient and ungoverned."""
        self.flush()
        return {
            "strict": _name_counts(self.counts),
            "lenient": _name_counts(self.lenient_counts),
            **({"network": _name_counts(self.line_counts)} if self.line_counts else {}),
            "ungoverned": _name_counts(self.ungoverned),
        }

    def disown(self) -> None:
        """Forget the buffered reads in a forked child, and stop governing."""
        self.active = False
        self.find_tape = lambda: None
        enter(OUTSIDE)
        for actor in list(self._waiting_actors):
            self.forget(actor)
        self._handed_over.clear()
        self._carried.clear()


def _count(runs: Sequence[Run], counts: dict[int, int]) -> None:
    """Add reads to how often each operation was read."""
    for number, values in runs:
        counts[number] = counts.get(number, 0) + len(values)


def _name_counts(counts: dict[int, int]) -> dict[str, int]:
    return {OPS[number].name: counts[number] for number in sorted(counts) if number in OPS}
