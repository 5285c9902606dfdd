"""What a record shows of things that sheet 00 asks about: what ran at once, floats, a GPU, the world.

Invariant: nothing is executed, and that something is not there is never concluded from one run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from twice.recording.runrecord import RunRecord
from twice.specifying.tiers import Trait

MODELS: Final = {"thread": "threads", "job": "threads", "task": "tasks"}
"""What stands at the end of a lineage, and the word of sheet 07 for it."""


def at_once(started: Mapping[str, int]) -> dict[str, int]:
    """Give how many of each model ran beside something else, by what was started.

    A task that no task started runs alone: it is what ``asyncio.run`` was called with.

    Args:
        started: the record's ``lineages``: how many, by lineage without numbers.
    """
    found: dict[str, int] = {}
    for lineage, count in started.items():
        *above, kind = lineage.split("/")
        if kind in MODELS and (kind != "task" or "task" in above):
            found[MODELS[kind]] = found.get(MODELS[kind], 0) + count
    return dict(sorted(found.items()))


def holds_floats(record: RunRecord) -> str:
    """Give the first component of which a state holds numbers with fractions; "" where none does."""
    components = (record.ending or {}).get("components", {})
    for number in range(len(record.reader.snapshots)):
        state = record.state_at(number)
        for name in components:
            if name in state and is_fractional(state[name]):
                return str(name)
    return ""


def traits_shown(record: RunRecord) -> Iterator[tuple[Trait, str]]:
    """Give what a system certainly has, because a run of it had it, with what was seen."""
    ending: Mapping[str, Any] = record.ending or {}
    counted = [f"{count} {model}" for model, count in at_once(ending.get("lineages", {})).items()]
    if counted:
        yield Trait.CONCURRENCY, f"a run started {', '.join(counted)}"
    floats = holds_floats(record)
    if floats:
        yield Trait.FLOATING_POINT, f"in a run the state of {floats} holds floats"
    reached = ending.get("numerics", {}).get("gpu", {}).get("reached", [])
    if reached:
        yield Trait.GPU, f"a run reached {', '.join(reached)}"
    asked = sorted(ending.get("effects", {}).get("strict", {}))
    if asked:
        yield Trait.EXTERNAL_EFFECTS, f"a run asked {', '.join(asked[:3])}"


def is_fractional(value: object) -> bool:
    """Whether a value is, or holds, a number with a fraction."""
    if isinstance(value, (float, complex, np.inexact)):
        return True
    if isinstance(value, np.ndarray):
        return bool(np.issubdtype(value.dtype, np.inexact))
    if isinstance(value, Mapping):
        return any(is_fractional(each) for each in value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(is_fractional(each) for each in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(is_fractional(getattr(value, each.name)) for each in dataclasses.fields(value))
    return False
