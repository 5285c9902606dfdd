"""Checks 1, 2, 8 and 9: sheets are there, say their class in one sentence, refer, and move their versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.errors import ClassRefused
from twice.specifying.changing import changed
from twice.specifying.gate.model import (
    COMMON_KEYS,
    GateFacts,
    Seen,
    Unknown,
    check,
    is_complete,
    is_within,
    optional,
    require,
    shorten,
)
from twice.specifying.gate.plan import predicate_of
from twice.specifying.promotion import forces
from twice.specifying.sheets import SHEETS
from twice.specifying.tiers import REQUIRED, Condition, Trait

_WHOLE: Final = "99"  # made from the others once the gate has passed, not written by hand


@check(1, "Tier coverage", sheets=("00", "01"), is_waivable=False)
def check_tier_coverage(facts: GateFacts) -> Iterator[str]:
    """Is every sheet there that the declared tier needs, and is each absence stated with its reason?"""
    spec, workspace = facts.spec, facts.workspace
    for number in workspace.missing():
        if number != _WHOLE:
            words = [each.words for each in REQUIRED[number] if each.holds(facts.situation)]
            needed = f"it is needed {' or '.join(words)}"
            why = "every tier needs it" if "always" in words else needed
            yield f"sheet {number} ({SHEETS[number].title}) is not there, and {why}"
    said = [spec.text(number, "tier") for number in ("00", "01") if spec.sheet(number) is not None]
    if not all(said):
        yield "the tier is not said in both 00 and 01"
    elif len(set(said)) > 1:
        yield f"{spec.line('01', 'tier')}: the tier is {said[1]}, and 00 says {said[0]}"
    for force in forces(workspace):
        # A sheet that is there beyond the tier is judged as it stands; only what it says can force more.
        if not force.caps and force.tier > facts.tier and force.key != "id":
            yield (
                f"{spec.line(force.sheet, force.key)}: {force.why}, which tier {force.tier} promises; "
                f"declared is {facts.tier}"
            )
    if spec.sheet("00") is not None:
        where = spec.line("00", "traits")
        unknown = [each for each in Trait if each not in facts.situation.traits]
        if unknown:
            yield f"{where}: nobody said whether the system has {shorten(unknown)}"
        for row in spec.rows("00", "traits"):
            if "why" not in row:
                yield f"{where}: no reason is given for {row.get('name')}"
    for number, sheet in workspace.artifacts.items():
        for gap in () if number == _WHOLE else sheet.gaps(facts.situation):
            of_scope = number == "00" and gap.key not in {"tier", "traits"}
            if of_scope or gap.key in COMMON_KEYS - {"version"}:  # check 9 asks for the version
                yield f"{sheet.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"
    there = [number for number in workspace.artifacts if number != _WHOLE]
    yield Seen(f"tier {facts.tier}; sheets {', '.join(there)}")
    for number, conditions in REQUIRED.items():
        if number not in {*workspace.artifacts, *workspace.missing(), _WHOLE}:
            unmet = " and ".join(_explain_unmet(facts, each) for each in conditions)
            yield Seen(f"{number} is not needed: {unmet}")


def _explain_unmet(facts: GateFacts, condition: Condition) -> str:
    if facts.tier < condition.tier or condition.trait is None:
        return f"it is asked for {condition.words}"
    absence = facts.explain_absence(condition.trait)
    return absence or f"by sheet 00 the system has no {condition.trait}"


@check(2, "Class clarity", sheets=("01",))
def check_class_clarity(facts: GateFacts) -> Iterator[str]:
    """Does 01 name the class in one sentence that anybody can apply, and that verification executes?"""
    spec, promise = facts.spec, facts.spec.sheet("01")
    gaps = facts.find_gaps("01", but=("tier", "vector", "vector_digest", "closed_world"))
    yield from gaps
    if promise is None or not is_complete(gaps):
        return
    try:
        predicate = predicate_of(promise)
    except ClassRefused as error:
        yield f"{spec.line('01', 'class')}: {error.happened} {error.expected}".rstrip()
        return
    except ValueError as error:
        yield f"{spec.line('01', 'class')}: {error}"
        return
    sentence, said = predicate.sentence(), promise.said("predicate")
    if _normalise(said) != _normalise(sentence):
        where = spec.line("01", "predicate")
        yield f"{where}: {said!r} is not what verification executes, which is: {sentence}"
    if promise.get("contested") is True:
        where = spec.line("01", "contested")
        yield f"{where}: people still disagree about the class; that comes first"
    if promise.said("axis") != predicate.axis:
        where, scope = spec.line("01", "axis"), promise.said("scope")
        yield f"{where}: scope {scope} is about {predicate.axis}, not {promise.said('axis')}"
    yield Seen(sentence)


def _normalise(sentence: str) -> str:
    return " ".join(sentence.split()).rstrip(".").lower()


@check(8, "Hand-over", sheets=("04", "99"), needs=("code",), wants=("handoff", "trial"))
def check_hand_over(facts: GateFacts) -> Iterator[str]:
    """Are other documents referred to instead of copied, and has each finding of twice check a sheet?"""
    spec, reference = facts.spec, facts.spec.text("04", "audit_encoding")
    where = spec.line("04", "audit_encoding")
    handoff = optional(facts.handoff)
    if facts.denies(Trait.AUDIT_LOG):
        yield Seen("there is no audit log that the snapshots would share an encoding with")
    elif spec.sheet("04") is None:
        yield from facts.find_gaps("04")
    elif not reference:
        yield f"{where}: nobody said where the audit log's encoding is specified"
    elif handoff is None:
        require(facts.code)
        yield Unknown(getattr(facts.handoff, "reason", ""))
    elif handoff.there is False:
        yield f"{where}: {reference} is not there"
    elif handoff.copied:
        path = where.rpartition(":")[0]
        lines = f"{len(handoff.copied)} lines are copied from there: {handoff.copied[0]!r}"
        yield f"{path}: {lines}"
    else:
        yield Seen(f"04 refers to {reference} and copies nothing of it")
    code, sources = require(facts.code), spec.items("00", "sources")
    covered = {
        rule for row in spec.rows("99", "findings") for rule in _read_rules(row.get("rules"))
    }
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
    rules = {each.rule for each in reported}
    counted = f"{len(reported)} findings in {folders}, of {len(rules)} rules"
    yield Seen(
        f"twice check reports {counted}; 99 puts {len(covered)} rules under sheets"
        if rules
        else f"twice check reports nothing in {folders}"
    )


def _read_rules(said: object) -> list[str]:
    if isinstance(said, list):
        return [str(each) for each in said]
    return [each.strip() for each in str(said).split(",")]


@check(9, "Versioning rule", sheets=("99", "01"), needs=("laid",), is_waivable=False)
def check_versioning(facts: GateFacts) -> Iterator[str]:
    """Does every change move a version as far as it has to, and is nothing owed, in sheets and scaffolded code?"""
    same = []
    for number in sorted({*facts.workspace.artifacts, *facts.lock.sheets} - {_WHOLE}):
        sheet = facts.spec.sheet(number)
        if sheet is not None and changed(facts.workspace, facts.lock, number).state == "same":
            same.append(f"{number} {sheet.version}")
        yield from _find_unmoved(facts, number)
    for each in facts.lock.owed:
        yield f"sheet {each.sheet} has to be written anew because {each.because} changed: {each.what}"
    yield from _judge_lost_locks(facts)
    yield from _judge_whole(facts)
    if same:
        yield Seen(f"as they were when their versions moved: {', '.join(same)}")
    regions = require(facts.laid)
    broken = [each for each in regions if not each.holds]
    for region in broken:
        if region.moved:
            moved = ", ".join(region.moved)
            said = f"was made of {moved}, which changed since: twice scaffold NAME"
        else:
            said = (
                f"is {region.state}: twice scaffold NAME lays it anew, "
                f"--eject {region.path} keeps yours"
            )
        yield f"{region.path}: what the scaffold laid down in {region.name} {said}"
    if regions:
        yield Seen(f"{len(regions)} regions of the scaffold, {len(broken)} not as the sheets say")


def _find_unmoved(facts: GateFacts, number: str) -> Iterator[str]:
    """Yield a sheet whose version is not what its changes ask for."""
    sheet = facts.spec.sheet(number)
    where = facts.spec.line(number, "version")
    if sheet is not None and not sheet.version:
        yield f"{where}: it has no version"
        return
    told = changed(facts.workspace, facts.lock, number)
    keys = ", ".join(dict.fromkeys(each.key for each in told.found))
    if told.state == "new":
        yield f"{where}: it is in no lock yet: twice spec lock"
    elif told.state == "gone":
        yield f"{where}: it is gone since version {told.locked}"
    elif told.state == "changed":
        still = f"the version is still {told.version}: twice spec bump {number}"
        yield f"{where}: {keys} changed, and {still}"
    elif told.state == "bumped":
        step = "is too small a step" if not told.is_honest else "is not in the lock"
        moved = f"{told.locked} to {told.version} {step}; needed is a {told.needed.word} one"
        yield f"{where}: {keys} changed, and {moved}"


def _judge_lost_locks(facts: GateFacts) -> Iterator[str]:
    """Yield sheets whose lock has no past, by whether sheet 99 was accepted with them as they are."""
    for number, why in facts.lock.anew.items():
        sheet, accepted = facts.spec.sheet(number), facts.spec.text(_WHOLE, "status") == "accepted"
        digest = "" if sheet is None else str(sheet.digest())
        now = {"id": number, "version": sheet.version if sheet else "", "digest": digest}
        if accepted and now in facts.spec.rows(_WHOLE, "sheets"):
            accepted_with = "99 was accepted with the sheet as it is"
            yield Seen(f"the lock of {number} was laid anew ({why}), and {accepted_with}")
        else:
            yield (
                f"the lock of sheet {number} was laid anew ({why}): what it owed, and how far its version had "
                f"to move, nobody knows; take the lock from version control, or move the sheet: "
                f"twice spec bump {number} --patch"
            )


def _judge_whole(facts: GateFacts) -> Iterator[str]:
    """Yield what is wrong with sheet 99: no rule, or a sheet that changed under the version that it cites."""
    spec = facts.spec
    if spec.sheet(_WHOLE) is None:
        return
    if not spec.text(_WHOLE, "rule"):
        yield f"{spec.line(_WHOLE, 'rule')}: nobody said how versions move"
    for row in spec.rows(_WHOLE, "sheets"):
        sheet = spec.sheet(str(row.get("id")))
        if sheet is None or sheet.version != row.get("version"):
            continue  # An older state of the whole: consolidating comes after the gate.
        if row.get("digest") != str(sheet.digest()):
            told = (
                f"{sheet.number} {sheet.version} says something else than when it was consolidated"
            )
            yield f"{spec.line(_WHOLE, 'sheets')}: {told}"
