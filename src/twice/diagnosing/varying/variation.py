"""What varying the surroundings showed, as a value: JSON for scripts, text for people.

Invariant: PASS means that every factor that was tried left the run the same, and that one was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from twice.diagnosing.divergence import Divergence

FORMAT = "twice.variation/1"
BASELINE = "nothing"
Outcome = Literal["same", "differs", "failed", "skipped"]


@dataclass(frozen=True)
class FactorResult:
    """One factor and what it did.

    Attributes:
        factor: its name; ``nothing`` when the program differs though nothing was varied.
        value: what was tried; empty when skipped.
        result: the run stayed the same, differs, ended in failure, or was not made.
        reason: why it failed or was skipped, or where it differs.
        divergence: where the run parts from the one that was not varied.
    """

    factor: str
    value: str
    result: Outcome
    reason: str = ""
    divergence: Divergence | None = None

    def to_json(self) -> dict[str, Any]:
        """As an entry of ``factors``."""
        return {
            "factor": self.factor,
            "value": self.value,
            "result": self.result,
            "reason": self.reason,
            "divergence": None if self.divergence is None else self.divergence.to_json(),
        }


@dataclass(frozen=True)
class Variation:
    """What was found about one program.

    Attributes:
        program: as it was named.
        factors: in the order of the list; ``nothing`` first, where it stands.
    """

    program: str
    factors: Sequence[FactorResult]

    @property
    def result(self) -> Literal["PASS", "FAIL"]:
        """Whether the class holds in every surrounding that was tried."""
        broken = any(each.result in {"differs", "failed"} for each in self.factors)
        return "FAIL" if broken else "PASS"

    @property
    def exit_code(self) -> int:
        """0 for PASS, 1 for FAIL."""
        return 0 if self.result == "PASS" else 1

    def to_json(self) -> dict[str, Any]:
        """As ``twice vary --json`` prints it."""
        return {
            "format": FORMAT,
            "result": self.result,
            "factors": [each.to_json() for each in self.factors],
        }

    def to_text(self) -> str:
        """For people; the first line answers."""
        lines = [self._headline()]
        width = max((len(each.factor) for each in self.factors), default=0)
        for each in self.factors:
            said = each.reason or each.value
            lines.append(f"  {each.factor:<{width}}  {each.result:<7}  {said}".rstrip())
        for each in self.factors:
            if each.divergence is not None:
                lines += ["", f"{each.factor}: {each.value}".rstrip(": ")]
                lines += [f"  {line}" for line in each.divergence.to_text().splitlines()]
        return "\n".join(lines)

    def _headline(self) -> str:
        broken = [each.factor for each in self.factors if each.result in {"differs", "failed"}]
        if broken == [BASELINE]:
            return f"FAIL: {self.program} differs from itself though nothing was varied"
        if broken:
            return f"FAIL: {self.program} depends on {', '.join(broken)}"
        same = sum(each.result == "same" for each in self.factors)
        return f"PASS: {self.program} stays the same, {same} factors varied"
