"""Steps of torch optimisers as ticks: the parameters that they move are compared.

After each step at most 1 MiB of them, on whatever device they live: a window that moves on, so that
all are seen in turn, whatever the model's size. At the end of the run all of them are. Loaded by
``recorder/auto_steps`` while torch is still being imported.

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

from twice.recorder.auto_steps import AutoSteps, Undo

LIBRARY = "torch.optim"
WINDOW_BYTES = 1 << 20


def watch(steps: AutoSteps, module: ModuleType) -> Undo:
    """Watch every optimiser's steps; ``module`` is ``torch.optim.optimizer``."""
    windows: WeakKeyDictionary[Any, ParameterWindow] = WeakKeyDictionary()

    def before(_optimiser: Any, _args: Any, _kwargs: Any) -> None:
        if not _is_hidden() and steps.counts(LIBRARY):
            steps.begin()

    def after(optimiser: Any, _args: Any, _kwargs: Any) -> None:
        if _is_hidden() or not steps.counts(LIBRARY):
            return
        name = f"{len(windows)} {type(optimiser).__name__}"
        window = windows.setdefault(optimiser, ParameterWindow(name))
        window.steps += 1
        if steps.takes_point:
            latest = steps.latest(LIBRARY, last=read_all)
            latest.state, latest.moved = window.read(optimiser), True
        steps.end()

    def read_all() -> dict[str, object]:
        """Return all parameters of all optimisers that still exist."""
        return {
            window.name: {name: to_array(tensor) for name, tensor in _parameters(optimiser)}
            for optimiser, window in list(windows.items())
        }

    hooks = (
        module.register_optimizer_step_pre_hook(before),
        module.register_optimizer_step_post_hook(after),
    )

    def undo() -> None:
        for hook in hooks:
            hook.remove()

    return undo


class ParameterWindow:
    """How far one optimiser's parameters have been looked at."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps = -1
        self._from = 0

    def read(self, optimiser: Any) -> dict[str, object]:
        """Return the next bytes of the parameters, in whole elements, by parameter."""
        parameters = list(_parameters(optimiser))
        total = sum(each.numel() * each.element_size() for _, each in parameters)
        found: dict[str, object] = {}
        at, left = self._from if total > WINDOW_BYTES else 0, min(total, WINDOW_BYTES)
        self._from = (at + left) % total if total else 0
        # A window over the end goes on at the beginning.
        for first, last in ((at, min(total, at + left)), (0, max(0, at + left - total))):
            place = 0
            for name, tensor in parameters:
                size = tensor.element_size()
                start = max(first - place, 0) // size
                stop = -(-max(min(last - place, tensor.numel() * size), 0) // size)
                place += tensor.numel() * size
                if start == 0 and stop == tensor.numel():
                    found[name] = to_array(tensor)
                elif start < stop:
                    part = tensor.detach().reshape(-1)[start:stop]
                    found[f"{name}[{start}:{stop}]"] = to_array(part)
        return {"optimiser": self.name, "step": self.steps, "parameters": found}


def _parameters(optimiser: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters by group and place in it: an optimiser knows no names."""
    for group, options in enumerate(optimiser.param_groups):
        for number, tensor in enumerate(options["params"]):
            if tensor.numel() and tensor.layout is sys.modules["torch"].strided:
                yield f"{group}/{number}", tensor


def to_array(tensor: Any) -> Any:
    """Return the elements as an array of numpy; of types that numpy lacks, their bytes."""
    here = tensor.detach().cpu()
    try:
        return here.numpy()
    except (TypeError, RuntimeError):
        return here.contiguous().reshape(-1).view(sys.modules["torch"].uint8).numpy()


def _is_hidden() -> bool:
    """Return whether torch compiles or captures the call now and executes it later without us."""
    torch = sys.modules["torch"]
    if torch.compiler.is_compiling():
        return True
    return bool(torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())
