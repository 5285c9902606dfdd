"""Static findings become facts where an experiment can tell: the checker's reading beside real runs.

The program is recorded in varied surroundings (``vary``), with those factors alone that the findings'
rules speak of. The first operation at which the runs part is the witness of a finding when it stands in
the finding's statement, on the way of its value, or, where just one finding of the right kind is in it, in the
finding's function. A parting that no finding explains is the most valuable: the checker did not see it.

Not for: clearing a finding. That a program did the same once says nothing of a line it may not have passed.

Invariant: no finding is removed or lowered, and each has one outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from twice.checking.findings import Finding
from twice.diagnosis.vary.report import BASELINE, FactorResult, Variation
from twice.diagnosis.vary.search import vary
from twice.errors import UsageError
from twice.foundation.seeds import Seed
from twice.recording.naming import is_record
from twice.recording.program import Program
from twice.surfaces.parted import Operation, Sources, Tie
from twice.surfaces.rule_factors import factors_of

Outcome = Literal["confirmed", "one-of-several", "same", "elsewhere", "untold", "not-tried"]
_TIES: dict[Tie, str] = {
    "statement": "in its statement",
    "step": "on the way of its value",
    "function": "in its function",
}


@dataclass(frozen=True, slots=True)
class Witness:
    """What makes a finding a fact.

    Args:
        factor: what was varied; ``nothing`` when two runs of the same differ.
        value: what it was set to; empty when nothing was varied.
        tie: where the operation stands as seen from the finding.
        operation: the first operation at which the two runs part, with both values.
    """

    factor: str
    value: str
    tie: Tie
    operation: Operation

    def to_json(self) -> dict[str, object]:
        """As ``witness`` of a finding."""
        return {
            "factor": self.factor,
            "value": self.value,
            "tie": self.tie,
            "operation": self.operation.to_json(),
        }

    def sentence(self) -> str:
        """For people, without a full stop."""
        at = self.operation
        return (
            f"confirmed: {_under(self.factor, self.value)} two runs part {_TIES[self.tie]}, at "
            f"{at.path}:{at.line}, {at.name}: {at.a} / {at.b}"
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """What the experiment says of one finding.

    Args:
        outcome: one word.
        sentence: for people, without a full stop.
        witness: the operation at which runs part, when it is this finding's.
    """

    outcome: Outcome
    sentence: str
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class Unexplained:
    """A parting of two runs that no finding explains.

    Args:
        factor: what was varied; ``nothing`` when two runs of the same differ.
        value: what it was set to.
        operation: where they part; None when it could not be said.
        sentence: for people, without a full stop.
    """

    factor: str
    value: str
    operation: Operation | None
    sentence: str

    def to_json(self) -> dict[str, object]:
        """As an entry of ``unexplained``."""
        return {
            "factor": self.factor,
            "value": self.value,
            "operation": None if self.operation is None else self.operation.to_json(),
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What experiments say of the findings of a check.

    Args:
        program: as it was named; findings are about files, this is what was run.
        factors: each factor that was to be varied, and what came of it.
        trials: by the findings' fingerprints.
        unexplained: partings that no finding explains.
        itself: in what the program differs from itself, as a sentence's end; "" when it does not.
    """

    program: str
    factors: tuple[FactorResult, ...]
    trials: Mapping[str, Trial]
    unexplained: tuple[Unexplained, ...]
    itself: str = ""

    def witness(self, finding: Finding) -> dict[str, object] | None:
        """Give the entry ``witness`` of a finding; None when it has none."""
        trial = self.trials.get(finding.fingerprint)
        return None if trial is None or trial.witness is None else trial.witness.to_json()

    def line(self, finding: Finding) -> str:
        """Give the line for people under a finding."""
        trial = self.trials.get(finding.fingerprint)
        return "not tried" if trial is None else trial.sentence

    def to_json(self) -> dict[str, Any]:
        """As ``confirmation`` in the summary."""
        counts: dict[str, int] = {}
        for trial in self.trials.values():
            counts[trial.outcome] = counts.get(trial.outcome, 0) + 1
        return {
            "program": self.program,
            "factors": [
                {
                    "factor": row.factor,
                    "value": row.value,
                    "result": row.result,
                    "reason": row.reason,
                }
                for row in self.factors
            ],
            "itself": self.itself or None,
            "outcomes": dict(sorted(counts.items())),
            "findings": [
                {"fingerprint": name, "outcome": trial.outcome, "sentence": trial.sentence}
                for name, trial in sorted(self.trials.items())
            ],
            "unexplained": [each.to_json() for each in self.unexplained],
        }

    @property
    def parted(self) -> bool:
        """Whether runs were seen to part."""
        return any(row.result in {"differs", "failed"} for row in self.factors)

    def _blind(self, parting: Unexplained) -> str:
        """Whether the checker saw nothing of the kind, or not at this line."""
        under = f"{_under(parting.factor, parting.value)} the runs part first at another line"
        if any(each.sentence.startswith(under) for each in self.trials.values()):
            return "no finding stands where they part, and one above may be why"
        return "the checker did not see this"

    def to_text(self, hidden: Sequence[Finding] = ()) -> str:
        """For people: what was tried, and what the checker did not see.

        Args:
            hidden: findings that are not shown; those that are facts are named all the same.
        """
        confirmed = sum(trial.outcome == "confirmed" for trial in self.trials.values())
        said = f"{confirmed} of {len(self.trials)} findings confirmed"
        lines = [
            f"{self.program} was run: {said if self.trials else 'there was nothing to confirm'}"
        ]
        if self.itself:
            lines.append(
                f"cannot tell more: {self.program} {self.itself}; mend that first, or record it"
            )
        width = max((len(row.factor) for row in self.factors), default=0)
        lines += [
            f"  {row.factor:<{width}}  {row.result:<14}  {row.reason or row.value}".rstrip()
            for row in self.factors
        ]
        if not self.factors:
            why = "no finding named a factor" if self.trials else "no finding asked for more"
            lines.append(f"  two runs with nothing varied did the same, and {why}")
        lines += [
            f"not shown, and a fact: {each.path}:{each.found.place.line} {each.found.rule}, "
            f"{self.line(each)}"
            for each in hidden
            if self.witness(each) is not None
        ]
        lines += [f"{self._blind(each)}: {each.sentence}" for each in self.unexplained]
        lines += [
            "A run shows what differs, not what cannot: what did the same may not have been passed.",
            f"Every other factor is tried by: twice vary {self.program}",
        ]
        return "\n".join(lines)


def confirm(
    findings: Sequence[Finding],
    program: str | Program,
    *,
    seed: int | Seed | None = None,
    config: Mapping[str, Any] | None = None,
    checked: Sequence[str] | None = None,
    **options: Any,
) -> Confirmation:
    """Run a program in the surroundings that findings speak of, and say which of them are facts.

    Args:
        findings: of a check, suppressed ones as well where they may explain what differs.
        program: as ``twice.vary`` takes it, but no record: findings are about the code as it stands.
        seed: master seed; the variable TWICE_SEED when None.
        config: plain values for ``run.config``.
        checked: paths of the files that were checked, when it is to be said that one was not.
        **options: further ones of ``twice.vary``: class, progress and so on.

    Raises:
        UsageError: E-USE-001, for a record in place of a program.
        ProgramFailed: E-PROGRAM-003, when the program fails though nothing is varied.
        SeedMissing: E-SEED-001. ProgramNotFound: E-PROGRAM-001.
    """
    if isinstance(program, str):
        require_program(program)
    wanted: dict[str, None] = {}
    for each in findings:
        wanted.update(dict.fromkeys(factors_of(each.found.rule)))
    wanted.pop(BASELINE, None)
    variation = vary(
        program, seed=seed, config=config, factors=list(wanted), skip_unable=True, **options
    )
    return weigh(findings, variation, checked=checked)


def require_program(program: str) -> None:
    """Refuse a record: findings are about the code as it stands.

    Raises:
        UsageError: E-USE-001.
    """
    if is_record(program):
        raise UsageError(
            f"--confirm was given {program}, which is no program.",
            "Expected file.py:function, package.module:function, or a script.",
            f"A record is varied by: twice vary {program}",
        )


def weigh(
    findings: Sequence[Finding], variation: Variation, *, checked: Sequence[str] | None = None
) -> Confirmation:
    """Put findings beside what varying showed."""
    sources = Sources()
    witnesses: dict[str, Witness] = {}
    suspected: dict[str, Trial] = {}
    unexplained: list[Unexplained] = []
    itself = ""
    for row in variation.factors:
        if row.result not in {"differs", "failed"}:
            continue
        at = Operation.of(row, sources)
        ties = [] if at is None else _tied(findings, row, at, sources)
        if row.factor == BASELINE:
            itself = _itself(row, at, [finding for finding, _ in ties])
        if at is None or not ties:
            unexplained.append(_unexplained(row, at, sources, checked))
        elif len(ties) > 1 and ties[0][1] == "function":
            for finding, _ in ties:
                suspected[finding.fingerprint] = Trial(
                    "one-of-several",
                    f"{_under(row.factor, row.value)} two runs part at {at.path}:{at.line}: it is "
                    f"this one or another of {len(ties)} in {finding.found.symbol or 'the module'}",
                )
        else:
            for finding, tie in ties:
                witness = Witness(row.factor, row.value, tie, at)
                witnesses.setdefault(finding.fingerprint, witness)
    trials: dict[str, Trial] = {}
    for finding in findings:
        name = finding.fingerprint
        known = witnesses.get(name)
        if known is not None:
            trials[name] = Trial("confirmed", known.sentence(), known)
        else:
            trials[name] = suspected.get(name) or _unconfirmed(finding, variation, itself)
    return Confirmation(
        variation.program, tuple(variation.factors), trials, tuple(unexplained), itself
    )


def _itself(row: FactorResult, at: Operation | None, tied: Sequence[Finding]) -> str:
    """In what the program differs from itself, and which finding says so."""
    if row.result == "failed":
        return f"fails now and then: {row.reason}"
    if at is None:
        return "differs from itself"
    rules = ", ".join(dict.fromkeys(each.found.rule for each in tied))
    known = f"which is found there: {rules}" if rules else "where nothing was found"
    return f"differs from itself in {at.name} at {at.path}:{at.line}, {known}"


def _tied(
    findings: Sequence[Finding], row: FactorResult, at: Operation, sources: Sources
) -> list[tuple[Finding, Tie]]:
    """Findings that the operation is a witness of: the nearest tie that there is, and no other."""
    nearest: dict[Tie, list[tuple[Finding, Tie]]] = {"statement": [], "step": [], "function": []}
    for finding in findings:
        tie = sources.tie(finding, at)
        if tie is not None and _speaks_of(finding, row, at):
            nearest[tie].append((finding, tie))
    return next((found for found in nearest.values() if found), [])


def _speaks_of(finding: Finding, row: FactorResult, at: Operation) -> bool:
    """Whether the finding is about what was varied, or about what differs though nothing was."""
    factors = factors_of(finding.found.rule)
    if row.factor == BASELINE:
        return BASELINE in factors or finding.channel == at.channel
    return not set(row.factor.split(" + ")).isdisjoint(factors)


def _unexplained(
    row: FactorResult, at: Operation | None, sources: Sources, checked: Sequence[str] | None
) -> Unexplained:
    under = _under(row.factor, row.value)
    if at is None:
        said = f"fails, {row.reason}" if row.result == "failed" else row.reason or "differs"
        sentence = f"{under} the program {said}" if row.result == "failed" else f"{under}: {said}"
        return Unexplained(row.factor, row.value, None, sentence)
    seen = checked is None or sources.among(at.path, checked)
    aside = "" if seen else " (a file that was not checked)"
    sentence = (
        f"{under} two runs part at {at.path}:{at.line}{aside} in {at.function}: "
        f"{at.code or at.name}, {at.name}: {at.a} / {at.b}"
    )
    return Unexplained(row.factor, row.value, at, sentence)


def _unconfirmed(finding: Finding, variation: Variation, itself: str) -> Trial:
    """What to say of a finding that no parting is a witness of."""
    factors = factors_of(finding.found.rule)
    if not factors:
        return Trial("not-tried", "not tried: no experiment of one run tells about this rule")
    rows = {name: row for row in variation.factors for name in row.factor.split(" + ")}
    if itself:
        return Trial("untold", f"cannot tell: the program {itself}; that hides what else would")
    asked = [rows[name] for name in factors if name in rows]
    parted = [row for row in asked if row.result in {"differs", "failed"}]
    if parted:
        under = _under(parted[0].factor, parted[0].value)
        return Trial(
            "elsewhere",
            f"{under} the runs part first at another line; this may be why, or show after that is mended",
        )
    same = [row.factor for row in asked if row.result == "same"]
    if BASELINE in factors:
        same.insert(0, "nothing varied")
    if same:
        return Trial(
            "same",
            f"the program did the same under {', '.join(same)}; the run may not have passed here",
        )
    open_ = [row for row in asked if row.result == "could-not-tell"]
    if open_:
        return Trial("untold", f"not told: {open_[0].factor}, {open_[0].reason}")
    why = "; ".join(f"{row.factor}: {row.reason}" for row in asked)
    return Trial("not-tried", f"not tried: {why}")


def _under(factor: str, value: str) -> str:
    if factor == BASELINE:
        return "with nothing varied"
    return f"under another {factor}" + (f" ({value})" if value else "")
