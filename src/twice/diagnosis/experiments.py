"""Causes tried by experiment: change one thing, and see whether the difference moves or goes.

Surroundings that differ are swapped one at a time, since a harmless one may differ beside the guilty one,
and with ``--confirm`` several together. Reads of the world that differ are lent, one source at a time. A
run that does not reproduce itself is executed with one thing held still at a time: this proves something
only where agreeing by luck is unlikely. How many executions must agree follows from how often they agreed
before. Where that would take too many, the experiment says nothing.

Invariant: a cause is confirmed or refuted by executions that differ in nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from twice.diagnosis.attribution import channel_of_factor
from twice.diagnosis.divergence import Confirmation, Outcome
from twice.diagnosis.executions import FIRST, Side, Window
from twice.diagnosis.log_comparison import PointRef
from twice.diagnosis.minimal_causes import Group, find_minimal_causes
from twice.diagnosis.read_comparison import BY_LIBRARY, reads_that_differ
from twice.diagnosis.surroundings_factors import DifferingFactor, swap
from twice.foundation.channels import Channel
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.recorder.effects.ops import OPS
from twice.recorder.environment.process_start import CHILD_CPUS, CHILD_GC, CHILD_SWITCH
from twice.recorder.environment.surroundings import THREAD_CAPS, Surroundings
from twice.worker.concurrency import run_concurrently

# Executions with nothing held still, executions that may be asked for, and how likely luck may be.
_PLAIN: Final = 4
_HELD_MAX: Final = 12
_LUCK_MAX: Final = 0.05


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
    flips = _leave_record(a, window, columns, [{"surroundings": each} for each in given])
    return [replace(factor, flips=flip) for factor, flip in zip(factors, flips, strict=True)]


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
    tried = [
        _conclude(
            each.name,
            channel_of_factor(each.name),
            confirmed=each.flips,
            sentence=f"run a with the {each.name} of run b alone "
            f"{'leaves' if each.flips else 'keeps to'} its record",
        )
        for each in factors
        if each.flips is not None
    ]
    if len(factors) > 1 and not any(each.flips for each in factors):
        tried += _swap_together(a, b, window, columns, [each.name for each in factors])
    # Reads are tried only where no surrounding explains the difference, which changes reads as well.
    # A record is lent from its beginning, so not to a run that starts at a snapshot.
    explained = any(each.outcome == "confirmed" for each in tried)
    if explained or a.start is not None or b.start is not None:
        return tried
    differing = reads_that_differ(a.record, b.record, at)
    sources = dict.fromkeys(
        name.partition(".")[0] for name in differing if not name.endswith(BY_LIBRARY)
    )
    path = str(b.record.reader.fetch().absolute())
    lent = [
        (path, [number for number in sorted(OPS) if OPS[number].name.startswith(f"{source}.")])
        for source in sources
    ]
    leaves = _leave_record(a, window, columns, [{"lent": each} for each in lent])
    for source, flips in zip(sources, leaves, strict=True):
        sentence = (
            f"run a, given what run b read from the {source} and nothing else of it, "
            f"{'leaves' if flips else 'keeps to'} its record"
        )
        tried.append(_conclude(source, Channel.EFFECTS, confirmed=flips, sentence=sentence))
    return tried


def _swap_together(
    a: Side, b: Side, window: Window, columns: Sequence[str], names: Sequence[str]
) -> list[Confirmation]:
    """Find the smallest sets of differing surroundings that make the difference together."""

    def differ(groups: Sequence[Group]) -> list[bool]:
        changes = []
        for group in groups:
            given = a.surroundings
            for name in group:
                given = swap(given, b.surroundings, name)
            changes.append({"surroundings": given})
        return _leave_record(a, window, columns, changes)

    return [
        _conclude(
            " + ".join(group),
            channel_of_factor(group[0]),
            confirmed=True,
            sentence=f"run a leaves its record with these of run b together: {', '.join(group)}",
        )
        for group in find_minimal_causes(names, differ, harmless=names)
    ]


def _leave_record(
    a: Side, window: Window, columns: Sequence[str], changes: Sequence[Mapping[str, Any]]
) -> list[bool]:
    """Whether a side, executed with each change, leaves its record in the judged columns.

    Changes are keyword arguments of ``Side.execute``.
    """
    recorded = a.record.reader.points.point(window.last).digests
    calls = [partial(a.execute, window, None, **change) for change in changes]
    return [
        # A run that ends before the point has left the record as well.
        not made.reached or any(made.digests.get(name) != recorded.get(name) for name in columns)
        for made in run_concurrently(calls)
    ]


@dataclass(frozen=True)
class _Still:
    """One thing that can be held still: its name, what it speaks for, what holds it."""

    cause: str
    channel: Channel
    variables: Mapping[str, str]
    fork_of: int | None = None  # the kept process that lends executions its addresses
    wholly: bool = True  # held so still that executions which differ refute it


_STILL: Final = (
    _Still("addresses", Channel.CONCURRENCY, {}, fork_of=FIRST, wholly=False),
    _Still(
        "turns of threads",
        Channel.CONCURRENCY,
        {CHILD_CPUS: "1", CHILD_SWITCH: "1000"},
        wholly=False,
    ),
    _Still("garbage collection", Channel.CONCURRENCY, {CHILD_GC: "0"}),
)
_LIBRARY_THREADS: Final = _Still(
    "threads of libraries", Channel.FLOATING_POINT, dict.fromkeys(THREAD_CAPS, "1")
)


def hold_still_one_by_one(side: Side, window: Window, columns: Sequence[str]) -> list[Confirmation]:
    """Try what keeps a run from reproducing itself, by holding one thing still at a time.

    Returns nothing when executions agree without that.
    """
    now = side.surroundings

    def outcomes(times: int, given: Surroundings, fork_of: int | None = None) -> list[Any]:
        call = partial(side.execute, window, None, given, fork_of=fork_of)
        executed = run_concurrently([call] * times)
        return [tuple(made.digests.get(name) for name in columns) for made in executed]

    seen = Counter(outcomes(_PLAIN, now))
    most = max(seen.values())
    if most == _PLAIN:
        return []
    # Each after the first agrees by luck in most / _PLAIN of the cases: all, in _LUCK_MAX at most.
    needed = 1 + math.ceil(math.log(_LUCK_MAX) / math.log(most / _PLAIN))
    has_threads = any(
        now.variables[name].value != "1" for name in THREAD_CAPS if name in now.variables
    )
    found = []
    for still in (*_STILL, _LIBRARY_THREADS) if has_threads else _STILL:
        if needed > _HELD_MAX:
            sentence = f"{most} of {_PLAIN} executions agree anyway: too many to tell anything"
            found.append(Confirmation(still.cause, still.channel, "open", sentence))
            continue
        held = now.with_variables(still.variables)
        seen_held = outcomes(2, held, still.fork_of)
        # Two that differ tell already; only two that agree are worth the rest.
        if len(set(seen_held)) == 1:
            seen_held += outcomes(needed - 2, held, still.fork_of)
        agree = len(set(seen_held)) == 1
        sentence = (
            f"with {still.cause} held still {pluralize(len(seen_held), 'execution')} "
            f"{'agree' if agree else 'still differ'}; without, {len(seen)} of {_PLAIN} are different"
        )
        outcome: Outcome = "confirmed" if agree else "refuted" if still.wholly else "open"
        found.append(Confirmation(still.cause, still.channel, outcome, sentence))
    return found


def _conclude(cause: str, channel: Channel, *, confirmed: bool, sentence: str) -> Confirmation:
    return Confirmation(cause, channel, "confirmed" if confirmed else "refuted", sentence)
