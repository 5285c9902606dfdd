"""The one call: a checkpoint of all parts of a training, and the position that it has reached.

The generators of the process (``random``, numpy's global one, those of torch) are parts of every checkpoint.

Invariant: a path holds the checkpoint of the last ``save`` that returned, or the one before it; never a half of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twice.integrations.checkpoints.parts import Part, find_parts


class Checkpoint:
    """The state of a training in a file, from which it continues as if it had never stopped.

    Args:
        path: where the checkpoint is, or will be.
        allow_nan: whether a state with a NaN in it is written. Without it ``save`` refuses.
        **targets: the objects of the training by name, such as ``model=``, ``optimizer=``, ``loader=``; see
            ``find_parts``.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: nothing is known of an object of this type.
    """

    def __init__(self, path: str | Path, /, *, allow_nan: bool = False, **targets: object) -> None:
        self.path = Path(path)
        self.parts: dict[str, Part] = {}
        self._allow_nan = allow_nan
        for name, target in targets.items():
            self.parts |= find_parts(name, target)

    def resume(self) -> int:
        """Put all parts back as they were saved.

        Returns:
            The position that ``save`` was given; 0 where no file is at the path.
        """
        raise NotImplementedError

    def save(self, position: int) -> None:
        """Write all parts, whole or not at all.

        Args:
            position: how far the training is, for example its finished steps; 0 or more.
        """
        raise NotImplementedError

    def batches(self, loader: Any) -> Iterator[Any]:
        """Yield the batches of an epoch; after a resume in the middle of one, those that are left of it.

        Args:
            loader: one of the targets.
        """
        raise NotImplementedError
