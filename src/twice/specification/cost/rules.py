"""The rules of determinism, how each is switched off, and a run as it is made without some of them: data.

A rule names the sheet that answers for it. The process of a run reads back, under the rule's name, something that
differs when the rule is off: a switch that nobody obeyed measured nothing.

Invariant: a rule has a switch, or it stands in ``NOT_SWITCHED`` with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final

from twice.errors import UsageError
from twice.recorder.cadence import Cadence
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.redaction.policy import RULES as REDACTIONS
from twice.recorder.redaction.policy import Policy
from twice.recorder.session_parts import InForce
from twice.recorder.setup import Setup


@dataclass(frozen=True, slots=True)
class RunVariant:
    """What one run is made with: what is pinned around its process, and the rules that are switched off."""

    setup: Setup
    surroundings: Surroundings
    off: tuple[str, ...] = ()

    @property
    def in_force(self) -> InForce:
        """The parts of the session that work."""
        return InForce(
            generators="shared generators" not in self.off,
            reads="effects recorded" not in self.off,
            watch="back channels watched" not in self.off,
            points="compare-points" not in self.off,
        )


@dataclass(frozen=True, slots=True)
class CostRule:
    """One rule that can be switched off, named as sheet 13 calls it, with the sheet that answers for it.

    Off, it has other ``policies`` in ``Setup``, and leaves variables of these patterns to the machine. Only whole
    programs have one that is ``whole``.
    """

    name: str
    artifact: str
    what: str
    policies: Mapping[str, Any] | None = None
    variables: tuple[str, ...] = ()
    whole: bool = False

    def switch_off(self, variant: RunVariant) -> RunVariant:
        """Give the variant without this rule."""
        kept = {
            name: value
            for name, value in variant.surroundings.variables.items()
            if not any(fnmatchcase(name, pattern) for pattern in self.variables)
        }
        return RunVariant(
            replace(variant.setup, **(self.policies or {})),
            replace(variant.surroundings, variables=kept),
            (*variant.off, self.name),
        )

    def describe_absence(self, variant: RunVariant) -> str:
        """Say why a run has not got this rule in the first place; "" when it has."""
        without = self.switch_off(variant)
        if self.whole and not variant.setup.program.whole:
            return "it is a rule of whole programs, and this is a function of a run"
        if (self.policies or self.variables) and replace(without, off=variant.off) == variant:
            return "it is not in force in this run: what is declared is what stands in its place"
        return ""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A rule without a figure, and the reason, after "unmeasured because"."""

    name: str
    artifact: str
    why: str


RULES: Final = (
    CostRule("shared generators", "03", "the generators that everybody shares are seeded and are part of the state"),
    CostRule("snapshots", "04", "the whole state is kept at the declared cadence", {"cadence": Cadence("none")}),
    CostRule("compare-points", "05", "every component's state is digested at the declared points"),
    CostRule("library steps", "05", "steps of known libraries are ticks of a whole program", {"auto_points": False}, whole=True),
    CostRule("output captured", "05", "what is printed is read back, written down and compared"),
    CostRule("record written", "06", "what is observed is chained, compressed and written"),
    CostRule(
        "one numeric thread", "08", "BLAS and OpenMP compute with the declared number of threads",
        variables=("*_NUM_THREADS", "*_MAXIMUM_THREADS", "*_MAX_THREADS", "OMP_THREAD_LIMIT", "*_DYNAMIC"),
    ),
    CostRule("effects recorded", "10", "reads of the world go through the layer and are written down"),
    CostRule("back channels watched", "10", "operations that pass by the layer are noticed and named"),
    CostRule("files", "10", "of files that are read, what the policy says is kept", {"files": "none"}),
    CostRule(
        "secrets blanked", "10", "what looks secret is blanked before it is written",
        {"redaction": Policy(off=tuple(sorted(REDACTIONS)))},
    ),
    CostRule("hash seed", "10", "sets of text have the order of one declared hash seed", variables=("PYTHONHASHSEED",)),
    CostRule("locale", "10", "one locale, not that of the machine", variables=("LANG", "LANGUAGE", "LC_*")),
    CostRule("time zone", "10", "one time zone, not that of the machine", variables=("TZ",)),
)  # fmt: skip

SEALED_REPLAY: Final = "sealed replay"
NOT_SWITCHED: Final = (
    Unmeasured("sub-seeds by name", "02", "a program takes its generators through it, so that no run is without it"),
    Unmeasured(
        "schedule of threads and tasks", "07",
        "twice does not schedule them; a design that does is measured in the program itself",
    ),
    Unmeasured(
        "arithmetic beyond threads", "08",
        "twice sets no precision, order or library; a program that does is measured by running it without",
    ),
    Unmeasured(
        "deterministic kernels", "09", "twice sets no switch of a GPU; a program that does is measured by running it without"
    ),
    Unmeasured("canonical form", "11", "digests and snapshots are made of it, and its cost is in theirs"),
    Unmeasured("digest", "11", "every record is chained by one, so that no run is without it"),
    Unmeasured(
        SEALED_REPLAY, "06",
        "it acts when a record is verified, and what is measured here is recording; --replay measures it beside that",
    ),
)  # fmt: skip


def choose_rules(names: Sequence[str]) -> list[CostRule]:
    """Give rules by name, in the order of the list; all for no name.

    Raises:
        UsageError: E-USE-001, for a name that there is not.
    """
    for name in names:
        if name not in {rule.name for rule in RULES}:
            raise UsageError(
                f"There is no rule {name!r} that can be switched off.",
                f"Rules: {', '.join(rule.name for rule in RULES)}.",
                "See: twice cost --list",
            )
    return [rule for rule in RULES if not names or rule.name in names]
