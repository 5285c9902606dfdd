"""Causes tried by experiment: change one thing, and see whether the difference moves or goes.

Surroundings that differ are swapped: one at a time (a harmless one may stay alive beside the guilty one), and with
``--confirm`` all of them, and the least set that moves the parting. Reads of the world that differ are lent, one
source at a time. A run that does not even reproduce itself is steadied: executed several times with its addresses
(as forks of one process), its turns of threads, its libraries' threads or its collector held still.

A cause is confirmed when changing it alone changes the outcome, refuted when it does not. Holding still
proves something only where agreeing by luck is unlikely: the executions that must agree are counted from
how often the run agreed before, and where that would take too many, the experiment says nothing.

Invariant: a cause is confirmed or refuted by executions that differ in nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from twice.diagnosis.attribution import DifferingFactor, channel_of_factor
from twice.diagnosis.divergence import Confirmation, Outcome
from twice.diagnosis.executions import FIRST, Executed, Side, Window
from twice.diagnosis.log_comparison import PointRef
from twice.diagnosis.minimal_causes import Group, find_minimal_causes
from twice.diagnosis.read_comparison import BY_LIBRARY, reads_that_differ
from twice.foundation.channels import Channel
from twice.recording.effects.ops import OPS
from twice.recording.surroundings import THREAD_CAPS, Surroundings, Variable, swap
from twice.recording.surroundings.handed import CHILD_CPUS, CHILD_GC, CHILD_SWITCH
from twice.worker.concurrency import run_concurrently

_FIRST: Final = 4
_MOST: Final = 12
_LUCK: Final = 0.05


def swap_one_by_one(
    a: Side, b: Side, window: Window, columns: Sequence[str], factors: Sequence[DifferingFactor]
) -> list[DifferingFactor]:
    """Give side a each factor of side b in turn, and see whether the judged columns move.

    Args:
        a: the side that is executed; it must reproduce itself.
        b: the side that factors are taken from.
        window: up to the point at which the runs part.
        columns: judged columns that differ there.
        factors: what to try.
    """
    given = [swap(a.surroundings, b.surroundings, factor.name) for factor in factors]
    calls = [partial(a.execute, window, None, each) for each in given]
    flips = _leave_record(a, window, columns, calls)
    return [replace(factor, flips=flip) for factor, flip in zip(factors, flips, strict=True)]


def _leave_record(
    a: Side, window: Window, columns: Sequence[str], calls: Sequence[Callable[[], Executed]]
) -> list[bool]:
    """Whether each of some executions of a side leaves its record in the judged columns."""
    recorded = a.record.reader.points.point(window.last).digests
    return [
        not made.reached or any(made.digests.get(name) != recorded.get(name) for name in columns)
        for made in run_concurrently(calls)
    ]


def try_causes(
    a: Side,
    b: Side,
    window: Window,
    columns: Sequence[str],
    factors: Sequence[DifferingFactor],
    at: PointRef,
) -> list[Confirmation]:
    """Try what differs between two runs: surroundings that were swapped one by one, else what was read.

    Args:
        a: the side that is executed; it must reproduce itself.
        b: the side that causes are taken from.
        window: up to the point at which the runs part.
        columns: judged columns that differ there.
        factors: differing surroundings, as ``swap_one_by_one`` gives them.
        at: where the runs part.
    """
    tried = _try_surroundings(a, b, window, columns, factors)
    if not any(each.outcome == "confirmed" for each in tried):
        tried += _try_reads(a, b, window, columns, reads_that_differ(a.record, b.record, at))
    return tried


def _try_surroundings(
    a: Side, b: Side, window: Window, columns: Sequence[str], factors: Sequence[DifferingFactor]
) -> list[Confirmation]:
    """Whether the differing surroundings make the difference: each as it was swapped, then together."""
    found = [
        _conclude(
            each.name,
            channel_of_factor(each.name),
            confirmed=bool(each.flips),
            sentence=f"run a with the {each.name} of run b alone "
            f"{'leaves' if each.flips else 'keeps to'} its record",
        )
        for each in factors
        if each.flips is not None
    ]
    if len(factors) < 2 or any(each.flips for each in factors):
        return found
    known: dict[frozenset[str], bool] = {frozenset([each.name]): False for each in factors}

    def differ(groups: Sequence[Group]) -> list[bool]:
        new = [group for group in groups if frozenset(group) not in known]
        calls = []
        for group in new:
            given = a.surroundings
            for name in group:
                given = swap(given, b.surroundings, name)
            calls.append(partial(a.execute, window, None, given))
        for group, leaves in zip(new, _leave_record(a, window, columns, calls), strict=True):
            known[frozenset(group)] = leaves
        return [known[frozenset(group)] for group in groups]

    for group in find_minimal_causes([each.name for each in factors], differ):
        sentence = f"run a leaves its record with these of run b together: {', '.join(group)}"
        channel = channel_of_factor(group[0])
        found.append(_conclude(" + ".join(group), channel, confirmed=True, sentence=sentence))
    return found


def _try_reads(
    a: Side, b: Side, window: Window, columns: Sequence[str], differing: Sequence[str]
) -> list[Confirmation]:
    """Whether the reads that differ make the difference: each source of run b lent to run a."""
    sources = dict.fromkeys(
        name.partition(".")[0] for name in differing if not name.endswith(BY_LIBRARY)
    )
    if a.start is not None or b.start is not None:
        return []
    calls = []
    for source in sources:
        ops = [number for number in sorted(OPS) if OPS[number].name.startswith(f"{source}.")]
        calls.append(partial(a.execute, window, None, lent=(str(b.record.path.absolute()), ops)))
    found = []
    for source, flips in zip(sources, _leave_record(a, window, columns, calls), strict=True):
        sentence = (
            f"run a, given what run b read from the {source} and nothing else of it, "
            f"{'leaves' if flips else 'keeps to'} its record"
        )
        found.append(_conclude(source, Channel.EFFECTS, confirmed=flips, sentence=sentence))
    return found


def hold_still_one_by_one(side: Side, window: Window, columns: Sequence[str]) -> list[Confirmation]:
    """What keeps a run from reproducing itself, by holding one thing still at a time."""
    seen = Counter(_outcomes(side, window, columns, side.surroundings, _FIRST))
    most = max(seen.values())
    if most == _FIRST:
        return []
    needed = 1 + math.ceil(math.log(_LUCK) / math.log(most / _FIRST))
    found = []
    for still in _held_still(side.surroundings):
        if needed > _MOST:
            sentence = f"{most} of {_FIRST} executions agree anyway: too many to tell anything"
            found.append(Confirmation(still.cause, still.channel, "open", sentence))
            continue
        held = _with(side.surroundings, still.variables)
        seen_held = _outcomes(side, window, columns, held, 2, fork_of=still.fork_of)
        if len(set(seen_held)) == 1:
            seen_held += _outcomes(side, window, columns, held, needed - 2, fork_of=still.fork_of)
        agree = len(set(seen_held)) == 1
        sentence = (
            f"with {still.cause} held still {len(seen_held)} executions "
            f"{'agree' if agree else 'still differ'}; without, {len(seen)} of {_FIRST} are different"
        )
        outcome: Outcome = "confirmed" if agree else "refuted" if still.wholly else "open"
        found.append(Confirmation(still.cause, still.channel, outcome, sentence))
    return found


@dataclass(frozen=True)
class _Still:
    """One thing that can be held still.

    Attributes:
        cause: its name.
        channel: the channel that it speaks for or against.
        variables: what holds it.
        fork_of: the kept process that executions are forked from, so that they have its addresses, or None.
        wholly: whether it is held so still that executions which differ refute it.
    """

    cause: str
    channel: Channel
    variables: Mapping[str, str]
    fork_of: int | None = None
    wholly: bool = True


def _held_still(now: Surroundings) -> list[_Still]:
    turns = {CHILD_CPUS: "1", CHILD_SWITCH: "1000"}
    held = [
        _Still("addresses", Channel.CONCURRENCY, {}, fork_of=FIRST, wholly=False),
        _Still("turns of threads", Channel.CONCURRENCY, turns, wholly=False),
        _Still("garbage collection", Channel.CONCURRENCY, {CHILD_GC: "0"}),
    ]
    if any(name in now.variables and now.variables[name].value != "1" for name in THREAD_CAPS):
        single = dict.fromkeys(THREAD_CAPS, "1")
        held.append(_Still("threads of libraries", Channel.FLOATING_POINT, single))
    return held


def _outcomes(
    side: Side,
    window: Window,
    columns: Sequence[str],
    given: Surroundings,
    times: int,
    *,
    fork_of: int | None = None,
) -> list[Any]:
    call = partial(side.execute, window, None, given, fork_of=fork_of)
    executed: list[Executed] = run_concurrently([call] * times)
    return [tuple(made.digests.get(name) for name in columns) for made in executed]


def _with(now: Surroundings, variables: Mapping[str, str]) -> Surroundings:
    given = {name: Variable(value, "explicit") for name, value in variables.items()}
    return replace(now, variables={**now.variables, **given})


def _conclude(cause: str, channel: Channel, *, confirmed: bool, sentence: str) -> Confirmation:
    return Confirmation(cause, channel, "confirmed" if confirmed else "refuted", sentence)
