"""Where a training is killed: behind checkpoints, of which one may be several files.

Invariant: a point names a write that the run made, so that another execution of it makes it too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from twice.diagnosis.resume.file_log import Write

_DIGITS = re.compile(r"\d+")


def normalize(path: str) -> str:
    """Return a path without its numbers, which name steps and epochs: ``checkpoint-#/model.pt``."""
    return _DIGITS.sub("#", path)


def group_writes(writes: Iterable[Write], checkpoints: Collection[str]) -> list[list[Write]]:
    """Return the writes of each checkpoint; the next one begins where a file is written again."""
    groups: list[list[Write]] = []
    seen: set[str] = set()
    for write in writes:
        path = normalize(write.path)
        if path not in checkpoints:
            continue
        if not groups or path in seen:
            groups.append([])
            seen = set()
        seen.add(path)
        groups[-1].append(write)
    return groups


def choose_points(groups: Sequence[Sequence[Write]], steps: int, count: int) -> list[Write]:
    """Return the last writes of so many checkpoints, evenly spread, behind which there are steps to be done.

    Args:
        groups: of ``group_writes``.
        steps: that the run makes; 0 where they are not known.
        count: how many points, as far as there are checkpoints.
    """
    last = [group[-1] for group in groups]
    inner = [write for write in last[:-1] if not steps or write.steps < steps]
    if steps and last and last[-1].steps < steps:
        inner.append(last[-1])
    if len(inner) <= count:
        return inner
    if count == 1:
        return [inner[len(inner) // 2]]
    return [inner[round(at * (len(inner) - 1) / (count - 1))] for at in range(count)]
