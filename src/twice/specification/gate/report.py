"""The report of a gate: what every check came to, as a value, as JSON and as Markdown.

Invariant: equal facts give equal bytes: no clock, no folder of this machine, and keys in one order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from twice.foundation.printable import printable
from twice.specification.gate.model import CheckOutcome, CheckResult

FORMAT: Final = "twice.gate/1"
_MARKS: Final = {each: each.value for each in CheckOutcome} | {
    CheckOutcome.FAIL: "FAIL", CheckOutcome.NA: "n/a",
}  # fmt: skip


class GateResult(StrEnum):
    """What the gate came to."""

    PASS = "PASS"  # noqa: S105  (no password)
    FAIL = "FAIL"
    BLOCKED = "BLOCKED"


@dataclass(frozen=True, slots=True)
class GateReport:
    """What a gate came to, with digests of everything that it rests on; ``moved`` is what changed since."""

    component: str
    tier: str
    checks: Sequence[CheckResult]
    inputs: Mapping[str, str]
    moved: tuple[str, ...] = ()

    @property
    def result(self) -> GateResult:
        """FAIL where a check fails, BLOCKED where one could not be evaluated, else PASS."""
        outcomes = {each.outcome for each in self.checks}
        if CheckOutcome.FAIL in outcomes:
            return GateResult.FAIL
        return GateResult.BLOCKED if CheckOutcome.BLOCKED in outcomes else GateResult.PASS

    @property
    def exit_code(self) -> int:
        """0 it holds, 1 it does not, 2 could not tell or stale."""
        if self.moved or self.result is GateResult.BLOCKED:
            return 2
        return int(self.result is GateResult.FAIL)

    def to_json(self) -> dict[str, object]:
        """Return what ``twice gate --json`` prints."""
        return {
            "format": FORMAT,
            "result": self.result.value,
            "component": self.component,
            "tier": self.tier,
            "checks": [each.to_json() for each in self.checks],
            "stale": bool(self.moved),
            "moved": list(self.moved),
            "inputs": dict(self.inputs),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what ``to_json`` gave.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: when it is no report.
        """
        if data["format"] != FORMAT:
            raise ValueError(f"its format is {data['format']!r}")
        checks = [
            CheckResult(
                int(each["id"]), str(each["title"]), CheckOutcome(each["outcome"]), tuple(each["evidence"]),
                str(each["reason"]), tuple(each["faults"]),
            )
            for each in data["checks"]
        ]  # fmt: skip
        inputs = {str(path): str(digest) for path, digest in data["inputs"].items()}
        return cls(str(data["component"]), str(data["tier"]), checks, inputs)

    def to_text(self) -> str:
        """Write the JSON document."""
        return json.dumps(self.to_json(), indent=1, ensure_ascii=True) + "\n"

    def _repr_html_(self) -> str:
        from twice.foundation.html_summary import format_html  # for notebooks alone

        facts: list[tuple[str, ...]] = [("moved since", path) for path in self.moved]
        facts += [
            (f"{each.id} {each.title}", _MARKS[each.outcome], _join_findings(each))
            for each in self.checks
        ]
        headline = f"{self.component}, tier {self.tier}: {count_outcomes(self.checks)}"
        verdict = f"{self.result.value}{', and stale' if self.moved else ''}"
        return format_html(verdict, self.exit_code, headline, facts, "twice gate")

    def to_markdown(self) -> str:
        """Return it for people; the first line answers."""
        named = _escape_cell(self.component) or "a component without a name"
        lines = [
            f"# Gate: {self.result.value}",
            "",
            f"{named}, tier {self.tier}: {count_outcomes(self.checks)}.",
            "",
            "| check | outcome | what was seen, and why |",
            "|---|---|---|",
        ]
        for each in self.checks:
            found = _escape_cell(_join_findings(each))
            lines.append(f"| {each.id} {each.title} | {_MARKS[each.outcome]} | {found} |")
        lines += ["", "It stands as long as none of these moved:", ""]
        lines += [f"- `{path}` {digest}" for path, digest in self.inputs.items()]
        return "\n".join([*lines, ""])


def count_outcomes(checks: Sequence[CheckResult]) -> str:
    """Count outcomes, in words."""
    counts = Counter(each.outcome for each in checks)
    return ", ".join(f"{counts[each]} {mark}" for each, mark in _MARKS.items() if counts[each])


def list_lines(report: GateReport) -> Iterator[str]:
    """Yield one line for each check, as a terminal shows it."""
    width = max((len(each.title) for each in report.checks), default=0)
    for each in report.checks:
        found = f"{_MARKS[each.outcome]:<7}  {_join_findings(each)}"
        yield f"{each.id:>2}  {each.title:<{width}}  {found}".rstrip()


def _join_findings(each: CheckResult) -> str:
    seen = "; ".join(each.evidence)
    return f"{each.reason}; seen: {seen}" if each.reason and seen else each.reason or seen


def _escape_cell(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
