"""The five tiers: how much is promised, and so which sheets have to be written.

What each sheet must say stands in ``sheets/*.yaml``.

Invariant: a higher tier needs whatever a lower one needs.

Source: the tier table of the specification's seed document.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Tier(StrEnum):
    """How far replay reaches; ordered, XS the least."""

    XS = "XS"
    S = "S"
    M = "M"
    L = "L"
    XL = "XL"

    # All four, because text has an order of its own, which would be L, M, S, XL, XS.
    def __lt__(self, other: str) -> bool:
        return _ORDER.index(self) < _ORDER.index(Tier(other))

    def __le__(self, other: str) -> bool:
        return not self > other

    def __gt__(self, other: str) -> bool:
        return Tier(other) < self

    def __ge__(self, other: str) -> bool:
        return not self < other

    @property
    def meaning(self) -> str:
        """When a system belongs to it, in one line."""
        return _MEANING[self]


_ORDER: Final = tuple(Tier)
_MEANING: Final = {
    Tier.XS: "one process, one machine, one developer: bugs come back when the program is run again",
    Tier.S: "a run is replayed from its seed on the machines of a team, one operating system",
    Tier.M: "other systems consume replay: a training loop, a regression suite, several processes",
    Tier.L: "another machine gives the same: what CI computes is what a developer computes",
    Tier.XL: "bit-exact over unlike hardware, or somebody is owed a replay by law or contract",
}


class Trait(StrEnum):
    """What a system has, which some sheets and checks are about."""

    CONCURRENCY = "concurrency"
    FLOATING_POINT = "floating-point"
    GPU = "gpu"
    EXTERNAL_EFFECTS = "external-effects"
    HASHED_SNAPSHOTS = "hashed-snapshots"
    BRANCHING = "branching"
    AUDIT_LOG = "audit-log"


class StateKind(StrEnum):
    """A kind of state that systems have and snapshots forget."""

    COMPONENTS = "components"
    STREAMS = "streams"
    EFFECT_CURSORS = "effect-cursors"
    CACHES = "caches"
    LAZY = "lazy-initialisation"
    JIT = "jit"
    SCHEDULER = "scheduler"
    GPU_MEMORY = "gpu-memory"
    MODULE_GLOBALS = "module-globals"
    CLASS_ATTRIBUTES = "class-attributes"
    OPEN_FILES = "open-files"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class Situation:
    """What the sheets' requirements depend on.

    Args:
        tier: as declared.
        determinism_class: as declared: ``bit-exact``, ``logical``, ``statistical``; "" when not known.
        traits: those that are known, and whether the system has them.
    """

    tier: Tier
    determinism_class: str
    traits: dict[Trait, bool]

    def has(self, trait: Trait) -> bool:
        """Whether the system has it; what is not known counts as there."""
        return self.traits.get(trait, True)


@dataclass(frozen=True, slots=True)
class Requirement:
    """When something is needed.

    Args:
        tier: from this tier on.
        trait: and where the system has this.
        classes: and where the declared class is one of these; () for any.
    """

    tier: Tier = Tier.XS
    trait: Trait | None = None
    classes: tuple[str, ...] = ()

    def holds(self, situation: Situation) -> bool:
        """Whether it is needed there."""
        return (
            situation.tier >= self.tier
            and (self.trait is None or situation.has(self.trait))
            and (not self.classes or situation.determinism_class in self.classes)
        )

    @property
    def words(self) -> str:
        """Say it: "from tier M, with concurrency"; "always"."""
        parts = [f"from tier {self.tier}"] if self.tier > Tier.XS else []
        parts += [f"with {self.trait}"] if self.trait is not None else []
        parts += [f"for {' or '.join(self.classes)}"] if self.classes else []
        return ", ".join(parts) or "always"


ALWAYS: Final = Requirement()

# Any of the conditions makes the sheet required.
REQUIRED: Final[dict[str, tuple[Requirement, ...]]] = {
    **dict.fromkeys(("00", "01", "02", "03", "04", "05", "06"), (ALWAYS,)),
    "07": (Requirement(Tier.M, Trait.CONCURRENCY),),
    "08": (Requirement(Tier.L, Trait.FLOATING_POINT),),
    "09": (Requirement(Tier.L, Trait.GPU),),
    "10": (Requirement(Tier.L, Trait.EXTERNAL_EFFECTS),),
    "11": (Requirement(Tier.XL), Requirement(Tier.L, Trait.AUDIT_LOG)),
    "12": (Requirement(Tier.M),),
    **dict.fromkeys(("13", "99"), (ALWAYS,)),
}
# Traits that a lower tier leaves without any answer, while its runs could still agree by luck. Rounding and questions
# to the world are judged by what runs show at every tier.
_PROMOTING: Final[dict[Trait, tuple[tuple[str, ...], str]]] = {
    Trait.CONCURRENCY: ((), "what runs at once needs a strategy"),
    Trait.GPU: (("bit-exact",), "a bit-exact run on a GPU needs every switch stated"),
    Trait.AUDIT_LOG: ((), "an encoding shared with an audit log has to be stated"),
}
MEMO_SHEETS: Final = frozenset({"04", "05", "06"})  # one page each will do at tier XS


def find_required(situation: Situation) -> tuple[str, ...]:
    """Return the numbers of the sheets that are needed, in order."""
    return tuple(
        number
        for number, any_of in REQUIRED.items()
        if any(each.holds(situation) for each in any_of)
    )


@dataclass(frozen=True, slots=True)
class Promotion:
    """A trait whose sheet the declared tier does not ask for: the tier that does, that sheet, and why it is needed."""

    tier: Tier
    sheet: str
    why: str


def find_promotions(situation: Situation, present: Collection[str]) -> Iterator[Promotion]:
    """Yield what the traits of a system force; a sheet that is there answers for its trait at any tier.

    Args:
        situation: with the traits that are known to be there.
        present: numbers of the sheets that are there.
    """
    for number, any_of in REQUIRED.items():
        for each in any_of:
            if each.trait not in _PROMOTING or situation.traits.get(each.trait) is not True:
                continue
            classes, why = _PROMOTING[each.trait]
            is_meant = not classes or situation.determinism_class in classes
            if is_meant and number not in present and situation.tier < each.tier:
                yield Promotion(each.tier, number, f"{why}, in sheet {number}")


def may_be_memo(number: str, tier: Tier) -> bool:
    """Whether a one-page memo does for a sheet at a tier."""
    return tier == Tier.XS and number in MEMO_SHEETS
