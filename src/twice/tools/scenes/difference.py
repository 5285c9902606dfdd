"""Where two states of a scene differ, bit by bit or under a tolerance; nothing here makes a fingerprint.

Digests are compared first, so the work follows the difference and not the scene. What is equal
within a tolerance is not one thing (a is near b and b near c, and a is not near c), so a comparison
says how far apart two states are and never carries a digest.

Invariant: the list of differences is empty exactly when the blocks of both states are equal, and a
comparison is ``same`` exactly when every property is, under the tolerance that it names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from twice.foundation.comparison import FieldDifference, Tolerance, differences
from twice.tools.scenes.state import Block, SceneState, Section

_FIELDS_PER_BLOCK: Final = 20
_SHOWN: Final = ("path", "kind", "a", "b", "differing", "of")


def scene_differences(a: SceneState, b: SceneState, *, limit: int = 100) -> list[dict[str, Any]]:
    """List the properties in which two states differ, by section, then by type, name and id.

    Args:
        a: one state.
        b: another; their profiles are ignored.
        limit: how many to return at most; at least 1.

    Returns:
        Plain data: ``section``, ``type``, ``name`` and ``id`` of the thing; ``path``, such as
        ``objects['Box'].location[0]``; ``kind`` and both values, as in ``FieldDifference``;
        ``distance``, the largest between two numbers, or None; ``differing`` of ``of`` elements.
    """
    found: list[dict[str, Any]] = []
    for place, section, one, two in _changed_blocks(a, b):
        block = one or two
        assert block is not None, "a changed block stands on one side at least"
        if one is None or two is None:
            sides = ["(absent)" if side is None else side.type for side in (one, two)]
            fields = [FieldDifference(place, "missing", sides[0], sides[1])]
        else:
            fields = differences(
                dict(one.value), dict(two.value), component=place, limit=_FIELDS_PER_BLOCK
            )
        head = {"section": section, "type": block.type, "name": block.name, "id": block.id}
        for field in sorted(fields, key=lambda field: field.path):
            shown = {key: getattr(field, key) for key in _SHOWN}
            found.append({**head, **shown, "distance": field.magnitude})
        if len(found) >= limit:
            break
    return found[:limit]


def compare_scenes(a: SceneState, b: SceneState, *, within: Tolerance) -> dict[str, Any]:
    """Compare two states property by property under one tolerance.

    Args:
        a: the reference.
        b: the state to compare with it.
        within: ``Abs``, ``Rel``, ``Ulp`` or ``Quantum``; counts, names and texts must be equal.

    Returns:
        Plain data: ``same``; ``within``, the tolerance in words; ``distance``, the largest in its
        unit, None where something differs that has none, such as a name; ``where`` that is, None
        where nothing differs.
    """
    found: dict[str, Any] = {"within": within.describe(), "distance": 0.0, "where": None}
    for place, _, one, two in _changed_blocks(a, b):
        if one is None or two is None:
            return found | {"same": False, "distance": None, "where": place}
        verdict = within.same(dict(one.value), dict(two.value))
        path = place + (verdict.where or "")
        if verdict.distance is None:
            return found | {"same": False, "distance": None, "where": path}
        if verdict.distance > found["distance"]:
            found |= {"distance": verdict.distance, "where": path}
    return found | {"same": found["distance"] <= within.limit}


def _changed_blocks(
    a: SceneState, b: SceneState
) -> Iterator[tuple[str, str, Block | None, Block | None]]:
    """Place, section and both sides of each block that differs or stands on one side only."""
    for name in sorted({*a.sections, *b.sections}):
        sides = [state.sections.get(name) or Section(name, ()) for state in (a, b)]
        if sides[0].label == sides[1].label:
            continue
        one, two = ({block.key: block for block in side.blocks} for side in sides)
        for key in sorted({*one, *two}):
            left, right = one.get(key), two.get(key)
            if left is None or right is None or left.label != right.label:
                yield f"{name}[{key[1]!r}]", name, left, right
