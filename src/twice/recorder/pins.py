"""Versions of libraries, by the names by which sheet 08 pins them: of a run's process, or of a record.

Not for: what a version means for results. Probes show that.

Invariant: the gate reads the versions of a run by the same ``Fingerprint.versions``.
"""

from __future__ import annotations

from collections.abc import Iterable

from twice.errors import UsageError
from twice.foundation.environment import Fingerprint
from twice.recorder.environment import measure_versions
from twice.recorder.run import Run
from twice.recorder.runrecord import RunRecord


def read_versions(source: Run | RunRecord, names: Iterable[str]) -> dict[str, str]:
    """Return the versions of libraries that pins name.

    A distribution has its own name (``numpy``), BLAS that of its author (``openblas``, ``mkl``), libm that of the C
    library (``glibc``), the interpreter ``python``. Where several copies of one BLAS are loaded, numpy's counts.

    Args:
        source: a run, whose process is asked, as an effect: a replay answers what was recorded. Or a record: the
            libraries that were loaded when its run began.
        names: names of libraries.

    Returns:
        The version of each as the library tells it, such as ``2.2.0``; in the order of names.

    Raises:
        UsageError: E-USE-001, for names of nothing that is there. Its fields are ``names`` and ``known``.
    """
    if isinstance(source, RunRecord):
        there = Fingerprint.from_json(source.identity["environment"]).versions
    else:
        there = source.effects.call("versions of libraries", lambda: measure_versions().versions)
    wanted = list(names)
    unknown = [name for name in wanted if name not in there]
    if unknown:
        raise UsageError(
            f"Pins name {', '.join(map(repr, unknown))}, and nothing here has that name.",
            f"Expected names among {', '.join(sorted(there))}.",
            "Correct the row in 08.pins, or install the library, and run twice scaffold again.",
            names=unknown,
            known=sorted(there),
        )
    return {name: there[name] for name in wanted}
