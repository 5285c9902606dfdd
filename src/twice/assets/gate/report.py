"""The verdict of the gate: rows, each an asset, a check, what it came to, why, and what to do.

Invariant: what is not green says what to do, and whose it is; equal rows give equal bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from twice.foundation.printable import pluralize, printable

FORMAT: Final = "twice.asset-gate/1"
TEXT_MAX: Final = 400
"""The longest evidence and fix, as QuestFoundry's gate report limits them."""
_SHOWN_MAX: Final = 60


class RowStatus(StrEnum):
    """What a check came to."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


class AssetGateResult(StrEnum):
    """What the gate came to."""

    PASS = "pass"  # noqa: S105  (no password)
    CONDITIONAL = "conditional"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class GateRow:
    """One line of a verdict.

    Args:
        asset: path of the asset from the folder that was judged; or the name of a set.
        check: stable id of the check; with ``:`` and a JSON pointer where it is about one field.
        status: what it came to.
        evidence: what was seen, at most 400 characters.
        fix: the smallest thing that mends it; "" when green.
        owner: the role that mends it; "" when green.
    """

    asset: str
    check: str
    status: RowStatus
    evidence: str
    fix: str = ""
    owner: str = ""


def clip(text: str) -> str:
    """Shorten a text to what a row may hold."""
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"


@dataclass(frozen=True, slots=True)
class AssetGateReport:
    """What the gate came to: a row for every check of every asset."""

    rows: Sequence[GateRow]

    @property
    def result(self) -> AssetGateResult:
        """Block where a row is red, conditional where one is yellow, else pass."""
        found = {each.status for each in self.rows}
        if RowStatus.RED in found:
            return AssetGateResult.BLOCK
        return AssetGateResult.CONDITIONAL if RowStatus.YELLOW in found else AssetGateResult.PASS

    @property
    def exit_code(self) -> int:
        """0 pass, 1 block, 2 conditional."""
        order = (AssetGateResult.PASS, AssetGateResult.BLOCK, AssetGateResult.CONDITIONAL)
        return order.index(self.result)

    @property
    def assets(self) -> list[str]:
        """Every asset and set that has a row, in order."""
        return list(dict.fromkeys(each.asset for each in self.rows))

    def of(self, asset: str) -> AssetGateResult:
        """Say what one asset came to by its own rows."""
        return AssetGateReport([each for each in self.rows if each.asset == asset]).result

    def wanting(self) -> list[GateRow]:
        """Give the rows that are not green, red ones first."""
        found = [each for each in self.rows if each.status is not RowStatus.GREEN]
        return sorted(found, key=lambda each: each.status is not RowStatus.RED)

    def to_json(self) -> dict[str, object]:
        """Return it as ``twice asset gate --json`` prints it."""
        return {
            "format": FORMAT,
            "result": self.result.value,
            "rows": [asdict(each) for each in self.rows],
        }

    def to_markdown(self) -> str:
        """Return it for people; the first line answers."""
        lines = [f"# Assets: {self.result.value}", "", f"{self.count_rows()}.", ""]
        lines += [
            "| asset | check | status | evidence | fix | owner |",
            "|---|---|---|---|---|---|",
        ]
        green = [each for each in self.rows if each.status is RowStatus.GREEN]
        for row in [*self.wanting(), *green]:
            line = " | ".join(
                printable(each).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
                for each in asdict(row).values()
            )
            lines.append(f"| {line} |")
        return "\n".join(lines) + "\n"

    def to_text(self, limit: int | None = None) -> str:
        """Return it for a terminal: the result, then what is not green, 60 rows or as many as ``limit`` says."""
        wanting, shown = self.wanting(), limit or _SHOWN_MAX
        lines = [f"{self.result.value}: {self.count_rows()}"]
        for row in wanting[:shown]:
            lines.append(printable(f"{row.status:<6} {row.asset}  {row.check}: {row.evidence}"))
            lines.append(printable(f"       fix ({row.owner}): {row.fix}"))
        if len(wanting) > shown:
            more = f"and {len(wanting) - shown} more"
            lines.append(f"{more}: --limit {len(wanting)}, --json or --markdown lists them all")
        return "\n".join(lines)

    def count_rows(self) -> str:
        """Count rows, in words."""
        counts = Counter(each.status for each in self.rows)
        said = [f"{counts[each]} {each.value}" for each in reversed(RowStatus) if counts[each]]
        assets = pluralize(len(self.assets), "asset or set", "assets and sets")
        return f"{assets}: {', '.join(said)}"
