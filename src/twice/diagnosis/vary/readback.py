"""What the child of a run says of its own surroundings, and which factors took effect in it.

A variable that nobody obeyed varied nothing, and a run that stayed the same under it proves nothing. So
each factor names settings that the child reads back; only when one of them differs from the run that was
not varied has the factor been tried.

Invariant: a factor without a setting that differs is never called the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from twice.diagnosis.vary.factor import Factor
from twice.errors import TwiceError
from twice.foundation.environment import Fingerprint
from twice.recording.runrecord import RunRecord

Seen = Mapping[str, str]


def seen_in(path: Path) -> Seen:
    """Every setting that a record holds, by name; empty when there is no record."""
    try:
        with RunRecord.open(path) as record:
            start = Fingerprint.from_json(record.identity["environment"])
            ending = record.ending or {}
    except TwiceError:
        return {}
    settings = ending.get("settings")
    return {
        **start.settings,
        "python": start.python.version,
        "blas": " ".join(one.architecture for one in start.blas),
        "blas threads": " ".join(str(one.threads) for one in start.blas),
        **{f"dispatch {name}": value for name, value in start.dispatch.items()},
        **{f"library {name}": value for name, value in start.libraries.items()},
        **(settings if isinstance(settings, Mapping) else {}),
    }


def took_effect(factor: Factor, unvaried: Seen, varied: Seen) -> bool:
    """Whether a setting of the factor differs between two runs."""
    return any(unvaried.get(name) != varied.get(name) for name in _names(factor, unvaried, varied))


def why_not(factor: Factor, unvaried: Seen) -> str:
    """What to say of a factor whose settings all stayed as they were."""
    known = [f"{name} is still {unvaried[name]}" for name in factor.seen if unvaried.get(name)]
    if known:
        return f"it was set and had no effect: {', '.join(known)}"
    return f"nothing that it acts on was used (no {', no '.join(factor.seen)} to read back)"


def _names(factor: Factor, *sides: Seen) -> list[str]:
    """The factor's settings; a name that ends in a star stands for all that begin like it."""
    found = []
    for wanted in factor.seen:
        if wanted.endswith("*"):
            found += [name for side in sides for name in side if name.startswith(wanted[:-1])]
        else:
            found.append(wanted)
    return found
