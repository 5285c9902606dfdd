"""What varying the surroundings showed, as a value: JSON for scripts, text for people.

Invariant: PASS means that every factor that was tried left the run the same, and that one was tried, and
with them every factor that was asked for by name.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from twice.diagnosis.divergence import Divergence
from twice.diagnosis.next_steps import list_run_words
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize, printable
from twice.recorder.setup import Setup

FORMAT = "twice.variation/1"
BASELINE = "nothing"
Outcome = Literal["same", "differs", "failed", "unavailable", "could-not-tell"]
Result = Literal["PASS", "FAIL", "UNKNOWN"]


@dataclass(frozen=True)
class FactorResult:
    """One factor and what it did.

    Attributes:
        factor: its name; ``nothing`` when the program differs though nothing was varied.
        value: what was tried; empty when nothing was.
        result: the run stayed the same, differs, or ended in failure; the factor cannot be varied here or
            had no effect; or it could not be told, because something else moves the run.
        reason: why, or where it differs.
        divergence: where the run parts from the one that was not varied.
    """

    factor: str
    value: str
    result: Outcome
    reason: str = ""
    divergence: Divergence | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the entry of ``factors``."""
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
        named: factors that were asked for by name.
        caveats: sentences on what the runs did not compare, and on what twice held in all of them.
        measured: patterns of lines with measured times, by which the program differs from itself; the other
            factors were tried without these lines.
    """

    program: str
    factors: Sequence[FactorResult]
    named: Sequence[str] = ()
    caveats: Sequence[str] = ()
    measured: Sequence[str] = ()

    @property
    def result(self) -> Result:
        """Whether the class holds under every factor that was tried."""
        results = {each.result for each in self.factors}
        if results & {"differs", "failed"}:
            return "FAIL"
        # Every machine lacks some factor: that leaves the answer open only when it was asked for.
        unavailable = {each.factor for each in self.factors if each.result == "unavailable"}
        # Without one that stayed the same nothing was tried, and that does not pass.
        if "could-not-tell" in results or "same" not in results or unavailable & {*self.named}:
            return "UNKNOWN"
        return "PASS"

    @property
    def exit_code(self) -> int:
        """0 for PASS, 1 for FAIL, 2 when it could not be told."""
        return {"PASS": 0, "FAIL": 1, "UNKNOWN": 2}[self.result]

    def to_json(self) -> dict[str, Any]:
        """Return what ``twice vary --json`` prints."""
        return {
            "format": FORMAT,
            "result": self.result,
            "factors": [each.to_json() for each in self.factors],
            "caveats": list(self.caveats),
            "measured": list(self.measured),
        }

    def to_text(self) -> str:
        """Return the text for people; the first line answers."""
        lines = [self._headline(), *(f"- caveat: {each}" for each in self.caveats)]
        width = max((len(each.factor) for each in self.factors), default=0)
        for each in self.factors:
            said = each.reason or each.value
            lines.append(f"  {each.factor:<{width}}  {each.result:<14}  {said}".rstrip())
        for each in self.factors:
            if each.divergence is not None:
                lines += ["", f"{each.factor}: {each.value}".rstrip(": ")]
                lines += [f"  {line}" for line in each.divergence.to_text().splitlines()]
        # Names, values and messages come from the program: none of them may steer a terminal.
        return "\n".join(map(printable, lines))

    def __repr__(self) -> str:
        return printable(f"<{self._headline()}>")

    def _repr_html_(self) -> str:
        from twice.diagnosis.divergence_summary import list_facts  # for notebooks alone
        from twice.foundation.html_summary import format_html

        facts: list[tuple[str, ...]] = [("caveat", each) for each in self.caveats]
        facts += [(each.factor, each.result, each.reason or each.value) for each in self.factors]
        parted = [(each.factor, found) for each in self.factors if (found := each.divergence)]
        for factor, found in parted:
            facts += [(factor, found.headline()), *list_facts(found)]
        commands = [step.command for _, found in parted for step in found.next]
        verdict, _, headline = self._headline().partition(": ")
        return format_html(verdict, self.exit_code, headline, facts, next(iter(commands), ""))

    def _headline(self) -> str:
        broken = [each.factor for each in self.factors if each.result in {"differs", "failed"}]
        if broken == [BASELINE]:
            return f"FAIL: {self.program} differs from itself though nothing was varied"
        if broken:
            itself = "differs from itself and " if broken[0] == BASELINE else ""
            named = ", ".join(each for each in broken if each != BASELINE)
            return f"FAIL: {self.program} {itself}depends on {named}"
        same = sum(each.result == "same" for each in self.factors)
        if self.result == "UNKNOWN":
            return f"UNKNOWN: not every factor could be tried on {self.program}, {same} stayed the same"
        return f"PASS: {self.program} stays the same, {pluralize(same, 'factor')} varied"


def tell_measurements(row: FactorResult, measured: Sequence[str]) -> FactorResult:
    """Say how to leave out the lines by which a program differs from itself.

    Args:
        row: of the program against itself.
        measured: patterns of these lines.
    """
    if not measured or row.divergence is None:
        return row
    options = shlex.join(word for each in measured for word in ("--ignore-output", each))
    remedy = f"or, if it is a measurement that decides nothing: twice vary {options}"
    divergence = replace(row.divergence, remedies=[*row.divergence.remedies, remedy])
    reason = f"{row.reason}; the lines with it were left out for the other factors"
    return replace(row, reason=reason, divergence=divergence)


def format_record_command(
    setup: Setup, variables: Mapping[str, str], out: str, python: str = ""
) -> str:
    """Return the command that makes such a run by hand; policies are not repeated.

    Args:
        setup: the rules of the run.
        variables: environment variables that are set for it.
        out: the name of the record, without its ending.
        python: the interpreter that executes it; empty for the one of ``twice``.
    """
    given = [word for k, v in variables.items() for word in ("--env", f"{k}={v}")]
    twice = [python, "-m", "twice"] if python else ["twice"]
    return shlex.join([*twice, "record", *list_run_words(setup, *given, "-o", f"{out}.twice")])
