"""Check 3: every draw goes back to the seed of the run, whatever is executed in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from twice.errors import TwiceError
from twice.foundation.seeds import RULE, Seed, derive, is_shared
from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, gaps, outside, place, within
from twice.specifying.gate.facts import Facts, there
from twice.specifying.gate.outcome import Found

_MOVED: Final[dict[bool | None, str]] = {
    True: "another seed gives another run",
    False: "another seed gives the same run",
}
_RULE: Final = re.compile(r"\brule[ :=-]*(\d+)", re.IGNORECASE)


def _said(facts: Facts) -> Found:
    found, seeds = gaps(facts, "02"), facts.sheet("02")
    if seeds is None or found.faults:
        return found
    return found + Found((*_derivation(facts, seeds), *_vectors(facts, seeds)))


def _derivation(facts: Facts, seeds: Artifact) -> Iterator[str]:
    said = _RULE.search(seeds.said("derivation"))
    if said is None or int(said[1]) != RULE:
        where = place(facts, "02", "derivation")
        yield f'{where}: it does not name the rule in force by its number: "rule {RULE}"'


def _vectors(facts: Facts, seeds: Artifact) -> Iterator[str]:
    for row in seeds.rows("vectors"):
        master, name, said = row.get("master"), str(row.get("name")), str(row.get("seed"))
        assert isinstance(master, int), "the sheet was read with whole numbers there"
        try:
            given = derive(Seed(master), name).hex
        except TwiceError as error:
            given = error.id
        if given.removeprefix("0x") != said.removeprefix("0x"):
            where = place(facts, "02", "vectors")
            yield f"{where}: master {master} gives {name!r} the seed {given}, not {said}"


def _shown(facts: Facts) -> Found:
    seeds, trial, code = facts.sheet("02"), there(facts.trial), there(facts.code)
    if seeds is None:
        return Found()
    named = {str(row["stream"]) for row in seeds.rows("names") if "stream" in row}
    drawn = [name for name, each in trial.streams.items() if each.draws and not is_shared(name)]
    where = place(facts, "02", "names")
    faults = [
        f"{where}: the run draws from {name!r}, which is not named"
        for name in drawn
        if name not in named
    ]
    accepted = {str(row["place"]) for row in seeds.rows("accepted") if "place" in row}
    audited = seeds.listed("audit")
    places = [each for each in code.draws if within(each.path, audited)]
    orphans = [each for each in code.orphans if within(each.path, audited)]
    faults += [
        f"{each} {each.fault or 'has no owner'}"
        for each in orphans
        if not {each.path, f"{each.path}:{each.function}"} & accepted
    ]
    faults += outside(facts, "02", "audit", trial.files)
    moved = there(facts.reseeded).is_moved
    if moved is False:
        where = place(facts, "02", "seedless")
        faults.append(f"{where}: another seed gives the same run, and no reason is given")
    why = seeds.said("seedless") or f"the tier is {facts.tier}"
    idle = sorted(named - {*trial.streams})
    evidence = [
        (
            f"{len(places)} places draw, make or seed in {', '.join(audited)}; {len(orphans)} have no owner, "
            f"{len(accepted)} places are accepted"
        ),
        f"the run drew from {', '.join(drawn) or 'no stream'}, all from its seed by rule {RULE}",
        _MOVED.get(moved) or f"whether seeds part is not asked: {why}",
        *([f"named and not taken in the trial: {', '.join(idle)}"] if idle else []),
    ]
    return Found(tuple(faults), tuple(evidence))


CHECK: Final = Check(
    3,
    "Seed lineage",
    "Does 02 trace everything that draws back to the seed of the run, without a default seed?",
    ("02",),
    ("trial", "code", "reseeded"),
    _said,
    _shown,
)
