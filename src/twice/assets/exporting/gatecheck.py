"""The verdict of the gate as QuestFoundry's ``gatecheck_report``.

Its report has eight bars. This gate judges one of them, Determinism; the others are yellow, with the
Gatekeeper as their owner, so a report made here alone is never a plain pass.

Source: pvliesdonk/questfoundry-spec, 03-schemas/gatecheck_report.schema.json (22b2c32).

Invariant: evidence is player-safe: it counts checks and names no value.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any, Final

from twice.assets.gate.report import Report, Result
from twice.assets.gate.row import Row, Status, clipped
from twice.foundation.printable import pluralize

BARS: Final = (
    "Integrity", "Reachability", "Nonlinearity", "Gateways", "Style", "Determinism", "Presentation",
    "Accessibility",
)  # fmt: skip
OWN: Final = "Determinism"
ROLES: Final = {
    "showrunner": "SR", "gatekeeper": "GK", "plotwright": "PW", "scene_smith": "SS",
    "style_lead": "ST", "lore_weaver": "LW", "codex_curator": "CC", "art_director": "AD",
    "illustrator": "IL", "audio_director": "AuD", "audio_producer": "AuP", "translator": "TR",
    "book_binder": "BB", "player_narrator": "PN", "researcher": "RS",
}  # fmt: skip
_DECISIONS: Final = {Result.BLOCK: "block", Result.CONDITIONAL: "conditional pass"}
_CHECKLIST: Final = (
    "Decision follows from the bars below.",
    "Every yellow or red bar has its smallest fix and an owner.",
    "Evidence is player-safe: no values of logs stand here.",
    "Dormant tracks are not judged by this report.",
    "Handoffs name the bar and the owner.",
    "The full rows stay hot: twice asset gate --json.",
)


def role_of(owner: str) -> str:
    """Abbreviate a role as QuestFoundry does; the Gatekeeper's where the role is not known."""
    plain = owner.strip().lower().replace(" ", "_").replace("-", "_")
    return owner if owner in ROLES.values() else ROLES.get(plain, "GK")


def gatecheck(report: Report, title: str, scope: str, checked: date) -> dict[str, Any]:
    """Make the report.

    Args:
        report: the gate's.
        title: the work unit or view, 3 to 160 characters.
        scope: what was judged, 5 to 240 characters.
        checked: the day.
    """
    wanting = report.wanting()
    result = report.result if report.result is not Result.PASS else Result.CONDITIONAL
    names = [each for each in report.assets if len(each) > 2]
    return {
        "title": title[:160].ljust(3, "-"),
        "checked": checked.isoformat(),
        "gatekeeper": "twice asset gate",
        "scope": scope[:240].ljust(5, "-"),
        "mode": "pre-gate",
        "cold_snapshot": f"cold@{checked.isoformat()}",
        "artifacts_samples": [each[:200] for each in names[:50]] or ["none"],
        "decision": _DECISIONS[result],
        "why": _why(report),
        "next_actions": clipped(_counted(wanting) if wanting else "Judge the seven other bars."),
        "bars": [_own(report) if bar == OWN else _other(bar) for bar in BARS],
        "handoffs": _handoffs(wanting),
        "checklist": list(_CHECKLIST),
    }


def _why(report: Report) -> str:
    words = {
        Result.PASS: "Determinism is green; the seven other bars are not judged here.",
        Result.CONDITIONAL: "Determinism is yellow; the seven other bars are not judged here.",
        Result.BLOCK: "Determinism is red.",
    }
    return words[report.result]


def _own(report: Report) -> dict[str, str]:
    status = {
        Result.PASS: Status.GREEN,
        Result.CONDITIONAL: Status.YELLOW,
        Result.BLOCK: Status.RED,
    }[report.result]
    bar = {"bar": OWN, "status": status.value, "evidence": clipped(report.counted())}
    wanting = report.wanting()
    if not wanting:
        return bar
    fix = f"{_counted(wanting)}; each with its fix: twice asset gate FOLDER"
    return bar | {"smallest_viable_fix": clipped(fix), "owner": role_of(wanting[0].owner)}


def _other(bar: str) -> dict[str, str]:
    return {
        "bar": bar,
        "status": Status.YELLOW.value,
        "evidence": "Not judged by a gate for determinism logs.",
        "smallest_viable_fix": f"Judge {bar} in the full gatecheck.",
        "owner": "GK",
    }


def _counted(rows: list[Row]) -> str:
    counts = Counter((each.status, each.check.partition(":")[0]) for each in rows)
    told = [f"{status.value} {check} ({number})" for (status, check), number in counts.items()]
    return f"Mend {', '.join(told)}"


def _handoffs(rows: list[Row]) -> list[str]:
    owners = Counter(role_of(each.owner) for each in rows)
    told = [
        f"{OWN}: {pluralize(number, 'row')} for {owner}" for owner, number in sorted(owners.items())
    ]
    return [*told, "The seven other bars: GK"]
