"""How what a scaffold laid down stands today.

Invariant: files are read, none is executed.
"""

from __future__ import annotations

from twice.errors import TwiceError
from twice.specifying.gate.evidence import Region
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because
from twice.specifying.scaffolding.standing import standings
from twice.specifying.workspace import open_workspace


def gather_laid(bench: Bench) -> tuple[Region, ...] | Unavailable:
    """Look at every region of the scaffold's lock."""
    try:
        return tuple(
            Region(each.path, each.name, each.state, each.moved, each.holds)
            for each in standings(open_workspace(bench.project))
        )
    except TwiceError as error:
        return Unavailable(because(error))
