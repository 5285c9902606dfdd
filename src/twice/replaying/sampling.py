"""Verify a statistical record: run its seeds afresh and hold the two samples against each other.

The runs read the world afresh, in the record's surroundings; nothing of the recorded run is served.
Subsystems that have a class of their own are judged by compare-points besides, and the whole is as
good as its worst part.

What a PASS does not say: that single runs repeat; the statistical class compares summaries alone.

Invariant: a sample that cannot tell makes UNKNOWN, never PASS, and says how many seeds would tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from twice.foundation.agreement import Agreement, agreement
from twice.foundation.classes import DeterminismClass, Predicate, Summary
from twice.foundation.fingerprint import Fingerprint, differences
from twice.recording.runrecord import RunRecord
from twice.recording.sampling import Progress, Sample, draw, read_sample
from twice.replaying.checking import Failure
from twice.replaying.starting import folder_of, require_rerunnable, surroundings_of
from twice.replaying.statement import Result, Verification

_SEAL = "nothing is sealed: every run of the sample read the world afresh"
_WORST: Sequence[Result] = ("FAIL", "UNKNOWN", "PARTIAL", "PASS")


def samples_alone(predicate: Predicate) -> bool:
    """Whether nothing but samples is compared: statistical, with no subsystem of another class."""
    statistical = DeterminismClass.STATISTICAL
    return predicate.determinism_class is statistical and all(
        kind is statistical for kind in predicate.subsystems.values()
    )


def with_sample(
    record: RunRecord,
    predicate: Predicate,
    blank: Verification,
    execute: Callable[[], Verification],
    progress: Progress | None,
) -> Verification:
    """Judge a record by compare-points, by its sample, or by both, as the class says.

    Args:
        record: what is verified.
        predicate: the class that judges.
        blank: an UNKNOWN that knows the record.
        execute: executes the recorded run again and judges its compare-points.
        progress: called with (runs done, runs).
    """
    if predicate.determinism_class is not DeterminismClass.STATISTICAL:
        return execute()
    judged = _judge_sample(record, predicate, blank, progress)
    if samples_alone(predicate):
        return judged
    points = execute()
    worst = min(points.result, judged.result, key=_WORST.index)
    return replace(
        points,
        result=worst,
        failure=points.failure or judged.failure,
        samples=judged.samples,
        caveats=list(dict.fromkeys([*points.caveats, *judged.caveats])),
    )


def _judge_sample(
    record: RunRecord, predicate: Predicate, blank: Verification, progress: Progress | None
) -> Verification:
    recorded = read_sample(record)
    summary = predicate.sample or record.setup.predicate.sample
    if summary is None or not recorded.members:
        why = "the record holds no sample: it was not recorded as statistical with a summary"
        return replace(blank, caveats=[why, *blank.caveats])
    if len(recorded.members) < summary.n:
        why = f"the record holds {len(recorded.members)} of the {summary.n} runs of its sample"
        return replace(blank, caveats=[why, *blank.caveats])
    require_rerunnable(record)
    surroundings = surroundings_of(record)
    fresh = draw(
        record.setup,
        surroundings,
        summary,
        cwd=folder_of(record),
        measured=True,
        progress=progress,
    )
    found = agreement(summary, recorded.values, fresh.values)
    return _stated(record, replace(blank, predicate=predicate), summary, recorded, fresh, found)


def _stated(
    record: RunRecord,
    blank: Verification,
    summary: Summary,
    recorded: Sample,
    fresh: Sample,
    found: Agreement,
) -> Verification:
    assert fresh.environment is not None, "the first run of a fresh sample measures"
    then = Fingerprint.from_json(record.identity["environment"])
    environment = list(differences(then, fresh.environment))
    matters = any(difference.affects != "note" for difference in environment)
    result: Result = "UNKNOWN"
    failure = None
    if found.agrees:
        result = "PASS" if record.complete else "PARTIAL"
    elif found.agrees is False:
        result = "FAIL"
        was, now = described(recorded.values), described(fresh.values)
        failure = Failure(0, -1, f"summary:{summary.name}", ("(sample)",), was, now)
    caveats = [
        "no single run was compared: the statistical class compares a summary over many seeds",
        *([] if found.agrees is not None else [_undecided(summary, found)]),
        *blank.caveats,
    ]
    return replace(
        blank,
        result=result,
        axis="reproducibility" if matters else "determinism",
        failure=failure,
        environment=environment,
        seal=_SEAL,
        caveats=caveats,
        samples=samples_json(summary, recorded, fresh, found),
    )


def _undecided(summary: Summary, found: Agreement) -> str:
    needs = f"; it takes {found.needed} seeds, not {summary.n}" if found.needed else ""
    return f"the samples cannot tell: {found.reason.rstrip('.')}{needs}"


def samples_json(
    summary: Summary, recorded: Sample, replayed: Sample, found: Agreement
) -> dict[str, Any]:
    """As the ``samples`` of a verification: the test, both samples seed by seed, what it found."""
    return {
        "summary": summary.name,
        "test": summary.test.value,
        "epsilon": summary.epsilon,
        "alpha": summary.alpha,
        "power": summary.power,
        "n": summary.n,
        "seeds": [str(member.seed.value) for member in recorded.members],
        "recorded": [_json(value) for value in recorded.values],
        "replayed": [_json(value) for value in replayed.values],
        "agrees": found.agrees,
        "identical": found.identical,
        "statistic": _json(found.statistic),
        "seeds_needed": found.needed,
        "reason": found.reason,
    }


def described(values: Sequence[float | None]) -> str:
    """A sample in a few words."""
    given = [value for value in values if value is not None]
    if not given or not all(map(math.isfinite, given)):
        return f"{len(given)} of {len(values)} values"
    mean = math.fsum(given) / len(given)
    return f"{len(given)} values from {min(given):.6g} to {max(given):.6g}, mean {mean:.6g}"


def _json(value: float | None) -> float | str | None:
    """JSON has no numbers that are not finite."""
    return value if value is None or math.isfinite(value) else repr(value)
