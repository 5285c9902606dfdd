"""The fifteen sheets: what each has to say, one file each.

Lives here: items with kinds and conditions, as data. What is done with them (reading, gating, filling)
does not.

Invariant: whatever the gate looks up in a sheet is an item here, and every item is looked up, filled or shown.
"""

from __future__ import annotations

from typing import Final

from twice.specifying.schema import Sheet
from twice.specifying.sheets.concurrency import SHEET as _CONCURRENCY
from twice.specifying.sheets.consolidation import SHEET as _CONSOLIDATION
from twice.specifying.sheets.cost import SHEET as _COST
from twice.specifying.sheets.determinism_class import SHEET as _CLASS
from twice.specifying.sheets.divergence import SHEET as _DIVERGENCE
from twice.specifying.sheets.effects import SHEET as _EFFECTS
from twice.specifying.sheets.encoding import SHEET as _ENCODING
from twice.specifying.sheets.floating_point import SHEET as _FLOATING_POINT
from twice.specifying.sheets.gpu import SHEET as _GPU
from twice.specifying.sheets.properties import SHEET as _PROPERTIES
from twice.specifying.sheets.replay import SHEET as _REPLAY
from twice.specifying.sheets.scope import SHEET as _SCOPE
from twice.specifying.sheets.seeds import SHEET as _SEEDS
from twice.specifying.sheets.snapshots import SHEET as _SNAPSHOTS
from twice.specifying.sheets.streams import SHEET as _STREAMS

SHEETS: Final[dict[str, Sheet]] = {
    sheet.number: sheet
    for sheet in (
        _SCOPE,
        _CLASS,
        _SEEDS,
        _STREAMS,
        _SNAPSHOTS,
        _DIVERGENCE,
        _REPLAY,
        _CONCURRENCY,
        _FLOATING_POINT,
        _GPU,
        _EFFECTS,
        _ENCODING,
        _PROPERTIES,
        _COST,
        _CONSOLIDATION,
    )
}
