"""Judge the sample of a statistical record: run its seeds afresh and compare the two samples.

The runs read the world afresh, in the record's surroundings. Subsystems with their own class are also judged by
compare-points, and the worst part decides the whole.

A PASS does not mean that single runs repeat: the statistical class compares summaries only.

Invariant: an undecided sample gives UNKNOWN, never PASS, and names the number of seeds that would decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from twice.foundation.determinism_class import DeterminismClass, Predicate, Summary
from twice.foundation.environment import Fingerprint, diff_fingerprints
from twice.foundation.printable import pluralize
from twice.foundation.two_sample_tests import Agreement, apply_test, explain_undecided
from twice.recorder.runrecord import RunRecord
from twice.recorder.samples import Progress, Sample, draw, read_sample
from twice.replayer.outcome import Failure
from twice.replayer.preconditions import require_rerunnable
from twice.replayer.replay_job import folder_of, surroundings_of
from twice.replayer.verdict import NOT_EXECUTED
from twice.replayer.verification import Verification

if TYPE_CHECKING:
    from twice.worker.executor import Executor


_SEAL = "nothing is sealed: every run of the sample read the world afresh"


def judges_samples_alone(predicate: Predicate) -> bool:
    """Return whether only samples are compared: statistical, with no subsystem of another class."""
    statistical = DeterminismClass.STATISTICAL
    return predicate.determinism_class is statistical and all(
        kind is statistical for kind in predicate.subsystems.values()
    )


def judge_sample(
    found: Verification,
    record: RunRecord,
    progress: Progress | None,
    executor: Executor | None = None,
) -> Verification:
    """Add the judgement of a record's sample to a verification.

    Args:
        found: the verification by compare-points, empty if only samples are judged.
        record: the verified record.
        progress: called with (runs done, runs).
        executor: where the runs of the fresh sample are executed; None for this machine.
    """
    recorded, declared = read_sample(record), record.setup.predicate
    summary, judged = found.predicate.sample or declared.sample, found.predicate.sampled_parts
    part, why = ", ".join(judged), ""
    if recorded.members and judged != declared.sampled_parts:
        why = f"the sample in the record is of {', '.join(declared.sampled_parts) or 'the whole run'}, not of {part or 'it'}"
    elif summary is None or not recorded.members:
        why = "the record holds no sample: it was not recorded as statistical with a summary"
    elif len(recorded.members) < summary.n:
        why = f"the record holds {len(recorded.members)} of the {pluralize(summary.n, 'run')} of its sample"
    if summary is None or why:
        return replace(found, not_judged=[*found.not_judged, why])
    # Whole processes for each seed: members of a sample must not share a generator or a cache.
    require_rerunnable(record)
    surroundings, cwd = surroundings_of(record), folder_of(record)
    fresh = draw(
        record.setup,
        surroundings,
        summary,
        cwd=cwd,
        measured=True,
        progress=progress,
        executor=executor,
    )
    assert fresh.environments, "the first run of a fresh sample measures"
    then = Fingerprint.from_json(record.identity["environment"])
    agreed = apply_test(
        summary, recorded.values, fresh.values, seeds=[each.seed.value for each in fresh.members]
    )
    failure = found.failure
    if failure is None and agreed.agrees is False:
        was, now = describe_sample(recorded.values), describe_sample(fresh.values)
        failure = Failure(0, -1, f"summary:{summary.name}", (part or "(sample)",), was, now)
    samples = describe_samples(summary, recorded, fresh, agreed) | {"component": part}
    compared = f"{part} was compared in no single run" if part else "no single run was compared"
    alone = f"{compared}: the statistical class compares a summary over many seeds"
    if found.seal == NOT_EXECUTED:
        differences = (each for now in fresh.environments for each in diff_fingerprints(then, now))
        environment = list(dict.fromkeys(differences))
        found = replace(found, environment=environment, seal=_SEAL, notes=[alone, *found.notes])
    else:
        found = replace(found, notes=[*found.notes, alone])
    return replace(found, failure=failure, samples=samples)


def describe_samples(
    summary: Summary, recorded: Sample, replayed: Sample, found: Agreement
) -> dict[str, Any]:
    """Describe the samples of a verification: the test, both samples seed by seed, the result."""
    return {
        "summary": summary.name,
        "test": summary.test.value,
        "epsilon": summary.epsilon,
        "alpha": summary.alpha,
        "power": summary.power,
        "power_reached": found.power,
        "n": summary.n,
        "seeds": [str(member.seed.value) for member in recorded.members],
        "recorded": [_json(value) for value in recorded.values],
        "replayed": [_json(value) for value in replayed.values],
        "agrees": found.agrees,
        "identical": found.identical,
        "statistic": _json(found.statistic),
        "seeds_needed": found.needed,
        "reason": found.reason,
        "remedy": explain_undecided(found, summary.n),
    }


def describe_sample(values: Sequence[float | None]) -> str:
    """Describe a sample in a few words."""
    given = [value for value in values if value is not None]
    if not given or not all(map(math.isfinite, given)):
        return f"{len(given)} of {pluralize(len(values), 'value')}"
    mean = math.fsum(given) / len(given)
    return f"{pluralize(len(given), 'value')} from {min(given):.6g} to {max(given):.6g}, mean {mean:.6g}"


def _json(value: float | None) -> float | str | None:
    """Return a number for JSON, which has only finite ones; others become text."""
    return value if value is None or math.isfinite(value) else repr(value)
