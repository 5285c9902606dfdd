"""What adapters of trainers share: a loader that says when no batch is in work, and the rest of a module.

A trainer asks its loader for a batch when everything that belongs to the batch before is done: the step, hooks,
validation, schedulers. That is where a checkpoint is complete, and where it is put back.

Invariant: a batch is fetched after the state was captured, or after it was put back; never before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch.utils.data import DataLoader

from twice.errors import CheckpointUnfit
from twice.integrations.checkpoints.loader_part import LoaderPart
from twice.integrations.checkpoints.torch_parts import ModulePart


class WatchedLoader:
    """A loader whose epochs can be continued in the middle; everything else is the loader's own.

    Args:
        loader: a plain ``torch.utils.data.DataLoader`` over a dataset with a length.
        before_fetch: called before each batch is fetched.
        front: the object whose attributes a trainer may ask for; the loader itself if it has none around it.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: another kind of loader, or one without a length.
    """

    def __init__(self, loader: Any, before_fetch: Callable[[], None], front: Any = None) -> None:
        if type(loader) is not DataLoader:
            raise refuse_setting(
                f"a {type(loader).__name__} as its loader", "one torch.utils.data.DataLoader"
            )
        try:
            len(loader)
        except TypeError:
            raise refuse_setting("a loader without a length", "a dataset with a length") from None
        self.part = LoaderPart("loader", loader)
        self._before_fetch = before_fetch
        self._front = loader if front is None else front

    def __iter__(self) -> Iterator[Any]:
        batches = self.part.iterate()
        while True:
            self._before_fetch()
            try:
                batch = next(batches)
            except StopIteration:
                return
            yield batch

    def __len__(self) -> int:
        return len(self._front)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._front, name)

    # Lightning warns of loaders that it cannot continue, and knows the others by these two methods.
    def state_dict(self) -> dict[str, Any]:
        """Return nothing: the position is in the checkpoint's own part."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Do nothing."""


class ModuleRestPart(ModulePart):
    """What a module holds beside its ``state_dict``, which its trainer keeps."""

    def read(self) -> object:
        """Return the state of ``ModulePart`` without the tensors that the trainer keeps."""
        state: Any = super().read()
        for name in self.target.state_dict():
            state["tensors"].pop(name, None)
        return state

    def write(self, state: object) -> None:
        """Put the rest back: the tensors that the trainer kept are there already."""
        plain: Any = state
        current: Any = super().read()
        super().write({**plain, "tensors": {**current["tensors"], **plain["tensors"]}})


def check_interval(every: int) -> int:
    """Return the distance of two checkpoints; refuse one that is no whole number of at least 1."""
    if type(every) is not int or every < 1:
        raise refuse_setting(f"every={every!r}", "a whole number of steps, 1 or more")
    return every


def refuse_setting(what: str, expected: str) -> CheckpointUnfit:
    """Return the error for a setting of a trainer under which part of the state is out of reach."""
    return CheckpointUnfit(
        f"The training has {what}.",
        f"Expected {expected}.",
        "Change this setting; with it no checkpoint makes the resumed run equal to one that was never stopped.",
        part="loader",
    )
