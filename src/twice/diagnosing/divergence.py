"""The verdict on two runs: one value with two faces, JSON for scripts and text for people.

Invariant: a result is one of six words, and only ``same`` and ``within-tolerance`` exit 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from twice.diagnosing.comparing import InputDifference, PointRef
from twice.foundation.channels import Channel
from twice.foundation.classes import Predicate
from twice.foundation.difference import FieldDifference
from twice.replaying.record_outcomes import OutcomeDifference

Result = Literal[
    "same", "within-tolerance", "localised", "unlocalised", "non-reproducing", "not-same-input"
]
Outcome = Literal["confirmed", "refuted", "open"]
FORMAT = "twice.divergence/1"
_EXIT = {
    "same": 0,
    "within-tolerance": 0,
    "localised": 1,
    "unlocalised": 1,
    "non-reproducing": 2,
    "not-same-input": 2,
}


@dataclass(frozen=True)
class OperationFound:
    """The first operation whose result stays different.

    Attributes:
        file: path of the source, as the run had it.
        line: line number, from 1.
        function: qualified name.
        code: the statement.
        name: variable, attribute or call that first differs.
        a: value on one side, short.
        b: value on the other side, short.
    """

    file: str
    line: int
    function: str
    code: str
    name: str
    a: str
    b: str

    def to_json(self) -> dict[str, object]:
        """As ``operation``."""
        return {
            "file": self.file,
            "line": self.line,
            "function": self.function,
            "code": self.code,
            "name": self.name,
            "a": self.a,
            "b": self.b,
        }


@dataclass(frozen=True)
class Confirmation:
    """One experiment and its outcome.

    Attributes:
        cause: what was changed, and nothing else.
        channel: the channel that it speaks for or against.
        outcome: whether it is a cause; ``open`` when the experiment could not tell.
        sentence: what was done and seen.
    """

    cause: str
    channel: Channel
    outcome: Outcome
    sentence: str

    def to_json(self) -> dict[str, str]:
        """As an entry of ``experiments``."""
        return {
            "cause": self.cause,
            "channel": self.channel.value,
            "outcome": self.outcome,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Attribution:
    """A channel through which the difference may have come, and why it is believed.

    Attributes:
        channel: one of ten.
        confidence: 0 to 1, of this channel against the others.
        evidence: what was observed, in sentences.
        confirmed: whether an experiment bore it out or refuted it; None when none was made, or none told.
    """

    channel: Channel
    confidence: float
    evidence: tuple[str, ...]
    confirmed: bool | None = None

    def to_json(self) -> dict[str, object]:
        """As an entry of ``attribution``."""
        facts = self.channel.facts
        return {
            "channel": self.channel.value,
            "artifact": facts.artifact,
            "confidence": round(self.confidence, 2),
            "evidence": list(self.evidence),
            "confirmed": self.confirmed,
            "rule_out": facts.rule_out,
        }


@dataclass(frozen=True)
class Divergence:
    """What was found about two runs."""

    a: str
    b: str
    result: Result
    predicate: Predicate
    subsystems: Sequence[str]
    input_differences: Sequence[InputDifference] = ()
    compare_point: PointRef | None = None
    last_agreement: PointRef | None = None
    components: Sequence[str] = ()
    fields: Sequence[FieldDifference] = ()
    operation: OperationFound | None = None
    attribution: Sequence[Attribution] = ()
    reconverges: bool = False
    surroundings: Sequence[tuple[str, str, str]] = ()
    environment: Sequence[Mapping[str, Any]] = ()
    blind_spots: Sequence[str] = ()
    evidence: Sequence[str] = ()
    caveats: Sequence[str] = ()
    experiments: Sequence[Confirmation] = ()
    samples: Mapping[str, Any] | None = None
    outcome: Sequence[OutcomeDifference] = ()
    next: Sequence[str] = field(default=())

    @property
    def exit_code(self) -> int:
        """0 the same or within tolerance, 1 they part, 2 could not tell."""
        return _EXIT[self.result]

    def to_json(self) -> dict[str, Any]:
        """As ``twice diagnose --json`` prints it."""
        return {
            "format": FORMAT,
            "a": self.a,
            "b": self.b,
            "result": self.result,
            "classes": {
                name: self.predicate.for_subsystem(name).summary() for name in self.subsystems
            },
            "input_differences": [difference.to_json() for difference in self.input_differences],
            "compare_point": None if self.compare_point is None else self.compare_point.to_json(),
            "last_agreement": None
            if self.last_agreement is None
            else self.last_agreement.to_json(),
            "components": list(self.components),
            "fields": [difference.to_json() for difference in self.fields],
            "operation": None if self.operation is None else self.operation.to_json(),
            "attribution": [entry.to_json() for entry in self.attribution],
            "reconverges": self.reconverges,
            "surroundings": [
                {"factor": factor, "a": a, "b": b} for factor, a, b in self.surroundings
            ],
            "environment": list(self.environment),
            "blind_spots": list(self.blind_spots),
            "evidence": list(self.evidence),
            "experiments": [entry.to_json() for entry in self.experiments],
            "caveats": list(self.caveats),
            **({"outcome": [row.to_json() for row in self.outcome]} if self.outcome else {}),
            **({} if self.samples is None else {"samples": dict(self.samples)}),
            "next": list(self.next),
        }

    def to_text(self) -> str:
        """For people; the first line answers, the last is the command to run next."""
        lines = [self.headline()]
        lines += [f"  {row.what}: {row.a} / {row.b}" for row in self.input_differences]
        if self.compare_point is not None:
            point = self.compare_point
            lines.append(f"  first differing compare-point: {_at(point)}")
            if self.last_agreement is not None:
                lines.append(f"  last agreement: {_at(self.last_agreement)}")
            lines.append(f"  components: {', '.join(self.components)}")
        lines += [_field_line(difference) for difference in self.fields[:8]]
        lines += [_outcome_line(difference) for difference in self.outcome[:8]]
        if self.operation is not None:
            operation = self.operation
            lines += [
                f"  operation: {operation.file}:{operation.line} in {operation.function}",
                f"      {operation.code}",
                f"      {operation.name}: {operation.a} / {operation.b}",
            ]
        for entry in self.attribution[:3]:
            word = {True: ", confirmed", False: ", refuted", None: ""}[entry.confirmed]
            lines.append(
                f"  channel: {entry.channel.value} ({entry.confidence:.0%}{word}), artifact "
                f"{entry.channel.facts.artifact}"
            )
            lines += [f"      {sentence}" for sentence in entry.evidence]
        lines += [f"  {factor}: {a} / {b}" for factor, a, b in self.surroundings]
        lines += [f"  not in state(): {path}" for path in self.blind_spots]
        lines += [f"  observed: {sentence}" for sentence in self.evidence]
        lines += [
            f"  tried: {entry.cause}: {entry.outcome} ({entry.sentence})"
            for entry in self.experiments
        ]
        if self.reconverges:
            lines.append("  the runs come together again later")
        lines += [f"  caveat: {caveat}" for caveat in self.caveats]
        lines += [f"next: {command}" for command in self.next]
        return "\n".join(lines)

    def headline(self) -> str:
        """One line that answers."""
        if self.samples is not None:
            word = "agree" if self.exit_code == 0 else "differ"
            return f"{self.result}: the samples of {self.samples['summary']!r} {word}"
        if self.result == "same":
            return f"same: {self.a} and {self.b} agree at every compare-point"
        if self.result == "within-tolerance":
            return f"within-tolerance: {self.a} and {self.b} differ inside their tolerances only"
        if self.result == "not-same-input":
            return f"not-same-input: {self.a} and {self.b} are runs of different inputs"
        if self.outcome:
            first = self.outcome[0].what
            return f"{self.result}: they agree at every compare-point, and differ in what they leave: {first}"
        where = "" if self.compare_point is None else f" at tick {self.compare_point.tick}"
        if self.operation is not None:
            operation = self.operation
            return f"{self.result}: they part{where}, at {operation.file}:{operation.line}"
        return f"{self.result}: they part{where}"


def next_commands(result: Result, a: object, b: object) -> list[str]:
    """What to run next, for two records by path."""
    if result == "not-same-input":
        return [f"twice diagnose {a} {b} --anyway"]
    if result in {"same", "within-tolerance"}:
        return [f"twice show {a}"]
    return [f"twice report {a} {b} -o report.html"]


def _at(point: PointRef) -> str:
    return f"{point.index} ({point.name} of tick {point.tick})"


def _outcome_line(difference: OutcomeDifference) -> str:
    where = f" ({difference.where})" if difference.where else ""
    return f"  {difference.what}: {difference.a} / {difference.b}{where}"


def _field_line(difference: FieldDifference) -> str:
    count = f", {difference.differing} of {difference.of}" if difference.of > 1 else ""
    ulps = f", {difference.ulps} ulps" if difference.ulps is not None else ""
    return (
        f"  field: {difference.path} ({difference.kind}{count}{ulps}): "
        f"{difference.a} / {difference.b}"
    )
