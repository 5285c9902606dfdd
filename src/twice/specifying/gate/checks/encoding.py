"""Check 15: one state has one byte string, by known answers, and nothing is pickled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, absent, gaps, place, unexplained, within
from twice.specifying.gate.facts import Facts, there
from twice.specifying.gate.outcome import Found
from twice.specifying.gate.plan import algorithm_in
from twice.specifying.tiers import Tier, Trait, required

_EACH_TICK: Final = frozenset({"merkle", "incremental", "projection"})


def _precondition(facts: Facts) -> str:
    return "" if facts.sheet("11") is not None else absent(facts, Trait.HASHED_SNAPSHOTS)


def _said(facts: Facts) -> Found:
    sheet = facts.sheet("11")
    if sheet is None and "11" not in required(facts.situation):
        said = Found(evidence=(f"sheet 11 is not asked for at tier {facts.tier}",))
        return said + unexplained(facts, Trait.HASHED_SNAPSHOTS)
    found = gaps(facts, "11")
    if sheet is None or found.faults:
        return found
    return found + Found(tuple(_wrong(facts, sheet)))


def _wrong(facts: Facts, sheet: Artifact) -> Iterator[str]:
    algorithm = algorithm_in(sheet.said("hash"))
    where = place(facts, "11", "hash")
    if algorithm is None:
        yield f"{where}: {sheet.said('hash')!r} names no digest that twice has"
    elif facts.tier >= Tier.XL and not algorithm.is_cryptographic:
        yield f"{where}: {algorithm} can be made to collide, and tier XL asks for one that cannot"
    if sheet.said("hashing") not in _EACH_TICK:
        where = place(facts, "11", "hashing")
        yield f"{where}: {sheet.said('hashing')!r} is no pattern for every tick; states are hashed as a tree"
    if "pickle" in sheet.said("rule").lower():
        yield f"{place(facts, '11', 'rule')}: pickle is no canonical form"


def _shown(facts: Facts) -> Found:
    sheet, encoded, code = facts.sheet("11"), there(facts.encoded), there(facts.code)
    scope = facts.sheet("00")
    sources = scope.listed("sources") if scope else []
    faults = [f"RFC 8785 comes out otherwise for {each}" for each in encoded.wrong]
    faults += [
        f"{each}: what is pickled has no canonical form"
        for each in code.pickles
        if within(each.path, sources)
    ]
    if sheet is not None:
        faults += _answers(facts, sheet)
    evidence = (
        f"{encoded.rfc8785 - len(encoded.wrong)} of {encoded.rfc8785} answers of RFC 8785 come out",
        f"{len(encoded.vectors)} vectors of sheet 11 run; states are hashed by {there(facts.trial).algorithm}",
        f"{len(code.pickles)} places that pickle",
    )
    return Found(tuple(faults), evidence)


def _answers(facts: Facts, sheet: Artifact) -> Iterator[str]:
    encoded, trial = there(facts.encoded), there(facts.trial)
    for row in sheet.rows("vectors"):
        value, said = str(row.get("value")), str(row.get("digest"))
        given = encoded.vectors.get(value, ())
        if said not in given:
            came = given[0] if given else "nothing: it is no JSON document"
            yield f"{place(facts, '11', 'vectors')}: {value} gives {came}, not {said}"
    for row in sheet.rows("pins"):
        library, pinned = str(row.get("library")), str(row.get("version"))
        if encoded.versions.get(library) != pinned:
            found = encoded.versions.get(library)
            yield f"{place(facts, '11', 'pins')}: {library} is pinned to {pinned}, and is {found}"
    algorithm = algorithm_in(sheet.said("hash"))
    if algorithm is not None and algorithm.value != trial.algorithm:
        yield f"{place(facts, '11', 'hash')}: it names {algorithm}, and runs are hashed by {trial.algorithm}"


CHECK: Final = Check(
    15,
    "Canonical state encoding",
    "Does 11 say how state becomes bytes, with answers that come out, and is nothing pickled?",
    ("11", "00"),
    ("encoded", "code", "trial"),
    _said,
    _shown,
    _precondition,
)
