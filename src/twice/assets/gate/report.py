"""The verdict of the gate: as a value, as JSON and as Markdown.

Invariant: equal rows give equal bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twice.assets.gate.row import Row, Status
from twice.foundation.printable import pluralize, printable

FORMAT: Final = "twice.asset-gate/1"
_SHOWN_MAX: Final = 60


class Result(StrEnum):
    """What the gate came to."""

    PASS = "pass"  # noqa: S105  (no password)
    CONDITIONAL = "conditional"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Report:
    """What the gate came to: a row for every check of every asset."""

    rows: Sequence[Row]

    @property
    def result(self) -> Result:
        """Block where a row is red, conditional where one is yellow, else pass."""
        found = {each.status for each in self.rows}
        if Status.RED in found:
            return Result.BLOCK
        return Result.CONDITIONAL if Status.YELLOW in found else Result.PASS

    @property
    def exit_code(self) -> int:
        """0 pass, 1 block, 2 conditional."""
        return {Result.PASS: 0, Result.BLOCK: 1, Result.CONDITIONAL: 2}[self.result]

    @property
    def assets(self) -> list[str]:
        """Every asset and set that has a row, in order."""
        return list(dict.fromkeys(each.asset for each in self.rows))

    def of(self, asset: str) -> Result:
        """Say what one asset came to by its own rows."""
        return Report([each for each in self.rows if each.asset == asset]).result

    def wanting(self) -> list[Row]:
        """Give the rows that are not green, red ones first."""
        order = {Status.RED: 0, Status.YELLOW: 1}
        found = [each for each in self.rows if each.status is not Status.GREEN]
        return sorted(found, key=lambda each: order[each.status])

    def to_json(self) -> dict[str, object]:
        """Give it as ``twice asset gate --json`` prints it."""
        return {
            "format": FORMAT,
            "result": self.result.value,
            "rows": [each.to_json() for each in self.rows],
        }

    def to_markdown(self) -> str:
        """For people; the first line answers."""
        return "\n".join(self._lines()) + "\n"

    def to_text(self, limit: int | None = None) -> str:
        """For a terminal: the result, then what is not green, 60 rows or as many as ``limit`` says."""
        wanting, shown = self.wanting(), limit or _SHOWN_MAX
        lines = [f"{self.result.value}: {self.counted()}"]
        for row in wanting[:shown]:
            lines += [
                printable(f"{row.status.value:<6} {row.asset}  {row.check}: {row.evidence}"),
                printable(f"       fix ({row.owner}): {row.fix}"),
            ]
        if len(wanting) > shown:
            more = f"and {len(wanting) - shown} more"
            lines.append(f"{more}: --limit {len(wanting)}, --json or --markdown lists them all")
        return "\n".join(lines)

    def counted(self) -> str:
        """Count rows, in words."""
        counts = Counter(each.status for each in self.rows)
        told = [f"{counts[each]} {each.value}" for each in reversed(Status) if counts[each]]
        return (
            f"{pluralize(len(self.assets), 'asset or set', 'assets and sets')}: {', '.join(told)}"
        )

    def _lines(self) -> Iterator[str]:
        yield f"# Assets: {self.result.value}"
        yield ""
        yield f"{self.counted()}."
        yield ""
        yield "| asset | check | status | evidence | fix | owner |"
        yield "|---|---|---|---|---|---|"
        for row in [*self.wanting(), *(r for r in self.rows if r.status is Status.GREEN)]:
            cells = (row.asset, row.check, row.status.value, row.evidence, row.fix, row.owner)
            yield f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
