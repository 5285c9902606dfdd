"""In which order to mend: safe fixes first, then along the spine of the specification.

Each artifact rests on those before it: a stream cannot be isolated before it has a seed, nothing can be
snapshotted before it has an owner, and comparing pays when what is compared is stable.

Invariant: a step is there only when there is something to do in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from twice.checker.findings import Finding
from twice.checker.workspace import Workspace
from twice.foundation.severity import Severity

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
class Step:
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
    findings: int
    rules: tuple[str, ...]
    command: str = ""


def steps(
    findings: Sequence[Finding], workspace: Workspace | None, *, declared: bool, tested: bool
) -> tuple[Step, ...]:
    """Give the steps, in order."""
    return tuple(_steps(findings, workspace, declared=declared, tested=tested))


def _steps(
    findings: Sequence[Finding], workspace: Workspace | None, *, declared: bool, tested: bool
) -> Iterator[Step]:
    heavy = [each for each in findings if each.severity >= Severity.MEDIUM]
    safe = [each for each in heavy if each.found.fix is not None and each.found.fix.safe]
    if safe:
        yield Step(
            "", "Apply the safe fixes",
            "They change no meaning, and shorten the list of findings.",
            len(safe), _rules(safe), "twice check --fix PATH",
        )  # fmt: skip
    present = frozenset[str]() if workspace is None else workspace.numbers
    for number, sheet, reason in SPINE:
        here = [each for each in heavy if each.artifact == number]
        missing = number not in present
        words = f"{'Write' if missing else 'Keep to'} {number}-{sheet}"
        if here:
            yield Step(number, f"{words} and fix the code", reason, len(here), _rules(here))
        elif number == "01" and not declared:
            yield Step(number, f"{words}: declare the class", reason, 0, ())
        elif number == "12" and heavy and not tested:
            title = "Keep a test that runs twice with one seed and compares"
            yield Step(number, title, reason, 0, ())


def _rules(findings: Sequence[Finding]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for each in findings:
        counts[each.found.rule] = counts.get(each.found.rule, 0) + 1
    return tuple(sorted(counts, key=lambda rule: (-counts[rule], rule)))
