"""Check 5: what a snapshot holds is enough, and what it does not hold is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.errors import TwiceError
from twice.recording.cadence import parse_cadence
from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, gaps, place
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found
from twice.specifying.sheets.snapshots import StateKind
from twice.specifying.tiers import Trait

_CAPTURED: Final = (StateKind.COMPONENTS, StateKind.STREAMS, StateKind.EFFECT_CURSORS)
_NONE_ON_THE_WAY: Final = (
    "no snapshot of the trial stands after its first tick, so nothing shows that one taken on the way is "
    "enough: a longer run in 00, or a denser cadence in 04"
)
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
    for kind in _CAPTURED:
        if _keeps(sheet) and answers.get(kind) not in {"captured", "absent"}:
            yield f"{where}: {kind} are {answers.get(kind)}; a snapshot that leaves them out restores nothing"
    for kind, trait in _COMES_WITH.items():
        if answers.get(kind) == "absent" and facts.situation.traits.get(trait) is True:
            yield f"{where}: {kind} is absent, and by sheet 00 the system has {trait}"


def _shown(facts: Facts) -> Found:
    sheet, restored, trial = facts.sheet("04"), there(facts.restored), there(facts.trial)
    if sheet is None:
        return Found()
    named = Found(tuple(_components(facts, sheet)))
    if not sheet.is_memo and not _keeps(sheet):
        return named + _from_the_top(facts, sheet)
    missing = f" (no snapshot holds {', '.join(restored.missing)})" if restored.missing else ""
    faults = tuple(f"{each}{missing}" for each in restored.failed)
    evidence = (
        (
            f"{restored.tested} of {trial.snapshots} snapshots restored in fresh processes, "
            f"{len(restored.failed)} runs went on otherwise"
        ),
    )
    return named + Found(
        faults, evidence, () if faults or restored.on_the_way else (_NONE_ON_THE_WAY,)
    )


def _components(facts: Facts, sheet: Artifact) -> Iterator[str]:
    """Hold the components of the sheet, and of the trial, against each other and themselves."""
    trial = there(facts.trial)
    for row in sheet.rows("components"):
        if row.get("name") not in trial.components:
            tracked = ", ".join(trial.components) or "nothing"
            where = place(facts, "04", "components")
            yield f"{where}: {row.get('name')!r} names nothing; the trial tracks {tracked}"
    for names in trial.tracked_twice:
        told = " and ".join(repr(each) for each in names)
        yield f"the program tracks one object as {told}: track it once, under one name"


def _keeps(sheet: Artifact) -> bool:
    """Whether snapshots are what a run goes on from."""
    return sheet.said("cadence") != "none" and sheet.said("strategy") != "event-sourced"


def _from_the_top(facts: Facts, sheet: Artifact) -> Found:
    """Ask for a replay from the beginning, where that is what stands for snapshots."""
    sealed = facts.sealed
    if isinstance(sealed, Unavailable):
        return Found(open=(f"no snapshot is kept, and no replay from the top: {sealed.reason}",))
    if sealed.result != "PASS":
        where = place(facts, "04", "cadence" if sheet.said("cadence") == "none" else "strategy")
        first = f" at {sealed.first}" if sealed.first else ""
        told = f"no snapshot is kept, and executing from the top gives {sealed.result}{first}"
        return Found((f"{where}: {told}",))
    points = there(facts.trial).points
    return Found(
        evidence=(f"no snapshot is kept: executed from the top, {points} compare-points agree",)
    )


CHECK: Final = Check(
    5,
    "Snapshot honesty",
    "Does 04 say what a snapshot holds and what not, and does a run go on from it as it did?",
    ("04", "00"),
    ("trial", "restored"),
    _said,
    _shown,
    wants=("sealed",),
)
