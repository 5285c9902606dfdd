"""Two outcomes of one trial held against each other: the first thing that differs, in words.

A failure is compared by its code: what a message says of this machine is no result.

Invariant: two outcomes whose results have one canonical form and whose states have one fingerprint
do not differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from twice.foundation.printable import pluralize
from twice.tools.verification.attempts import Outcome
from twice.tools.verification.describing import Described

_SHOWN: Final = 60


def difference(tool: Described, one: Outcome, other: Outcome) -> str:
    """Describe the first difference; return an empty text if there is none."""
    if one.lost or other.lost or one.unready is not None or other.unready is not None:
        return "" if one.failure == other.failure else f"{_told(one)}; {_told(other)}"
    if one.before != other.before:
        return "the state that it began in differs: its start is not reproduced"
    if one.result_bytes() != other.result_bytes() and not _within(tool, one, other):
        if one.ok and other.ok:
            return first_difference(one.envelope["result"], other.envelope["result"], "result")
        return f"{_told(one)}; {_told(other)}"
    return state_difference(one, other)


def state_difference(one: Outcome, other: Outcome) -> str:
    """Where the states after two calls differ; empty when they do not."""
    if one.after == other.after:
        return ""
    shown = one.state is not None and other.state is not None
    found = first_difference(one.state, other.state, "state") if shown else ""
    return found or f"the state's fingerprint differs: {one.after[:19]}…, {other.after[:19]}…"


def first_difference(one: Any, other: Any, path: str) -> str:
    """Describe the first leaf that differs between two plain values, in the order of the first."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if sorted(one) != sorted(other):
            return f"{path} has the keys {_short(sorted(one))}; {_short(sorted(other))}"
        pairs = [(one[key], other[key], f"{path}.{key}") for key in one]
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return f"{path} has {pluralize(len(one), 'item')}; {len(other)}"
        pairs = [(a, b, f"{path}[{at}]") for at, (a, b) in enumerate(zip(one, other, strict=True))]
    elif type(one) is type(other) and one == other:
        return ""
    else:
        return f"{path} is {_short(one)}; {_short(other)}"
    return next((found for each in pairs if (found := first_difference(*each))), "")


def _within(tool: Described, one: Outcome, other: Outcome) -> bool:
    if tool.tolerance is None or not (one.ok and other.ok):
        return False
    return tool.tolerance.same(one.envelope["result"], other.envelope["result"]).same


def _told(outcome: Outcome) -> str:
    return "it gave a result" if outcome.ok else outcome.failure


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
