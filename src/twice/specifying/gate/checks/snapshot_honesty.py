"""Check 5: what a snapshot holds is enough, and what it does not hold is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.errors import TwiceError
from twice.recording.cadence import parse_cadence
from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, gaps, place
from twice.specifying.gate.facts import Facts, there
from twice.specifying.gate.outcome import Found
from twice.specifying.sheets.snapshots import StateKind
from twice.specifying.tiers import Trait

_CAPTURED: Final = (StateKind.COMPONENTS, StateKind.STREAMS, StateKind.EFFECT_CURSORS)
_COMES_WITH: Final = {
    StateKind.SCHEDULER: Trait.CONCURRENCY,
    StateKind.GPU_MEMORY: Trait.GPU,
}


def _said(facts: Facts) -> Found:
    found, sheet = gaps(facts, "04", but=("audit_encoding",)), facts.sheet("04")
    if sheet is None or found.faults or sheet.is_memo:
        return found
    return found + Found((*_cadence(facts, sheet), *_answers(facts, sheet)))


def _cadence(facts: Facts, sheet: Artifact) -> Iterator[str]:
    try:
        parse_cadence(sheet.said("cadence"))
    except TwiceError as error:
        yield f"{place(facts, '04', 'cadence')}: {error.happened} {error.expected}"


def _answers(facts: Facts, sheet: Artifact) -> Iterator[str]:
    where = place(facts, "04", "state")
    answers = {str(row.get("kind")): str(row.get("answer")) for row in sheet.rows("state")}
    keeps = sheet.said("cadence") != "none" and sheet.said("strategy") != "event-sourced"
    for kind in _CAPTURED:
        if keeps and answers.get(kind) not in {"captured", "absent"}:
            yield f"{where}: {kind} are {answers.get(kind)}; a snapshot that leaves them out restores nothing"
    for kind, trait in _COMES_WITH.items():
        if answers.get(kind) == "absent" and facts.situation.traits.get(trait) is True:
            yield f"{where}: {kind} is absent, and by sheet 00 the system has {trait}"


def _shown(facts: Facts) -> Found:
    sheet, restored, trial = facts.sheet("04"), there(facts.restored), there(facts.trial)
    if sheet is None:
        return Found()
    if not sheet.is_memo and (
        sheet.said("cadence") == "none" or sheet.said("strategy") == "event-sourced"
    ):
        return Found(evidence=("no snapshot is kept: seeking executes from the top",))
    missing = f" (no snapshot holds {', '.join(restored.missing)})" if restored.missing else ""
    faults = tuple(f"{each}{missing}" for each in restored.failed)
    evidence = (
        (
            f"{restored.tested} of {trial.snapshots} snapshots restored in fresh processes, "
            f"{len(restored.failed)} runs went on otherwise"
        ),
    )
    return Found(faults, evidence)


CHECK: Final = Check(
    5,
    "Snapshot honesty",
    "Does 04 say what a snapshot holds and what not, and does a run go on from it as it did?",
    ("04", "00"),
    ("trial", "restored"),
    _said,
    _shown,
)
