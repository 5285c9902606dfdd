"""Where two states of a scene differ: which thing, which property, both values.

The trees are walked first, so the work follows the difference and not the scene. A property is told
by ``foundation.comparison``: bits, never tolerance.

Invariant: the list is empty exactly when the blocks of both states are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from twice.foundation.comparison import FieldDifference, differences
from twice.tools.scenes.state import Block, SceneState

_FIELDS_PER_BLOCK = 20
_ABSENT = "(absent)"


@dataclass(frozen=True, slots=True)
class SceneDifference:
    """One property of one thing.

    Args:
        section: such as ``objects``.
        type: such as ``MESH``.
        name: the thing's own name.
        id: where it comes from, or empty.
        field: the path, such as ``objects['Box'].location[0]``, and both values.
    """

    section: str
    type: str
    name: str
    id: str
    field: FieldDifference

    def to_json(self) -> dict[str, object]:
        """Return the difference as plain data."""
        return {
            "section": self.section,
            "type": self.type,
            "name": self.name,
            "id": self.id,
            "path": self.field.path,
            "kind": self.field.kind,
            "a": self.field.a,
            "b": self.field.b,
            "distance": self.field.magnitude,
            "differing": self.field.differing,
            "of": self.field.of,
        }


def scene_differences(a: SceneState, b: SceneState, *, limit: int = 100) -> list[SceneDifference]:
    """List the properties in which two states differ, by section, then by type, name and id.

    Args:
        a: one state.
        b: another; their profiles are ignored.
        limit: how many to return at most; at least 1.
    """
    return list(islice(_all(a, b), limit))


def changed_blocks(
    a: SceneState, b: SceneState
) -> Iterator[tuple[str, Block | None, Block | None]]:
    """Blocks that differ or stand on one side only, in order, without looking into them."""
    for section in sorted({*a.sections, *b.sections}):
        one, two = a.tree.sections.get(section), b.tree.sections.get(section)
        if one == two:
            continue
        left, right = _by_key(a, section), _by_key(b, section)
        for key in sorted({*left, *right}):
            (first, mark), (second, other) = left.get(key, _NONE), right.get(key, _NONE)
            if mark != other:
                yield section, first, second


_NONE: tuple[None, str] = (None, "")


def _by_key(state: SceneState, section: str) -> dict[tuple[str, str, str], tuple[Block, str]]:
    digests = state.tree.blocks.get(section, ())
    pairs = zip(state.sections.get(section, ()), digests, strict=True)
    return {block.key: (block, str(digest)) for block, digest in pairs}


def _all(a: SceneState, b: SceneState) -> Iterator[SceneDifference]:
    for section, one, two in changed_blocks(a, b):
        block = one or two
        assert block is not None, "a changed block stands on one side at least"
        place = f"{section}[{block.name!r}]"
        if one is None or two is None:
            sides = (_side(one), _side(two))
            fields = [FieldDifference(place, "missing", *sides)]
        else:
            found = differences(
                dict(one.value), dict(two.value), component=place, limit=_FIELDS_PER_BLOCK
            )
            fields = sorted(found, key=lambda field: field.path)
        for field in fields:
            yield SceneDifference(section, *block.key, field)


def _side(block: Block | None) -> str:
    return _ABSENT if block is None else block.type
