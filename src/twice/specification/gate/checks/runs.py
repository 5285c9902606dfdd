"""Checks 3 to 7: seeds and streams, snapshots, compare-points, and the operations of sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from twice.errors import ClassRefused, SnapshotCadence, TwiceError
from twice.foundation.seeds import RULE, SHARED_BY_MODULES, Seed, derive, is_shared
from twice.recording.cadence import parse_cadence, parse_granularity, require_dense
from twice.replayer.verification import Verification
from twice.specification.gate.model import (
    GateFacts,
    Observed,
    Undecided,
    check,
    is_complete,
    is_within,
    optional,
    require,
)
from twice.specification.gate.plan import find_algorithm, read_field
from twice.specification.record_traits import first_draws
from twice.specification.sheet import Sheet
from twice.specification.tiers import StateKind, Trait

_MOVED: Final[dict[bool | None, str]] = {
    True: "another seed gives another run",
    False: "another seed gives the same run",
}
_RULE: Final = re.compile(r"\brule[ :=-]*(\d+)", re.IGNORECASE)
_CAPTURED: Final = (StateKind.COMPONENTS, StateKind.STREAMS, StateKind.EFFECT_CURSORS)
_COMES_WITH: Final = {
    StateKind.SCHEDULER: Trait.CONCURRENCY,
    StateKind.GPU_MEMORY: Trait.GPU,
}
_NONE_ON_THE_WAY: Final = (
    "no snapshot of the trial stands after its first tick, so nothing shows that one taken on the way is "
    "enough: a longer run in 00, or a denser cadence in 04"
)
_FINDS_THE_POINT: Final = frozenset({"compare-points", "binary-search"})
_FINDS_THE_OPERATION: Final = frozenset({"re-execution", "operation-tracing"})
_BRANCHING: Final = frozenset({"branch", "step-with", "rollback"})


@check(3, "Seed lineage", sheets=("02",), needs=("trial", "code", "reseeded"))
def check_seed_lineage(facts: GateFacts) -> Iterator[str]:
    """Does 02 trace everything that draws back to the seed of the run, without a default seed?"""
    spec, gaps = facts.workspace, facts.find_gaps("02")
    yield from gaps
    if spec.get("02") is None:
        return
    if is_complete(gaps):
        yield from _judge_seeds(facts)
    trial, code = require(facts.trial), require(facts.code)
    moved = require(facts.reseeded)
    named = {*spec.column("02", "names", "stream")}
    drawn = [name for name, each in trial.streams.items() if each["draws"] != 0]
    drawn = [name for name in drawn if not is_shared(name)]
    where = spec.place("02", "names")
    for name in drawn:
        if name not in named:
            yield f"{where}: the run draws from {name!r}, which is not named"
    accepted = {*spec.column("02", "accepted", "place")}
    for name in drawn:
        # Only a generator that somebody else made and seeded has no seed in the ledger.
        if trial.streams[name]["seed"] is None and name not in accepted:
            yield (
                f"{where}: {name!r} was adopted, and its seed is not derived from the run's: seed it with "
                f"run.streams.seed_for({name!r}), or accept it in 02"
            )
    audited = spec.strings("02", "audit")
    orphans = [each for each in code.orphans if is_within(each.path, audited)]
    for place in orphans:
        if not {place.path, f"{place.path}:{place.function}"} & accepted:
            yield f"{place} {place.fault or 'has no owner'}"
    yield from facts.find_outside("02", "audit")
    if moved is False:
        where = spec.place("02", "seedless")
        yield f"{where}: another seed gives the same run, and no reason is given"
    places = sum(is_within(each.path, audited) for each in code.draws)
    yield Observed(
        f"{places} places draw, make or seed in {', '.join(audited)}; {len(orphans)} have no owner, "
        f"{len(accepted)} places are accepted"
    )
    derived = [name for name in drawn if trial.streams[name]["seed"] is not None]
    yield Observed(
        f"the run drew from {', '.join(derived) or 'no stream'}, from its seed by rule {RULE}"
    )
    why = spec.text("02", "seedless") or f"the tier is {facts.tier}"
    yield Observed(_MOVED.get(moved) or f"whether seeds part is not asked: {why}")
    idle = sorted(named - {*trial.streams})
    if idle:
        yield Observed(f"named and not taken in the trial: {', '.join(idle)}")


def _judge_seeds(facts: GateFacts) -> Iterator[str]:
    spec = facts.workspace
    said = _RULE.search(spec.text("02", "derivation"))
    if said is None or int(said[1]) != RULE:
        where = spec.place("02", "derivation")
        yield f'{where}: it does not name the rule in force by its number: "rule {RULE}"'
    for row in spec.rows("02", "vectors"):
        master, name, seed = row.get("master"), str(row.get("name")), str(row.get("seed"))
        assert isinstance(master, int), "the sheet was read with whole numbers there"
        try:
            given = derive(Seed(master), name).hex
        except TwiceError as error:
            given = error.id
        if given.removeprefix("0x") != seed.removeprefix("0x"):
            where = spec.place("02", "vectors")
            yield f"{where}: master {master} gives {name!r} the seed {given}, not {seed}"


@check(4, "RNG isolation", sheets=("03", "02"), needs=("taken", "trial", "code"))
def check_rng_isolation(facts: GateFacts) -> Iterator[str]:
    """Has each component that draws a generator of its own, in the code and in the record?"""
    spec, gaps = facts.workspace, facts.find_gaps("03")
    yield from gaps
    if spec.get("03") is None:
        return
    where = spec.place("03", "slots")
    if is_complete(gaps):
        yield from _judge_slots(facts)
        refused = optional(facts.taken)
        if refused:
            yield f"the program asks for a stream that it may not have: {refused}"
    require(facts.taken)
    trial, code = require(facts.trial), require(facts.code)
    slots = {str(row.get("stream")): str(row.get("kind")) for row in spec.rows("03", "slots")}
    own = {name: each for name, each in trial.streams.items() if not is_shared(name)}
    for name, each in own.items():
        kind = slots.get(name)
        if kind is None:
            yield f"{where}: the run takes {name!r}, which has no slot"
        elif kind != "other" and not str(each["kind"]).startswith(kind):
            yield f"{where}: {name!r} is of the kind {each['kind']}, not {kind}"
    accepted = {*spec.column("03", "shared", "stream")}
    drawn = sorted(trial.ending.get("globals_used", ()))
    for name in (each.removeprefix(f"{SHARED_BY_MODULES}/") for each in drawn):
        if name not in accepted:
            yield f"everybody draws from {name}, and sheet 03 does not accept that in shared"
    for place in code.shared:
        if not {place.path, f"{place.path}:{place.function}"} & accepted:
            yield f"{place}: one generator serves several"
    yield Observed(f"{len(slots)} slots; {len(own)} streams in the record, none taken twice")
    yield Observed(
        f"{len(code.shared)} generators shared in the code, {len(drawn)} process-wide ones drawn from, "
        f"{len(accepted)} accepted"
    )


def _judge_slots(facts: GateFacts) -> Iterator[str]:
    spec = facts.workspace
    owners = {str(row.get("stream")): row.get("component") for row in spec.rows("02", "names")}
    where, kinds = spec.place("03", "slots"), {}
    for row in spec.rows("03", "slots"):
        stream, owner = str(row.get("stream")), row.get("owner")
        kinds[stream] = str(row.get("kind"))
        # A stream that sheet 02 does not name is check 3's.
        if stream in owners and owners[stream] != owner:
            yield f"{where}: {stream!r} belongs to {owner}, and to {owners[stream]} by sheet 02"
    for row in spec.rows("03", "vectors"):
        master, stream, draws = row.get("master"), str(row.get("stream")), row.get("draws")
        assert isinstance(master, int), "the sheet was read with whole numbers there"
        assert isinstance(draws, list), "the sheet was read with a list there"
        given = first_draws(kinds.get(stream, ""), Seed(master), stream)
        if given and given[: len(draws)] != [str(each).removeprefix("0x") for each in draws]:
            where = spec.place("03", "vectors")
            yield f"{where}: master {master} and {stream!r} first draw {given[0]}, not {draws[0]}"


@check(5, "Snapshot honesty", sheets=("04", "00"), needs=("trial", "restored"), wants=("sealed",))
def check_snapshot_honesty(facts: GateFacts) -> Iterator[str]:
    """Does 04 say what a snapshot holds and what not, and does a run go on from it as it did?"""
    spec, sheet = facts.workspace, facts.workspace.get("04")
    gaps = facts.find_gaps("04", but=("audit_encoding",))
    yield from gaps
    if sheet is None:
        return
    # Whether snapshots are what a run goes on from.
    keeps = sheet.text("cadence") != "none" and sheet.text("strategy") != "event-sourced"
    if is_complete(gaps) and not sheet.is_memo:
        yield from _judge_snapshots(facts, keeps=keeps)
    restored, trial = require(facts.restored), require(facts.trial)
    for row in sheet.rows("components"):
        if row.get("name") not in trial.components:
            tracked = ", ".join(trial.components) or "nothing"
            where = spec.place("04", "components")
            yield f"{where}: {row.get('name')!r} names nothing; the trial tracks {tracked}"
    for names in trial.ending.get("tracked_twice", ()):
        told = " and ".join(repr(each) for each in names)
        yield f"the program tracks one object as {told}: track it once, under one name"
    if not sheet.is_memo and not keeps:
        # Where no snapshot is kept, a replay from the beginning stands for them.
        sealed = optional(facts.sealed)
        if sealed is None:
            reason = getattr(facts.sealed, "reason", "")
            yield Undecided(f"no snapshot is kept, and no replay from the top: {reason}")
        elif sealed.result == "PASS":
            agree = f"executed from the top, {trial.points} compare-points agree"
            yield Observed(f"no snapshot is kept: {agree}")
        else:
            where = spec.place("04", "cadence" if sheet.text("cadence") == "none" else "strategy")
            gives = f"executing from the top gives {sealed.result}{describe_failure(sealed)}"
            yield f"{where}: no snapshot is kept, and {gives}"
        return
    missing = f" (no snapshot holds {', '.join(restored.missing)})" if restored.missing else ""
    yield from (f"{each}{missing}" for each in restored.failed)
    yield Observed(
        f"{restored.tested} of {trial.snapshots} snapshots restored in fresh processes, "
        f"{len(restored.failed)} runs went on otherwise"
    )
    if not restored.failed and not restored.on_the_way:
        yield Undecided(_NONE_ON_THE_WAY)


def _judge_snapshots(facts: GateFacts, *, keeps: bool) -> Iterator[str]:
    spec = facts.workspace
    try:
        parse_cadence(spec.text("04", "cadence"))
    except TwiceError as error:
        yield f"{spec.place('04', 'cadence')}: {error.happened} {error.expected}"
    where = spec.place("04", "state")
    answers = {str(row.get("kind")): str(row.get("answer")) for row in spec.rows("04", "state")}
    for kind in _CAPTURED if keeps else ():
        if answers.get(kind) not in {"captured", "absent"}:
            left = "a snapshot that leaves them out restores nothing"
            yield f"{where}: {kind} are {answers.get(kind)}; {left}"
    for kind, trait in _COMES_WITH.items():
        if answers.get(kind) == "absent" and facts.situation.traits.get(trait) is True:
            yield f"{where}: {kind} is absent, and by sheet 00 the system has {trait}"


def describe_failure(verification: Verification) -> str:
    """Say where a replay first differed: " at tick of tick 2: herd a / b"; "" where it did not."""
    failure = verification.failure
    if failure is None:
        return ""
    values = f"{failure.recorded} / {failure.replayed}"
    return f" at {failure.name} of tick {failure.tick}: {', '.join(failure.columns)} {values}"


@check(6, "Divergence localisation", sheets=("05",), needs=("trial", "planted"))
def check_divergence_localisation(facts: GateFacts) -> Iterator[str]:
    """Does 05 say where runs are compared and how the place where they part is found, and is one found?"""
    sheet, gaps = facts.workspace.get("05"), facts.find_gaps("05")
    yield from gaps
    if sheet is None:
        return
    if is_complete(gaps) and not sheet.is_memo:
        yield from _judge_protocol(facts, sheet)
    trial, planted = require(facts.trial), require(facts.planted)
    found = planted.divergence
    point = found.compare_point
    tick = -1 if point is None else point.tick
    components = [each for each in found.components if each != "inputs"]
    where = f"in {planted.component}.{planted.field} before tick {planted.tick}"
    if found.result != "localised":
        yield f"a difference planted {where} came out as {found.result}"
    elif tick != planted.tick or planted.component not in components:
        placed = f"placed in {', '.join(components)} at tick {tick}"
        yield f"a difference planted {where} was {placed}"
    elif not planted.is_operation_found:
        named = found.operation
        place = f"{named.file}:{named.line}" if named else "no operation"
        yield f"of a difference planted {where}, {place} was named as the operation that made it"
    yield Observed(
        f"{trial.points} compare-points over {', '.join(trial.columns)} by {trial.algorithm}"
    )
    fields = ", ".join(each.path for each in found.fields) or "no field"
    operation = "operation that planted it" if planted.is_operation_found else "wrong operation"
    yield Observed(
        f"a difference planted {where} was found at tick {tick}, in {fields}, at the {operation}"
    )


def _judge_protocol(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    spec, steps = facts.workspace, set(sheet.strings("procedure"))
    where = spec.place("05", "procedure")
    if not steps & _FINDS_THE_POINT:
        yield f"{where}: no step finds the first compare-point that differs"
    if not steps & _FINDS_THE_OPERATION:
        yield f"{where}: no step leads from a compare-point to the operation"
    if find_algorithm(sheet.text("hash")) is None:
        where = spec.place("05", "hash")
        yield f"{where}: {sheet.text('hash')!r} names no digest that twice has"
    trial, planted = optional(facts.trial), sheet.rows("planted")
    for row in planted:
        field, tick, where = (
            str(row.get("field")),
            str(row.get("tick")),
            spec.place("05", "planted"),
        )
        if not read_field(field) or not tick.isdecimal():
            example = 'for example field "places[0]", tick "3"'
            yield f"{where}: {field!r} at tick {tick!r} is no place; {example}"
        if trial is not None and str(row.get("component")) not in trial.components:
            yield f"{where}: there is no component {str(row.get('component'))!r}"
    columns = trial.columns if trial is not None else ()
    for name in sheet.strings("projection") if columns else ():
        if name != "*" and name not in columns:
            has = f"the run has {', '.join(columns)}"
            yield f"{spec.place('05', 'projection')}: {name!r} is compared nowhere; {has}"
    try:
        granularity = parse_granularity(sheet.text("granularity"))
        cadence = parse_cadence(spec.text("04", "cadence") if spec.get("04") else "none")
        require_dense(granularity, cadence)
    except SnapshotCadence as error:
        # Compare-points that are sparser than the snapshots of 04.
        yield f"{spec.place('05', 'granularity')}: {error.happened} {error.remedy}"
    except ClassRefused:
        pass  # What cannot be read is told elsewhere.


@check(7, "Replay scope honesty", sheets=("06", "00"), needs=("operations",))
def check_replay_scope(facts: GateFacts) -> Iterator[str]:
    """Does 06 keep reading and branching apart, and does every operation work that it claims?"""
    sheet, gaps = facts.workspace.get("06"), facts.find_gaps("06")
    yield from gaps
    if sheet is not None and is_complete(gaps) and not sheet.is_memo:
        where, rows = facts.workspace.place("06", "operations"), sheet.rows("operations")
        for row in rows:
            operation, kind = str(row.get("operation")), row.get("kind")
            if (operation in _BRANCHING) != (kind == "branching"):
                other = "branching" if operation in _BRANCHING else "read-only"
                yield f"{where}: {operation} is {other}, not {kind}: these are two machines"
            if "workload" not in row:
                yield f"{where}: nobody said for whom {operation} is"
        claimed = any(row.get("kind") == "branching" for row in rows)
        branches = facts.situation.traits.get(Trait.BRANCHING)
        if branches is True and not claimed:
            yield f"{where}: by sheet 00 runs branch, and no operation is branching"
        if branches is False and claimed:
            yield f"{where}: an operation is branching, and by sheet 00 no run branches"
    for each in require(facts.operations):
        if each.worked:
            yield Observed(f"{each.operation}: {each.told}")
        else:
            yield f"{each.operation} does not work: {each.told}"
