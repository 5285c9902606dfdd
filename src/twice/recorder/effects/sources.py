"""Where an effect's value comes from: the world, the record, or the record until it stops fitting.

Three sources, one interface. ``LiveSource`` asks the world. ``RecordedSource`` serves what was
recorded and refuses anything else: another operation, other arguments, or one read too many.
``BranchSource`` serves the record while it fits and goes live at the first read that does not.

Strict reads (by user code) keep one cursor for each actor, in order. Lenient reads (by the standard library for
itself) are served per thread and operation, and go live when the record has no more of them.

Invariant: a source never invents a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from twice.errors import EffectMismatch
from twice.recorder.effects.answers import Live, RecordedReads
from twice.recorder.effects.events import Event
from twice.recorder.effects.facts import Facts
from twice.recorder.effects.network.turns import Turns
from twice.recorder.effects.ops import FACTS, MAIN, OPS, SHOWN_VARIABLE, SLEEP, VARIABLE, Op

_WHOLE_CHARACTERS_MAX = 200
"""Length up to which a question is shown whole where it differs."""
_CONTINUES = ("clock.monotonic", "clock.perf_counter", "clock.time", "clock.process_time")


class LiveSource:
    """Asks the world, always."""

    leaves = False

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

    def position(self) -> int:
        """Return 0: nothing is served from a record."""
        return 0

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Do nothing: a live world has no cursor."""

    def went_live(self) -> int | None:
        """Return None: a live source never leaves a record."""
        return None


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


class RecordedActor:
    """Serves one actor what it read; another question is a divergence.

    Args:
        actor: its key.
        strict: opens its strict reads after a count; consumed lazily.
        others: strict reads of every actor but the main program.
        differs: told of a mismatch before it is raised; a program may catch the error, but the
            mismatch has happened all the same.

    Raises:
        EffectMismatch: E-EFFECT-001, from ``strict``, with the position, recorded and asked.
    """

    def __init__(
        self,
        actor: str,
        strict: Callable[[int], Iterator[Event]],
        others: Mapping[str, Sequence[Event]],
        differs: Callable[[EffectMismatch], None] | None,
    ) -> None:
        self._actor, self._open, self._others, self._differs = actor, strict, others, differs
        self._strict, self._position = strict(0), 0

    def of(self, actor: str) -> RecordedActor:
        """Return the reads of another actor; none, for one that the record does not know."""
        events = self._others.get(actor, ())
        return RecordedActor(actor, lambda count: iter(events[count:]), self._others, self._differs)

    def strict(self, op: Op, arguments: object, live: Live) -> Any:
        """Serve the next recorded value when it answers this very question."""
        del live
        event = self._next()
        if event is None:
            raise self._mismatch(None, op, arguments)
        number: int = event[0]
        value: Any = event[1]
        if number != op.number:
            raise self._mismatch(event, op, arguments)
        if arguments is not None:
            asked, value = value
            if asked != arguments:
                texts: list[str] = []
                if len(repr(arguments)) > _WHOLE_CHARACTERS_MAX:
                    parts = find_unequal_parts(asked, arguments)
                    shown = (", ".join(map(repr, each)) or "nothing" for each in parts)
                    texts = [f"{op.name}: {part}" for part in shown]
                raise self._mismatch(event, op, arguments, *texts)
        self._position += 1
        return value

    def _next(self) -> Event | None:
        return next(self._strict, None)

    def position(self) -> int:
        """Return how many strict reads were served."""
        return self._position

    def _mismatch(
        self,
        event: Event | None,
        op: Op,
        arguments: object,
        recorded: str = "",
        asked: str = "",
    ) -> EffectMismatch:
        recorded = recorded or ("nothing more" if event is None else describe(*event))
        asked = asked or (op.name if arguments is None else f"{op.name}{arguments!r}")
        error = EffectMismatch(
            f"Read {self._position} of the world by {self._actor} is {asked}; the record holds"
            f" {recorded}.",
            "Expected the same reads in the same order with the same arguments.",
            "The program takes another path than it did: twice diagnose names where.",
            position=self._position,
            actor=self._actor,
            recorded=recorded,
            asked=asked,
        )
        self.unfit(error)
        return error

    def unfit(self, error: EffectMismatch) -> None:
        """Report the mismatch before the program can catch it."""
        if self._differs is not None:
            self._differs(error)


class RecordedSource(RecordedActor):
    """Serves what was recorded: the main program, and the standard library for everyone.

    Args:
        reads: the record's reads. Those of other actors are read at once: they are served on other
            threads, and a record is read by one.
        differs: told of a mismatch before it is raised.
    """

    leaves = False

    def __init__(
        self, reads: RecordedReads, differs: Callable[[EffectMismatch], None] | None = None
    ) -> None:
        super().__init__(MAIN, reads.strict_reads, reads.actor_reads(), differs)
        self._lenient: dict[tuple[str, int], list[object]] = {}
        self._served: dict[tuple[str, int], int] = {}
        self._last: dict[int, tuple[float, float]] = {}
        facts: dict[int, list[object]] = {}
        for owner, (number, value) in reads.lenient_lines():
            if number in FACTS:
                facts.setdefault(number, []).append(value)
            else:
                self._lenient.setdefault((owner, number), []).append(value)
        self._connections = reads.connections()
        self._turns = Turns(reads.connection_order(), self._connections)
        self._facts = {op: Facts(facts.get(op, ())) for op in sorted(FACTS)}

    def lenient(self, op: Op, live: Live, owner: str) -> object:
        """Serve the next recorded value of this operation, or go on from where it ended."""
        line = owner, op.number
        recorded_values = self._lenient.get(line, ())
        at = self._served.get(line, 0)
        now = live() if op is not SLEEP else None
        if at < len(recorded_values):
            value = recorded_values[at]
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
        known, value = self._facts[op.number].answer(arguments)
        if needed and not known:
            raise self._mismatch(None, op, arguments)
        return value if known else live()

    def connection(self, key: str, asked: object) -> Sequence[Event]:
        """Return the recorded events of a connection; none, for one that the record does not know."""
        del asked
        return self._connections.get(key, ())

    def connections(self) -> Sequence[str]:
        """Return the keys of all recorded connections."""
        return list(self._connections)

    def turns(self) -> Turns:
        """Return the order in which replies arrived."""
        return self._turns

    def claim(self, op: Op, arguments: object, value: object) -> None:
        """Refuse a value that differs from the recorded one; accept values that the record does not know."""
        known, recorded = self._facts[op.number].answer(arguments, again=False)
        if known and recorded != value:
            event = (op.number, (arguments, recorded))
            asked = describe(op.number, (arguments, value))
            raise self._mismatch(event, op, arguments, asked=asked)

    def recorded(self, op: Op, arguments: object) -> tuple[bool, Any]:
        """Return whether there is an answer to this, and the first one."""
        return self._facts[op.number].first(arguments)

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Continue after that many strict reads, and that many lenient ones of each operation."""
        self._strict = self._open(position)
        self._position = position
        if lenient is not None:
            self._served = {(MAIN, number): count for number, count in lenient.items()}
            for number, facts in self._facts.items():
                facts.seek(lenient.get(number, 0))

    def went_live(self) -> int | None:
        """Return None: a recorded source never goes live."""
        return None


class BranchActor:
    """Serves an actor its record while it fits; the first read that does not goes live, and stays live.

    Args:
        recorded: what the actor read in the parent.
        sealed: whether a read that the record cannot answer is refused instead.
        changed: variables that this execution was given another value of, on purpose: they are asked
            of the world, in the order of the record.
    """

    def __init__(
        self,
        recorded: RecordedActor,
        *,
        sealed: bool = False,
        changed: frozenset[str] = frozenset(),
    ) -> None:
        self._recorded = recorded
        self._sealed = sealed
        self._changed = changed
        self._left: int | None = None

    def of(self, actor: str) -> BranchActor:
        """Return the source of another actor, which leaves the record by itself."""
        of = self._recorded.of(actor)
        return BranchActor(of, sealed=self._sealed, changed=self._changed)

    def strict(self, op: Op, arguments: object, live: Live) -> object:
        """Serve the record, or the world once the record stopped fitting."""
        if self._left is None:
            try:
                served = self._recorded.strict(op, arguments, live)
            except EffectMismatch:
                if self._sealed:
                    raise
                self._left = self._recorded.position()
            else:
                return live() if op is VARIABLE and arguments in self._changed else served
        return live()

    def unfit(self, error: EffectMismatch) -> None:
        """Report the mismatch in a sealed branch; ignore it in any other."""
        if self._sealed:
            self._recorded.unfit(error)

    def position(self) -> int:
        """Return how many strict reads were served from the record."""
        return self._recorded.position()

    def went_live(self) -> int | None:
        """Return the position of the first read that left the record."""
        return self._left


class BranchSource(BranchActor):
    """The same for the main program, with the standard library's reads as in a replay."""

    def __init__(
        self,
        recorded: RecordedSource,
        *,
        sealed: bool = False,
        changed: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(recorded, sealed=sealed, changed=changed)
        self._source = recorded
        self.leaves = not sealed

    def lenient(self, op: Op, live: Live, owner: str) -> object:
        """Answer as in a replay."""
        return self._source.lenient(op, live, owner)

    def fact(self, op: Op, arguments: object, live: Live, *, needed: bool) -> object:
        """Serve the known answer; ask the world for others, unless this branch is sealed."""
        if op is SHOWN_VARIABLE and arguments in self._changed:
            return live()
        return self._source.fact(op, arguments, live, needed=needed and self._sealed)

    def connection(self, key: str, asked: object) -> Sequence[Event] | None:
        """Return the recorded events of a connection; None for another connection, unless sealed."""
        events: Sequence[Any] = self._source.connection(key, asked)
        same = bool(events) and events[0][1][0] == asked
        return events if same or self._sealed else None

    def connections(self) -> Sequence[str]:
        """Return nothing: a branch need not make its parent's connections."""
        return ()

    def turns(self) -> Turns:
        """Return the order as in a replay."""
        return self._source.turns()

    def claim(self, op: Op, arguments: object, value: object) -> None:
        """Compare the claim with the record if the branch is sealed; else accept it."""
        if self._sealed:
            self._source.claim(op, arguments, value)

    def recorded(self, op: Op, arguments: object) -> tuple[bool, Any]:
        """Return the answer of the parent's record."""
        return self._source.recorded(op, arguments)

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Continue after that many strict reads, and that many lenient ones of each operation."""
        self._source.seek(position, lenient)


def describe(number: int, value: object) -> str:
    """Describe a recorded read, for messages."""
    op = OPS.get(number)
    name = op.name if op else f"operation {number}"
    if op is not None and op.fact and isinstance(value, tuple) and len(value) == 2:
        arguments, value = value
        name = f"{name}({arguments!r})"
    text = repr(value)
    return f"{name} -> {text if len(text) <= 100 else text[:97] + '...'}"
