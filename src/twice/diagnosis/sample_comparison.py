"""Two statistical records: their samples are compared, seed by seed and by the declared test.

There is no first differing operation here: single runs may differ as they like. What differs is a
distribution, and the evidence is the two samples.

Invariant: samples that cannot tell are an error that names the size that would, never a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.diagnosis.divergence import Result
from twice.errors import SampleUndecided
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.foundation.two_sample_tests import apply_test, explain_undecided
from twice.recorder.runrecord import RunRecord
from twice.recorder.samples import read_sample
from twice.replayer.statistical import describe_sample, describe_samples


@dataclass(frozen=True, slots=True)
class Sampled:
    """What two samples say.

    Attributes:
        result: ``same``, ``within-tolerance`` or ``unlocalised``.
        evidence: sentences.
        samples: both samples and the test, as ``samples`` of the verdict.
    """

    result: Result
    evidence: list[str]
    samples: Mapping[str, Any]


def compare_samples(a: RunRecord, b: RunRecord) -> Sampled | None:
    """Compare the samples of two statistical records; None where the rest of the runs decides.

    That is so where nothing is statistical, and where the samples of one component agree.

    Raises:
        SampleUndecided: E-CLASS-003, when the samples are missing, too small or too noisy.
    """
    predicate = a.setup.predicate
    if not predicate.sampled_parts:
        return None
    one, two = read_sample(a), read_sample(b)
    summary = predicate.sample
    if summary is None or not (one.members and two.members):
        missing = [str(record.path) for record, held in ((a, one), (b, two)) if not held.members]
        raise SampleUndecided(
            f"{' and '.join(missing) or a.path} holds no sample, and its class is statistical.",
            "Expected two records with the sample of a declared summary.",
            "Record again: twice record PROGRAM --class statistical --summary NAME --epsilon E",
        )
    found = apply_test(
        summary, one.values, two.values, seeds=[each.seed.value for each in one.members]
    )
    # Too few seeds are no verdict, in either direction.
    if found.agrees is None:
        raise SampleUndecided(
            f"The samples of {summary.name!r} in {a.path} and {b.path} cannot tell: {found.reason}",
            f"Expected samples that can: {summary.describe()}.",
            f"Record both again: {explain_undecided(found, summary.n)}.",
            summary=summary.name,
        )
    result: Result = "unlocalised"
    if found.agrees and predicate.sampled_parts != ("",):
        return None
    if found.agrees:
        result = "same" if found.identical else "within-tolerance"
    evidence = [
        f"{summary.name}, {pluralize(summary.n, 'seed')}: {describe_sample(one.values)} / {describe_sample(two.values)}",
        found.reason,
    ]
    return Sampled(result, evidence, describe_samples(summary, one, two, found))
