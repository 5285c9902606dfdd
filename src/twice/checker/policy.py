"""The promise of a project and the zones of its files: from these a finding gets its severity and its certainty.

Severity says how badly the promise is broken if the finding is right, certainty what kind of statement it is. From
tier L on a value in code that was not followed counts in full, and stays unknown.

Invariant: the promise only judges findings; it never decides whether a rule looks at something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final

from twice.checker.files import matches
from twice.checker.findings import Certainty, Reach, Violation
from twice.checker.rule import Breaks, RuleFacts
from twice.foundation.channels import Channel
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.severity import Severity


class Zone(StrEnum):
    """What part of a project a file is."""

    CORE = "core"
    """What the promise is about."""
    BOUNDARY = "boundary"
    """Where the world is let in on purpose: recorded, or declared."""
    TOOLING = "tooling"
    """Scripts, plots, documentation: beside a run."""
    TESTS = "tests"
    """What tests a run."""


_TEST_PARTS: Final = frozenset({"test", "tests", "unittests"})
_TEST_FILES: Final = ("test_*.py", "*_test.py", "conftest.py", "tests.py")
_TOOL_PARTS: Final = frozenset(
    ["docs", "doc", "script", "scripts", "tool", "tools", "tooling", "benchmark", "benchmarks", "bench", "dev", "ci",
     ".github", "plotting", "visualization", "visualisation", "viz", "visualizer", "gui", "ui", "dashboard",
     "rendering", "render"]
)  # fmt: skip
_TOOL_FILES: Final = (
    "setup.py", "noxfile.py", "tasks.py", "fabfile.py", "plot*.py", "*_plot.py", "benchmark*.py", "bench_*.py",
)  # fmt: skip
TIERS: Final = ("XS", "S", "M", "L", "XL")
_SURE: Final = 0.6  # Below it, a rule itself says that what it found is as often harmless.
_TIERS_STRICT: Final = frozenset({"L", "XL"})
_CHOICES: Final = frozenset({Channel.EFFECTS, Channel.GPU, Channel.FLOATING_POINT})
"""What a program reads of the world, and how its machine computes: right once it is recorded, pinned or declared."""
_CHOICE_RULES: Final = frozenset({"default-seed", "literal-seed"})
"""Two runs do not differ by a number that is written down: it is right once it is declared."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What was promised.

    Args:
        kind: the declared class.
        scope: how far the promise reaches.
        tier: XS, S, M, L or XL; None when none was declared. From L on, a value that is handed to
            code that was not followed weighs as if it had arrived.
        zones: patterns of paths for each zone; they come before the usual places.
        is_declared: whether the class was declared anywhere, and is not the usual one.
        above: what stands before a path as findings name it to make it one from the project's
            folder: "" when that is the working folder, ``sub/`` when it is the folder above.
        below: what is taken away for the same: ``other/`` when the project is in that folder, or
            all of the project's folder for a file that is named in full.
    """

    kind: DeterminismClass = DeterminismClass.BIT_EXACT
    scope: Scope = Scope.HOST
    tier: str | None = None
    zones: Mapping[Zone, tuple[str, ...]] = field(default_factory=dict)
    is_declared: bool = False
    above: str = ""
    below: str = ""

    @property
    def strictest(self) -> Breaks:
        """The strictest promise that was made."""
        if self.kind is DeterminismClass.STATISTICAL:
            return Breaks.STATISTICAL
        if self.kind is DeterminismClass.LOGICAL:
            return Breaks.LOGICAL
        return Breaks.CROSS_HOST if self.scope is Scope.CROSS_HOST else Breaks.BIT_EXACT

    def to_project_path(self, path: str) -> str:
        """Give a file's path from the project's folder, wherever the check was asked for."""
        if self.above and not path.startswith("/"):
            return self.above + path
        return path.removeprefix(self.below) if self.below else path

    def zone(self, path: str) -> Zone:
        """Give the zone of a file by its path."""
        path = self.to_project_path(path)
        for zone in Zone:
            if matches(path, self.zones.get(zone, ())):
                return zone
        *folders, name = path.lower().split("/")
        if not _TEST_PARTS.isdisjoint(folders) or _named(name, _TEST_FILES):
            return Zone.TESTS
        if not _TOOL_PARTS.isdisjoint(folders) or _named(name, _TOOL_FILES):
            return Zone.TOOLING
        return Zone.CORE

    def imported_test_zone(self, path: str) -> Zone:
        """Give the zone of a file among tests that the program imports: the core, unless told otherwise."""
        said = matches(self.to_project_path(path), self.zones.get(Zone.TESTS, ()))
        return Zone.TESTS if said else Zone.CORE

    def severity(self, found: Violation, rule: RuleFacts, zone: Zone) -> Severity:
        """Say how badly a violation breaks the promise."""
        if rule.breaks > self.strictest or found.reach is Reach.QUIET:
            return Severity.INFORMATIONAL
        base = rule.severity if found.severity is None else found.severity
        if base <= Severity.LOW:
            return base
        if (
            found.reach is Reach.UNSEEN
            and rule.channel is Channel.EFFECTS
            and zone in {Zone.TESTS, Zone.TOOLING}
        ):
            return Severity.INFORMATIONAL  # Tests and tools ask the world on purpose.
        weight = int(base)
        if found.reach is Reach.UNSEEN and self.tier not in _TIERS_STRICT:
            weight -= 1 if found.confidence >= _SURE else 2
        if zone is Zone.TESTS:
            weight -= 0 if rule.channel is Channel.DIVERGENCE else 3
        elif zone is Zone.TOOLING and rule.channel is not Channel.EFFECTS:
            weight = min(weight, Severity.MEDIUM)  # Shown, and never what a run fails on.
        elif zone is not Zone.CORE:
            weight -= 1  # Scripts and boundaries ask the world on purpose.
        return Severity(max(weight, Severity.LOW))


def certainty_of(found: Violation, rule: RuleFacts, zone: Zone) -> Certainty:
    """Say what kind of statement a violation is, whatever was promised."""
    if found.reach is not Reach.LOUD or found.confidence < _SURE:
        return Certainty.UNKNOWN
    if found.severity is not None and rule.name not in _CHOICE_RULES:
        return Certainty.WRONG  # The project bans the name: it has chosen.
    if zone is Zone.BOUNDARY or rule.channel in _CHOICES or rule.name in _CHOICE_RULES:
        return Certainty.CHOICE
    return Certainty.WRONG


def is_test_file(path: str) -> bool:
    """Say whether a file is called as tests are, or is there to mark a folder."""
    name = path.rpartition("/")[2].lower()
    return name == "__init__.py" or _named(name, _TEST_FILES)


def _named(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, each) for each in patterns)
