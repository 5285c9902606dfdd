"""Check 16: the laws of the system are declared, and hold when they are tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.foundation.properties import SEED_MATTERS, required_properties
from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, gaps, place, shortened
from twice.specifying.gate.facts import Facts, there
from twice.specifying.gate.outcome import Found
from twice.specifying.tiers import Tier, Trait


def _precondition(facts: Facts) -> str:
    if facts.tier < Tier.M:
        return f"sheet 12 is asked for from tier M on; the tier is {facts.tier}"
    return ""


def _said(facts: Facts) -> Found:
    found, sheet = gaps(facts, "12"), facts.sheet("12")
    if sheet is None or found.faults:
        return found
    return found + Found(tuple(_wrong(facts, sheet)))


def _wrong(facts: Facts, sheet: Artifact) -> Iterator[str]:
    declared = sheet.listed("properties")
    where = place(facts, "12", "properties")
    for name in needed(facts):
        if name not in declared:
            yield f"{where}: {name} is not declared, and this system needs it"
    if facts.tier >= Tier.XL and sheet.get("stateful") is not True:
        where = place(facts, "12", "stateful")
        yield f"{where}: tier XL asks for sessions that are tried in any order of operations"


def needed(facts: Facts) -> tuple[str, ...]:
    """Give the properties that a system has to hold."""
    concurrency = facts.sheet("07")
    rows = concurrency.rows("subsystems") if concurrency else []
    strategies = {str(row.get("strategy")) for row in rows}
    concurrent = facts.situation.traits.get(Trait.CONCURRENCY) is True
    required = required_properties(
        facts.tier,
        branching=facts.situation.traits.get(Trait.BRANCHING) is True,
        scheduled=concurrent and bool(strategies - {"recorded-schedule"}),
    )
    seeds = facts.sheet("02")
    is_seedless = seeds is not None and bool(seeds.said("seedless"))
    return tuple(each for each in required if each != SEED_MATTERS or not is_seedless)


def _shown(facts: Facts) -> Found:
    sheet, suite = facts.sheet("12"), there(facts.suite)
    if sheet is None:
        return Found()
    tests = ", ".join(sheet.listed("tests"))
    faults = [f"{each} failed" for each in suite.failed]
    if not suite.passed and not suite.failed:
        faults.append(f"pytest ran no test of {tests}: {suite.told}")
    elif suite.exit_code and not suite.failed:
        faults.append(f"pytest ended with exit code {suite.exit_code}")
    if suite.left_out:
        out = f"{len(suite.left_out)} tests of {tests} were left out"
        faults.append(f"{out}: {shortened(suite.left_out)}")
    if suite.passed_over:
        lines = f"{len(suite.passed_over)} kept counterexamples were replayed by no test"
        faults.append(f"{lines}: {shortened(suite.passed_over)}")
    where = place(facts, "12", "properties")
    faults += [
        f"{where}: {name} is declared, and no test of {tests} names it"
        for name in sheet.listed("properties")
        if name not in suite.named and (suite.passed or suite.failed)
    ]
    if suite.database:
        faults.append(f"{place(facts, '12', 'database')}: {suite.database}")
    evidence = (
        f"{suite.passed} of {suite.found} tests of {tests} passed, {len(suite.failed)} failed",
        f"they name {shortened(suite.named, 6)}",
    )
    skipped = f"{len(suite.skipped)} tests were skipped or expected to fail"
    told = (f"{skipped}: {shortened(suite.skipped)}",) if suite.skipped else ()
    return Found(tuple(faults), evidence, told)


CHECK: Final = Check(
    16,
    "Property tests",
    "Does 12 declare the laws that the tier asks for, with tests that pass and a database that is kept?",
    ("12", "00"),
    ("suite",),
    _said,
    _shown,
    _precondition,
)
