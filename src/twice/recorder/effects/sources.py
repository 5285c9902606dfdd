"""Where an effect's value comes from: the world, the record, or the record until it stops fitting.

``LiveSource`` asks the world. ``RecordedSource`` serves a record and refuses anything else: another
operation, other arguments, or one read too many. Of a branch, it serves the record while it fits, and each
actor goes live at its first read that does not. For experiments, some answers come from another run.

Strict reads (by user code) keep one cursor for each actor, in order. Lenient reads (by the standard library for
itself) are served per thread and operation, and go live when the record has no more of them.

Invariant: a source never invents a value, and whoever asks does not know which source answers.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from twice.errors import EffectMismatch
from twice.recorder.effects.events import LENIENT, Event, read_numbers, unpack
from twice.recorder.effects.network.turns import Turns
from twice.recorder.effects.ops import (
    BEHAVIOUR,
    FACTS,
    FILE_WRITTEN,
    MAIN,
    OPS,
    SHOWN_VARIABLE,
    SLEEP,
    VARIABLE,
    WITH_ARGUMENTS,
    Op,
    find_lineage,
)
from twice.recorder.effects.recorded_lines import Facts, RecordedLine

if TYPE_CHECKING:
    from twice.recorder.runrecord import RunRecord

Live = Callable[[], object]
_WHOLE_CHARACTERS_MAX = 200
"""Length up to which a question is shown whole where it differs."""
_CONTINUES = ("clock.monotonic", "clock.perf_counter", "clock.time", "clock.process_time")


class LiveSource:
    """Asks the world, always."""

    leaves = False  # It may not do otherwise than a record, because there is none.
    order = BEHAVIOUR

    def of(self, actor: str) -> LiveSource:
        """Return this source: the world is the same for everyone."""
        del actor
        return self

    def strict(self, op: Op, arguments: object, live: Live) -> object:
        """Ask the world."""
        del op, arguments
        return live()

    def unfit(self, error: EffectMismatch) -> None:
        """Ignore the mismatch: the world always fits."""

    def lenient(self, op: Op, live: Live, owner: str) -> object:
        """Ask the world."""
        del op, owner
        return live()

    def fact(self, op: Op, arguments: object, live: Live, *, needed: bool) -> object:
        """Ask the world."""
        del op, arguments, needed
        return live()

    def connection(self, key: str, asked: object) -> None:
        """Return None: the world answers."""
        del key, asked

    def connections(self) -> Sequence[str]:
        """Return no keys: a live run need not make any connection."""
        return ()

    def turns(self) -> Turns:
        """Return turns for which nobody waits."""
        return Turns((), {})

    def claim(self, op: Op, arguments: object, value: object) -> None:
        """Accept every value."""

    def recorded(self, op: Op, arguments: object) -> tuple[bool, Any]:
        """Return that there is no answer, because there is no record."""
        del op, arguments
        return False, None

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Do nothing: a live world has no cursor."""


class RecordedActor:
    """Serves one actor what it read; another question is a divergence, or where a branch leaves.

    Its strict reads are consumed lazily. ``shared`` is the source of the whole record, and for the main program itself.

    Attributes:
        next_number: the operation of ``next_values``.
        next_values: what a source knows to be asked for next, last first: the compiled twin takes it from here.
    """

    __slots__ = ("__dict__", "next_number", "next_values")

    def __init__(self, actor: str, strict: Iterator[Event], shared: RecordedSource) -> None:
        self._actor, self._strict, self._shared = actor, strict, shared
        self._position = 0  # with those in ``next_values``
        self.next_number, self.next_values = 0, list[object]()
        self._left: int | None = None
        self._changed, self._lent = shared.changed, shared.lent.get(actor)

    def of(self, actor: str) -> RecordedActor:
        """Return the reads of another actor; none, for one that the record does not know."""
        return RecordedActor(actor, iter(self._shared.others.get(actor, ())), self._shared)

    def strict(self, op: Op, arguments: object, live: Live) -> Any:
        """Serve the next recorded value when it answers this very question."""
        if self._left is not None:
            return live() if not self._lent else self._lend(op, arguments, live())
        event = self._next()
        if event is None or event[0] != op.number:
            value: Any = self._leave(event, op, arguments, live)
        else:
            value = event[1]
            if arguments is not None:
                asked, value = value
                if asked != arguments:
                    value = self._leave(event, op, arguments, live)
            if self._left is None:
                self._position += 1
                if op is VARIABLE and arguments in self._changed:
                    value = live()
        return self._lend(op, arguments, value) if self._lent else value

    def _next(self) -> Event | None:
        return next(self._strict, None)

    def _leave(self, event: Event | None, op: Op, arguments: object, live: Live) -> object:
        """Go live, or refuse the question that the record does not answer next."""
        if self._shared.leaves:
            self._left = self.position()
            return live()
        texts: list[str] = []
        is_long = arguments is not None and len(repr(arguments)) > _WHOLE_CHARACTERS_MAX
        if is_long and event is not None and event[0] == op.number:
            asked: Any = event[1]
            parts = find_unequal_parts(asked[0], arguments)
            shown = (", ".join(map(repr, each)) or "nothing" for each in parts)
            texts = [f"{op.name}: {part}" for part in shown]
        raise self._mismatch(event, op, arguments, *texts)

    def _lend(self, op: Op, arguments: object, value: object) -> object:
        """Return the other run's answer to this question, while it has any, else this run's."""
        waiting = (self._lent or {}).get(op.number)
        if not waiting:
            return value
        theirs = waiting.popleft()
        if op.number not in WITH_ARGUMENTS:
            return theirs
        asked, answer = theirs
        return answer if asked == arguments else value

    def position(self) -> int:
        """Return how many strict reads were served."""
        return self._position - len(self.next_values)

    def went_live(self) -> int | None:
        """Return the position of the first read that left the record, or None."""
        return self._left

    def _mismatch(
        self,
        event: Event | None,
        op: Op,
        arguments: object,
        recorded: str = "",
        asked: str = "",
        **fields: object,
    ) -> EffectMismatch:
        recorded = recorded or ("nothing more" if event is None else describe(*event))
        asked = asked or (op.name if arguments is None else f"{op.name}{arguments!r}")
        error = EffectMismatch(
            f"Read {self.position()} of the world by {self._actor} is {asked}; the record holds"
            f" {recorded}.",
            "Expected the same reads in the same order with the same arguments.",
            "The program takes another path than it did: twice diagnose names where.",
            position=self.position(),
            actor=self._actor,
            recorded=recorded,
            asked=asked,
            is_moved=self._was_read_by_another(op, arguments),
            **fields,
        )
        self.unfit(error)
        return error

    def _was_read_by_another(self, op: Op, arguments: object) -> bool:
        """Return whether the record has this read of an actor that was started like this one."""
        lineage = find_lineage(self._actor)
        return self._actor != MAIN and any(
            number == op.number and (arguments is None or value[0] == arguments)  # type: ignore[index]
            for key, reads in self._shared.others.items()
            if key != self._actor and find_lineage(key) == lineage
            for number, value in reads
        )

    def unfit(self, error: EffectMismatch) -> None:
        """Report a mismatch before the program can catch it; a branch may do otherwise."""
        if self._shared.differs is not None and not self._shared.leaves:
            self._shared.differs(error)


class RecordedSource(RecordedActor):
    """Serves what was recorded: the main program, and the standard library for everyone.

    Args:
        record: the run record.
        differs: called with a mismatch before it is raised; a program may catch the error, but the mismatch has
            happened all the same.
        leaves: whether the first read of an actor that does not fit goes live, and all after it.
        is_branch: whether it need not make the recorded connections.
        changed: variables that this execution was given another value of, on purpose: they are asked of the world, in
            the order of the record.
        lender: another run, and the operations to which its answers are given in place of the own ones.
    """

    def __init__(
        self,
        record: RunRecord,
        differs: Callable[[EffectMismatch], None] | None = None,
        *,
        leaves: bool = False,
        is_branch: bool = False,
        changed: Iterable[str] = (),
        lender: tuple[RunRecord, Iterable[int]] | None = None,
    ) -> None:
        self.others, self.differs, self.changed = record.actor_reads(), differs, frozenset(changed)
        self.lent = {} if lender is None else _gather_lent(lender[0], frozenset(lender[1]))
        self.order: int = record.identity["behaviours"]["effects_order"]
        self.leaves, self._is_branch, self._open = leaves, is_branch or leaves, record.strict_reads
        super().__init__(MAIN, record.strict_reads(), self)
        self._lenient: dict[tuple[str, int], RecordedLine] = {}
        self._served: dict[tuple[str, int], int] = {}
        self._last: dict[int, tuple[float, float]] = {}
        facts: dict[int, list[object]] = {}
        for owner, place, payload in record.locate(LENIENT):
            counts = Counter(read_numbers(payload))
            for number in sorted(counts.keys() - FACTS):
                line = owner, number
                if line not in self._lenient:
                    self._lenient[line] = RecordedLine(record.payload, number)
                self._lenient[line].append(place, counts[number])
            if not FACTS.isdisjoint(counts):
                for number, value in unpack(payload):
                    if number in FACTS:
                        facts.setdefault(number, []).append(value)
        self._connections = record.connections()
        self._turns = Turns(record.connection_order(), self._connections)
        self._facts = {op: Facts(facts.get(op, ())) for op in sorted(FACTS)}

    def lenient(self, op: Op, live: Live, owner: str) -> object:
        """Serve the next recorded value of this operation, or go on from where it ended."""
        line = owner, op.number
        recorded_reads = self._lenient.get(line, ())
        at = self._served.get(line, 0)
        now = live() if op is not SLEEP else None
        if at < len(recorded_reads):
            _, value = recorded_reads[at]
            self._served[line] = at + 1
            if isinstance(value, float) and isinstance(now, float):
                self._last[op.number] = (value, now)
            return value
        if op.name in _CONTINUES and op.number in self._last and isinstance(now, float):
            recorded, then = self._last[op.number]
            return recorded + (now - then)
        return now

    def fact(self, op: Op, arguments: object, live: Live, *, needed: bool) -> object:
        """Serve the answer to these arguments; ask anew for an unknown one that is not needed."""
        if op is SHOWN_VARIABLE and arguments in self._changed:
            return live()
        known, value = self._facts[op.number].answer(arguments)
        if needed and not known and not self.leaves:
            raise self._mismatch(None, op, arguments)
        return value if known else live()

    def connection(self, key: str, asked: object) -> Sequence[Event] | None:
        """Return the recorded events of a connection; None where a branch makes another one."""
        events: Sequence[Any] = self._connections.get(key, ())
        fits = not self.leaves or (bool(events) and events[0][1][0] == asked)
        return events if fits else None

    def connections(self) -> Sequence[str]:
        """Return the keys of the connections that this execution must make, in the order of the record."""
        return () if self._is_branch else list(self._connections)

    def turns(self) -> Turns:
        """Return the order in which replies arrived."""
        return self._turns

    def claim(self, op: Op, arguments: object, value: object) -> None:
        """Refuse a value that differs from the recorded one; accept values that the record does not know."""
        if self.leaves:
            return
        known, recorded = self._facts[op.number].answer(arguments, again=False)
        if known and recorded != value:
            event = (op.number, (arguments, recorded))
            asked = describe(op.number, (arguments, value))
            # A written file's start and size are equal: its content alone differs.
            rewritten: Any = op is FILE_WRITTEN and value[::2] == recorded[::2]  # type: ignore[index]
            raise self._mismatch(event, op, arguments, asked=asked, is_rewritten=rewritten)

    def recorded(self, op: Op, arguments: object) -> tuple[bool, Any]:
        """Return whether there is an answer to this, and the first one, without serving it."""
        return self._facts[op.number].first(arguments)

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Continue after that many strict reads, and that many lenient ones of each operation."""
        self._strict = self._open(position)
        self._position = position
        if lenient is not None:
            self._served = {(MAIN, number): count for number, count in lenient.items()}
            for number, facts in self._facts.items():
                facts.seek(lenient.get(number, 0))


Source = LiveSource | RecordedSource
"""Answers the main program, and the standard library for everyone."""
Answers = LiveSource | RecordedActor
"""Answers the strict reads of one actor."""


def find_unequal_parts(recorded: object, asked: object) -> tuple[list[object], list[object]]:
    """Return the parts of two questions that differ, as lists of equal meaning.

    Tuples of one length are taken apart; of others, and of their texts, what only one of them has.
    """
    if isinstance(recorded, tuple) and isinstance(asked, tuple):
        if len(recorded) == len(asked) and {*map(type, recorded), *map(type, asked)} != {str}:
            parts = [find_unequal_parts(*pair) for pair in zip(recorded, asked, strict=True)]
            return [x for one, _ in parts for x in one], [x for _, other in parts for x in other]
        only = (
            [part for part in recorded if part not in asked],
            [part for part in asked if part not in recorded],
        )
        if any(only):
            return only
    return ([], []) if recorded == asked else ([recorded], [asked])


def describe(number: int, value: object) -> str:
    """Describe a recorded read, for messages."""
    op = OPS.get(number)
    name = op.name if op else f"operation {number}"
    if op is not None and op.fact and isinstance(value, tuple) and len(value) == 2:
        arguments, value = value
        name = f"{name}({arguments!r})"
    text = repr(value)
    return f"{name} -> {text if len(text) <= 100 else text[:97] + '...'}"


def _gather_lent(lender: RunRecord, ops: frozenset[int]) -> dict[str, dict[int, deque[Any]]]:
    """Return a run's answers to some operations, actor by actor and in order."""
    lent: dict[str, dict[int, deque[Any]]] = {}
    for key, events in {**lender.actor_reads(), MAIN: lender.strict_reads()}.items():
        mine = lent[key] = {}
        for number, value in events:
            if number in ops:
                mine.setdefault(number, deque()).append(value)
    return lent
