"""Constraints of a shrunk schedule, moved to the two steps that race.

A constraint lets one step wait for another one. Often it could wait less: what it has to wait for lies earlier, and
others only ran in between. Then the step that comes next in the same task may be the one that has to wait.

Invariant: constraints that are returned failed in the same way when they were last tried.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from twice.schedules.shrink import Constraints, Fails
from twice.simulation.trace import TracedStep


def tighten(after: Constraints, steps: Sequence[TracedStep], fails: Fails) -> Constraints:
    """Let steps wait for as little as the failure needs, and drop constraints that this makes needless.

    Args:
        after: constraints under which a program fails.
        steps: of the failing execution; ``arrival`` is their order without constraints.
        fails: executes the program under constraints, and says whether it fails in the same way.
    """
    found = _join(after, fails)
    for later in list(found):
        earlier = _find_first(later, found, steps, fails)
        found[later] = earlier
        last = _find_last(later, found, steps, fails)
        del found[later]
        found[last] = earlier
    for later in list(found):
        others = {key: each for key, each in found.items() if key != later}
        if others and fails(others):
            found = others
    return found


def _join(after: Constraints, fails: Fails) -> dict[str, str]:
    """Let a step wait at once for what it waits for through another one."""
    found = dict(after)
    for between in after:
        joined = {
            later: found[between] if earlier == between else earlier
            for later, earlier in found.items()
            if later != between
        }
        if between in found.values() and fails(joined):
            found = joined
    return found


def _find_first(later: str, after: Constraints, steps: Sequence[TracedStep], fails: Fails) -> str:
    """Return the first step, in the order without constraints, that it is enough to wait for."""
    keys = [step.key for step in steps]
    begin, end = (steps[keys.index(key)].arrival for key in (later, after[later]))
    # Of tasks alone: a callback says less than the step that it makes ready.
    between = [
        step.key
        for step in sorted(steps[: keys.index(later)], key=lambda step: step.arrival)
        if begin < step.arrival < end and "!" not in step.key
    ]
    found = bisect_left(between, True, key=lambda key: fails({**after, later: key}))
    return between[found] if found < len(between) else after[later]


def _find_last(later: str, after: Constraints, steps: Sequence[TracedStep], fails: Fails) -> str:
    """Return the last step of the same task that it is enough to let wait."""
    if "!" in later:
        return later
    earlier, keys = after[later], [step.key for step in steps]
    end = steps[keys.index(earlier)].arrival
    begin = f"{later.rpartition('#')[0]}#"
    own = [
        step.key
        for step in reversed(steps[keys.index(later) + 1 :])
        if step.key.startswith(begin) and step.arrival < end and step.key not in after
    ]
    others = {key: each for key, each in after.items() if key != later}
    found = bisect_left(own, True, key=lambda key: fails({**others, key: earlier}))
    return own[found] if found < len(own) else later
