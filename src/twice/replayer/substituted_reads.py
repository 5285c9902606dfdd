"""Serves a record to a replay, with some answers of another run in place of its own.

A run that then leaves something else depends on them. The line that makes the last of these reads is noted.

Not for: reads of other threads and of libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from twice.errors import EffectMismatch
from twice.recorder.audit.channels import find_user_frame
from twice.recorder.effects.events import Event
from twice.recorder.effects.ops import WITH_ARGUMENTS
from twice.recorder.runrecord import RunRecord
from twice.replayer.bounded_reads import CheckpointBoundedReads


def list_differing_reads(a: RunRecord, b: RunRecord) -> dict[int, tuple[Event, Event]]:
    """Return reads of the main program that gave two runs different values, by number, in order.

    They end where one run asks something else than the other: what follows there are answers to other questions.
    """
    found = {}
    for number, (one, two) in enumerate(zip(a.strict_reads(), b.strict_reads(), strict=False)):
        if one == two:
            continue
        (op, mine), (other_op, other) = one, two
        if op != other_op or (op in WITH_ARGUMENTS and mine[0] != other[0]):  # type: ignore[index]
            break
        found[number] = (one, two)
    return found


class SubstitutedReads(CheckpointBoundedReads):
    """The reads of a record, some of them from another.

    Args:
        record: the served record.
        differs: called with a mismatch before it is raised.
        given: the other answers, by the number of the read.

    Attributes:
        made_at: file, line and function of the last of these reads, once the user's code makes it.
    """

    def __init__(
        self,
        record: RunRecord,
        differs: Callable[[EffectMismatch], None],
        given: Mapping[int, Event],
    ) -> None:
        super().__init__(record, differs)
        self._given, self._last_given = given, max(given)
        self.made_at: list[object] = []

    def _next(self) -> Event | None:
        number, event = self.position(), super()._next()
        if number == self._last_given:
            frame = find_user_frame()
            if frame is not None:
                code = frame.f_code
                self.made_at = [code.co_filename, frame.f_lineno, code.co_qualname]
        return self._given.get(number, event)
