"""12: laws that the system has to keep, tried on many configurations."""

from __future__ import annotations

from typing import Final

from twice.foundation.properties import PROPERTIES
from twice.specifying.kinds import Flag, Many, OneOf, Text
from twice.specifying.schema import Item, Sheet
from twice.specifying.tiers import Condition, Tier

SHEET: Final = Sheet(
    "12",
    "property-test-suite",
    "Property tests",
    "Determinism as laws, with generators for configurations and a database of counterexamples that is checked in.",
    (
        Item("properties", Many(OneOf(PROPERTIES), 1), "which of the seven are held"),
        Item("tests", Many(least=1), "files or folders that pytest runs", like=["tests"]),
        Item("generators", Text(), "what configurations are drawn, and from where to where"),
        Item("database", Text(), "the folder of counterexamples, checked in"),
        Item(
            "stateful",
            Flag(),
            "whether sessions are tried in any order of operations",
            Condition(Tier.XL),
        ),
    ),
)
