"""Which of many factors make a run differ, with few runs: halving, and the least that does together.

All at once first. What differs is halved down to single factors; where neither half differs by itself
the least set is sought that does. What was found is left out and the rest tried again, so that one
cause does not hide another.

Not for: causes that cancel each other when they are varied together.

Invariant: every group that is returned differed in a run in which nothing else was varied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Group = tuple[str, ...]
Differ = Callable[[Sequence[Group]], Sequence[bool]]
"""Whether the run differs when these factors are varied, for some groups at once."""


def find_minimal_causes(
    names: Sequence[str], differ: Differ, *, harmless: Iterable[str] = ()
) -> list[Group]:
    """Return factors that differ alone, and least sets of factors that differ only together.

    Args:
        names: the factors, in the order in which they are named.
        differ: asked for every run that is needed, once for each group.
        harmless: factors that are known not to differ alone.
    """
    known = {frozenset([name]): False for name in harmless}

    def ask(groups: Sequence[Group]) -> list[bool]:
        new = [group for group in groups if frozenset(group) not in known]
        if new:
            known.update(zip(map(frozenset, new), differ(new), strict=True))
        return [known[frozenset(group)] for group in groups]

    found: list[Group] = []
    rest = tuple(names)
    while rest and ask([rest])[0]:
        found += _within(rest, ask)
        # What was found may hide others, which show only without it.
        blamed = {name for group in found for name in group}
        rest = tuple(name for name in rest if name not in blamed)
    return found


def _within(names: Group, differ: Differ) -> list[Group]:
    """Causes in a group that is known to differ."""
    if len(names) == 1:
        return [names]
    halves = _halves(names)
    found: list[Group] = []
    for half, differs in zip(halves, differ(halves), strict=True):
        if differs:
            found += _within(half, differ)
    if found:
        return found
    least = _least(names, (), differ)
    return [tuple(name for name in names if name in least)]


def _least(names: Group, kept: Group, differ: Differ) -> Group:
    """Find a minimal part of ``names`` that differs together with ``kept``; all of them do.

    Source: U. Junker, QuickXplain, AAAI 2004.
    """
    if len(names) == 1:
        return names
    left, right = _halves(names)
    alone = differ([(*left, *kept), (*right, *kept)])
    for half, differs in zip((left, right), alone, strict=True):
        if differs:
            return _least(half, kept, differ)
    # Neither half is enough, so both have a part in it: each is narrowed down beside the other.
    of_left = _least(left, (*right, *kept), differ)
    return (*of_left, *_least(right, (*of_left, *kept), differ))


def _halves(names: Group) -> tuple[Group, Group]:
    middle = len(names) // 2
    return names[:middle], names[middle:]
