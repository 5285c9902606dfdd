"""Moments of a training with torch: the first forward pass of each step, and each epoch of a loader.

A forward pass counts where gradients are recorded: those of an evaluation do not. Its inputs are the batch.

Not covered: trainings that call no ``nn.Module``, and passes on other threads.

Invariant: no generator moves because of a look.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from twice.integrations.torch_steps import to_array

if TYPE_CHECKING:
    from twice.diagnosis.resume.moments import Moments

_is_armed = [True]
"""Whether no forward pass was made since the last step."""


def watch(moments: Moments, module: ModuleType) -> None:
    """Watch forward passes, steps of optimisers, or epochs of loaders, as the module is."""
    if module.__name__ == "torch.nn.modules.module":
        module.register_module_forward_pre_hook(functools.partial(_before_forward, moments))
    elif module.__name__ == "torch.optim.optimizer":
        module.register_optimizer_step_post_hook(functools.partial(_after_step, moments))
    else:
        loader = module.DataLoader
        own = loader.__iter__

        @functools.wraps(own)
        def begin_epoch(self: Any) -> Any:
            if moments.counts_here():
                moments.reach("epoch")
            return own(self)

        loader.__iter__ = begin_epoch


def _before_forward(moments: Moments, _module: Any, args: tuple[Any, ...]) -> None:
    torch = sys.modules["torch"]
    if not _is_armed[0] or not torch.is_grad_enabled() or not moments.counts_here():
        return
    if torch.compiler.is_compiling():
        return
    _is_armed[0] = False

    def read_batch() -> dict[str, object]:
        batch = [to_array(tensor) for tensor in _list_tensors(args)]
        return {"data": batch} if batch else {}

    moments.reach("forward", read_batch)


def _after_step(moments: Moments, optimiser: Any, _args: Any, _kwargs: Any) -> None:
    if moments.counts_here():
        _is_armed[0] = True
        moments.step(optimiser)


def _list_tensors(values: Any) -> Iterator[Any]:
    tensor = sys.modules["torch"].Tensor
    for value in values.values() if isinstance(values, dict) else values:
        if isinstance(value, tensor):
            yield value
        elif isinstance(value, dict | list | tuple):
            yield from _list_tensors(value)
