"""Checks 1, 2 and 8 to 10: sheets are there, say their class, refer, move their versions, and have a vector."""

from __future__ import annotations

from collections.abc import Iterator

from twice.errors import ClassRefused, ConfigError
from twice.foundation.printable import pluralize
from twice.recorder.config import format_settings, parse_settings
from twice.specification.changes import compare_sheet
from twice.specification.gate.checks.runs import describe_failure
from twice.specification.gate.model import (
    COMMON_KEYS,
    WHOLE,
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
from twice.specification.tiers import REQUIRED, Trait
from twice.specification.workspace import find_tier_requirements


@check(1, "Tier coverage", "00", "01", is_waivable=False)
def check_tier_coverage(facts: GateFacts) -> Iterator[str]:
    """Check that every sheet of the declared tier exists, or that its absence has a reason."""
    spec = facts.workspace
    missing = [number for number in spec.missing() if number != WHOLE]
    for number in missing:
        words = [each.words for each in REQUIRED[number] if each.holds(facts.situation)]
        why = "every tier needs it" if "always" in words else f"it is needed {' or '.join(words)}"
        yield f"sheet {number} ({SHEETS[number].title}) is not there, and {why}"
    said = [spec.text(number, "tier") for number in ("00", "01") if spec.get(number)]
    if not all(said):
        yield "the tier is not said in both 00 and 01"
    elif len(set(said)) > 1:
        yield facts.tell("01", "tier", f"the tier is {said[1]}, and 00 says {said[0]}")
    for force in find_tier_requirements(spec):
        # A sheet that is there beyond the tier is judged as it stands; only what it says can force more.
        if not force.caps and force.tier > facts.tier and force.key != "id":
            promised = f"which tier {force.tier} promises; declared is {facts.tier}"
            yield facts.tell(force.sheet, force.key, f"{force.why}, {promised}")
    if spec.get("00"):
        unknown = [each for each in Trait if each not in facts.situation.traits]
        if unknown:
            whether = f"nobody said whether the system has {shorten(unknown)}"
            yield facts.tell("00", "traits", whether)
        for row in spec.rows("00", "traits"):
            if "why" not in row:
                yield facts.tell("00", "traits", f"no reason is given for {row.get('name')}")
    for number, sheet in spec.sheets.items():
        for gap in () if number == WHOLE else sheet.gaps(facts.situation):
            of_scope = number == "00" and gap.key not in {"tier", "traits"}
            if of_scope or gap.key in COMMON_KEYS - {"version"}:  # check 9 asks for the version
                yield f"{sheet.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"
    there = ", ".join(number for number in spec.sheets if number != WHOLE)
    yield Observed(f"tier {facts.tier}; sheets {there}")
    for number, conditions in REQUIRED.items():
        if number not in {*spec.sheets, *missing, WHOLE}:
            unmet = []
            for each in conditions:
                why = f"it is asked for {each.words}"
                if facts.tier >= each.tier and each.trait is not None:
                    absence = facts.explain_absence(each.trait)
                    why = absence or f"by sheet 00 the system has no {each.trait}"
                unmet.append(why)
            yield Observed(f"{number} is not needed: {' and '.join(unmet)}")


@check(2, "Class clarity", "01")
def check_class_clarity(facts: GateFacts) -> Iterator[str]:
    """Check that 01 names the class in one clear sentence, and that verification executes it."""
    promise = facts.workspace.get("01")
    gaps = facts.find_gaps("01", but=("tier", "vector", "vector_digest", "closed_world"))
    yield from gaps
    if promise is None or not is_complete(gaps):
        return
    try:
        predicate = predicate_of(promise)
    except ClassRefused as error:
        yield facts.tell("01", "class", f"{error.happened} {error.expected}".rstrip())
        return
    except ValueError as error:
        yield facts.tell("01", "class", str(error))
        return
    sentence, said = predicate.sentence(), promise.text("predicate")
    if _normalise(said) != _normalise(sentence):
        executed = f"{said!r} is not what verification executes, which is: {sentence}"
        yield facts.tell("01", "predicate", executed)
    if promise.get("contested") is True:
        disagree = "people still disagree about the class; that comes first"
        yield facts.tell("01", "contested", disagree)
    if promise.text("axis") != predicate.axis:
        scope = f"scope {promise.text('scope')} is about {predicate.axis}"
        yield facts.tell("01", "axis", f"{scope}, not {promise.text('axis')}")
    yield Observed(sentence)


def _normalise(sentence: str) -> str:
    return " ".join(sentence.split()).rstrip(".").lower()


@check(8, "Hand-over", "04", "99", needs=("code",), wants=("handoff", "trial"))
def check_hand_over(facts: GateFacts) -> Iterator[str]:
    """Check that 04 refers to the audit log's encoding without copies, and that 99 covers findings."""
    spec, reference = facts.workspace, facts.workspace.text("04", "audit_encoding")
    handoff = optional(facts.handoff)
    if facts.denies(Trait.AUDIT_LOG):
        yield Observed("there is no audit log that the snapshots would share an encoding with")
    elif spec.get("04") is None:
        yield from facts.find_gaps("04")
    elif not reference:
        unsaid = "nobody said where the audit log's encoding is specified"
        yield facts.tell("04", "audit_encoding", unsaid)
    elif handoff is None:
        require(facts.code)
        yield Undecided(getattr(facts.handoff, "reason", ""))
    elif handoff.there is False:
        yield facts.tell("04", "audit_encoding", f"{reference} is not there")
    elif handoff.copied:
        lines = f"{pluralize(len(handoff.copied), 'line is', 'lines are')} copied from there: {handoff.copied[0]!r}"
        yield f"{spec.sheets['04'].path}: {lines}"
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
            nowhere = f"which 99 puts under no sheet (it belongs to {each.sheet})"
            yield f"{each.place} is reported by {each.rule}, {nowhere}"
    if optional(facts.trial) is not None:
        yield from facts.find_outside("00", "sources")
    yield from (f"{place}: not read, so nobody knows what is in it" for place in code.unread)
    folders, n_rules = ", ".join(sources), len({each.rule for each in reported})
    counted = f"{pluralize(len(reported), 'finding')} in {folders}, of {pluralize(n_rules, 'rule')}"
    found = f"{counted}; 99 puts {pluralize(len(covered), 'rule')} under sheets"
    yield Observed(f"twice check reports {found if reported else f'nothing in {folders}'}")


@check(9, "Versioning rule", "99", "01", needs=("laid",), is_waivable=False)
def check_versioning(facts: GateFacts) -> Iterator[str]:
    """Check that every change moves its version far enough, and that sheets and code owe nothing."""
    same = []
    for number in sorted({*facts.workspace.sheets, *facts.lock.sheets} - {WHOLE}):
        fault = _find_unmoved(facts, number)
        if fault:
            yield facts.tell(number, "version", fault)
        elif facts.workspace.get(number):
            same.append(f"{number} {facts.workspace.sheets[number].version}")
    for each in facts.lock.owed:
        yield f"sheet {each.sheet} has to be written anew because {each.because} changed: {each.what}"
    spec = facts.workspace
    if spec.get(WHOLE) and not spec.text(WHOLE, "rule"):
        yield facts.tell(WHOLE, "rule", "nobody said how versions move")
    for row in spec.rows(WHOLE, "sheets"):
        sheet = spec.get(str(row.get("id")))
        # Where the version is another, it is an older state of the whole: consolidating comes after the gate.
        is_cited = sheet is not None and sheet.version == row.get("version")
        if sheet is not None and is_cited and row.get("digest") != str(sheet.digest()):
            other = "says something else than when it was consolidated"
            yield facts.tell(WHOLE, "sheets", f"{sheet.number} {sheet.version} {other}")
    if same:
        yield Observed(f"as they were when their versions moved: {', '.join(same)}")
    laid = require(facts.laid)
    broken = [each for each in laid if not each.holds]
    for file in broken:
        said = f"is {file.state}: twice scaffold NAME --replace lays it anew, --eject {file.path} keeps yours"
        if file.moved:
            said = f"was made of {', '.join(file.moved)}, which changed since: twice scaffold NAME"
        yield f"{file.path}: what the scaffold laid down {said}"
    if laid:
        yield Observed(
            f"{pluralize(len(laid), 'file')} of the scaffold, {len(broken)} not as the sheets say"
        )


def _find_unmoved(facts: GateFacts, number: str) -> str:
    """Return why a sheet's version is not what its changes ask for; "" when it is."""
    sheet = facts.workspace.get(number)
    told = compare_sheet(facts.workspace, facts.lock, number)
    keys = ", ".join(dict.fromkeys(each.key for each in told.found))
    if sheet is not None and not sheet.version:
        return "it has no version"
    if told.state == "new":
        return "it is in no lock yet: twice spec bump"
    if told.state == "gone":
        return f"it is gone since version {told.locked}"
    if told.state == "changed":
        return f"{keys} changed, and the version is still {told.version}: twice spec bump {number}"
    if told.state == "bumped":
        step = "is not in the lock" if told.is_honest else "is too small a step"
        moved = f"{told.locked} to {told.version} {step}; needed is a {told.needed.word} one"
        return f"{keys} changed, and {moved}"
    return ""


@check(10, "Test-vector strategy", "01", needs=("vector",))
def check_test_vector(facts: GateFacts) -> Iterator[str]:
    """Check that a recorded run ends at a known digest, and that its replay does too."""
    promise = facts.workspace.get("01")
    if promise is None:
        yield Undecided("sheet 01 is not there; see check 1")
        return
    for gap in promise.gaps(facts.situation):
        if gap.key in {"vector", "vector_digest"}:
            yield f"{promise.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"
    vector, path = require(facts.vector), promise.text("vector")
    if vector.unreadable:
        yield facts.tell("01", "vector", vector.unreadable)
        return
    if vector.changed:
        anew = f"record it anew, and say its digest in 01: twice record PROGRAM -o {path} --force"
        other = f"the test vector was recorded from other code: {shorten(vector.changed)}"
        yield facts.tell("01", "vector", f"{other}; {anew}")
        return
    spec, digest = facts.workspace, promise.text("vector_digest")
    if not vector.ticks:
        yield facts.tell("01", "vector", "it holds no tick, so it shows nothing")
    if vector.digest != digest:
        ends = f"the vector ends at {vector.digest}, not at {digest}"
        yield facts.tell("01", "vector_digest", ends)
    program, seed = spec.text("00", "program"), spec.value("00", "seed")
    if program and vector.program != program:
        run = f"it is a run of {vector.program}, and 00 specifies {program}"
        yield facts.tell("01", "vector", run)
    if isinstance(seed, int) and vector.seed != seed:
        run = f"it is a run with seed {vector.seed}, and 00 specifies {seed}"
        yield facts.tell("01", "vector", run)
    try:
        config = tuple(format_settings(parse_settings(spec.strings("00", "config"))))
        if spec.get("00") and vector.config != config:
            was, said = (", ".join(each) or "nothing" for each in (vector.config, config))
            yield facts.tell("01", "vector", f"it is a run with {was}, and 00 configures {said}")
    except ConfigError as error:
        yield facts.tell("00", "config", f"{error.happened} {error.expected}")
    try:
        sentence = predicate_of(promise).sentence()
    except (ClassRefused, ValueError):
        sentence = vector.predicate  # Check 2 says what is wrong with it.
    if sentence != vector.predicate:
        other = f"the vector was recorded under another class: {vector.predicate}"
        yield facts.tell("01", "class", other)
    verification = vector.verification
    assert verification is not None, "a vector of this code was verified"
    if verification.result != "PASS":
        gives = f"{verification.result}{describe_failure(verification)}"
        told = f"verifying the test vector gives {gives} {'; '.join(verification.caveats)}"
        yield facts.tell("01", "vector", told.rstrip())
    yield Observed(f"{path} replays: {verification.result}")
    yield Observed(f"its compare-points end at {vector.digest}")
