"""The orders of steps by which one simulated run differs from another, tried until only those are left that matter.

Both runs are executed in their own orders, which gives their steps. Then the program of one is executed in the order of
the other, with some orders of two steps as its own run has them: all of them, none, and fewer and fewer. Each
execution is one of the same program with the same recorded answers, so that only the order of steps differs.

Not for: the files that runs leave, which are not compared here.

Invariant: an order is called the cause if the difference was seen with it and was not seen without it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from twice.diagnosis.attribution import Observations
from twice.diagnosis.divergence import Confirmation
from twice.diagnosis.executions import Side
from twice.diagnosis.log_comparison import LogDivergence, list_unequal_judged
from twice.diagnosis.schedule_parting import ScheduleParting
from twice.diagnosis.schedule_verdict import CAUSE, report_parting
from twice.errors import Deadlock, TimeLimitReached, TwiceError
from twice.foundation.channels import Channel
from twice.foundation.dataclass import dataclass
from twice.recorder.components import SCHEDULE
from twice.recorder.output import RESULTS
from twice.recorder.runrecord import RunRecord
from twice.replayer.outcome import list_ending_parts
from twice.replayer.record_outcomes import compare_outcomes
from twice.schedules.shrink import (
    Ordering,
    locate_fault,
    locate_orderings,
    locate_steps,
    shrink,
)
from twice.schedules.tighten import tighten
from twice.simulation.faults import StruckFault
from twice.simulation.trace import TracedStep
from twice.simulation.waits import SourceLine
from twice.worker.concurrency import run_concurrently

Progress = Callable[[str], None]
_WIDTH: Final = 16
_DEADLOCK: Final = f"{Deadlock.__module__}.{Deadlock.__qualname__}"


@dataclass(frozen=True)
class _Place:
    """A compare-point, and the columns besides the schedule in which two runs differ there."""

    index: int = 0
    columns: Sequence[str] = ()


@dataclass(frozen=True)
class _Followed:
    """What an execution in an order gave: its steps, what it can differ in, and whether it is as its record."""

    steps: Sequence[TracedStep]
    outcome: Mapping[str, object]
    unmet: Sequence[str] = ()
    struck: Sequence[StruckFault] = ()
    is_as_recorded: bool = False

    @property
    def keys(self) -> list[str]:
        return [step.key for step in self.steps]


def explain_schedule(
    a: Side, b: Side, where: LogDivergence, seen: Observations, progress: Progress, obstacle: str
) -> dict[str, Any] | None:
    """Find the orders of steps that make the difference of two simulated runs.

    Args:
        a: one run.
        b: the other.
        where: where their logs part.
        seen: what is known of them; experiments and caveats are added.
        progress: called with what is being done.
        obstacle: why the runs cannot be executed; empty if they can.

    Returns:
        The members of a verdict; None where the order of steps is the same, is no cause, or differs only behind
        another difference.
    """
    one, two = a.record, b.record
    parted, place = _find_differences(one, two)
    is_torn = not (one.complete and two.complete)
    outcome = [] if is_torn else compare_outcomes(one, two)[0]
    if parted is None or (where.at is None and not outcome):
        return None
    is_first = where.at is None or parted <= where.at.index
    if not is_first and one.seed == two.seed:
        return None
    obstacle = obstacle or "a record is torn" * is_torn
    found: ScheduleParting | None = ScheduleParting(obstacle=obstacle)
    if not obstacle:
        # The run that failed is the one to explain.
        good, bad = (b, a) if _has_failed(one) and not _has_failed(two) else (a, b)
        try:
            found = _try_orders(good, bad, place, seen, progress)
        except TwiceError as error:
            found = ScheduleParting(obstacle=error.happened)
    if found is not None and not (found.difference or found.obstacle) and outcome:
        found = replace(found, obstacle=f"they differ in {outcome[0].what} besides")
    if found is None or (found.obstacle and not is_first):
        return None
    if found.obstacle:
        seen.caveats.append(f"no order of steps is named: {found.obstacle}")
        seen.evidence += [*_list_kept_orders(a), *_list_kept_orders(b)]
    return {
        "schedule": found,
        "outcome": outcome,
        "evidence": seen.evidence,
        **report_parting(found),
    }


def _list_kept_orders(side: Side) -> list[str]:
    """Say which orders a record keeps to, by the keys of their steps."""
    order = side.record.setup.order
    after = {} if order is None else order.after
    return [f"run {side.label} was made with {one} before {two}" for two, one in after.items()]


def _has_failed(record: RunRecord) -> bool:
    return bool((record.ending or {}).get("exit_code"))


def _find_differences(a: RunRecord, b: RunRecord) -> tuple[int | None, _Place]:
    """Return the first compare-point at which the schedules differ, and the first at which something else does."""
    parted, place = None, _Place()
    if a.setup.order is None or b.setup.order is None:
        return parted, place
    # Positions of streams differ from the beginning under two seeds.
    passed_over = {SCHEDULE} if a.seed == b.seed else {SCHEDULE, "streams"}
    rows = zip(a.reader.points.rows(), b.reader.points.rows(), strict=False)
    for index, ((_, shape, one), (_, _, two)) in enumerate(rows):
        if one == two:
            continue
        names = shape.components
        differing = {name for n, name in enumerate(names) if _cut(one, n) != _cut(two, n)}
        # A value that the program compares by name may have that name too.
        if parted is None and SCHEDULE in differing and len(names) > 1:
            parted = index
        if not differing <= passed_over:
            judged = [each for each in list_unequal_judged(a, b, index) if each in differing]
            columns = [each for each in judged if each not in passed_over]
            if columns:
                place = _Place(index, columns)
                break
    return parted, place


def differ_besides_order(a: RunRecord, b: RunRecord) -> bool:
    """Return whether two simulated runs differ in more than the order of their steps."""
    if len(a.reader.points) != len(b.reader.points):
        return True
    return bool(_find_differences(a, b)[1].columns or compare_outcomes(a, b)[0])


def _cut(digests: bytes, number: int) -> bytes:
    return digests[number * _WIDTH : (number + 1) * _WIDTH]


def _follow(
    side: Side,
    place: _Place,
    keys: Sequence[str] | None = None,
    after: Mapping[str, str] | None = None,
    *,
    keeps_steps: bool = False,
    faults: Sequence[str] | None = None,
) -> _Followed:
    """Execute a run in its own order, or in that of keys with constraints; a program that cannot go on there is refused."""
    record = side.record
    keeps_steps = keeps_steps or keys is None
    order = {"keys": keys, "after": dict(after or {}), "keeps_steps": keeps_steps, "faults": faults}
    try:
        message = side.follow(point=place.index, **order)
    except TimeLimitReached:
        raise
    except TwiceError as error:
        if keys is None:
            raise
        return _Followed((), {"ending": error.id})
    last = record.reader.points.point(len(record.reader.points) - 1)
    parts = list_ending_parts(message["ending"], record.program_folders())
    return _Followed(
        [
            TracedStep(key, place_key, arrival, time_ns, line and SourceLine(*line))
            for key, place_key, arrival, time_ns, line in message["steps"]
        ],
        _read_outcome(message, parts, place),
        message["unmet"],
        [*map(StruckFault.unpack, message["struck"])],
        (message["chain"], message["last"]) == (last.chain, last.digests)
        and parts == list_ending_parts(record.ending or {}, record.program_folders()),
    )


def _read_outcome(
    message: Mapping[str, Any], parts: Sequence[str], place: _Place
) -> dict[str, object]:
    """Return what executions can differ in besides their steps, what matters most first."""
    exit_, kind, text, line = parts
    results = message["ending"][RESULTS] or {}
    columns = f"compare-point {place.index}: {', '.join(place.columns)}"
    return {
        # Which deadlock it is, only its message says: the places at which tasks wait.
        "ending": (exit_, kind, line, text if kind == _DEADLOCK else ""),
        "errors that nobody waits for": message["unheard"],
        "message": text,
        # By type and digest, as records are compared.
        "returned value": {**(results.get("returned") or {}), "text": ""},
        "summary": results.get("summaries"),
        columns: [message["digests"].get(name) for name in place.columns],
    }


def _try_orders(
    good: Side, bad: Side, place: _Place, seen: Observations, progress: Progress
) -> ScheduleParting | None:
    """Execute both runs, and find what their other orders make of one of them."""
    progress("executing both runs in their own orders")
    one, two = run_concurrently([partial(_follow, side, place) for side in (good, bad)])
    for side, made in ((good, one), (bad, two)):
        side.repeats.append(made.is_as_recorded)
    restless = [side.label for side in (good, bad) if not all(side.repeats)]
    if restless:
        why = f"run {restless[0]}, executed again in its own order, is not as it was recorded"
        return ScheduleParting(obstacle=why)
    pairs = enumerate(zip(one.keys, two.keys, strict=False))
    step = next((number for number, (mine, other) in pairs if mine != other), None)
    own = bad.record.setup.order
    kept = {each.key for each in one.struck}
    faults = [each for each in two.struck if each.key not in kept]
    if step is None and not faults:
        return None  # the same steps, at other times
    parting = ScheduleParting(explained=bad.label)
    if step is not None:
        steps = {
            side.label: locate_steps(made.steps)[made.keys[step]]
            for side, made in ((good, one), (bad, two))
        }
        parting = replace(parting, step=step, steps=[steps["a"], steps["b"]])
    what = next((name for name in one.outcome if one.outcome[name] != two.outcome[name]), None)
    if what is None:
        return parting
    parting = replace(parting, difference=what)
    if faults and own is not None:
        progress("executing one run without its faults")
        others = [each for each in own.faults if each in kept]
        is_gone = _follow(bad, place, faults=others).outcome.get(what) != two.outcome[what]
        if is_gone or step is None:
            return _name_faults(parting, faults, two) if is_gone else None
    progress("trying orders of steps between those of both runs")
    return _reduce(bad, place, one, two, parting, seen)


def _name_faults(
    parting: ScheduleParting, faults: Sequence[StruckFault], made: _Followed
) -> ScheduleParting:
    """Name the faults without which a run does not have its difference."""
    places = locate_steps(made.steps)
    located = [locate_fault(each, places) for each in faults]
    return replace(
        parting,
        faults=located,
        sentences=[f"{each} in run {parting.explained}" for each in located],
        runs=1,
        is_minimal=len(located) == 1,
        is_undone=True,
    )


def _reduce(
    bad: Side,
    place: _Place,
    one: _Followed,
    two: _Followed,
    parting: ScheduleParting,
    seen: Observations,
) -> ScheduleParting | None:
    """Reduce the orders of a run that the other one does not have to those that make its difference."""
    keys, what, label = _merge(one.keys, two.keys), parting.difference, bad.label
    places = {key: number for number, key in enumerate(keys)}
    steps = [step._replace(arrival=places[step.key]) for step in two.steps]
    given: list[bool] = []

    def note(made: _Followed) -> bool:
        given.append(made.outcome.get(what) == two.outcome[what])
        return given[-1]

    def gives(after: Mapping[str, str]) -> bool:
        made = _follow(bad, place, keys, after)
        # An order that did not come about only held a step back, which no sentence could say.
        return note(made) and not made.unmet

    shrunk = shrink(steps, gives)
    if shrunk is None:
        return replace(
            parting, obstacle=f"all orders of run {label} together do not make its {what}"
        )
    if not shrunk.after:
        sentence = f"run {label}, in the order of the other run, still has its {what}"
        seen.experiments.append(Confirmation(CAUSE, Channel.CONCURRENCY, "refuted", sentence))
        seen.caveats.append(
            f"the runs also go on in other orders from step {parting.step} on, so a line that is named may differ "
            "for that alone"
        )
        return None
    after = tighten(shrunk.after, steps, gives)
    final = _follow(bad, place, keys, after, keeps_steps=True)
    # Once more with and without: an execution that follows from more than its order proves nothing.
    if not note(final) or final.unmet or note(_follow(bad, place, keys)):
        why = f"two executions in one order did not both have the {what} of run {label}, or both lack it"
        return replace(parting, obstacle=why)
    undone = _follow(bad, place, two.keys, {one: two for two, one in after.items()})
    is_undone = not note(undone) and not undone.unmet
    if given[-1] and not undone.unmet:
        seen.caveats.append(f"other orders of run {label} make its {what} too, without these")
    orders = [
        (locate_orderings({later: earlier}, final.steps)[0], earlier, later)
        for later, earlier in sorted(after.items(), key=lambda pair: final.keys.index(pair[1]))
    ]
    texts = Counter(str(order) for order, *_ in orders)
    return replace(
        parting,
        orders=[order for order, *_ in orders],
        sentences=[
            _describe(*each, one.keys, label, names_tasks=texts[str(each[0])] > 1)
            for each in orders
        ],
        runs=len(given),
        with_difference=sum(given),
        is_minimal=shrunk.is_minimal,
        is_undone=is_undone,
    )


def _merge(keys: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return keys in their order, with those of another order that are not among them behind their predecessors there."""
    known = set(keys)
    behind: dict[str, list[str]] = defaultdict(list)
    last = ""
    for key in others:
        if key in known:
            last = key
        else:
            behind[last].append(key)
    return [*behind[""], *(each for key in keys for each in (key, *behind[key]))]


def _describe(
    order: Ordering, first: str, then: str, others: Sequence[str], label: str, *, names_tasks: bool
) -> str:
    """Say that a run has an order of two steps, and what the other run, with its keys, has instead."""
    other = "a" if label == "b" else "b"
    told = str(order)
    if names_tasks:  # of several orders that read the same
        places = (order.first, order.then)
        told = " ran before ".join(f"{each} of {each.actor}" for each in places)
    if first not in others or then not in others:
        return f"{told} in run {label}, and not both of them ran in run {other}"
    is_turned = others.index(first) > others.index(then)
    return f"{told} in run {label}" + (f", after it in run {other}" if is_turned else "")
