"""The three tiers of the tests, and how a set of cases is shared out between them.

=============== ======================================== =================================
tier            what it holds                            who runs it
=============== ======================================== =================================
default         logic; starts no interpreter             ``pytest``
integration     real processes, the kernel layer,        ``.ci/run``
                servers on loopback, a sample of each set
heavy           whole sets, large libraries, renderers   ``.ci/nightly``
=============== ======================================== =================================

A test without a mark is in the default tier. Heavy wins: what is marked both ways runs at night alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest

TIERS = ("heavy", "integration")
"""The marks of tiers, the strongest first."""
DEFAULT = "not integration and not heavy"
"""The expression that pyproject.toml selects by."""
INTEGRATION = "integration and not heavy"
"""The expression that ``.ci/run`` selects by."""


def sampled(
    cases: Iterable[Any],
    sample: Collection[str],
    *,
    name: Callable[[Any], str] = str,
    marks: Callable[[Any], Collection[pytest.MarkDecorator]] = lambda _: (),
) -> list[Any]:
    """Return the cases of a set as parameters; all but the sample are heavy.

    Args:
        cases: the whole set.
        sample: names of the cases that stand for the set in the integration tier.
        name: gives the name of a case, which is its test's id too.
        marks: gives further marks of a case.
    """
    named = {name(case): case for case in cases}
    unknown = sorted(set(sample) - named.keys())
    assert not unknown, f"the sample names cases that the set does not have: {unknown}"
    return [
        pytest.param(
            case, id=key, marks=[*marks(case), *(() if key in sample else (pytest.mark.heavy,))]
        )
        for key, case in named.items()
    ]


def leave_to_the_night(items: Iterable[pytest.Item]) -> None:
    """Make heavy what ``@pytest.mark.sample(n)`` leaves over: of its cases ``n`` stay, spread evenly over the order.

    It is for cases of which any will do; ``sampled`` names those that stay.
    """
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sample"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for each in cases.values():
        (count,) = each[0].get_closest_marker("sample").args
        assert len(each) == 1 or count < len(each), f"{each[0].nodeid}: nothing is left over"
        kept = {at * (len(each) - 1) // max(count - 1, 1) for at in range(count)}
        for at, item in enumerate(each):
            if at not in kept:
                item.add_marker("heavy")
