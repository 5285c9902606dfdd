"""Checks 1, 2 and 8 to 10: sheets are there, say their class, refer, move their versions, and have a vector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.errors import ClassRefused, ConfigError
from twice.recording.config import in_settings, parse_settings
from twice.specification.changes import compare_sheet
from twice.specification.gate.checks.runs import describe_failure
from twice.specification.gate.evidence.runs import KnownRun
from twice.specification.gate.model import (
    COMMON_KEYS,
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
from twice.specification.gate.plan import predicate_of
from twice.specification.schema import SHEETS
from twice.specification.sheet import Sheet
from twice.specification.tiers import REQUIRED, Trait
from twice.specification.workspace import find_tier_requirements

_WHOLE: Final = "99"  # made from the others once the gate has passed, not written by hand


@check(1, "Tier coverage", sheets=("00", "01"), is_waivable=False)
def check_tier_coverage(facts: GateFacts) -> Iterator[str]:
    """Is every sheet there that the declared tier needs, and is each absence stated with its reason?"""
    spec, workspace = facts.workspace, facts.workspace
    for number in workspace.missing():
        if number != _WHOLE:
            words = [each.words for each in REQUIRED[number] if each.holds(facts.situation)]
            needed = f"it is needed {' or '.join(words)}"
            why = "every tier needs it" if "always" in words else needed
            yield f"sheet {number} ({SHEETS[number].title}) is not there, and {why}"
    said = [spec.text(number, "tier") for number in ("00", "01") if spec.get(number) is not None]
    if not all(said):
        yield "the tier is not said in both 00 and 01"
    elif len(set(said)) > 1:
        yield f"{spec.place('01', 'tier')}: the tier is {said[1]}, and 00 says {said[0]}"
    for force in find_tier_requirements(workspace):
        # A sheet that is there beyond the tier is judged as it stands; only what it says can force more.
        if not force.caps and force.tier > facts.tier and force.key != "id":
            yield (
                f"{spec.place(force.sheet, force.key)}: {force.why}, which tier {force.tier} promises; "
                f"declared is {facts.tier}"
            )
    if spec.get("00") is not None:
        where = spec.place("00", "traits")
        unknown = [each for each in Trait if each not in facts.situation.traits]
        if unknown:
            yield f"{where}: nobody said whether the system has {shorten(unknown)}"
        for row in spec.rows("00", "traits"):
            if "why" not in row:
                yield f"{where}: no reason is given for {row.get('name')}"
    for number, sheet in workspace.sheets.items():
        for gap in () if number == _WHOLE else sheet.gaps(facts.situation):
            of_scope = number == "00" and gap.key not in {"tier", "traits"}
            if of_scope or gap.key in COMMON_KEYS - {"version"}:  # check 9 asks for the version
                yield f"{sheet.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"
    there = [number for number in workspace.sheets if number != _WHOLE]
    yield Observed(f"tier {facts.tier}; sheets {', '.join(there)}")
    for number, conditions in REQUIRED.items():
        if number not in {*workspace.sheets, *workspace.missing(), _WHOLE}:
            unmet = []
            for each in conditions:
                why = f"it is asked for {each.words}"
                if facts.tier >= each.tier and each.trait is not None:
                    absence = facts.explain_absence(each.trait)
                    why = absence or f"by sheet 00 the system has no {each.trait}"
                unmet.append(why)
            yield Observed(f"{number} is not needed: {' and '.join(unmet)}")


@check(2, "Class clarity", sheets=("01",))
def check_class_clarity(facts: GateFacts) -> Iterator[str]:
    """Does 01 name the class in one sentence that anybody can apply, and that verification executes?"""
    spec, promise = facts.workspace, facts.workspace.get("01")
    gaps = facts.find_gaps("01", but=("tier", "vector", "vector_digest", "closed_world"))
    yield from gaps
    if promise is None or not is_complete(gaps):
        return
    try:
        predicate = predicate_of(promise)
    except ClassRefused as error:
        yield f"{spec.place('01', 'class')}: {error.happened} {error.expected}".rstrip()
        return
    except ValueError as error:
        yield f"{spec.place('01', 'class')}: {error}"
        return
    sentence, said = predicate.sentence(), promise.text("predicate")
    if _normalise(said) != _normalise(sentence):
        where = spec.place("01", "predicate")
        yield f"{where}: {said!r} is not what verification executes, which is: {sentence}"
    if promise.get("contested") is True:
        where = spec.place("01", "contested")
        yield f"{where}: people still disagree about the class; that comes first"
    if promise.text("axis") != predicate.axis:
        where, scope = spec.place("01", "axis"), promise.text("scope")
        yield f"{where}: scope {scope} is about {predicate.axis}, not {promise.text('axis')}"
    yield Observed(sentence)


def _normalise(sentence: str) -> str:
    return " ".join(sentence.split()).rstrip(".").lower()


@check(8, "Hand-over", sheets=("04", "99"), needs=("code",), wants=("handoff", "trial"))
def check_hand_over(facts: GateFacts) -> Iterator[str]:
    """Are other documents referred to instead of copied, and has each finding of twice check a sheet?"""
    spec, reference = facts.workspace, facts.workspace.text("04", "audit_encoding")
    where = spec.place("04", "audit_encoding")
    handoff = optional(facts.handoff)
    if facts.denies(Trait.AUDIT_LOG):
        yield Observed("there is no audit log that the snapshots would share an encoding with")
    elif spec.get("04") is None:
        yield from facts.find_gaps("04")
    elif not reference:
        yield f"{where}: nobody said where the audit log's encoding is specified"
    elif handoff is None:
        require(facts.code)
        yield Undecided(getattr(facts.handoff, "reason", ""))
    elif handoff.there is False:
        yield f"{where}: {reference} is not there"
    elif handoff.copied:
        path = where.rpartition(":")[0]
        lines = f"{len(handoff.copied)} lines are copied from there: {handoff.copied[0]!r}"
        yield f"{path}: {lines}"
    else:
        yield Observed(f"04 refers to {reference} and copies nothing of it")
    code, sources = require(facts.code), spec.strings("00", "sources")
    covered: set[str] = set()
    for row in spec.rows("99", "findings"):
        said = row.get("rules")
        rules = said if isinstance(said, list) else str(said).split(",")
        covered.update(str(each).strip() for each in rules)
    reported = [each for each in code.reported if is_within(each.place.path, sources)]
    for each in reported:
        if each.rule not in covered:
            yield (
                f"{each.place} is reported by {each.rule}, which 99 puts under no sheet "
                f"(it belongs to {each.sheet})"
            )
    if optional(facts.trial) is not None:
        yield from facts.find_outside("00", "sources")
    for place in code.unread:
        yield f"{place}: not read, so nobody knows what is in it"
    folders = ", ".join(sources)
    n_rules = len({each.rule for each in reported})
    counted = f"{len(reported)} findings in {folders}, of {n_rules} rules"
    yield Observed(
        f"twice check reports {counted}; 99 puts {len(covered)} rules under sheets"
        if reported
        else f"twice check reports nothing in {folders}"
    )


@check(9, "Versioning rule", sheets=("99", "01"), needs=("laid",), is_waivable=False)
def check_versioning(facts: GateFacts) -> Iterator[str]:
    """Does every change move a version as far as it has to, and is nothing owed, in sheets and scaffolded code?"""
    same = []
    for number in sorted({*facts.workspace.sheets, *facts.lock.sheets} - {_WHOLE}):
        sheet = facts.workspace.get(number)
        if sheet is not None and compare_sheet(facts.workspace, facts.lock, number).state == "same":
            same.append(f"{number} {sheet.version}")
        yield from _find_unmoved(facts, number)
    for each in facts.lock.owed:
        yield f"sheet {each.sheet} has to be written anew because {each.because} changed: {each.what}"
    yield from _judge_whole(facts)
    if same:
        yield Observed(f"as they were when their versions moved: {', '.join(same)}")
    laid = require(facts.laid)
    broken = [each for each in laid if not each.holds]
    for file in broken:
        said = (
            f"was made of {', '.join(file.moved)}, which changed since: twice scaffold NAME"
            if file.moved
            else f"is {file.state}: twice scaffold NAME --replace lays it anew, --eject {file.path} keeps yours"
        )
        yield f"{file.path}: what the scaffold laid down {said}"
    if laid:
        yield Observed(f"{len(laid)} files of the scaffold, {len(broken)} not as the sheets say")


def _find_unmoved(facts: GateFacts, number: str) -> Iterator[str]:
    """Yield a sheet whose version is not what its changes ask for."""
    sheet = facts.workspace.get(number)
    where = facts.workspace.place(number, "version")
    if sheet is not None and not sheet.version:
        yield f"{where}: it has no version"
        return
    told = compare_sheet(facts.workspace, facts.lock, number)
    keys = ", ".join(dict.fromkeys(each.key for each in told.found))
    if told.state == "new":
        yield f"{where}: it is in no lock yet: twice spec bump"
    elif told.state == "gone":
        yield f"{where}: it is gone since version {told.locked}"
    elif told.state == "changed":
        still = f"the version is still {told.version}: twice spec bump {number}"
        yield f"{where}: {keys} changed, and {still}"
    elif told.state == "bumped":
        step = "is too small a step" if not told.is_honest else "is not in the lock"
        moved = f"{told.locked} to {told.version} {step}; needed is a {told.needed.word} one"
        yield f"{where}: {keys} changed, and {moved}"


def _judge_whole(facts: GateFacts) -> Iterator[str]:
    """Yield what is wrong with sheet 99: no rule, or a sheet that changed under the version that it cites."""
    spec = facts.workspace
    if spec.get(_WHOLE) is None:
        return
    if not spec.text(_WHOLE, "rule"):
        yield f"{spec.place(_WHOLE, 'rule')}: nobody said how versions move"
    for row in spec.rows(_WHOLE, "sheets"):
        sheet = spec.get(str(row.get("id")))
        if sheet is None or sheet.version != row.get("version"):
            continue  # An older state of the whole: consolidating comes after the gate.
        if row.get("digest") != str(sheet.digest()):
            told = (
                f"{sheet.number} {sheet.version} says something else than when it was consolidated"
            )
            yield f"{spec.place(_WHOLE, 'sheets')}: {told}"


@check(10, "Test-vector strategy", sheets=("01",), needs=("vector",))
def check_test_vector(facts: GateFacts) -> Iterator[str]:
    """Is there a recorded run whose compare-points end at a known digest, and does it come out again?"""
    spec, promise = facts.workspace, facts.workspace.get("01")
    if promise is None:
        yield Undecided("sheet 01 is not there; see check 1")
        return
    for gap in promise.gaps(facts.situation):
        if gap.key in {"vector", "vector_digest"}:
            yield f"{promise.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"
    vector = require(facts.vector)
    where, path = spec.place("01", "vector"), promise.text("vector")
    if vector.unreadable:
        yield f"{where}: {vector.unreadable}"
        return
    if vector.changed:
        yield (
            f"{where}: the test vector was recorded from other code: {shorten(vector.changed)}; "
            f"record it anew, and say its digest in 01: twice record PROGRAM -o {path} --force"
        )
        return
    yield from _compare_vector(facts, promise, vector)
    verification = vector.verification
    assert verification is not None, "a vector of this code was verified"
    if verification.result != "PASS":
        gives = f"{verification.result}{describe_failure(verification)}"
        caveats = "; ".join(verification.caveats)
        yield f"{where}: verifying the test vector gives {gives} {caveats}".rstrip()
    yield Observed(f"{path} replays: {verification.result}")
    yield Observed(f"its compare-points end at {vector.digest}")


def _compare_vector(facts: GateFacts, promise: Sheet, vector: KnownRun) -> Iterator[str]:
    spec, where = facts.workspace, facts.workspace.place("01", "vector")
    if not vector.ticks:
        yield f"{where}: it holds no tick, so it shows nothing"
    digest = promise.text("vector_digest")
    if vector.digest != digest:
        at = spec.place("01", "vector_digest")
        yield f"{at}: the vector ends at {vector.digest}, not at {digest}"
    program, seed = spec.text("00", "program"), spec.value("00", "seed")
    if program and vector.program != program:
        yield f"{where}: it is a run of {vector.program}, and 00 specifies {program}"
    if isinstance(seed, int) and vector.seed != seed:
        yield f"{where}: it is a run with seed {vector.seed}, and 00 specifies {seed}"
    try:
        config = tuple(in_settings(parse_settings(spec.strings("00", "config"))))
        if spec.get("00") is not None and vector.config != config:
            was, said = (", ".join(each) or "nothing" for each in (vector.config, config))
            yield f"{where}: it is a run with {was}, and 00 configures {said}"
    except ConfigError as error:
        yield f"{spec.place('00', 'config')}: {error.happened} {error.expected}"
    try:
        sentence = predicate_of(promise).sentence()
    except (ClassRefused, ValueError):
        return  # Check 2 says what is wrong with it.
    if sentence != vector.predicate:
        at = spec.place("01", "class")
        yield f"{at}: the vector was recorded under another class: {vector.predicate}"
