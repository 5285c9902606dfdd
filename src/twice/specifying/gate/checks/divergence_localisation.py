"""Check 6: a difference in the system's own run is found, where and when it was planted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.errors import ClassRefused, SnapshotCadence
from twice.recording.cadence import parse_cadence, parse_granularity, require_dense
from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, gaps, place
from twice.specifying.gate.evidence import Trial
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.fields import steps
from twice.specifying.gate.outcome import Found
from twice.specifying.gate.plan import algorithm_in

_FINDS_THE_POINT: Final = frozenset({"compare-points", "binary-search"})
_FINDS_THE_OPERATION: Final = frozenset({"re-execution", "operation-tracing"})


def _said(facts: Facts) -> Found:
    found, sheet = gaps(facts, "05"), facts.sheet("05")
    if sheet is None or found.faults or sheet.is_memo:
        return found
    seen = () if isinstance(facts.trial, Unavailable) else _against(facts.trial, facts, sheet)
    said = (*_procedure(facts, sheet), *_planted(facts, sheet), *_density(facts, sheet))
    return found + Found((*said, *seen))


def _density(facts: Facts, sheet: Artifact) -> Iterator[str]:
    """Compare-points that are sparser than the snapshots of 04; what cannot be read is told elsewhere."""
    snapshots = facts.sheet("04")
    try:
        granularity = parse_granularity(sheet.said("granularity"))
        cadence = parse_cadence("none" if snapshots is None else snapshots.said("cadence"))
    except ClassRefused:
        return
    try:
        require_dense(granularity, cadence)
    except SnapshotCadence as error:
        yield f"{place(facts, '05', 'granularity')}: {error.happened} {error.remedy}"


def _procedure(facts: Facts, sheet: Artifact) -> Iterator[str]:
    steps_said = set(sheet.listed("procedure"))
    where = place(facts, "05", "procedure")
    if not steps_said & _FINDS_THE_POINT:
        yield f"{where}: no step finds the first compare-point that differs"
    if not steps_said & _FINDS_THE_OPERATION:
        yield f"{where}: no step leads from a compare-point to the operation"
    if algorithm_in(sheet.said("hash")) is None:
        yield f"{place(facts, '05', 'hash')}: {sheet.said('hash')!r} names no digest that twice has"


def _planted(facts: Facts, sheet: Artifact) -> Iterator[str]:
    for row in sheet.rows("planted"):
        field, tick = str(row.get("field")), str(row.get("tick"))
        if not steps(field) or not tick.isdecimal():
            where = place(facts, "05", "planted")
            yield f'{where}: {field!r} at tick {tick!r} is no place; for example field "places[0]", tick "3"'


def _shown(facts: Facts) -> Found:
    sheet, trial, planted = facts.sheet("05"), there(facts.trial), there(facts.planted)
    if sheet is None:
        return Found()
    faults = []
    full = f"{planted.component}.{planted.field}"
    if planted.result != "localised":
        faults.append(
            f"a difference planted in {full} before tick {planted.tick} came out as {planted.result}"
        )
    elif planted.found_tick != planted.tick or planted.component not in planted.found_components:
        faults.append(
            f"a difference planted in {full} before tick {planted.tick} was placed in "
            f"{', '.join(planted.found_components)} at tick {planted.found_tick}"
        )
    evidence = (
        f"{trial.points} compare-points over {', '.join(trial.columns)} by {trial.algorithm}",
        (
            f"a difference planted in {full} before tick {planted.tick} was found at tick {planted.found_tick}, "
            f"in {', '.join(planted.found_fields) or 'no field'}, at the "
            f"{'operation that planted it' if planted.operation else 'wrong operation'}"
        ),
    )
    return Found(tuple(faults), evidence)


def _against(trial: Trial, facts: Facts, sheet: Artifact) -> Iterator[str]:
    for name in sheet.listed("projection"):
        if name != "*" and name not in trial.columns:
            where = place(facts, "05", "projection")
            yield f"{where}: {name!r} is compared nowhere; the run has {', '.join(trial.columns)}"
    for row in sheet.rows("planted"):
        name = str(row.get("component"))
        if name not in trial.components:
            where = place(facts, "05", "planted")
            yield f"{where}: there is no component {name!r}"


CHECK: Final = Check(
    6,
    "Divergence localisation",
    "Does 05 say where runs are compared and how the place where they part is found, and is one found?",
    ("05",),
    ("trial", "planted"),
    _said,
    _shown,
)
