"""Checks 14 to 16: the world goes through one layer, state has one byte string, laws are tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from twice.foundation.printable import pluralize
from twice.foundation.properties import SEED_MATTERS, required_properties
from twice.recorder.audit.inventory import in_words, unsupported_rows
from twice.replayer.verdict import SEAL
from twice.specification.gate.checks.runs import describe_failure
from twice.specification.gate.model import (
    FirmFault,
    GateFacts,
    Observed,
    Undecided,
    check,
    is_complete,
    list_within,
    optional,
    require,
    shorten,
)
from twice.specification.gate.plan import RECORDED_SCHEDULE, find_algorithm
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
    if facts.workspace.get("10") or (trial is not None and trial.asked):
        return ""
    return facts.explain_absence(Trait.EXTERNAL_EFFECTS)


@check(
    14, "External-effects substitution", "10", "01", "13", "00",
    needs=("trial", "sealed", "code"), absent=_explain_no_effects,
)  # fmt: skip
def check_external_effects(facts: GateFacts) -> Iterator[str]:
    """Check that every effect goes through one layer, and that 10 names the gaps of replay."""
    spec, sheet = facts.workspace, facts.workspace.get("10")
    yield from map(FirmFault, _judge_cap(facts))
    denies = facts.denies(Trait.EXTERNAL_EFFECTS)
    nothing = "the system is said to ask nothing, and"
    if sheet is not None and denies:
        what = ", ".join(spec.column("10", "inventory", "what")) or "nothing"
        yield facts.tell("00", "traits", f"{nothing} {sheet.path} lists {what}")
    else:
        yield from facts.find_unexplained(Trait.EXTERNAL_EFFECTS)
        yield from facts.find_gaps("10", conditional=True)
    yield from facts.find_present(Trait.EXTERNAL_EFFECTS)
    trial, sealed, code = require(facts.trial), require(facts.sealed), require(facts.code)
    if sheet is None and not denies and "10" not in find_required(facts.situation):
        for name in trial.asked:
            if _SOURCE_OF.get(name.partition(".")[0]) == "network":
                unlisted = "what other machines answer is listed at every tier: twice spec add 10"
                yield f"the trial asked {name}, and there is no sheet 10; {unlisted}"
    beside = unsupported_rows(sealed.inventory)
    for each in beside:
        yield f"the trial reached the world beside the layer: {in_words(each)}"
    # A replay that parts in its state is check 10's, whatever the world has to do with it.
    of_effects = sealed.failure is None or sealed.failure.name in _OF_EFFECTS
    if sealed.result != "PASS" and not beside and of_effects:
        yield f"the sealed replay of the trial gives {sealed.result}{describe_failure(sealed)}"
    if denies and trial.asked:
        yield facts.tell("00", "traits", f"{nothing} the trial asked {', '.join(trial.asked)}")
    audited = spec.strings("10", "audit") or spec.strings("00", "sources")
    accepted = {*spec.column("10", "accepted", "place")}
    raw = list_within(code.raw, audited)
    yield from (f"{e} goes beside the effects layer" for e in raw if not e.is_accepted(accepted))
    yield from (f"{each}: a mock is for tests" for each in list_within(code.mocks, audited))
    if sheet is not None:
        listed: dict[str, set[str]] = {}
        for row in sheet.rows("inventory"):
            named = _OPERATION.findall(str(row.get("what", "")))
            listed.setdefault(str(row.get("source")), set()).update(named)
        for name in trial.asked:
            source = _SOURCE_OF.get(name.partition(".")[0], "call")
            if name not in listed.get(source, ()):
                lacks = f"no row of {source} names it in what"
                lacks = lacks if source in listed else f"no {source} is listed"
                yield facts.tell("10", "inventory", f"the trial asked {name}, and {lacks}")
        forbidden = set(sheet.strings("forbidden"))
        for place in list_within(code.asked, sheet.strings("audit")):
            name = place.what.partition("(")[0]
            if name in forbidden:
                yield f"{place}: sheet 10 forbids {name}"
        yield from facts.find_outside("10", "audit")
    questions = f"{pluralize(len(list_within(code.asked, audited)), 'question')} to the world"
    beside_layer = f"{len(raw)} beside the layer, {pluralize(len(accepted), 'place is', 'places are')} accepted"
    yield Observed(f"{questions} in {', '.join(audited)}, {beside_layer}")
    counted = ", ".join(f"{name} {pluralize(count, 'time')}" for name, count in trial.asked.items())
    lenient = ", ".join(sorted(trial.ending["effects"]["lenient"])) or "nothing"
    asked = f"asked in the trial: {counted or 'nothing'}"
    yield Observed(f"{asked}; by libraries for themselves: {lenient}")
    yield Observed(f"its replay, cut off from the world: {sealed.result}")


def _judge_cap(facts: GateFacts) -> Iterator[str]:
    """Hold 01 and 13 to what cannot be substituted."""
    spec, closed = facts.workspace, facts.workspace.value("01", "closed_world")
    rows = [row for row in spec.rows("10", "inventory") if row.get("substitutable") is False]
    outside = [str(row.get("what")) for row in rows]
    if spec.get("01") and closed is None:
        yield facts.tell("01", "closed_world", "nobody said whether every effect can be recorded")
    if outside and closed is True:
        open_ = f"it is true, and by sheet 10 {outside[0]} cannot be substituted"
        yield facts.tell("01", "closed_world", open_)
    if (outside or closed is False) and facts.tier > Tier.S:
        what = f"{outside[0]} cannot be substituted" if outside else "the world is not closed"
        at_most = f"so the tier is S at most; declared is {facts.tier}"
        yield facts.tell("01", "tier", f"{what}, {at_most}")
    boundary = {str(row.get("what")) for row in spec.rows("13", "boundary")}
    for what in outside if spec.get("13") else ():
        if what not in boundary:
            unnamed = "cannot be substituted, and does not stand at the boundary of the promise"
            yield facts.tell("13", "boundary", f"{what} {unnamed}")


@check(
    15, "Canonical state encoding", "11", "00", needs=("encoded", "code", "trial"),
    absent=lambda facts: (
        "" if facts.workspace.get("11") else facts.explain_absence(Trait.HASHED_SNAPSHOTS)
    ),
)  # fmt: skip
def check_encoding(facts: GateFacts) -> Iterator[str]:
    """Check that 11 defines how state becomes bytes, with correct answers and without pickle."""
    spec, gaps = facts.workspace, facts.find_gaps("11", conditional=True)
    sheet, algorithm = spec.get("11"), find_algorithm(spec.text("11", "hash"))
    yield from gaps
    if facts.is_unasked("11"):
        yield from facts.find_unexplained(Trait.HASHED_SNAPSHOTS)
    elif sheet is not None and is_complete(gaps):
        hashing = sheet.text("hashing")
        if algorithm is None:
            none = f"{sheet.text('hash')!r} names no digest that twice has"
            yield facts.tell("11", "hash", none)
        elif facts.tier >= Tier.XL and not algorithm.is_cryptographic:
            collide = "can be made to collide, and tier XL asks for one that cannot"
            yield facts.tell("11", "hash", f"{algorithm} {collide}")
        if hashing not in _EACH_TICK:
            tree = "is no pattern for every tick; states are hashed as a tree"
            yield facts.tell("11", "hashing", f"{hashing!r} {tree}")
        if "pickle" in sheet.text("rule").lower():
            yield facts.tell("11", "rule", "pickle is no canonical form")
    encoded, code, trial = require(facts.encoded), require(facts.code), require(facts.trial)
    yield from (f"twice encodes {each} in another way than RFC 8785" for each in encoded.wrong)
    for place in list_within(code.pickles, spec.strings("00", "sources")):
        yield f"{place}: what is pickled has no canonical form"
    for row in spec.rows("11", "vectors"):
        value, said = str(row.get("value")), str(row.get("digest"))
        given = encoded.vectors.get(value, ())
        if said not in given:
            came = given[0] if given else "nothing: it is no JSON document"
            yield facts.tell("11", "vectors", f"{value} gives {came}, not {said}")
    for row in spec.rows("11", "pins"):
        library, pinned = str(row.get("library")), str(row.get("version"))
        found = encoded.versions.get(library)
        if found != pinned:
            yield facts.tell("11", "pins", f"{library} is pinned to {pinned}, and is {found}")
    by = f"hashed by {trial.algorithm}"
    if algorithm is not None and algorithm.value != trial.algorithm:
        yield facts.tell("11", "hash", f"it names {algorithm}, and runs are {by}")
    right = encoded.rfc8785 - len(encoded.wrong)
    yield Observed(f"{right} of {encoded.rfc8785} values of RFC 8785 have their bytes")
    yield Observed(
        f"{pluralize(len(encoded.vectors), 'vector')} of sheet 11 tried; states are {by}"
    )
    yield Observed(f"{pluralize(len(code.pickles), 'place that pickles', 'places that pickle')}")


@check(
    16, "Property tests", "12", "00", needs=("suite",),
    absent=lambda facts: (
        "" if facts.tier >= Tier.M
        else f"sheet 12 is asked for from tier M on; the tier is {facts.tier}"
    ),
)  # fmt: skip
def check_property_tests(facts: GateFacts) -> Iterator[str]:
    """Check that 12 declares the laws of the tier, with passing tests and a kept database."""
    sheet, gaps = facts.workspace.get("12"), facts.find_gaps("12")
    yield from gaps
    if sheet is None:
        return
    declared = sheet.strings("properties")
    if is_complete(gaps):
        traits = facts.situation.traits
        open_ = {*facts.workspace.column("07", "subsystems", "strategy")} - {RECORDED_SCHEDULE}
        is_scheduled = traits.get(Trait.CONCURRENCY) is True and bool(open_)
        branches = traits.get(Trait.BRANCHING) is True
        needed = required_properties(facts.tier, branching=branches, scheduled=is_scheduled)
        for name in needed:
            is_excused = name == SEED_MATTERS and facts.workspace.text("02", "seedless")
            if name not in declared and not is_excused:
                lacks = f"{name} is not declared, and this system needs it"
                yield facts.tell("12", "properties", lacks)
        if facts.tier >= Tier.XL and sheet.get("stateful") is not True:
            any_order = "tier XL asks for sessions that are tried in any order of operations"
            yield facts.tell("12", "stateful", any_order)
    suite, tests = require(facts.suite), ", ".join(sheet.strings("tests"))
    yield from (f"{each} failed" for each in suite.failed)
    if not suite.passed and not suite.failed:
        yield f"pytest ran no test of {tests}: {suite.told}"
    elif suite.exit_code and not suite.failed:
        yield f"pytest ended with exit code {suite.exit_code}"
    for several, what in (
        (suite.left_out, f"tests of {tests} were left out"),
        (suite.passed_over, "kept counterexamples were replayed by no test"),
    ):
        if several:
            yield f"{len(several)} {what}: {shorten(several)}"
    for name in declared if suite.passed or suite.failed else ():
        if name not in suite.exercised:
            no_test = f"{name} is declared, and no test of {tests} exercises it"
            yield facts.tell("12", "properties", no_test)
    if suite.database:
        yield facts.tell("12", "database", suite.database)
    passed = f"{suite.passed} of {pluralize(suite.found, 'test')} of {tests} passed"
    yield Observed(f"{passed}, {len(suite.failed)} failed")
    yield Observed(f"they exercise {shorten(suite.exercised, 6)}")
    if suite.skipped:
        skipped = (
            f"{pluralize(len(suite.skipped), 'test was', 'tests were')} skipped or expected to fail"
        )
        yield Undecided(f"{skipped}: {shorten(suite.skipped)}")
