"""What killing and resuming a training showed, as a value: JSON for scripts, text for people.

Invariant: ``same`` means that every point was the same, and that there was one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from twice.diagnosis.resume.comparison import EndDifference
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize, printable

FORMAT = "twice.resume/1"
_NAMED_MAX = 8
Result = Literal["same", "differs", "unknown"]


@dataclass(frozen=True)
class PointResult:
    """One kill and the run that was resumed behind it.

    Attributes:
        at: steps that were done when the checkpoint was written; its number from 1 where no steps are known.
        checkpoint: the file behind whose write the process was killed.
        result: whether the resumed run ended as the one that was never stopped.
        missing: fields that the resumed run did not have as they were.
        harmless: fields that differed too, and that the end does not depend on.
        differences: of the two ends.
        reason: what else is to be said.
    """

    at: int
    checkpoint: str
    result: Result
    missing: Sequence[str] = ()
    harmless: Sequence[str] = ()
    differences: Sequence[EndDifference] = ()
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the entry of ``points``."""
        return {
            "at": self.at,
            "checkpoint": self.checkpoint,
            "result": self.result,
            "missing": list(self.missing),
            "harmless": list(self.harmless),
            "differences": [{"what": each.what, "where": each.where} for each in self.differences],
            "reason": self.reason,
        }


@dataclass(frozen=True)
class ResumeReport:
    """What was found about one training.

    Attributes:
        program: as it was named.
        checkpoint: paths of the files that a resumed run reads, numbers as ``#``.
        points: in the order of the training.
        steps: that the training makes; 0 where they are not known.
        caveats: sentences on what was not compared.
    """

    program: str
    checkpoint: Sequence[str]
    points: Sequence[PointResult]
    steps: int = 0
    caveats: Sequence[str] = ()

    @property
    def result(self) -> Result:
        """Whether every resumed run ended as the one that was never stopped."""
        results = {each.result for each in self.points}
        if "differs" in results:
            return "differs"
        return "same" if results == {"same"} else "unknown"

    @property
    def exit_code(self) -> int:
        """0 for same, 1 for differs, 2 for unknown."""
        return {"same": 0, "differs": 1, "unknown": 2}[self.result]

    def to_json(self) -> dict[str, Any]:
        """Return what ``twice resume-check --json`` prints."""
        return {
            "format": FORMAT,
            "result": self.result,
            "checkpoint": list(self.checkpoint),
            "steps": self.steps,
            "points": [each.to_json() for each in self.points],
            "caveats": list(self.caveats),
        }

    def to_text(self) -> str:
        """Return the text for people; the first line answers."""
        lines = [self._headline(), f"  checkpoint: {', '.join(self.checkpoint)}"]
        for each in self.points:
            place = f"step {each.at} of {self.steps}" if self.steps else f"checkpoint {each.at}"
            missing = f"  missing: {_list(each.missing)}" if each.missing else ""
            lines.append(f"  killed at {place:<18}  {each.result}{missing}")
            if each.reason:
                lines.append(f"    {each.reason}")
            if each.harmless and each.result == "differs":
                lines.append(f"    without effect: {_list(each.harmless)}")
        first = next((each for each in self.points if each.differences), None)
        if first is not None:
            lines.append(f"at {first.at}, straight and resumed:")
            lines += [f"  {each.what}: {each.where}" for each in first.differences]
        lines += [f"- caveat: {each}" for each in self.caveats]
        # Names and values come from the program: none of them may steer a terminal.
        return "\n".join(map(printable, lines))

    def _headline(self) -> str:
        points = pluralize(len(self.points), "point")
        if self.result == "same":
            return f"SAME: {self.program} was killed at {points}, and each resumed run ended as the straight one"
        if self.result == "unknown":
            return (
                f"UNKNOWN: {self.program} was killed at {points}, and it could not be told of all"
            )
        wrong = [each for each in self.points if each.result == "differs"]
        missing = list(dict.fromkeys(field for each in wrong for field in each.missing))
        named = f"; the checkpoint lacks {_list(missing)}" if missing else ""
        return f"DIFFERS: {self.program} resumes otherwise at {len(wrong)} of {points}{named}"


def _list(names: Sequence[str]) -> str:
    """Return names of fields; of many, those of one object are only counted: ``model.env (33 fields)``."""
    if len(names) <= _NAMED_MAX:
        return ", ".join(names)
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(".".join(name.split(".")[:2]), []).append(name)
    return ", ".join(
        inner[0] if len(inner) == 1 else f"{group} ({pluralize(len(inner), 'field')})"
        for group, inner in groups.items()
    )
