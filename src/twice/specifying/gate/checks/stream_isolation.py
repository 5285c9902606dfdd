"""Check 4: one owner for each stream, one stream for each owner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.foundation.seeds import SHARED_BY_MODULES, Seed, is_shared
from twice.specifying.artifact import Artifact
from twice.specifying.draws import first_draws
from twice.specifying.gate.check import Check, gaps, place
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found


def _said(facts: Facts) -> Found:
    found, sheet = gaps(facts, "03"), facts.sheet("03")
    if sheet is None or found.faults:
        return found
    refused = "" if isinstance(facts.taken, Unavailable) else facts.taken.refused
    faults = [*_owners(facts, sheet), *_vectors(facts, sheet)]
    if refused:
        faults.append(f"the program asks for a stream that it may not have: {refused}")
    return found + Found(tuple(faults))


def _owners(facts: Facts, sheet: Artifact) -> Iterator[str]:
    seeds = facts.sheet("02")
    named = {
        str(row.get("stream")): row.get("component")
        for row in (seeds.rows("names") if seeds else [])
    }
    where = place(facts, "03", "slots")
    for row in sheet.rows("slots"):
        stream, owner = str(row.get("stream")), row.get("owner")
        # A stream that sheet 02 does not name is check 3's.
        if stream in named and named[stream] != owner:
            yield f"{where}: {stream!r} belongs to {owner}, and to {named[stream]} by sheet 02"


def _vectors(facts: Facts, sheet: Artifact) -> Iterator[str]:
    kinds = {str(row.get("stream")): str(row.get("kind")) for row in sheet.rows("slots")}
    for row in sheet.rows("vectors"):
        master, stream, draws = row.get("master"), str(row.get("stream")), row.get("draws")
        assert isinstance(master, int), "the sheet was read with whole numbers there"
        assert isinstance(draws, list), "the sheet was read with a list there"
        given = first_draws(kinds.get(stream, ""), Seed(master), stream)
        if given and given[: len(draws)] != [str(each).removeprefix("0x") for each in draws]:
            where = place(facts, "03", "vectors")
            yield f"{where}: master {master} and {stream!r} first draw {given[0]}, not {draws[0]}"


def _shown(facts: Facts) -> Found:
    sheet, trial, code = facts.sheet("03"), there(facts.trial), there(facts.code)
    if sheet is None:
        return Found()
    slots = {
        str(row["stream"]): str(row.get("kind")) for row in sheet.rows("slots") if "stream" in row
    }
    shared = {str(row["stream"]) for row in sheet.rows("shared") if "stream" in row}
    where = place(facts, "03", "slots")
    faults = []
    for name, each in trial.streams.items():
        if is_shared(name):
            continue
        kind = slots.get(name)
        if kind is None:
            faults.append(f"{where}: the run takes {name!r}, which has no slot")
        elif kind != "other" and not each.kind.startswith(kind):
            faults.append(f"{where}: {name!r} is of the kind {each.kind}, not {kind}")
    faults += [
        f"everybody draws from {name}, and sheet 03 does not accept that in shared"
        for name in (each.removeprefix(f"{SHARED_BY_MODULES}/") for each in trial.globals_used)
        if name not in shared
    ]
    faults += [
        f"{each}: one generator serves several" for each in code.shared if each.path not in shared
    ]
    evidence = (
        (
            f"{len(slots)} slots; {sum(not is_shared(name) for name in trial.streams)} streams "
            "in the record, none taken twice"
        ),
        (
            f"{len(code.shared)} generators shared in the code, {len(trial.globals_used)} process-wide ones "
            f"drawn from, {len(shared)} accepted"
        ),
    )
    return Found(tuple(faults), evidence)


CHECK: Final = Check(
    4,
    "RNG isolation",
    "Has each component that draws a generator of its own, in the code and in the record?",
    ("03", "02"),
    ("taken", "trial", "code"),
    _said,
    _shown,
)
