"""From what was located to what the verdict says: the operation, and the blind spots.

Invariant: the operation that is named is one that ran inside a traced window.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from twice.diagnosing.attribution import BY_LIBRARY
from twice.diagnosing.comparing import PointRef
from twice.diagnosing.divergence import OperationFound, Result
from twice.diagnosing.line_confidence import SURE, LineJudgement, judge_line
from twice.diagnosing.locating.callables import SEEDING, UNSEEDED
from twice.diagnosing.locating.located import Located
from twice.diagnosing.locating.reading_functions import function_lines, lines_called
from twice.diagnosing.locating.reading_lines import line_facts
from twice.diagnosing.tracing.paths import OBJECT
from twice.foundation.difference import FieldDifference
from twice.recording.effects.events import Event
from twice.recording.effects.ops import OPS, RECEIVED
from twice.recording.runrecord import RunRecord

_STREAM_POSITIONS = "stream positions"
_BESIDE = 0.3  # of an earlier difference that nobody saw come in


@dataclass(frozen=True)
class Named:
    """What a verdict says of lines.

    Attributes:
        result: ``localised``, ``candidates`` or ``unlocalised``.
        operation: the line, when it is sure enough.
        candidates: lines of which none is, the likeliest first.
    """

    result: Result
    operation: OperationFound | None = None
    candidates: Sequence[OperationFound] = ()


def name_lines(
    located: Located | None,
    fields: Sequence[FieldDifference],
    *,
    library_read: bool,
    substituted: Collection[str] = (),
) -> Named:
    """The line as the verdict prints it, or the lines that come into question.

    Args:
        located: what was found.
        fields: typed differences of state.
        library_read: whether libraries read other values from the world before the runs parted.
        substituted: names of the inputs that a branch was given in place of its own.
    """
    if located is None:
        return Named("unlocalised")
    judged = judge_line(located, library_read=library_read, substituted=substituted)
    first = _operation_of(located, fields, judged)
    if judged.confidence >= SURE:
        return Named("localised", first)
    found = [first]
    if located.beside is not None:
        place = located.beside
        found.append(
            OperationFound(
                place.file, place.line, place.function, place.code or "", "", "", "", _BESIDE
            )
        )
    return Named("candidates", None, sorted(found, key=lambda one: -one.confidence))


def _operation_of(
    located: Located, fields: Sequence[FieldDifference], judged: LineJudgement
) -> OperationFound:
    """A line with its values; a stream position is named by its stream."""
    name, a, b = located.name.removeprefix(OBJECT), located.value_a, located.value_b
    moved = [difference for difference in fields if difference.path.startswith("streams[")]
    if name == _STREAM_POSITIONS and moved:
        name, a, b = moved[0].path, moved[0].a, moved[0].b
    return OperationFound(
        file=located.file,
        line=located.line,
        function=located.function,
        code=located.code or "",
        name=name,
        a=a,
        b=b,
        confidence=judged.confidence,
        surer=judged.surer,
    )


def entering(located: Located) -> Located:
    """A difference that was there before anything could be traced enters the tracked state somewhere.

    That line is the operation: the first one that lets what no ``state()`` holds into what does.
    """
    place = located.entered
    if place is None:
        return located
    facts = line_facts(place.file, place.line)
    return replace(
        located.credit(place),
        calls=facts.calls if facts else (),
        tags=facts.tags if facts else (),
        iterates=facts.iterates if facts else (),
    )


def reseeding(located: Located, restores: Mapping[str, Any]) -> Located:
    """A run that was put back and then draws other numbers, because restoring seeds a generator.

    The line in ``restore``, or in a method that it calls, that seeds is the operation: what draws
    afterwards only shows it.

    Args:
        located: where the difference enters.
        restores: component -> file and first line of its ``restore``.
    """
    for name in sorted(restores):
        if not any(path.startswith(f"{OBJECT}{name}") for path in located.untracked):
            continue
        file, first = restores[name]
        lines = [*function_lines(file, first), *lines_called(file, first)]
        for line in lines:
            facts = line_facts(file, line)
            if facts is not None and {SEEDING, UNSEEDED} & set(facts.tags):
                return replace(
                    located,
                    file=file,
                    line=line,
                    function=f"{name}: restore",
                    code=facts.code,
                    calls=facts.calls,
                    tags=facts.tags,
                    iterates=facts.iterates,
                )
    return located


def blind_spots(located: Located) -> list[str]:
    """Paths that differ and belong to no declared state, as people write them."""
    spots = [path.removeprefix(OBJECT) for path in located.untracked if path.startswith(OBJECT)]
    return list(dict.fromkeys(spots))


def reads_that_differ(a: RunRecord, b: RunRecord, at: PointRef | None) -> list[str]:
    """Names of the sources whose recorded values differ: anywhere for the user's own reads.

    What libraries read counts where it differs for the first time on the way to the compare-point:
    a clock that a library reads in every tick says nothing, nor what it read before the first.
    """
    found: dict[str, None] = {}
    for one, two in zip(a.strict_reads(), b.strict_reads(), strict=False):
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
