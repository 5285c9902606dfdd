"""What two runs read from the world, and where it differs.

Invariant: records are read; nothing is executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain, zip_longest

from twice.diagnosis.divergence import ExtraRead
from twice.diagnosis.localization.result import Located
from twice.diagnosis.log_comparison import LogDivergence, PointRef, list_unequal_judged
from twice.recorder.effects.events import Event
from twice.recorder.effects.ops import OPS, RECEIVED
from twice.recorder.runrecord import RunRecord

BY_LIBRARY = ", by a library"
"""What follows the name of a source that the user's code did not read itself."""


def is_extra_read_only(a: RunRecord, b: RunRecord, where: LogDivergence) -> bool:
    """Whether two whole logs part in what was asked of the world alone, from there to their ends."""
    log_a, log_b = a.reader.points, b.reader.points
    if where.at is None or where.columns != ("effects",) or len(log_a) != len(log_b):
        return False
    return (
        a.complete
        and b.complete
        and all(
            {*list_unequal_judged(a, b, index)} <= {"effects"}
            for index in range(where.at.index + 1, len(log_a))
        )
    )


def list_extra_reads(
    a: RunRecord, b: RunRecord, where: LogDivergence, located: Located | None
) -> list[ExtraRead]:
    """List reads that one run makes and the other does not, up to where they part; the first with its line."""
    names = _name_extra_reads(a, b, where) or ["a read with other arguments"]
    reads = [ExtraRead(name) for name in names]
    if located is not None:
        first = located.followed[0]
        reads[0] = ExtraRead(names[0], first.file, first.line, first.code)
    return reads


def _name_extra_reads(a: RunRecord, b: RunRecord, where: LogDivergence) -> list[str]:
    until = 0 if where.at is None else where.at.index
    one, two = (
        [
            number
            for point, events in record.strict_frames()
            if point <= until
            for number, _ in events
        ]
        for record in (a, b)
    )
    # Counted by kind of read: an extra one shifts all that follow, which a comparison by place would blame.
    parts = SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
    apart = [(one[i:j], two[k:m]) for word, i, j, k, m in parts if word != "equal"]
    names = [
        OPS[number].name for pair in apart for side in pair for number in side if number in OPS
    ]
    return list(dict.fromkeys(names))


def reads_that_differ(a: RunRecord, b: RunRecord, at: PointRef | None) -> list[str]:
    """Names of the sources whose recorded values differ: anywhere for the user's own reads.

    What libraries read counts where it differs for the first time on the way to the compare-point:
    a clock that a library reads in every tick says nothing, nor what it read before the first.
    """
    found: dict[str, None] = {}
    of_a, of_b = a.actor_reads(), b.actor_reads()
    both = [(a.strict_reads(), b.strict_reads())]
    both += [(iter(of_a[key]), iter(of_b[key])) for key in sorted(of_a.keys() & of_b.keys())]
    for one, two in chain.from_iterable(zip(*reads, strict=False) for reads in both):
        if one != two and one[0] in OPS:
            found[OPS[one[0]].name] = None
    point = 0 if at is None else at.index
    held = [record.library_reads(point) for record in (a, b)]
    before = {
        name
        for number in sorted({*held[0], *held[1]})
        if 0 < number < point
        for name in _apart(held, number)
    }
    until = None if at is None else at.index
    if _received_apart(a.connections(until), b.connections(until)):
        found[RECEIVED.name] = None
    by_library = [name for name in _apart(held, point) if name not in before]
    return [*found, *(f"{name}{BY_LIBRARY}" for name in by_library if point > 0)]


def list_library_reads_apart(a: RunRecord, b: RunRecord, at: PointRef | None) -> list[str]:
    """Names of the sources from which libraries read other values anywhere before a compare-point."""
    point = 0 if at is None else at.index
    held = [record.library_reads(point) for record in (a, b)]
    numbers = sorted({*held[0], *held[1]})
    return sorted({name for number in numbers for name in _apart(held, number)})


def _apart(held: Sequence[Mapping[int, Sequence[Event]]], point: int) -> list[str]:
    one, two = (reads.get(point, ()) for reads in held)
    unequal = (x for pair in zip_longest(one, two) if pair[0] != pair[1] for x in pair if x)
    return sorted({OPS[number].name for number, _ in unequal if number in OPS})


def _received_apart(one: Mapping[str, Sequence[Event]], two: Mapping[str, Sequence[Event]]) -> bool:
    """Whether something else came in on a connection that both runs made."""
    return any(
        [value[1] for number, value in one[key] if number == RECEIVED.number]  # type: ignore[index]
        != [value[1] for number, value in two[key] if number == RECEIVED.number]  # type: ignore[index]
        for key in one.keys() & two.keys()
    )
