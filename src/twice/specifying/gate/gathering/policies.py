"""What holds in a run, read back: in a fresh process with a run's surroundings, and from the trial's record.

Invariant: what is told was read back after it was set, never taken from what was asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from twice.errors import TwiceError
from twice.foundation.environment import Fingerprint
from twice.recording.measuring import measure_in
from twice.recording.runrecord import RunRecord
from twice.recording.surroundings import THREAD_CAPS, for_recording
from twice.specifying.gate.evidence import Policies
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because

_KEPT: Final = {
    "float.denormals_are_zero": "4e62728f5c11b002",
    "float.flush_to_zero": "a152b464d2246820",
}
"""What these probes give where arithmetic keeps subnormal numbers, as IEEE 754 has it."""


def gather_policies(bench: Bench) -> Policies | Unavailable:
    """Measure a fresh process, and read what the trial's record says of its own."""
    try:
        trial = bench.trial()
        bench.doing("reading back what holds in a run")
        surroundings = for_recording(os.environ, explicit=bench.plan.variables())
        fresh = measure_in(surroundings)
    except TwiceError as error:
        return Unavailable(because(error))
    with RunRecord.open(trial) as record:
        recorded = Fingerprint.from_json(record.identity["environment"])
    variables: Mapping[str, str] = {
        name: each.shown for name, each in surroundings.variables.items()
    }
    return Policies(
        libraries=fresh.versions,
        recorded=recorded.versions,
        arithmetic=fresh.arithmetic,
        threads={each.where: each.threads for each in fresh.blas},
        caps={name: variables[name] for name in sorted(THREAD_CAPS) if name in variables},
        denormals=keeps_subnormals(fresh.probes),
        settings=dict(sorted(_plain(fresh.settings).items())),
    )


def keeps_subnormals(probes: Mapping[str, str]) -> bool:
    """Whether probes say that subnormal numbers are kept, as IEEE 754 has it."""
    return all(probes.get(name) == kept for name, kept in _KEPT.items())


def _plain(settings: Mapping[str, object]) -> dict[str, str]:
    return {str(name): str(value) for name, value in settings.items()}
