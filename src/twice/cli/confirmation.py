"""Static findings become facts where an experiment can tell: the checker's reading beside real runs.

The program is recorded in varied surroundings (``vary``), with those factors alone that the findings'
rules speak of. The first operation at which the runs part is the witness of a finding when it stands in
the finding's statement, on the way of its value, or, where just one finding of the right kind is in it, in the
finding's function. A parting that no finding explains is the most valuable: the checker did not see it.

Not for: clearing a finding. That a program did the same once says nothing of a line it may not have passed.

Invariant: no finding is removed or lowered, and each has one outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from twice.checker.findings import Finding
from twice.checker.report import Report, Tried
from twice.cli.console import Status
from twice.cli.output import align, pick
from twice.cli.partings import Match, Parting, find_factors, is_among
from twice.cli.run_options import ProgramOptions, StartOptions
from twice.diagnosis.vary.report import BASELINE, Variation
from twice.diagnosis.vary.search import vary
from twice.errors import UsageError
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.foundation.printable import pluralize

_PARTED = frozenset({"differs", "failed"})
_PLACES: dict[Match, str] = {
    "statement": "in its statement",
    "step": "on the way of its value",
    "function": "in its function",
}


def try_findings(
    report: Report, files: Sequence[str], program: ProgramOptions, start: StartOptions
) -> Report:
    """Run a program in varied surroundings, and give the report with what that says of its findings.

    Raises:
        UsageError: E-USE-001. ProgramNotFound: E-PROGRAM-001. ProgramFailed: E-PROGRAM-003. SeedMissing: E-SEED-001.
    """
    kind = report.policy.kind
    if kind is DeterminismClass.STATISTICAL:
        raise UsageError(
            "--confirm was given with the statistical class.",
            "Expected bit-exact or logical: one more run says nothing about a distribution.",
            "For example: twice check src --confirm run.py:main --seed 1",
        )
    if program.records():
        raise UsageError(
            f"--confirm was given {program.program}, which is no program.",
            "Expected file.py:function, package.module:function, or a script.",
            f"A record is varied by: twice vary {program.program}",
        )
    taken = (each.finding for each in (*report.suppressed, *report.baselined))
    every = [*report.findings, *taken]
    factors = dict.fromkeys(each for one in every for each in find_factors(one.found.rule))
    factors.pop(BASELINE, None)
    with Status() as status:
        variation = vary(
            program.find("check --confirm"),
            seed=start.master_seed(),
            config=start.values(),
            factors=[*factors],
            skip_unable=True,
            predicate=Predicate.parse([str(kind)], "host"),
            progress=status,
        )
    shown = {each.fingerprint for each in report.shown}
    hidden = [each for each in every if each.fingerprint not in shown]
    return replace(report, tried=Experiment(every, variation, files).to_tried(hidden))


@dataclass(frozen=True, slots=True)
class Trial:
    """What the runs say of one finding.

    Args:
        outcome: runs part there; they do not where what its rule speaks of is varied; or neither is known.
        sentence: for people, without a full stop.
        witness: the operation at which runs part, as plain values, of a confirmed one.
    """

    outcome: Literal["confirmed", "same", "unknown"]
    sentence: str
    witness: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Experiment:
    """What varying the surroundings of a program says of the findings of a check.

    Args:
        findings: of the check.
        variation: each factor that was to be varied, and what came of it.
        checked: paths of the files that were checked.
    """

    findings: Sequence[Finding]
    variation: Variation
    checked: Sequence[str] = ()

    @cached_property
    def partings(self) -> list[tuple[Parting, Match, list[Finding]]]:
        """Where runs part, each with the findings that it is a witness of."""
        rows = [Parting.from_row(row) for row in self.variation.factors if row.result in _PARTED]
        return [(each, *each.match(self.findings)) for each in rows]

    @cached_property
    def itself(self) -> str:
        """In what the program differs from itself, as a sentence's end; "" when it does not."""
        for each, _, found in self.partings:
            if each.row.factor != BASELINE:
                continue
            if each.row.result == "failed":
                return f"fails now and then: {each.row.reason}"
            if each.operation is None:
                return "differs from itself"
            rules = ", ".join(dict.fromkeys(one.found.rule for one in found))
            known = f"which is found there: {rules}" if rules else "where nothing was found"
            return f"differs from itself in {each.operation.name} at {each.place}, {known}"
        return ""

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """What is said of each finding, by its fingerprint."""
        confirmed: dict[str, Trial] = {}
        for each, match, found in self.partings:
            at = f"two runs part {_PLACES[match]}, at {each.place}, {each.values}"
            witness = {**each.to_json(), "tie": match}
            trial = Trial("confirmed", f"confirmed: {each.condition} {at}", witness)
            for one in found:
                confirmed.setdefault(one.fingerprint, trial)
        names = {each.fingerprint: each for each in self.findings}
        return {name: confirmed.get(name) or self._judge(each) for name, each in names.items()}

    def _judge(self, finding: Finding) -> Trial:
        """Say something of a finding that no parting is a witness of."""
        factors = find_factors(finding.found.rule)
        if not factors:
            return Trial("unknown", "not tried: no experiment of one run tells about this rule")
        if self.itself and not self.variation.measured:
            why = f"the program {self.itself}; that hides what else would"
            return Trial("unknown", f"cannot tell: {why}")
        for parting, *_ in self.partings:
            if parting.concerns(finding):
                first = f"{parting.condition} the runs part first at another line"
                return Trial("unknown", f"{first}; this may be why, or show after that is mended")
        rows = {name: row for row in self.variation.factors for name in row.factor.split(" + ")}
        asked = [rows[name] for name in factors if name in rows]
        same = ["nothing varied"] if BASELINE in factors else []
        same += [row.factor for row in asked if row.result == "same"]
        if same:
            said = f"the program did the same under {', '.join(same)}"
            return Trial("same", f"{said}; the run may not have passed here")
        why = "; ".join(f"{row.factor}: {row.reason}" for row in asked)
        return Trial("unknown", f"cannot tell: {why}")

    @property
    def unexplained_partings(self) -> Iterator[tuple[Parting, str]]:
        """Partings that no finding explains, each with a sentence without a full stop."""
        for each, _, found in self.partings:
            if each.operation is None and each.row.result == "failed":
                yield each, f"{each.condition} the program fails, {each.row.reason}"
            elif each.operation is None:
                yield each, f"{each.condition}: {each.row.reason or 'differs'}"
            elif not found:
                at = each.operation
                aside = "" if is_among(at.file, self.checked) else " (a file that was not checked)"
                code = f"in {at.function}: {at.code or at.name}, {each.values}"
                yield each, f"{each.condition} two runs part at {each.place}{aside} {code}"

    def to_tried(self, hidden: Sequence[Finding]) -> Tried:
        """Give what the report of a check takes.

        Args:
            hidden: findings that are not shown; those that are facts are named all the same.
        """
        trials = self.trials.items()
        return Tried(
            lines={name: each.sentence for name, each in trials},
            witnesses={name: each.witness for name, each in trials if each.witness is not None},
            summary=self.to_json(),
            text="\n".join(self._lines(hidden)),
            parted=bool(self.partings),
        )

    def to_json(self) -> dict[str, Any]:
        """As ``confirmation`` in the summary."""
        trials, rows = sorted(self.trials.items()), self.variation.factors
        return {
            "program": self.variation.program,
            "factors": [pick(row, "factor", "value", "result", "reason") for row in rows],
            "itself": self.itself or None,
            "outcomes": dict(sorted(Counter(each.outcome for _, each in trials).items())),
            "findings": [
                {"fingerprint": name, "outcome": each.outcome, "sentence": each.sentence}
                for name, each in trials
            ],
            "unexplained": [
                {**each.to_json(), "sentence": said} for each, said in self.unexplained_partings
            ],
        }

    def _lines(self, hidden: Sequence[Finding]) -> Iterator[str]:
        """For people: what was tried, and what the checker did not see."""
        program, rows = self.variation.program, self.variation.factors
        confirmed = sum(each.outcome == "confirmed" for each in self.trials.values())
        said = f"{confirmed} of {pluralize(len(self.trials), 'finding')} confirmed"
        yield f"{program} was run: {said if self.trials else 'there was nothing to confirm'}"
        if self.itself:
            told = "" if self.variation.measured else "cannot tell more: "
            yield f"{told}{program} {self.itself}; mend that first, or record it"
        yield from align([(row.factor, row.result, row.reason or row.value) for row in rows])
        if not rows:
            why = "no finding named a factor" if self.trials else "no finding asked for more"
            yield f"  two runs with nothing varied did the same, and {why}"
        for each in hidden:
            trial = self.trials[each.fingerprint]
            if trial.witness is not None:
                at = f"{each.path}:{each.found.place.line} {each.found.rule}"
                yield f"not shown, and a fact: {at}, {trial.sentence}"
        for parting, said in self.unexplained_partings:
            if any(map(parting.concerns, self.findings)):
                yield f"no finding stands where they part, and one above may be why: {said}"
            else:
                yield f"the checker did not see this: {said}"
        yield "A run shows what differs, not what cannot: what did the same may not have been passed."
        yield f"Every other factor is tried by: twice vary {program}"
