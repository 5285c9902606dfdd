"""Every region that some layers lay down, in the order of their paths.

Invariant: no two regions have one path and name.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from twice.specifying.scaffolding import properties, surrounding, trials, wiring
from twice.specifying.scaffolding.places import Places
from twice.specifying.scaffolding.regions import Layer, Region
from twice.specifying.workspace import Workspace

PIECES: Final = (*wiring.PIECES, *trials.PIECES, *properties.PIECES, *surrounding.PIECES)


def regions(workspace: Workspace, places: Places, layers: Collection[Layer]) -> tuple[Region, ...]:
    """Give the regions of some layers, made from a specification."""
    made = [each.region(workspace, places) for each in PIECES if each.layer in layers]
    return tuple(sorted((each for each in made if each), key=lambda each: each.key))
