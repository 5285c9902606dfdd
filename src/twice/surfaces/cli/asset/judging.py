"""How the gate's report is printed, for the commands that make one.

Invariant: the first line answers.
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.assets.gate.report import Report
from twice.foundation.printable import printable

_SHOWN = 60


def told(report: Report) -> Iterator[str]:
    """Give the lines that a terminal shows: the result, then what is not green."""
    yield f"{report.result.value}: {report.counted()}"
    wanting = report.wanting()
    for row in wanting[:_SHOWN]:
        yield printable(f"{row.status.value:<6} {row.asset}  {row.check}: {row.evidence}")
        yield printable(f"       fix ({row.owner}): {row.fix}")
    if len(wanting) > _SHOWN:
        yield f"and {len(wanting) - _SHOWN} more: --json or --markdown lists them all"
