"""What a record shows that sheets ask about: traits of 00, the test vector's digest; known first draws of streams.

Invariant: nothing is executed, and that something is not there is never concluded from one run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.recorder.compare_points import CHAIN_START
from twice.recorder.runrecord import RunRecord
from twice.recorder.streams.registry import Streams
from twice.specification.tiers import Trait

# The last part of a lineage, and the word of sheet 07 for it.
_MODELS: Final = {"thread": "threads", "job": "threads", "task": "tasks"}
_COUNT: Final = 4


def count_concurrent(started: Mapping[str, int]) -> dict[str, int]:
    """Return how many of each model ran beside something else, by ``lineages`` of a record.

    A task that no task started runs alone: it is what ``asyncio.run`` was called with.
    """
    found: dict[str, int] = {}
    for lineage, count in started.items():
        *above, kind = lineage.split("/")
        if kind in _MODELS and (kind != "task" or "task" in above):
            found[_MODELS[kind]] = found.get(_MODELS[kind], 0) + count
    return dict(sorted(found.items()))


def find_floats(record: RunRecord) -> str:
    """Return the first component whose state holds numbers with fractions; "" where none does."""
    components = (record.ending or {}).get("components", {})
    for number in range(len(record.reader.snapshots)):
        state = record.state_at(number)
        for name in components:
            if name in state and is_fractional(state[name]):
                return str(name)
    return ""


def find_shown_traits(record: RunRecord) -> Iterator[tuple[Trait, str]]:
    """Yield what a system certainly has, because a run of it had it, with what was seen."""
    yield from find_told_traits(record.ending or {})
    floats = find_floats(record)
    if floats:
        yield Trait.FLOATING_POINT, f"in a run the state of {floats} holds floats"


def find_told_traits(ending: Mapping[str, Any]) -> Iterator[tuple[Trait, str]]:
    """Yield those that the end of a record tells, without a look at any state."""
    counted = [
        pluralize(count, model.removesuffix("s"))
        for model, count in count_concurrent(ending.get("lineages", {})).items()
    ]
    if counted:
        yield Trait.CONCURRENCY, f"a run started {', '.join(counted)}"
    reached = ending.get("numerics", {}).get("gpu", {}).get("reached", [])
    if reached:
        yield Trait.GPU, f"a run reached {', '.join(reached)}"
    asked = sorted(ending.get("effects", {}).get("strict", {}))
    if asked:
        yield Trait.EXTERNAL_EFFECTS, f"a run asked {', '.join(asked[:3])}"


def is_fractional(value: object) -> bool:
    """Return whether a value is, or holds, a number with a fraction."""
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


def digest_vector(record: RunRecord) -> str:
    """Return where a record's chain of compare-points ends, labelled: it does not depend on the file."""
    last = record.reader.points.last
    return f"{record.reader.algorithm}:{(last.chain if last else CHAIN_START).hex()}"


def first_draws(kind: str, master: Seed, name: str) -> list[str]:
    """Return the first four 64-bit words of a stream as hexadecimal digits; [] for a kind that is not drawn here.

    They are the numbers that ``run.rng`` and ``run.streams.python`` give under that name.
    """
    streams = Streams(master)
    if kind == "numpy":
        words = streams.numpy(name).bit_generator.random_raw(_COUNT)
        return [f"{int(word):016x}" for word in words]
    if kind == "python":
        generator = streams.python(name)
        return [f"{generator.getrandbits(64):016x}" for _ in range(_COUNT)]
    return []
