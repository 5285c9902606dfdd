"""How sure is the line that was named? By what stands on it, and by what was not seen.

A line that reads the world, hashes, draws or walks a set explains by itself why its result differs. One that
calls code which nobody looked into may have passed on what came from elsewhere; one that only computes has
read something that was not seen.

Not for: the channel, which has a weight of its own (``attribution``).

Invariant: data alone decides, and the same data decide the same.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from twice.diagnosing.locating import callables as tags
from twice.diagnosing.locating.located import Located

SURE = 0.65
"""Below, a line is a candidate and not the operation."""
_EXPLAINS = tags.WORLD | {tags.PICKLE, tags.REPR, tags.MATMUL, tags.SHARED_DRAW, tags.SEEDING}


@dataclass(frozen=True)
class LineJudgement:
    """How sure a line is.

    Attributes:
        confidence: 0 to 1.
        surer: what would tell more; empty where the line explains itself.
    """

    confidence: float
    surer: str


def judge_line(
    located: Located, *, library_read: bool, substituted: Collection[str] = ()
) -> LineJudgement:
    """How sure it is that the difference was made at the line that was located.

    Args:
        located: the line, and how it was found.
        library_read: whether libraries read other values from the world before the runs parted.
        substituted: names of the inputs that a branch was given in place of its own.
    """
    if any(located.name == f"inputs[{name!r}]" for name in substituted):
        return LineJudgement(0.95, "")
    if located.before_window and located.entered is not None:
        return LineJudgement(0.8, "")  # of state that a snapshot leaves out: the line lets it in
    if located.before_window:
        older = "the difference is older than what was traced: record from an earlier state"
        return LineJudgement(0.3, older)
    if explains_itself(located):
        return LineJudgement(0.95, "")
    is_alone = {tags.DRAW, tags.RESTORING} & set(located.tags) and located.guard is not None
    if located.is_switched or is_alone:
        return LineJudgement(0.9, "")  # one side alone does it, and that is all it takes
    if located.kind == "stream position" or tags.DRAW in located.tags:
        return LineJudgement(0.8 if located.beside is None else 0.6, _surer(located))
    confidence = 0.75 if located.calls and library_read else 0.65 if located.calls else 0.5
    if located.unseen:
        confidence -= 0.3
    if located.beside is not None:
        confidence -= 0.2
    return LineJudgement(confidence, _surer(located))


def explains_itself(located: Located) -> bool:
    """Whether what stands on the line is enough for its result to differ, whatever it read."""
    return bool(_EXPLAINS & set(located.tags)) or (
        located.kind == "order" and bool(located.iterates)
    )


def _surer(located: Located) -> str:
    if located.beside is not None:
        return f"see whether {located.beside.file}:{located.beside.line} differs without it"
    if located.unseen:
        return f"track what the line reads: {located.unseen[0]}"
    if located.calls:
        return f"record what {located.calls[-1]} reads, as a declared effect"
    return "track the state that the line reads"
