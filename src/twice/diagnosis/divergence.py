"""The verdict on two runs: one value with two faces, JSON for scripts and text for people.

Invariant: a result is one of eight words; ``same``, ``within-tolerance`` and ``extra-read`` exit 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from twice.diagnosis.log_comparison import InputDifference, PointRef
from twice.diagnosis.operations.operation_inside import OperationInside
from twice.diagnosis.schedule_parting import ScheduleParting
from twice.diagnosis.text_layout import (
    Block,
    cut,
    describe_field,
    describe_outcome,
    fold,
    join_blocks,
    name_interval,
    name_place,
    name_point,
    rank_sentences,
    set_values,
    spell_paths,
)
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import Predicate
from twice.foundation.environment import EnvironmentDifference, classify_differences
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize, printable
from twice.recorder.components import name_columns
from twice.replayer.record_outcomes import OutcomeDifference

Result = Literal[
    "same",
    "within-tolerance",
    "extra-read",
    "localised",
    "candidates",
    "unlocalised",
    "non-reproducing",
    "not-same-input",
]
Outcome = Literal["confirmed", "refuted", "open"]
FORMAT = "twice.divergence/1"
_FIELDS_MAX, _CHANNELS_MAX = 4, 2
_EXIT = {
    "same": 0,
    "within-tolerance": 0,
    "extra-read": 0,
    "localised": 1,
    "candidates": 1,
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
        confidence: 0 to 1, that the difference was made at this line and came from no earlier one.
        surer: what would tell more; empty where little is left to tell.
    """

    file: str
    line: int
    function: str
    code: str
    name: str
    a: str
    b: str
    confidence: float
    surer: str = ""

    def to_lines(self) -> list[str]:
        """For people."""
        place = name_place(self.file, self.line)
        lines = fold(f"  operation: {place} in {self.function} ({self.confidence:.0%} sure)")
        lines.append(cut(f"      {self.code}"))
        if self.name and self.a == self.b:  # an object has more than what is shown of it
            lines += fold(f"      {self.name}: {self.a} on both sides, with different contents")
        elif self.name:
            lines += set_values(f"      {self.name}", self.a, self.b)
        return lines + (fold(spell_paths(f"      to be surer: {self.surer}")) if self.surer else [])

    def to_json(self) -> dict[str, object]:
        """As ``operation``."""
        return {**vars(self), "confidence": round(self.confidence, 2)}


@dataclass(frozen=True)
class ExtraRead:
    """A read of the world that one run makes and the other does not, and that reaches nothing judged.

    Attributes:
        what: the operation: ``clock.perf_counter``.
        file: path of the source, as the run had it; empty where the line is not known.
        line: line number, from 1; 0 where it is not known.
        code: the statement.
    """

    what: str
    file: str = ""
    line: int = 0
    code: str = ""

    def to_json(self) -> dict[str, object]:
        """As an entry of ``reads``."""
        return {**vars(self)}


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
    candidates: Sequence[OperationFound] = ()
    inside: OperationInside | None = None
    attribution: Sequence[Attribution] = ()
    reconverges: bool = False
    repeats: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    surroundings: Sequence[tuple[str, str, str]] = ()
    environment: Sequence[EnvironmentDifference] = ()
    blind_spots: Sequence[str] = ()
    evidence: Sequence[str] = ()
    caveats: Sequence[str] = ()
    experiments: Sequence[Confirmation] = ()
    samples: Mapping[str, Any] | None = None
    schedule: ScheduleParting | None = None
    outcome: Sequence[OutcomeDifference] = ()
    reads: Sequence[ExtraRead] = ()
    remedies: Sequence[str] = ()
    next: Sequence[NextStep] = ()

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
            "last_agreement": self.last_agreement and self.last_agreement.to_json(),
            "components": list(self.components),
            "fields": [difference.to_json() for difference in self.fields],
            "operation": None if self.operation is None else self.operation.to_json(),
            **(
                {"candidates": [row.to_json() for row in self.candidates]}
                if self.candidates
                else {}
            ),
            **({} if self.inside is None else {"operation_inside": self.inside.to_json()}),
            "attribution": [entry.to_json() for entry in self.attribution],
            "reconverges": self.reconverges,
            "reproduced": {
                label: {"executed": len(each), "as_recorded": sum(each)}
                for label, each in self.repeats.items()
            },
            "surroundings": [
                {"factor": factor, "a": a, "b": b} for factor, a, b in self.surroundings
            ],
            "environment": [row.to_json() for row in self.environment],
            "classification": classify_differences(self.environment),
            "blind_spots": list(self.blind_spots),
            "evidence": list(self.evidence),
            "experiments": [entry.to_json() for entry in self.experiments],
            "caveats": list(self.caveats),
            **({"outcome": [row.to_json() for row in self.outcome]} if self.outcome else {}),
            **({"reads": [row.to_json() for row in self.reads]} if self.reads else {}),
            **({} if self.samples is None else {"samples": dict(self.samples)}),
            **({} if self.schedule is None else {"schedule": self.schedule.to_json()}),
            "remedies": list(self.remedies),
            "next": [step.to_json() for step in self.next],
        }

    def to_text(self, *, artifacts: bool = False) -> str:
        """For people, in 80 columns: headline, where, values, why, what to do, caveats.

        Args:
            artifacts: name the specification's artifact of each channel; of use where there is one.
        """
        return join_blocks(
            [
                Block(fold(self.headline())),
                *self._where(),
                *self._values(),
                *self._why(artifacts=artifacts),
                *(Block(fold(spell_paths(f"do: {remedy}"))) for remedy in self.remedies),
                *(Block(fold(f"next: {each.command}"), 2 * each.is_optional) for each in self.next),
                *rank_sentences([f"caveat: {caveat}" for caveat in self.caveats], first=3, rest=7),
            ]
        )

    def __repr__(self) -> str:
        return printable(f"<{self.headline()}>")

    def _repr_html_(self) -> str:
        from twice.diagnosis.divergence_summary import summarize_divergence  # for notebooks alone

        return summarize_divergence(self)

    def _where(self) -> list[Block]:
        """List the line, or lines, and the compare-point at which the difference shows."""
        blocks = [Block(one.to_lines(), 4 * (at > 1)) for at, one in enumerate(self._lines_named())]
        if self.inside is not None:
            blocks.append(Block(self.inside.to_lines()))
        for row in self.reads:
            place = f", at {name_place(row.file, row.line)}" if row.line else ""
            code = [cut(f"      {row.code}")] if row.code else []
            blocks.append(Block([*fold(f"  read: {row.what}{place}"), *code]))
        if self.result == "extra-read":
            at = [] if self.compare_point is None else [name_point(self.compare_point)]
            blocks += [Block(fold(f"  first read: before compare-point {point}")) for point in at]
        elif self.compare_point is not None:
            told = fold(f"  first differing compare-point: {name_point(self.compare_point)}")
            blocks.append(Block(told))
            if self.last_agreement is not None:
                blocks.append(
                    Block(fold(f"  last agreement: {name_point(self.last_agreement)}"), 6)
                )
            columns = name_columns(self.components, is_simulated=self.schedule is not None)
            blocks.append(Block(fold(f"  components: {columns}"), 2))
        if self.schedule is not None:
            blocks.append(Block(self.schedule.to_lines()))
        return blocks

    def _lines_named(self) -> Sequence[OperationFound]:
        return self.candidates if self.operation is None else [self.operation]

    def _values(self) -> list[Block]:
        rows = [set_values(f"  {row.what}", row.a, row.b) for row in self.input_differences]
        blocks = [Block(row, 4 * (at > 0)) for at, row in enumerate(rows)]
        for at, difference in enumerate(self.fields[:_FIELDS_MAX]):
            blocks.append(Block(describe_field(difference), 4 * (at > 0)))
        if len(self.fields) > _FIELDS_MAX:
            more = f"  field: and {len(self.fields) - _FIELDS_MAX} more, see --json"
            blocks.append(Block([more], 4))
        shown = [describe_outcome(difference) for difference in self.outcome[:8]]
        return blocks + [Block(lines, 4 * (at > 0)) for at, lines in enumerate(shown)]

    def _why(self, *, artifacts: bool) -> list[Block]:
        blocks = []
        for at, entry in enumerate(self.attribution[:_CHANNELS_MAX]):
            word = {True: ", confirmed", False: ", refuted", None: ""}[entry.confirmed]
            artifact = f", artifact {entry.channel.facts.artifact}" if artifacts else ""
            share = f"(confidence {entry.confidence:.0%}{word})"
            told = fold(f"  channel: {entry.channel.value} {share}{artifact}")
            blocks.append(Block(told, 5 * at))
            blocks += rank_sentences([f"      {each}" for each in entry.evidence], 5 * at, 5)
        shown = [each for entry in self.attribution[:_CHANNELS_MAX] for each in entry.evidence]
        for factor, *values in self.surroundings:
            a, b = (value or "unset" for value in values)
            if not any(f"({a} / {b})" in sentence for sentence in shown):
                blocks.append(Block(set_values(f"  {factor}", a, b), 6))
        blocks += rank_sentences([f"  not in state(): {path}" for path in self.blind_spots], 1, 5)
        blocks += [
            Block(fold(f"  tried: {entry.cause}: {entry.outcome} ({entry.sentence})"), 3)
            for entry in self.experiments
        ]
        # Rows are left out from the least important on, so that a verdict fits on a screen.
        rank = 6 if self._lines_named() else 0  # where no line is named, this is the answer
        blocks += rank_sentences([f"  observed: {sentence}" for sentence in self.evidence], rank, 8)
        for label, each in self.repeats.items():
            if not all(each):
                times = f"  reproduced: run {label}, {sum(each)} of {pluralize(len(each), 'time')} as recorded"
                blocks.append(Block([times], 1))
        together = ["  the runs come together again later"] if self.reconverges else []
        return [*blocks, Block(together, 3)]

    def headline(self) -> str:
        """One line that answers."""
        if self.samples is not None:
            word = "agree" if self.exit_code == 0 else "differ"
            return f"{self.result}: the samples of {self.samples['summary']!r} {word}"
        if self.schedule is not None:
            return f"{self.result}: {self.schedule.describe()}"
        if self.result == "same":
            return f"same: {self.a} and {self.b} agree at every compare-point"
        if self.result == "within-tolerance":
            return f"within-tolerance: {self.a} and {self.b} differ inside their tolerances only"
        if self.result == "extra-read":
            read = self.reads[0].what
            return f"extra-read: {self.a} and {self.b} differ in what they read ({read}), and in nothing that is judged"
        if self.result == "not-same-input":
            b = self.b if self.b != self.a else "the program as it is now"
            return f"not-same-input: {self.a} and {b} are runs of different inputs"
        if self.outcome:
            first = self.outcome[0].what
            return f"{self.result}: they agree at every compare-point, and differ in what they leave: {first}{self._place()}"
        where = name_interval(self.compare_point, self.last_agreement)
        if self.result == "non-reproducing":
            return f"non-reproducing: {self._restless()}{where}{self._place()}"
        if self.candidates:
            places = ", ".join(name_place(row.file, row.line) for row in self.candidates)
            return f"candidates: they part{where}; no line is sure: {places}"
        return f"{self.result}: they part{where}{self._place()}"

    def _place(self) -> str:
        """Return the named line, as the end of the headline."""
        if self.operation is None:
            return ""
        return f", at {name_place(self.operation.file, self.operation.line)}"

    def _restless(self) -> str:
        """Which runs do not reproduce themselves, as the subject of a headline."""
        labels = [label for label, each in self.repeats.items() if not all(each)] or ["a"]
        several = f"runs {' and '.join(labels)} differ from their own records"
        return several if len(labels) > 1 else f"run {labels[0]} differs from its own record"
