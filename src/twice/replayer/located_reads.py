"""Serves a record to a replay, and notes the line of the user's code that makes each read of one tick.

A record holds no lines: to look them up costs more than most reads. So only a replay that is asked for the lines of
a tick looks up the stack, and only at the reads of that tick.

Not for: events of connections. A library that asks the world more or less often than it did can get the line of another
call with the same question. A replay from a snapshot counts on the main program's reads alone, so it must begin where no other
actor lived.

Invariant: a read gets the line of a call by its own actor with the same operation and arguments, and with the same number
among such calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Self

from twice.errors import EffectMismatch
from twice.foundation.dataclass import dataclass
from twice.foundation.encoding import encode
from twice.recorder.audit.channels import find_user_frame
from twice.recorder.effects.actors import Actor, current
from twice.recorder.effects.events import LENIENT, STRICT, unpack
from twice.recorder.effects.ops import ABOUT, FACTS, MAIN, OPS, WITH_ARGUMENTS, Op
from twice.recorder.effects.sources import Live, RecordedActor, RecordedSource
from twice.recorder.runrecord import RunRecord

_Question = tuple[str, int, bytes]
"""Actor, operation and arguments of reads that are numbered together; strict reads of an actor all have operation 0."""


@dataclass(frozen=True, slots=True)
class LocatedEffect:
    """An effect, as the record has it, and the line of the user's code that made it.

    Attributes:
        operation: its name, such as ``clock.time``.
        arguments: as plain values; None for an operation without any.
        value: the answer.
        strict: whether its order among the reads of its actor is compared.
        actor: the thread, task or job that made it; ``main`` for the main program.
        file: source file of the nearest code of the user's that was being called, also through a library; empty for none.
        line: in that file; 0 for none.
        function: qualified name; empty for none.
        is_replayed: whether the replay made this read by the end of the tick; only then its line is known.
    """

    operation: str
    arguments: object
    value: object
    strict: bool
    actor: str
    file: str = ""
    line: int = 0
    function: str = ""
    is_replayed: bool = True

    @classmethod
    def from_message(cls, told: Mapping[str, Any]) -> Self:
        """Build it from a member of ``LocatedReads.reads``."""
        number, arguments, value = told["number"], None, told["value"]
        if number in WITH_ARGUMENTS and isinstance(value, tuple) and len(value) == 2:
            arguments, value = value
        operation = OPS[number].name if number in OPS else f"operation {number}"
        file, line, function = told["place"] or ("", 0, "")
        return cls(
            operation, arguments, value, told["strict"], told["actor"], file, line, function,
            is_replayed=told["place"] is not None,
        )  # fmt: skip


class _LocatedActor(RecordedActor):
    _shared: LocatedReads

    def of(self, actor: str) -> RecordedActor:
        """Return the reads of another actor."""
        return _LocatedActor(actor, iter(self._shared.others.get(actor, ())), self._shared)

    def strict(self, op: Op, arguments: object, live: Live) -> Any:
        """Serve the next recorded value, and note the line."""
        self._shared.note((self._actor, 0, b""))
        return super().strict(op, arguments, live)


class LocatedReads(_LocatedActor, RecordedSource):
    """The reads of a record, for one replay.

    Args:
        record: the served record.
        differs: called with a mismatch before it is raised.
        tick: whose reads get their lines; -1 for construction.
        most: how many of them; None for all.

    Attributes:
        reads: those of the tick, in the order of the record, for ``LocatedEffect.from_message``.
    """

    def __init__(
        self,
        record: RunRecord,
        differs: Callable[[EffectMismatch], None],
        tick: int,
        most: int | None = None,
    ) -> None:
        super().__init__(record, differs)
        self.reads: list[dict[str, Any]] = []
        self._wanted: dict[tuple[_Question, int], int] = {}
        self._recorded: dict[int, list[_Question]] = {}
        self._asked = Counter[_Question]()
        actors = {number: key for key, number in record.actors().items()}
        points, made = record.reader.points.indices_of_tick(tick), Counter[_Question]()
        # Frames that follow the tick's last point are before the next one.
        last = points[-1] + 1 if points else None
        for frame in record.reader.frames((STRICT, LENIENT), last_point=last):
            actor, is_strict = actors.get(frame.actor, MAIN), frame.kind == STRICT
            who = {"actor": actor, "strict": is_strict}
            for number, value in unpack(frame.payload):
                question: _Question = (actor, 0 if is_strict else number, b"")
                if not is_strict and number in FACTS:
                    question = _build_question(actor, number, value[0])  # type: ignore[index]
                    self._recorded.setdefault(number, []).append(question)
                if frame.tick == tick and (most is None or len(self.reads) < most):
                    self._wanted[question, made[question]] = len(self.reads)
                    self.reads.append({**who, "number": number, "value": value, "place": None})
                made[question] += 1

    def lenient(self, op: Op, live: Live, owner: str) -> object:
        """Serve the next recorded value of this operation, and note the line."""
        self.note((owner, op.number, b""))
        return super().lenient(op, live, owner)

    def fact(self, op: Op, arguments: object, live: Live, *, needed: bool) -> object:
        """Serve the answer to these arguments, and note the line."""
        self.note(_build_question(_find_owner(), op.number, arguments))
        return super().fact(op, arguments, live, needed=needed)

    def claim(self, op: Op, arguments: object, value: object) -> None:
        """Refuse a value that differs from the recorded one, and note the line."""
        self.note(_build_question(_find_owner(), op.number, arguments))
        super().claim(op, arguments, value)

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Continue after that many strict reads, and that many lenient ones of each operation."""
        super().seek(position, lenient)
        if lenient is not None:
            self._asked = Counter({key: n for key, n in self._asked.items() if not key[1]})
            for number, count in lenient.items():
                if number in FACTS:
                    self._asked.update(self._recorded.get(number, [])[:count])
                else:
                    self._asked[MAIN, number, b""] = count
        self._asked[MAIN, 0, b""] = position

    def note(self, question: _Question) -> None:
        """Note the line that this thread runs, where it makes a read of the tick."""
        at = self._asked[question]
        self._asked[question] = at + 1
        index = self._wanted.get((question, at))
        if index is not None:
            place: tuple[str, int, str] | tuple[()] = ()
            if (frame := find_user_frame()) is not None:
                code = frame.f_code
                place = code.co_filename, frame.f_lineno, code.co_qualname
            self.reads[index]["place"] = place


def _build_question(actor: str, number: int, arguments: object) -> _Question:
    # A record has facts of a connection under the name of the connection, which is in the arguments too.
    return "" if number == ABOUT.number else actor, number, encode(arguments)


def _find_owner() -> str:
    actor = current()
    return actor.layer.owners.find_owner(actor).key if isinstance(actor, Actor) else MAIN
