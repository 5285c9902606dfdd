"""What findings risk, and in which order to mend them.

A risk is looked up by rule or channel. Steps follow the spine of the specification, where each artifact rests on
those before it: a stream cannot be isolated before it has a seed, nothing can be saved before it has an owner.

Invariant: every rule has a risk, every step has something to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from twice.checker.findings import Finding
from twice.checker.rule import Breaks, RuleFacts
from twice.checker.workspace import Workspace
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity


class GapKind(StrEnum):
    """What kind of gap a finding is."""

    HIDDEN = "hidden-dependency"
    """The result depends on something that no input of the run names."""
    LIBRARY_DEFAULT = "library-default"
    """A library decides, because nobody told it."""
    CHANCE_ORDER = "order-left-to-chance"
    """Something comes in an order that nobody fixed."""
    OUTSIDE_SNAPSHOT = "state-outside-snapshot"
    """The state that a run needs to go on is not saved, or not restored."""
    WEAK_EVIDENCE = "weak-evidence"
    """The check that should show a difference cannot."""


class BrokenCapability(StrEnum):
    """What no longer works."""

    SEED = "replay from seed"
    RESUME = "resume"
    MACHINES = "another machine"
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True)
class Risk:
    """What a finding risks: the kind of gap, the capability that it breaks, and one sentence."""

    kind: GapKind
    breaks: BrokenCapability
    text: str


RISKS: Final[dict[Channel, Risk]] = {
    Channel.SEEDS: Risk(
        GapKind.HIDDEN,
        BrokenCapability.SEED,
        "A run with the same seed is another run: you cannot reproduce a result.",
    ),
    Channel.RNG: Risk(
        GapKind.HIDDEN,
        BrokenCapability.COMPARISON,
        "One more draw anywhere shifts all other random numbers, so you cannot compare two versions.",
    ),
    Channel.SNAPSHOT: Risk(
        GapKind.OUTSIDE_SNAPSHOT,
        BrokenCapability.RESUME,
        "A run that continues from a checkpoint differs from a run that was not interrupted.",
    ),
    Channel.DIVERGENCE: Risk(
        GapKind.WEAK_EVIDENCE,
        BrokenCapability.COMPARISON,
        "A regression stays hidden: runs that differ count as the same.",
    ),
    Channel.REPLAY: Risk(
        GapKind.OUTSIDE_SNAPSHOT,
        BrokenCapability.RESUME,
        "The restored state is not the saved state: a replay or a branch starts from another state.",
    ),
    Channel.CONCURRENCY: Risk(
        GapKind.CHANCE_ORDER,
        BrokenCapability.SEED,
        "The same seed gives another result in the next process, or with other workers.",
    ),
    Channel.FLOATING_POINT: Risk(
        GapKind.LIBRARY_DEFAULT,
        BrokenCapability.MACHINES,
        "Another machine, build or thread count changes the last digits, and every decision that depends on them.",
    ),
    Channel.GPU: Risk(
        GapKind.LIBRARY_DEFAULT,
        BrokenCapability.SEED,
        "Two runs on the same device differ in their last digits, and soon in everything.",
    ),
    Channel.EFFECTS: Risk(
        GapKind.HIDDEN,
        BrokenCapability.SEED,
        "A replay reads a world that has changed, and acts on other answers.",
    ),
    Channel.ENCODING: Risk(
        GapKind.HIDDEN,
        BrokenCapability.COMPARISON,
        "Equal states get unequal digests or keys: comparisons and caches are useless.",
    ),
}
RISKS_BY_RULE: Final[dict[str, Risk]] = {
    "unseeded-generator": replace(RISKS[Channel.SEEDS], kind=GapKind.LIBRARY_DEFAULT),
    "unseeded-global": replace(RISKS[Channel.SEEDS], kind=GapKind.LIBRARY_DEFAULT),
    "cloned-generator-state": Risk(
        GapKind.HIDDEN,
        BrokenCapability.COMPARISON,
        "Two samples that look independent are one: differences between them mean nothing.",
    ),
    "identity-subseed": Risk(
        GapKind.HIDDEN,
        BrokenCapability.SEED,
        "The sub-seed changes with every process, although the seed of the run is the same.",
    ),
    "unsorted-listing": Risk(
        GapKind.CHANCE_ORDER,
        BrokenCapability.MACHINES,
        "You cannot reproduce the result from a copy of the same files elsewhere.",
    ),
}
"""Where a rule risks something else than its channel."""


def assess_risk(rule: RuleFacts) -> Risk:
    """Give what the findings of a rule risk."""
    risk = RISKS_BY_RULE.get(rule.name)
    if risk is None and rule.breaks is Breaks.CROSS_HOST:
        text = "The result is stable on this machine. Another machine gets other bits from the same seed."
        return replace(RISKS[rule.channel], breaks=BrokenCapability.MACHINES, text=text)
    return risk or RISKS[rule.channel]


SPINE: Final = (
    ("01", "determinism-class.md", "The severity of every finding depends on it."),
    ("02", "seed-governance-spec.md", "A stream without a seed cannot be isolated, saved or replayed."),
    ("03", "rng-isolation-spec.md", "With owners, a change in one place no longer moves the others."),
    ("07", "concurrency-determinism-spec.md", "Without a fixed order, every comparison below fails."),
    ("10", "external-effects-substitution.md", "A replay cannot agree while the program reads the world anew."),
    ("08", "floating-point-policy.md", "Order and sources are fixed by now. The remaining differences are arithmetic."),
    ("09", "gpu-determinism-config.md", "The same for kernels of the GPU."),
    ("11", "canonical-state-encoding.md", "A digest needs equal bytes for equal states."),
    ("04", "snapshot-strategy.md", "A snapshot is complete once every stream has an owner."),
    ("05", "divergence-protocol.md", "Compare now: the remaining differences are real."),
    ("06", "replay-infrastructure-spec.md", "A restore needs complete snapshots."),
    ("12", "property-test-suite.md", "It fails if a later change breaks the promise."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """One step.

    Args:
        artifact: number of the artifact; "" for fixes that need none.
        title: what to do.
        reason: why now.
        findings: number of findings of medium severity or more that it solves.
        rules: their rules, the most frequent first.
        command: what to run; "" when there is no command.
    """

    artifact: str
    title: str
    reason: str
    findings: int = 0
    rules: tuple[str, ...] = ()
    command: str = ""


def list_steps(
    findings: Sequence[Finding], workspace: Workspace | None, *, declared: bool, tested: bool
) -> Iterator[ReviewStep]:
    """Give what to do, in order."""
    heavy = [each for each in findings if each.severity >= Severity.MEDIUM]
    safe = [each for each in heavy if each.found.fix is not None and each.found.fix.safe]
    if safe:
        why = "They change no meaning, and shorten the list of findings."
        command = "twice check --fix PATH"
        yield ReviewStep("", "Apply the safe fixes", why, len(safe), _rules(safe), command)
    present = frozenset[str]() if workspace is None else workspace.numbers
    for number, sheet, reason in SPINE:
        here = [each for each in heavy if each.artifact == number]
        words = f"{'Keep to' if number in present else 'Write'} {number}-{sheet}"
        if here:
            title = f"{words} and fix the code"
            yield ReviewStep(number, title, reason, len(here), _rules(here))
        elif number == "01" and not declared:
            yield ReviewStep(number, f"{words}: declare the class", reason)
        elif number == "12" and heavy and not tested:
            title = "Keep a test that runs twice with one seed and compares"
            yield ReviewStep(number, title, reason)


def _rules(findings: Sequence[Finding]) -> tuple[str, ...]:
    counts = Counter(each.found.rule for each in findings)
    return tuple(sorted(counts, key=lambda rule: (-counts[rule], rule)))
