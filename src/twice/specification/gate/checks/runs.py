"""Checks 3 to 7: seeds and streams, snapshots, compare-points, and the operations of sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from twice.errors import ClassRefused, SnapshotCadence, TwiceError
from twice.foundation.printable import pluralize
from twice.foundation.seeds import RULE, SHARED_BY_MODULES, Seed, derive, is_shared
from twice.recorder.cadence import parse_cadence, parse_granularity, require_dense
from twice.replayer.branch_session import BRANCHES_OPEN_MAX
from twice.replayer.verification import Verification
from twice.specification.gate.model import (
    GateFacts,
    Observed,
    Undecided,
    check,
    is_complete,
    list_within,
    optional,
    require,
)
from twice.specification.gate.plan import find_algorithm, read_field
from twice.specification.record_traits import first_draws
from twice.specification.throughput import ReplayPromise, read_promise
from twice.specification.tiers import StateKind, Trait

_MOVED: Final[dict[bool | None, str]] = {
    True: "another seed gives another run",
    False: "another seed gives the same run",
}
_RULE: Final = re.compile(r"\brule[ :=-]*(\d+)", re.IGNORECASE)
_CAPTURED: Final = (StateKind.COMPONENTS, StateKind.STREAMS, StateKind.EFFECT_CURSORS)
_COMES_WITH: Final = {StateKind.SCHEDULER: Trait.CONCURRENCY, StateKind.GPU_MEMORY: Trait.GPU}
_NONE_ON_THE_WAY: Final = (
    "no snapshot of the trial stands after its first tick, so nothing shows that one taken on the way is "
    "enough: a longer run in 00, or a denser cadence in 04"
)
_FINDS_THE_POINT: Final = frozenset({"compare-points", "binary-search"})
_FINDS_THE_OPERATION: Final = frozenset({"re-execution", "operation-tracing"})
_BRANCHING: Final = frozenset({"branch", "step-with", "rollback"})


@check(3, "Seed lineage", "02", needs=("trial", "code", "reseeded"))
def check_seed_lineage(facts: GateFacts) -> Iterator[str]:
    """Check that 02 traces every draw back to the seed of the run, without a default seed."""
    spec, gaps = facts.workspace, facts.find_gaps("02")
    yield from gaps
    if spec.get("02") is None:
        return
    said = _RULE.search(spec.text("02", "derivation"))
    if is_complete(gaps) and (said is None or int(said[1]) != RULE):
        unnamed = f'it does not name the rule in force by its number: "rule {RULE}"'
        yield facts.tell("02", "derivation", unnamed)
    for row in spec.rows("02", "vectors") if is_complete(gaps) else ():
        master, vector, seed = row.get("master"), str(row.get("name")), str(row.get("seed"))
        assert isinstance(master, int), "the sheet was read with whole numbers there"
        try:
            given = derive(Seed(master), vector).hex
        except TwiceError as error:
            given = error.id
        if given.removeprefix("0x") != seed.removeprefix("0x"):
            other = f"master {master} gives {vector!r} the seed {given}, not {seed}"
            yield facts.tell("02", "vectors", other)
    trial, code, moved = require(facts.trial), require(facts.code), require(facts.reseeded)
    streams = {name: each for name, each in trial.streams.items() if each["draws"] != 0}
    streams = {name: each for name, each in streams.items() if not is_shared(name)}
    named = {*spec.column("02", "names", "stream")}
    accepted = {*spec.column("02", "accepted", "place")}
    for name in streams:
        if name not in named:
            yield facts.tell("02", "names", f"the run draws from {name!r}, which is not named")
    for name, each in streams.items():
        # Only a generator that somebody else made and seeded has no seed in the ledger.
        if each["seed"] is None and name not in accepted:
            told = f"{name!r} was adopted, and its seed is not derived from the run's: seed it with"
            so = f"run.streams.seed_for({name!r}), or accept it in 02"
            yield facts.tell("02", "names", f"{told} {so}")
    audited = spec.strings("02", "audit")
    orphans = list_within(code.orphans, audited)
    for place in orphans:
        if not place.is_accepted(accepted):
            yield f"{place} {place.fault or 'has no owner'}"
    yield from facts.find_outside("02", "audit")
    if moved is False:
        yield facts.tell("02", "seedless", f"{_MOVED[False]}, and no reason is given")
    counted = f"{len(orphans)} without an owner, {pluralize(len(accepted), 'place is', 'places are')} accepted"
    drawing = f"{pluralize(len(list_within(code.draws, audited)), 'place draws, makes or seeds', 'places draw, make or seed')}"
    yield Observed(f"{drawing} in {', '.join(audited)}; {counted}")
    derived = ", ".join(name for name, each in streams.items() if each["seed"] is not None)
    yield Observed(f"the run drew from {derived or 'no stream'}, from its seed by rule {RULE}")
    why = spec.text("02", "seedless") or f"the tier is {facts.tier}"
    yield Observed(_MOVED.get(moved) or f"whether seeds part is not asked: {why}")
    idle = sorted(named - {*trial.streams})
    if idle:
        yield Observed(f"named and not taken in the trial: {', '.join(idle)}")


@check(4, "RNG isolation", "03", "02", needs=("taken", "trial", "code"))
def check_rng_isolation(facts: GateFacts) -> Iterator[str]:
    """Check that each component that draws has a generator of its own, in code and record."""
    spec, gaps = facts.workspace, facts.find_gaps("03")
    yield from gaps
    if spec.get("03") is None:
        return
    rows = spec.rows("03", "slots")
    slots = {str(row.get("stream")): str(row.get("kind")) for row in rows}
    if is_complete(gaps):
        owners = {str(row.get("stream")): row.get("component") for row in spec.rows("02", "names")}
        for row in rows:
            # A stream that sheet 02 does not name is check 3's.
            stream, owner = str(row.get("stream")), row.get("owner")
            if owners.get(stream, owner) != owner:
                other = f"{stream!r} belongs to {owner}, and to {owners[stream]} by sheet 02"
                yield facts.tell("03", "slots", other)
        for row in spec.rows("03", "vectors"):
            master, stream, draws = row.get("master"), str(row.get("stream")), row.get("draws")
            assert isinstance(master, int), "the sheet was read with whole numbers there"
            assert isinstance(draws, list), "the sheet was read with a list there"
            first = first_draws(slots.get(stream, ""), Seed(master), stream)
            if first and first[: len(draws)] != [str(each).removeprefix("0x") for each in draws]:
                other = f"master {master} and {stream!r} first draw {first[0]}, not {draws[0]}"
                yield facts.tell("03", "vectors", other)
        refused = optional(facts.taken)
        if refused:
            yield f"the program asks for a stream that it may not have: {refused}"
    require(facts.taken)
    trial, code = require(facts.trial), require(facts.code)
    own = {name: str(each["kind"]) for name, each in trial.streams.items() if not is_shared(name)}
    for name, given in own.items():
        kind = slots.get(name)
        if kind is None:
            yield facts.tell("03", "slots", f"the run takes {name!r}, which has no slot")
        elif kind != "other" and not given.startswith(kind):
            yield facts.tell("03", "slots", f"{name!r} is of the kind {given}, not {kind}")
    accepted = {*spec.column("03", "shared", "stream")}
    drawn = sorted(trial.ending.get("globals_used", ()))
    for name in (each.removeprefix(f"{SHARED_BY_MODULES}/") for each in drawn):
        if name not in accepted:
            yield f"everybody draws from {name}, and sheet 03 does not accept that in shared"
    for place in code.shared:
        if not place.is_accepted(accepted):
            yield f"{place}: one generator serves several"
    yield Observed(
        f"{pluralize(len(slots), 'slot')}; {pluralize(len(own), 'stream')} in the record, none taken twice"
    )
    shared = f"{pluralize(len(code.shared), 'generator')} shared in the code"
    drawn_from = f"{pluralize(len(drawn), 'process-wide one')} drawn from, {len(accepted)} accepted"
    yield Observed(f"{shared}, {drawn_from}")


@check(5, "Snapshot honesty", "04", "00", needs=("trial", "restored"), wants=("sealed",))
def check_snapshot_honesty(facts: GateFacts) -> Iterator[str]:
    """Check that 04 lists a snapshot's contents and gaps, and that a run resumes exactly."""
    sheet, gaps = facts.workspace.get("04"), facts.find_gaps("04", but=("audit_encoding",))
    yield from gaps
    if sheet is None:
        return
    # Whether snapshots are what a run goes on from.
    keeps = sheet.text("cadence") != "none" and sheet.text("strategy") != "event-sourced"
    if is_complete(gaps) and not sheet.is_memo:
        try:
            parse_cadence(sheet.text("cadence"))
        except TwiceError as error:
            yield facts.tell("04", "cadence", f"{error.happened} {error.expected}")
        answers = {str(row.get("kind")): str(row.get("answer")) for row in sheet.rows("state")}
        for kind in _CAPTURED if keeps else ():
            if answers.get(kind) not in {"captured", "absent"}:
                left = "a snapshot that leaves them out restores nothing"
                yield facts.tell("04", "state", f"{kind} are {answers.get(kind)}; {left}")
        for kind, trait in _COMES_WITH.items():
            if answers.get(kind) == "absent" and facts.situation.traits.get(trait) is True:
                has = f"{kind} is absent, and by sheet 00 the system has {trait}"
                yield facts.tell("04", "state", has)
    restored, trial = require(facts.restored), require(facts.trial)
    for row in sheet.rows("components"):
        if row.get("name") not in trial.components:
            tracked = f"the trial tracks {', '.join(trial.components) or 'nothing'}"
            yield facts.tell("04", "components", f"{row.get('name')!r} names nothing; {tracked}")
    for names in trial.ending.get("tracked_twice", ()):
        told = " and ".join(map(repr, names))
        yield f"the program tracks one object as {told}: track it once, under one name"
    if not sheet.is_memo and not keeps:
        # Where no snapshot is kept, a replay from the beginning stands for them.
        sealed = optional(facts.sealed)
        if sealed is None:
            reason = getattr(facts.sealed, "reason", "")
            yield Undecided(f"no snapshot is kept, and no replay from the top: {reason}")
        elif sealed.result == "PASS":
            agree = f"executed from the top, {pluralize(trial.points, 'compare-point agrees', 'compare-points agree')}"
            yield Observed(f"no snapshot is kept: {agree}")
        else:
            key = "cadence" if sheet.text("cadence") == "none" else "strategy"
            gives = f"executing from the top gives {sealed.result}{describe_failure(sealed)}"
            yield facts.tell("04", key, f"no snapshot is kept, and {gives}")
        return
    missing = f" (no snapshot holds {', '.join(restored.missing)})" if restored.missing else ""
    yield from (f"{each}{missing}" for each in restored.failed)
    put_back = (
        f"{restored.tested} of {pluralize(trial.snapshots, 'snapshot')} restored in fresh processes"
    )
    yield Observed(f"{put_back}, {pluralize(len(restored.failed), 'run')} went on otherwise")
    if not restored.failed and not restored.on_the_way:
        yield Undecided(_NONE_ON_THE_WAY)


def describe_failure(verification: Verification) -> str:
    """Say where a replay first differed: " at tick of tick 2: herd a / b"; "" where it did not."""
    failure = verification.failure
    if failure is None:
        return ""
    values = f"{failure.recorded} / {failure.replayed}"
    return f" at {failure.name} of tick {failure.tick}: {', '.join(failure.columns)} {values}"


@check(6, "Divergence localisation", "05", needs=("trial", "planted"))
def check_divergence_localisation(facts: GateFacts) -> Iterator[str]:
    """Check that 05 says where runs are compared and how to find the first difference; find one."""
    sheet, gaps = facts.workspace.get("05"), facts.find_gaps("05")
    yield from gaps
    if sheet is None:
        return
    if is_complete(gaps) and not sheet.is_memo:
        steps, seen = set(sheet.strings("procedure")), optional(facts.trial)
        if not steps & _FINDS_THE_POINT:
            none = "no step finds the first compare-point that differs"
            yield facts.tell("05", "procedure", none)
        if not steps & _FINDS_THE_OPERATION:
            none = "no step leads from a compare-point to the operation"
            yield facts.tell("05", "procedure", none)
        if find_algorithm(sheet.text("hash")) is None:
            none = f"{sheet.text('hash')!r} names no digest that twice has"
            yield facts.tell("05", "hash", none)
        for row in sheet.rows("planted"):
            component, field, at = (str(row.get(key)) for key in ("component", "field", "tick"))
            if not read_field(field) or not at.isdecimal():
                example = 'for example field "places[0]", tick "3"'
                none = f"{field!r} at tick {at!r} is no place; {example}"
                yield facts.tell("05", "planted", none)
            if seen is not None and component not in seen.components:
                yield facts.tell("05", "planted", f"there is no component {component!r}")
        columns = seen.columns if seen is not None else ()
        for name in sheet.strings("projection") if columns else ():
            if name not in {"*", *columns}:
                has = f"{name!r} is compared nowhere; the run has {', '.join(columns)}"
                yield facts.tell("05", "projection", has)
        try:
            granularity = parse_granularity(sheet.text("granularity"))
            kept = facts.workspace.text("04", "cadence") if facts.workspace.get("04") else "none"
            require_dense(granularity, parse_cadence(kept))
        except SnapshotCadence as error:
            yield facts.tell("05", "granularity", f"{error.happened} {error.remedy}")
        except ClassRefused:
            pass  # What cannot be read is told elsewhere.
    trial, planted = require(facts.trial), require(facts.planted)
    found, operation = planted.divergence, planted.divergence.operation
    tick = found.compare_point.tick if found.compare_point else -1
    components = [each for each in found.components if each != "inputs"]
    where = f"planted in {planted.component}.{planted.field} before tick {planted.tick}"
    if found.result != "localised":
        yield f"the diagnosis of a difference {where} is {found.result}"
    elif tick != planted.tick or planted.component not in components:
        yield f"a difference {where} was placed in {', '.join(components)} at tick {tick}"
    elif not planted.is_operation_found:
        place = f"{operation.file}:{operation.line}" if operation else "no operation"
        yield f"of a difference {where}, {place} was named as the operation that made it"
    judged = ", ".join(trial.columns)
    yield Observed(f"{pluralize(trial.points, 'compare-point')} over {judged} by {trial.algorithm}")
    fields = ", ".join(each.path for each in found.fields) or "no field"
    right = "operation that planted it" if planted.is_operation_found else "wrong operation"
    yield Observed(f"a difference {where} was found at tick {tick}, in {fields}, at the {right}")


@check(7, "Replay scope honesty", "06", "00", needs=("operations",), wants=("costs",))
def check_replay_scope(facts: GateFacts) -> Iterator[str]:
    """Check that 06 keeps reading and branching apart, that every claimed operation works, and its figure of replay."""
    sheet, gaps = facts.workspace.get("06"), facts.find_gaps("06")
    yield from gaps
    if sheet is not None and is_complete(gaps) and not sheet.is_memo:
        rows = sheet.rows("operations")
        for row in rows:
            operation, kind = str(row.get("operation")), row.get("kind")
            right = "branching" if operation in _BRANCHING else "read-only"
            if (right == "branching") != (kind == "branching"):
                other = f"{operation} is {right}, not {kind}: these are two machines"
                yield facts.tell("06", "operations", other)
            if "workload" not in row:
                yield facts.tell("06", "operations", f"nobody said for whom {operation} is")
        claimed = any(row.get("kind") == "branching" for row in rows)
        branches = facts.situation.traits.get(Trait.BRANCHING)
        if branches is True and not claimed:
            none = "by sheet 00 runs branch, and no operation is branching"
            yield facts.tell("06", "operations", none)
        if branches is False and claimed:
            one = "an operation is branching, and by sheet 00 no run branches"
            yield facts.tell("06", "operations", one)
        stated = sheet.get("branches")
        if isinstance(stated, int) and stated > BRANCHES_OPEN_MAX:
            more = f"{stated} may be open at once, and twice opens {BRANCHES_OPEN_MAX} at most"
            yield facts.tell("06", "branches", more)
    promise = None if sheet is None else read_promise(sheet.text("throughput"))
    if promise is not None:
        yield _judge_throughput(promise, facts)
    for each in require(facts.operations):
        if each.worked:
            yield Observed(f"{each.operation}: {each.told}")
        else:
            yield f"{each.operation} does not work: {each.told}"


def _judge_throughput(promise: ReplayPromise, facts: GateFacts) -> str:
    """Hold a promised figure of replay against the measured one."""
    costs = optional(facts.costs)
    measured = None if costs is None else costs.replay.get(promise.unit)
    if measured is None:
        unmeasured = f"replay is promised to be {promise}, and was not measured"
        command = "twice cost --replay --write"
        return Undecided(facts.tell("06", "throughput", f"{unmeasured}: {command}"))
    found = promise.describe(measured)
    result = promise.judge(measured)
    if result == "broken":
        more = f"replay is promised to be {promise}, and {found} was measured"
        return facts.tell("06", "throughput", more)
    return Observed(f"replay is promised to be {promise}: {result}, {found}")
