"""Checks 14 to 16: the world goes through one layer, state has one byte string, and the laws are tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from twice.foundation.properties import SEED_MATTERS, required_properties
from twice.recording.sealing.inventory import in_words, unsupported_rows
from twice.replayer.verdict import SEAL
from twice.specification.gate.checks.runs import describe_failure
from twice.specification.gate.model import (
    FirmFault,
    GateFacts,
    Observed,
    Undecided,
    check,
    is_complete,
    is_within,
    optional,
    require,
    shorten,
)
from twice.specification.gate.plan import find_algorithm
from twice.specification.sheet import Sheet
from twice.specification.tiers import Tier, Trait, find_required

_SOURCE_OF: Final = {
    "clock": "clock", "entropy": "entropy", "env": "environment", "environ": "environment",
    "environment": "environment", "fs": "filesystem", "file": "filesystem", "files": "filesystem",
    "net": "network", "network": "network", "process": "process", "stdin": "stdin", "call": "call",
}  # fmt: skip
"""Families of recorded reads, and what sheet 10 calls them."""
_OPERATION: Final = re.compile(r"\w+(?:\.\w+)*")
_OF_EFFECTS: Final = frozenset({"effect", SEAL})
_EACH_TICK: Final = frozenset({"merkle", "incremental", "projection"})


def _explain_no_effects(facts: GateFacts) -> str:
    trial = optional(facts.trial)
    if facts.workspace.get("10") is not None or (trial is not None and trial.asked):
        return ""
    return facts.explain_absence(Trait.EXTERNAL_EFFECTS)


@check(
    14, "External-effects substitution", sheets=("10", "01", "13", "00"),
    needs=("trial", "sealed", "code"), absent=_explain_no_effects,
)  # fmt: skip
def check_external_effects(facts: GateFacts) -> Iterator[str]:
    """Does every question to the world go through one layer, and is what cannot be replayed said?"""
    spec, sheet = facts.workspace, facts.workspace.get("10")
    yield from (FirmFault(each) for each in _judge_cap(facts))
    denies = facts.denies(Trait.EXTERNAL_EFFECTS)
    if sheet is not None and denies:
        what = ", ".join(spec.column("10", "inventory", "what")) or "nothing"
        where = spec.place("00", "traits")
        yield f"{where}: the system is said to ask nothing, and {sheet.path} lists {what}"
    else:
        yield from facts.find_unexplained(Trait.EXTERNAL_EFFECTS)
        if sheet is not None or "10" in find_required(facts.situation):
            yield from facts.find_gaps("10")
        else:
            yield Observed(f"sheet 10 is not asked for at tier {facts.tier}")
    trial, sealed, code = require(facts.trial), require(facts.sealed), require(facts.code)
    beside = [in_words(each) for each in unsupported_rows(sealed.inventory)]
    for each in beside:
        yield f"the trial reached the world beside the layer: {each}"
    # A replay that parts in its state is check 10's, whatever the world has to do with it.
    of_effects = sealed.failure is None or sealed.failure.name in _OF_EFFECTS
    if sealed.result != "PASS" and not beside and of_effects:
        yield f"the sealed replay of the trial gives {sealed.result}{describe_failure(sealed)}"
    if denies and trial.asked:
        asked = f"the trial asked {', '.join(trial.asked)}"
        yield f"{spec.place('00', 'traits')}: the system is said to ask nothing, and {asked}"
    audited = spec.strings("10", "audit") or spec.strings("00", "sources")
    accepted = {*spec.column("10", "accepted", "place")}
    raw = [each for each in code.raw if is_within(each.path, audited)]
    for place in raw:
        if not {place.path, f"{place.path}:{place.function}"} & accepted:
            yield f"{place} goes beside the effects layer"
    for place in code.mocks:
        if is_within(place.path, audited):
            yield f"{place}: a mock is for tests"
    if sheet is not None:
        yield from _judge_inventory(facts, sheet)
        yield from facts.find_outside("10", "audit")
    questions = sum(is_within(each.path, audited) for each in code.asked)
    yield Observed(
        f"{questions} questions to the world in {', '.join(audited)}, {len(raw)} beside the layer, "
        f"{len(accepted)} places are accepted"
    )
    counted = ", ".join(f"{name} {count} times" for name, count in trial.asked.items())
    lenient = ", ".join(sorted(trial.ending["effects"]["lenient"]))
    by_libraries = f"by libraries for themselves: {lenient or 'nothing'}"
    yield Observed(f"asked in the trial: {counted or 'nothing'}; {by_libraries}")
    yield Observed(f"its replay, cut off from the world: {sealed.result}")


def _judge_cap(facts: GateFacts) -> Iterator[str]:
    """Hold 01 and 13 to what cannot be substituted."""
    spec, closed = facts.workspace, facts.workspace.value("01", "closed_world")
    outside = [
        str(row.get("what"))
        for row in spec.rows("10", "inventory")
        if row.get("substitutable") is False
    ]
    where = spec.place("01", "closed_world")
    if spec.get("01") is not None and closed is None:
        yield f"{where}: nobody said whether every effect can be recorded"
    if outside and closed is True:
        yield f"{where}: it is true, and by sheet 10 {outside[0]} cannot be substituted"
    if (outside or closed is False) and facts.tier > Tier.S:
        what = f"{outside[0]} cannot be substituted" if outside else "the world is not closed"
        at_most = f"so the tier is S at most; declared is {facts.tier}"
        yield f"{spec.place('01', 'tier')}: {what}, {at_most}"
    boundary = {str(row.get("what")) for row in spec.rows("13", "boundary")}
    for what in outside:
        if spec.get("13") is not None and what not in boundary:
            unnamed = "cannot be substituted, and does not stand at the boundary of the promise"
            yield f"{spec.place('13', 'boundary')}: {what} {unnamed}"


def _judge_inventory(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    where = facts.workspace.place("10", "inventory")
    listed: dict[str, set[str]] = {}
    for row in sheet.rows("inventory"):
        named = _OPERATION.findall(str(row.get("what", "")))
        listed.setdefault(str(row.get("source")), set()).update(named)
    for name in require(facts.trial).asked:
        source = _SOURCE_OF.get(name.partition(".")[0], "call")
        if source not in listed:
            yield f"{where}: the trial asked {name}, and no {source} is listed"
        elif name not in listed[source]:
            yield f"{where}: the trial asked {name}, and no row of {source} names it in what"
    forbidden = set(sheet.strings("forbidden"))
    for each in require(facts.code).asked:
        name = each.what.partition("(")[0]
        if name in forbidden and is_within(each.path, sheet.strings("audit")):
            yield f"{each}: sheet 10 forbids {name}"


@check(
    15, "Canonical state encoding", sheets=("11", "00"), needs=("encoded", "code", "trial"),
    absent=lambda facts: (
        "" if facts.workspace.get("11") else facts.explain_absence(Trait.HASHED_SNAPSHOTS)
    ),
)  # fmt: skip
def check_encoding(facts: GateFacts) -> Iterator[str]:
    """Does 11 say how state becomes bytes, with answers that come out, and is nothing pickled?"""
    spec, sheet = facts.workspace, facts.workspace.get("11")
    algorithm = find_algorithm(spec.text("11", "hash"))
    if sheet is None and "11" not in find_required(facts.situation):
        yield Observed(f"sheet 11 is not asked for at tier {facts.tier}")
        yield from facts.find_unexplained(Trait.HASHED_SNAPSHOTS)
    else:
        gaps = facts.find_gaps("11")
        yield from gaps
        if sheet is not None and is_complete(gaps):
            where, hashing = spec.place("11", "hash"), sheet.text("hashing")
            if algorithm is None:
                yield f"{where}: {sheet.text('hash')!r} names no digest that twice has"
            elif facts.tier >= Tier.XL and not algorithm.is_cryptographic:
                collide = "can be made to collide, and tier XL asks for one that cannot"
                yield f"{where}: {algorithm} {collide}"
            if hashing not in _EACH_TICK:
                tree = "is no pattern for every tick; states are hashed as a tree"
                yield f"{spec.place('11', 'hashing')}: {hashing!r} {tree}"
            if "pickle" in sheet.text("rule").lower():
                yield f"{spec.place('11', 'rule')}: pickle is no canonical form"
    encoded, code, trial = require(facts.encoded), require(facts.code), require(facts.trial)
    yield from (f"RFC 8785 comes out otherwise for {each}" for each in encoded.wrong)
    for each in code.pickles:
        if is_within(each.path, spec.strings("00", "sources")):
            yield f"{each}: what is pickled has no canonical form"
    for row in spec.rows("11", "vectors"):
        value, said = str(row.get("value")), str(row.get("digest"))
        given = encoded.vectors.get(value, ())
        if said not in given:
            came = given[0] if given else "nothing: it is no JSON document"
            yield f"{spec.place('11', 'vectors')}: {value} gives {came}, not {said}"
    for row in spec.rows("11", "pins"):
        library, pinned = str(row.get("library")), str(row.get("version"))
        found = encoded.versions.get(library)
        if found != pinned:
            yield f"{spec.place('11', 'pins')}: {library} is pinned to {pinned}, and is {found}"
    if algorithm is not None and algorithm.value != trial.algorithm:
        used = f"runs are hashed by {trial.algorithm}"
        yield f"{spec.place('11', 'hash')}: it names {algorithm}, and {used}"
    right = encoded.rfc8785 - len(encoded.wrong)
    yield Observed(f"{right} of {encoded.rfc8785} answers of RFC 8785 come out")
    vectors = f"{len(encoded.vectors)} vectors of sheet 11 run"
    yield Observed(f"{vectors}; states are hashed by {trial.algorithm}")
    yield Observed(f"{len(code.pickles)} places that pickle")


@check(
    16, "Property tests", sheets=("12", "00"), needs=("suite",),
    absent=lambda facts: (
        "" if facts.tier >= Tier.M
        else f"sheet 12 is asked for from tier M on; the tier is {facts.tier}"
    ),
)  # fmt: skip
def check_property_tests(facts: GateFacts) -> Iterator[str]:
    """Does 12 declare the laws that the tier asks for, with tests that pass and a database that is kept?"""
    spec, sheet, gaps = facts.workspace, facts.workspace.get("12"), facts.find_gaps("12")
    yield from gaps
    if sheet is None:
        return
    declared, where = sheet.strings("properties"), spec.place("12", "properties")
    if is_complete(gaps):
        for name in _list_needed(facts):
            if name not in declared:
                yield f"{where}: {name} is not declared, and this system needs it"
        if facts.tier >= Tier.XL and sheet.get("stateful") is not True:
            any_order = "tier XL asks for sessions that are tried in any order of operations"
            yield f"{spec.place('12', 'stateful')}: {any_order}"
    suite, tests = require(facts.suite), ", ".join(sheet.strings("tests"))
    yield from (f"{each} failed" for each in suite.failed)
    if not suite.passed and not suite.failed:
        yield f"pytest ran no test of {tests}: {suite.told}"
    elif suite.exit_code and not suite.failed:
        yield f"pytest ended with exit code {suite.exit_code}"
    if suite.left_out:
        out = f"{len(suite.left_out)} tests of {tests} were left out"
        yield f"{out}: {shorten(suite.left_out)}"
    if suite.passed_over:
        lines = f"{len(suite.passed_over)} kept counterexamples were replayed by no test"
        yield f"{lines}: {shorten(suite.passed_over)}"
    for name in declared if suite.passed or suite.failed else ():
        if name not in suite.exercised:
            yield f"{where}: {name} is declared, and no test of {tests} exercises it"
    if suite.database:
        yield f"{spec.place('12', 'database')}: {suite.database}"
    yield Observed(
        f"{suite.passed} of {suite.found} tests of {tests} passed, {len(suite.failed)} failed"
    )
    yield Observed(f"they exercise {shorten(suite.exercised, 6)}")
    if suite.skipped:
        skipped = f"{len(suite.skipped)} tests were skipped or expected to fail"
        yield Undecided(f"{skipped}: {shorten(suite.skipped)}")


def _list_needed(facts: GateFacts) -> list[str]:
    """Return the properties that a system has to hold."""
    strategies = {*facts.workspace.column("07", "subsystems", "strategy")}
    traits = facts.situation.traits
    needed = required_properties(
        facts.tier,
        branching=traits.get(Trait.BRANCHING) is True,
        scheduled=traits.get(Trait.CONCURRENCY) is True
        and bool(strategies - {"recorded-schedule"}),
    )
    is_seedless = bool(facts.workspace.text("02", "seedless"))
    return [each for each in needed if each != SEED_MATTERS or not is_seedless]
