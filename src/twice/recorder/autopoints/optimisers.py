"""Steps of torch optimisers: the parameters that they move are compared.

After each step at most 1 MiB of them, on whatever device they live: a window that moves on, so that
all are seen in turn, whatever the model's size. At the end of the run all of them are.

Not covered: losses, gradients, an optimiser's own moments (what they do to the parameters shows one
step later), optimisers that do not derive from ``torch.optim.Optimizer``, steps inside ``torch.compile``
and inside the capture of a CUDA graph.

Invariant: no generator moves and no parameter changes because of a look at it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from twice.recorder.autopoints.steps import AutoSteps, Undo

LIBRARY = "torch.optim"
WINDOW_BYTES = 1 << 20


def watch(steps: AutoSteps, module: ModuleType) -> Undo:
    """Watch every optimiser's steps; ``module`` is ``torch.optim.optimizer``."""
    told = _Told(steps)
    before = module.register_optimizer_step_pre_hook(told.before)
    after = module.register_optimizer_step_post_hook(told.after)

    def undo() -> None:
        before.remove()
        after.remove()

    return undo


class _Told:
    """Looks at parameters after each step."""

    def __init__(self, steps: AutoSteps) -> None:
        self._steps = steps
        self._seen: WeakKeyDictionary[Any, _Seen] = WeakKeyDictionary()

    def before(self, optimiser: Any, args: Any, kwargs: Any) -> None:
        """Begin a step."""
        del optimiser, args, kwargs
        if not _hidden() and self._steps.counts(LIBRARY):
            self._steps.begins()

    def after(self, optimiser: Any, args: Any, kwargs: Any) -> None:
        """End a step, and take the next window of the parameters where the step has a point."""
        del args, kwargs
        if _hidden() or not self._steps.counts(LIBRARY):
            return
        seen = self._seen.setdefault(optimiser, _Seen(f"{len(self._seen)} {_name(optimiser)}"))
        seen.steps += 1
        if self._steps.takes_point:
            latest = self._steps.latest(LIBRARY, last=self._whole)
            latest.state, latest.moved = seen.window(optimiser), True
        self._steps.ends()

    def _whole(self) -> dict[str, object]:
        """Return all parameters of all optimisers that still exist."""
        return {
            seen.name: {name: _array(tensor) for name, tensor in _parameters(optimiser)}
            for optimiser, seen in list(self._seen.items())
        }


class _Seen:
    """How far one optimiser has come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps = -1
        self._from = 0

    def window(self, optimiser: Any) -> dict[str, object]:
        """Return the next bytes of the parameters, in whole elements, by parameter."""
        parameters = list(_parameters(optimiser))
        total = sum(each.numel() * each.element_size() for _, each in parameters)
        found: dict[str, object] = {}
        at, left = self._from if total > WINDOW_BYTES else 0, min(total, WINDOW_BYTES)
        self._from = (at + left) % total if total else 0
        spans = [(at, min(total, at + left)), (0, max(0, at + left - total))]
        for first, last in spans:
            place = 0
            for name, tensor in parameters:
                size = tensor.element_size()
                start = max(first - place, 0) // size
                stop = -(-max(min(last - place, tensor.numel() * size), 0) // size)
                place += tensor.numel() * size
                if start < stop:
                    whole = start == 0 and stop == tensor.numel()
                    found[name if whole else f"{name}[{start}:{stop}]"] = _array(
                        tensor if whole else tensor.detach().reshape(-1)[start:stop]
                    )
        return {"optimiser": self.name, "step": self.steps, "parameters": found}


def _parameters(optimiser: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters by group and place in it: an optimiser knows no names."""
    for group, options in enumerate(optimiser.param_groups):
        for number, tensor in enumerate(options["params"]):
            if tensor.numel() and tensor.layout is sys.modules["torch"].strided:
                yield f"{group}/{number}", tensor


def _array(tensor: Any) -> Any:
    """Return the elements as an array of numpy; of types that numpy lacks, their bytes."""
    here = tensor.detach().cpu()
    try:
        return here.numpy()
    except TypeError:
        return here.contiguous().reshape(-1).view(sys.modules["torch"].uint8).numpy()


def _hidden() -> bool:
    """Return whether torch compiles or captures the call now and executes it later without us."""
    torch = sys.modules["torch"]
    if torch.compiler.is_compiling():
        return True
    return bool(torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


def _name(optimiser: Any) -> str:
    return type(optimiser).__name__
