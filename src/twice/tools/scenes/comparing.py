"""Two states held against each other with a tolerance; nothing here makes a fingerprint.

What is equal within a tolerance is not one thing: a is near b and b near c, and a is not near c.
So the result says how far apart two states are, and never carries a digest.

Invariant: a result is ``same`` exactly when every property is, under the tolerance that it names.
"""

from __future__ import annotations

from dataclasses import dataclass

from twice.foundation.comparison import Tolerance
from twice.tools.scenes.differing import changed_blocks
from twice.tools.scenes.state import SceneState


@dataclass(frozen=True, slots=True)
class SceneComparison:
    """How far two states are apart.

    Args:
        same: whether every property is the same under the tolerance.
        within: the tolerance, in words.
        distance: the largest distance in the unit of the tolerance; None where something differs
            that has no distance, such as a name.
        where: the place of that distance or difference; None where nothing differs.
    """

    same: bool
    within: str
    distance: float | None
    where: str | None

    def to_json(self) -> dict[str, object]:
        """Return the comparison as plain data."""
        return {
            "same": self.same,
            "within": self.within,
            "distance": self.distance,
            "where": self.where,
        }


def compare(a: SceneState, b: SceneState, *, within: Tolerance) -> SceneComparison:
    """Compare two states property by property under one tolerance.

    Args:
        a: the reference.
        b: the state to compare with it.
        within: ``Abs``, ``Rel``, ``Ulp`` or ``Quantum``; counts, names and texts must be equal.
    """
    worst, where = 0.0, None
    for section, one, two in changed_blocks(a, b):
        block = one or two
        assert block is not None, "a changed block stands on one side at least"
        place = f"{section}[{block.name!r}]"
        if one is None or two is None:
            return SceneComparison(same=False, within=within.describe(), distance=None, where=place)
        verdict = within.same(dict(one.value), dict(two.value))
        if verdict.distance is None:
            place += verdict.where or ""
            return SceneComparison(same=False, within=within.describe(), distance=None, where=place)
        if verdict.distance > worst:
            worst, where = verdict.distance, place + (verdict.where or "")
    same = worst <= within.limit
    return SceneComparison(same=same, within=within.describe(), distance=worst, where=where)
