"""What logs say, in the formats of QuestFoundry: the gate's report, the hot art manifest, the build lock.

Lists of cold files and of approvals hold nothing of a log, and are not written here.

Source: pvliesdonk/questfoundry-spec, 02-dictionary and 03-schemas (e87b09b, 22b2c32), in own words.

Invariant: evidence is player-safe, for it counts checks and names no value. A list that is written is one that its
reader takes; what cannot be is refused by field.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from twice.assets.errors import ExportRefused
from twice.assets.gate.facts import AssetFacts
from twice.assets.gate.report import AssetGateReport, AssetGateResult, clip
from twice.assets.log.block import value_of
from twice.assets.log.models import AssetKind
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
_FORMATS: Final = {
    "image/png": "PNG", "image/svg+xml": "SVG", "image/jpeg": "JPEG", "image/webp": "WEBP",
}  # fmt: skip
_OTHERS: Final = "the seven other bars are not judged here."
_VERDICTS: Final = {
    AssetGateResult.PASS: ("green", "conditional pass", f"Determinism is green; {_OTHERS}"),
    AssetGateResult.CONDITIONAL: (
        "yellow",
        "conditional pass",
        f"Determinism is yellow; {_OTHERS}",
    ),
    AssetGateResult.BLOCK: ("red", "block", "Determinism is red."),
}
"""Of each result of the gate: the bar's status, the decision, and why. Of eight bars only one is judged."""
_CHECKLIST: Final = (
    "Decision follows from the bars below.",
    "Every yellow or red bar has its smallest fix and an owner.",
    "Evidence is player-safe: no values of logs stand here.",
    "Dormant tracks are not judged by this report.",
    "Handoffs name the bar and the owner.",
    "The full rows stay hot: twice asset gate --json.",
)


def abbreviate_role(owner: str) -> str:
    """Abbreviate a role as QuestFoundry does; the Gatekeeper's where the role is not known."""
    plain = owner.strip().lower().replace(" ", "_").replace("-", "_")
    return owner if owner in ROLES.values() else ROLES.get(plain, "GK")


def build_gatecheck(
    report: AssetGateReport, title: str, scope: str, checked: date
) -> dict[str, Any]:
    """Make the report of a gate check: a title of 3 to 160 characters, a scope of 5 to 240, and the day."""
    wanting = report.wanting()
    status, decision, why = _VERDICTS[report.result]
    own = {"bar": OWN, "status": status, "evidence": clip(report.count_rows())}
    actions = "Judge the seven other bars."
    if wanting:
        rows = Counter((each.status, each.check.partition(":")[0]) for each in wanting)
        told = (f"{colour.value} {check} ({number})" for (colour, check), number in rows.items())
        actions = f"Mend {', '.join(told)}"
        fix = f"{actions}; each with its fix: twice asset gate FOLDER"
        own |= {"smallest_viable_fix": clip(fix), "owner": abbreviate_role(wanting[0].owner)}
    bars = [
        own if bar == OWN else {
            "bar": bar,
            "status": "yellow",
            "evidence": "Not judged by a gate for determinism logs.",
            "smallest_viable_fix": f"Judge {bar} in the full gatecheck.",
            "owner": "GK",
        }
        for bar in BARS
    ]  # fmt: skip
    owners = sorted(Counter(abbreviate_role(each.owner) for each in wanting).items())
    handoffs = [f"{OWN}: {pluralize(number, 'row')} for {owner}" for owner, number in owners]
    names = [each[:200] for each in report.assets if len(each) > 2]
    return {
        "title": title[:160].ljust(3, "-"),
        "checked": checked.isoformat(),
        "gatekeeper": "twice asset gate",
        "scope": scope[:240].ljust(5, "-"),
        "mode": "pre-gate",
        "cold_snapshot": f"cold@{checked.isoformat()}",
        "artifacts_samples": names[:50] or ["none"],
        "decision": decision,
        "why": why,
        "next_actions": clip(actions),
        "bars": bars,
        "handoffs": [*handoffs, "The seven other bars: GK"],
        "checklist": list(_CHECKLIST),
    }


def build_art_manifest(every: Sequence[AssetFacts], project: str, now: str) -> dict[str, Any]:
    """Make the hot art manifest, at an instant in UTC with Z. It holds prompts: it never belongs into a cold snapshot.

    Raises:
        ExportRefused: E-ASSET-EXPORT-001: there is no image, or one cannot be listed.
    """
    images = [each for each in every if each.log.kind is AssetKind.ART]
    if not images:
        raise _refuse("there is no image", "at least one image with a log")
    if not 1 <= len(project) <= 200:
        raise _refuse(f"the project's name has {pluralize(len(project), 'character')}", "1 to 200")
    return {
        "manifest_version": "1.0",
        "project": project,
        "created": min(each.log.created or now for each in images),
        "last_updated": now,
        "assets": [_list_image(each) for each in images],
    }


def _list_image(facts: AssetFacts) -> dict[str, Any]:
    log, asset = facts.log, facts.log.asset
    if asset is None or asset.measured is None or asset.file is None:
        raise _refuse(f"{facts.name} does not say what it is about", "a log with its asset block")
    prompt = value_of(log.art.prompt) if log.art is not None else None
    length = len(prompt or "")
    if not 10 <= length <= 2000:
        has = f"a prompt of {pluralize(length, 'character')}" if prompt else "no prompt"
        raise _refuse(
            f"{facts.name} has {has}, and the format asks each image for one",
            "10 to 2000 characters in art.prompt; of a program's picture, what it shows",
        )
    wide, high = value_of(asset.measured.width_px), value_of(asset.measured.height_px)
    return {
        "id": log.log_id,
        "role": "other",
        "filename": asset.file,
        "format": _FORMATS.get(asset.media_type or "", "other"),
        "dimensions": f"{wide}x{high}" if wide and high else "vector",
        "title_bearing": False,
        "prompt": prompt,
        "section_anchor": None,
        "sha256": asset.file_sha256,
        "status": "rendered",
        "rendered_date": log.created,
    }


def build_lock_document(every: Sequence[AssetFacts], version: str) -> dict[str, Any]:
    """Make the build lock: the one version of every tool that rendered.

    Raises:
        ExportRefused: E-ASSET-EXPORT-001: one tool has two versions, no log names one, or the document's version is no
            X.Y.Z.
    """
    if not re.fullmatch(r"(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}", version, re.ASCII):
        raise _refuse(f"the document's version is {version!r}", "three numbers, as 1.0.0")
    tools: dict[str, str] = {}
    for facts in every:
        surroundings = value_of(facts.log.environment)
        packages = value_of(surroundings.packages) if surroundings is not None else None
        for name, said in (packages or {}).items():
            if tools.setdefault(name, said) != said:
                raise _refuse(f"{name} is {tools[name]} and {said}", "one version of each tool")
    if not tools:
        raise _refuse("no log names a tool", "environment/packages in at least one log")
    return {"version": version, "tools": dict(sorted(tools.items()))}


def _refuse(happened: str, expected: str) -> ExportRefused:
    return ExportRefused(
        f"It cannot be exported: {happened}.",
        f"Expected {expected}.",
        "Mend that, then export again; nothing was written.",
    )
