"""Laws of the search for what makes a run differ."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosis.minimal_causes import Group, find_minimal_causes

NAMES = tuple("abcdefghijklmnop")
CAUSES = st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=3), max_size=3)


class World:
    """A run that differs when all of any cause's factors are varied."""

    def __init__(self, causes: Sequence[set[str]]) -> None:
        self.causes, self.runs = causes, 0

    def differ(self, groups: Sequence[Group]) -> list[bool]:
        self.runs += len(groups)
        return [self.differs(group) for group in groups]

    def differs(self, group: Group) -> bool:
        return any(cause <= set(group) for cause in self.causes)


@given(CAUSES)
def test_every_group_that_is_named_differs_and_no_part_of_it_does(causes: list[set[str]]) -> None:
    world = World(causes)

    for group in find_minimal_causes(NAMES, world.differ):
        assert world.differs(group)
        parts = [tuple(name for name in group if name != left) for left in group]
        assert not any(world.differs(part) for part in parts)


@given(CAUSES)
def test_every_factor_that_differs_alone_is_named_and_the_rest_explains_nothing(
    causes: list[set[str]],
) -> None:
    world = World(causes)
    found = find_minimal_causes(NAMES, world.differ)
    blamed = {name for group in found for name in group}

    assert {name for cause in causes if len(cause) == 1 for name in cause} <= {
        group[0] for group in found if len(group) == 1
    }
    assert not world.differs(tuple(name for name in NAMES if name not in blamed))


def test_one_factor_of_sixteen_takes_few_runs() -> None:
    world = World([{"k"}])

    assert find_minimal_causes(NAMES, world.differ) == [("k",)]
    assert world.runs <= 2 + 2 * 4


def test_nothing_that_differs_takes_one_run() -> None:
    world = World([])

    assert (find_minimal_causes(NAMES, world.differ), world.runs) == ([], 1)
