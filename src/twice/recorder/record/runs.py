"""Which block of a kind holds which of its entries.

For pages, blob tables and snapshots; compare-points, of which there are more, have their own.

Invariant: entries are counted over the whole file, in file order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twice.recorder.record.blockfile import BlockFile
from twice.recorder.record.layout import Kind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Runs:
    """The blocks of one kind.

    Args:
        file: of the record.
        kind: of the blocks.

    Attributes:
        count: entries in all of them.
    """

    def __init__(self, file: BlockFile, kind: Kind) -> None:
        import numpy as np

        self._blocks: npt.NDArray[np.intp] = file.numbers(kind)
        counts = file.table()["count"][self._blocks]
        self._firsts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        self.count = int(self._firsts[-1])

    def find(self, entry: int) -> tuple[int, int, int]:
        """Return the number of the block in the file, and the range of entries that it contains."""
        at = int(self._firsts.searchsorted(entry, "right")) - 1
        return int(self._blocks[at]), int(self._firsts[at]), int(self._firsts[at + 1])
