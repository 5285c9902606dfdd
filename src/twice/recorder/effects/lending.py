"""One run's answers served to another: what would this run have done with that one's clock?

For experiments alone. Everything is served as it would be, but for the chosen operations: their answers are
those that the other run was given, actor by actor and in order, while it has any to the same question.

Invariant: an operation that was not chosen is answered as without this.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from twice.errors import EffectMismatch
from twice.recorder.effects.answers import Answers, Live, RecordedReads, Source
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.turns import Turns
from twice.recorder.effects.ops import MAIN, WITH_ARGUMENTS, Op

_Lent = Mapping[int, deque[object]]


class LentActor:
    """One actor's reads, some of them answered by another run.

    Args:
        own: what answers it otherwise.
        key: the actor's key.
        lent: by actor, what the other run was answered, operation by operation.
    """

    def __init__(self, own: Answers, key: str, lent: Mapping[str, _Lent]) -> None:
        self._answers, self._lent = own, lent
        self._mine = lent.get(key, {})

    def of(self, actor: str) -> LentActor:
        """Return the answers for another actor."""
        return LentActor(self._answers.of(actor), actor, self._lent)

    def strict(self, op: Op, arguments: object, live: Live) -> object:
        """Return the other run's answer to this question, else this run's."""
        value = self._answers.strict(op, arguments, live)
        waiting = self._mine.get(op.number)
        if not waiting:
            return value
        theirs = waiting.popleft()
        if op.number not in WITH_ARGUMENTS:
            return theirs
        assert isinstance(theirs, tuple), "an answer to arguments stands beside them"
        asked, answer = theirs
        return answer if asked == arguments else value

    def unfit(self, error: EffectMismatch) -> None:
        """Pass the mismatch on."""
        self._answers.unfit(error)


class LentSource(LentActor):
    """The same for the main program; what libraries read for themselves stays this run's.

    Args:
        own: what answers otherwise.
        lender: the other run.
        ops: numbers of the operations whose answers are lent.
    """

    def __init__(self, own: Source, lender: RecordedReads, ops: frozenset[int]) -> None:
        others = {key: _by_op(events, ops) for key, events in lender.actor_reads().items()}
        super().__init__(own, MAIN, {**others, MAIN: _by_op(lender.strict_reads(), ops)})
        self._source = own
        self.leaves = own.leaves

    def lenient(self, op: Op, live: Live, owner: str) -> object:
        """Pass on to the source."""
        return self._source.lenient(op, live, owner)

    def fact(self, op: Op, arguments: object, live: Live, *, needed: bool) -> object:
        """Pass on to the source."""
        return self._source.fact(op, arguments, live, needed=needed)

    def connection(self, key: str, asked: object) -> Sequence[Event] | None:
        """Pass on to the source."""
        return self._source.connection(key, asked)

    def connections(self) -> Sequence[str]:
        """Pass on to the source."""
        return self._source.connections()

    def turns(self) -> Turns:
        """Pass on to the source."""
        return self._source.turns()

    def claim(self, op: Op, arguments: object, value: object) -> None:
        """Pass on to the source."""
        self._source.claim(op, arguments, value)

    def recorded(self, op: Op, arguments: object) -> tuple[bool, Any]:
        """Pass on to the source."""
        return self._source.recorded(op, arguments)

    def position(self) -> int:
        """Pass on to the source."""
        return self._source.position()

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Pass on to the source; only a run that starts at its top gets another run's answers."""
        self._source.seek(position, lenient)

    def went_live(self) -> int | None:
        """Pass on to the source."""
        return self._source.went_live()


def _by_op(events: Iterable[Event] | Sequence[Event], ops: frozenset[int]) -> _Lent:
    found: dict[int, deque[object]] = {}
    for number, value in events:
        if number in ops:
            found.setdefault(number, deque()).append(value)
    return found
