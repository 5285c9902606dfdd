"""What is read from source code, through whoever can read it.

Invariant: no file of the project is executed or imported.
"""

from __future__ import annotations

from twice.errors import TwiceError
from twice.specifying.gate.evidence import Code
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because


def gather_code(bench: Bench) -> Code | Unavailable:
    """Read the sources that the sheets name."""
    if not bench.plan.sources:
        return Unavailable("sheet 00 names no sources")
    missing = [each for each in bench.plan.sources if not (bench.project / each).exists()]
    if missing:
        return Unavailable(f"there is no {missing[0]}, which the sheets name as source")
    bench.doing("reading the code")
    try:
        return bench.reads_code(bench.project, bench.plan.sources)
    except TwiceError as error:
        return Unavailable(because(error))
