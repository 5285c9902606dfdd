"""What twice cost measured, read from its file.

Read are ``rules`` (each with ``rule``, and ``performance`` and ``storage`` as texts), ``unmeasured`` (each with
``rule`` and ``reason``), ``total_percent``, ``program``, ``result``, ``budget``, and ``code`` (the digest of each source
file that it was measured on).

Invariant: figures are only read here; a file that holds none is no evidence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from twice.foundation.digests import Algorithm, digest_bytes
from twice.specification.gate.evidence.context import EvidenceContext, MissingEvidence

FORMAT: Final = "twice.cost/1"
RESULTS: Final = ("inside", "breach", "unknown", "no-budget")


@dataclass(frozen=True, slots=True)
class Costs:
    """What ``twice cost`` measured.

    Args:
        rules: by name, ``performance`` and ``storage`` as they were measured.
        total_percent: how much slower a recorded run is; None when not measured.
        changed: source files that are not those it was measured on.
        program: what was measured; "" when the file does not say.
        code: source files that it was measured on.
        result: what became of its budget: ``inside``, ``breach``, ``unknown`` or ``no-budget``; "" for none of these.
        budget_percent: that budget; None for none.
    """

    rules: Mapping[str, Mapping[str, str]]
    total_percent: float | None
    changed: tuple[str, ...]
    program: str = ""
    code: tuple[str, ...] = ()
    result: str = ""
    budget_percent: int | None = None


def gather_costs(context: EvidenceContext) -> Costs:
    """Read the file that sheet 13 names."""
    named = context.plan.measured
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
    said = document.get("code")
    code = sorted(said.items()) if isinstance(said, dict) else []
    result, budget = document.get("result"), document.get("budget")
    percent = budget.get("percent") if isinstance(budget, dict) else None
    return Costs(
        rules={
            **_rules(document.get("unmeasured"), ("reason",)),
            **_rules(document.get("rules"), ("performance", "storage")),
        },
        total_percent=_number(document.get("total_percent")),
        changed=tuple(
            path for path, digest in code if _digest(context.project / str(path)) != digest
        ),
        program=str(document.get("program", "")),
        code=tuple(path for path, _ in code),
        result=result if isinstance(result, str) and result in RESULTS else "",
        budget_percent=percent if isinstance(percent, int) else None,
    )


def _number(said: object) -> float | None:
    """Give a number that is one: no truth, no NaN, nothing without an end."""
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        return None
    try:
        return float(said) if math.isfinite(said) else None
    except OverflowError:
        return None


def _rules(listed: object, keys: tuple[str, ...]) -> dict[str, dict[str, str]]:
    rows = listed if isinstance(listed, list) else []
    return {
        str(row["rule"]): {key: str(row.get(key, "")) for key in keys}
        for row in rows
        if isinstance(row, dict) and "rule" in row
    }


def _digest(path: Path) -> str:
    try:
        return str(digest_bytes(path.read_bytes(), Algorithm.SHA256))
    except OSError:
        return ""
