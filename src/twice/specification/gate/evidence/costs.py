"""What twice cost measured, read from the file that sheet 13 names.

Invariant: figures are only read here, and nothing in a stranger's file is believed but for its form; a file that
holds none is no evidence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from twice.foundation.digests import Algorithm, digest_bytes
from twice.specification.cost.result import FORMAT
from twice.specification.gate.evidence.context import EvidenceContext, MissingEvidence

RESULTS: Final = ("inside", "breach", "unknown", "no-budget")


@dataclass(frozen=True, slots=True)
class Costs:
    """What ``twice cost`` measured.

    Args:
        rules: their names, and whether each has a figure; those without one have a reason.
        total_percent: how much slower a recorded run is; None when not measured.
        changed: source files that are not those it was measured on.
        program: what was measured; "" when the file does not say.
        code: source files that it was measured on.
        result: what became of its budget, one of ``RESULTS``; "" for none of these.
        budget_percent: that budget; None for none.
    """

    rules: Mapping[str, bool]
    total_percent: float | None
    changed: tuple[str, ...]
    program: str = ""
    code: tuple[str, ...] = ()
    result: str = ""
    budget_percent: int | None = None


def gather_costs(context: EvidenceContext) -> Costs:
    """Read the file that sheet 13 names."""
    named = context.workspace.text("13", "measured")
    if not named:
        raise MissingEvidence("sheet 13 names no file of measured costs")
    try:
        document: Any = json.loads((context.project / named).read_bytes())
    except FileNotFoundError:
        raise MissingEvidence(f"{named} is not there: twice cost writes it") from None
    except (OSError, ValueError, RecursionError) as error:
        raise MissingEvidence(f"{named} cannot be read: {type(error).__name__}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise MissingEvidence(f"{named} is no document of the form {FORMAT}")
    code, result, budget = (document.get(key) for key in ("code", "result", "budget"))
    measured_on = sorted(code.items()) if isinstance(code, dict) else []
    percent = budget.get("percent") if isinstance(budget, dict) else None
    rules = {}
    for key in ("unmeasured", "rules"):
        listed = document.get(key)
        for row in listed if isinstance(listed, list) else []:
            if isinstance(row, dict) and "rule" in row:
                rules[str(row["rule"])] = key == "rules"
    return Costs(
        rules,
        _read_number(document.get("total_percent")),
        tuple(path for path, digest in measured_on if _digest(context.project / path) != digest),
        str(document.get("program", "")),
        tuple(path for path, _ in measured_on),
        result if result in RESULTS else "",
        percent if isinstance(percent, int) else None,
    )


def _read_number(said: object) -> float | None:
    """Give a number that is one: no truth, no NaN, nothing without an end."""
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        return None
    try:
        return float(said) if math.isfinite(said) else None
    except OverflowError:
        return None


def _digest(path: Path) -> str:
    try:
        return str(digest_bytes(path.read_bytes(), Algorithm.SHA256))
    except (OSError, ValueError):  # a stranger's path may hold what no path holds
        return ""
