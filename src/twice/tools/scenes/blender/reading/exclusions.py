"""What a snapshot of Blender leaves out, and why: the list of its blind spots.

``exclusions.toml`` names a struct, a property and a reason. The same list is what the coverage
meter allows: a property that no fingerprint sees and that is not in it fails the meter's test.

Invariant: nothing is left out without an entry.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


class Exclusions:
    """Properties that are not read.

    Args:
        reasons: for each struct, or ``*`` for every one, reasons by the name of the property.
    """

    def __init__(self, reasons: Mapping[str, Mapping[str, str]]) -> None:
        self.reasons = reasons

    def excludes(self, kind: str, name: str, rna: Any = None) -> bool:
        """Whether a property of a struct is left out; an entry holds for what is derived from it."""
        kinds = [kind, "*"]
        base = rna.base if rna is not None else None
        while base is not None:
            kinds.append(base.identifier)
            base = base.base
        return any(name in self.reasons.get(each, {}) for each in kinds)


@cache
def exclusions() -> Exclusions:
    """Load the list of this version."""
    text = files(__package__).joinpath("exclusions.toml").read_text("utf-8")
    return Exclusions(tomllib.loads(text))
