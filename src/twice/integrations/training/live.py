"""The objects of this process that hold a training's state, under the names that the program gives them.

Whatever the libraries keep alive is found, whether the program still has a name for it or not. An object within
another one that is found, such as the policy of an agent, is a piece of that one.

Not found: state in objects of unknown classes, in closures, and in other processes.

Invariant: nothing is changed, imported or kept alive.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from twice.errors import TwiceError
from twice.foundation.source_files import is_user_file
from twice.integrations.checkpoints.generator_parts import find_process_parts
from twice.integrations.checkpoints.parts import find_parts
from twice.integrations.torch_steps import to_array

if TYPE_CHECKING:
    from twice.integrations.checkpoints.parts import Part

_KINDS: Final = (
    ("agent", "stable_baselines3.common.base_class", "BaseAlgorithm"),
    ("model", "torch.nn.modules.module", "Module"),
    ("optimizer", "torch.optim.optimizer", "Optimizer"),
    ("scheduler", "torch.optim.lr_scheduler", "LRScheduler"),
    ("scaler", "torch.amp.grad_scaler", "GradScaler"),
    ("booster", "xgboost.core", "Booster"),
    ("booster", "lightgbm.basic", "Booster"),
)
"""What an object without a name is called, and its class."""
_AGENT: Final = "agent"
_BOOSTER: Final = "booster"
_GENERATORS: Final = {"random", "numpy", "sklearn"}
"""Libraries whose objects are found by the program's variables alone: the collector does not know them."""
_DEPTH_MAX: Final = 2


def find_parts_of_training(frame: FrameType | None) -> dict[str, Part]:
    """Return the parts of the state that this process's training has now.

    Args:
        frame: where the training is; the variables of its callers give the names.

    Returns:
        The parts by name; the process's generators are always among them.
    """
    parts: dict[str, Part] = dict(find_process_parts())
    names = _read_names(frame)
    found = [
        (label, target)
        for label, module, name in _KINDS
        if (kind := getattr(sys.modules.get(module), name, None)) is not None
        for target in _list_instances(kind)
    ]
    agents = [target for label, target in found if label == _AGENT]
    inner = {
        id(inner)
        for label, target in found
        if label == "model"
        for inner in target.modules()
        if inner is not target
    }
    known = {id(target) for _, target in found}
    known |= {id(getattr(part, "target", None)) for part in parts.values()}
    own = [(name, target) for name, target in _list_own(frame) if id(target) not in known]
    for label, target in [*found, *own]:
        if id(target) in inner or (agents and label != _AGENT and id(target) in known):
            continue
        name = _make_free(names.get(id(target), label), parts)
        try:
            parts.update(find_parts(name, target))
        except TwiceError:
            continue  # of a class whose state nobody knows
    return parts


def find_parts_of(holders: Iterable[object]) -> dict[str, Any]:
    """Return the parts of what moved the steps of a training, such as optimisers, and the parameters that they moved.

    They are read, and never put back. A training in stretches makes a booster for each, from the model of the one before: of boosters the last one counts.
    """
    parts: dict[str, Any] = {}
    labelled = [(_label(target), target) for target in holders]
    boosters = [target for label, target in labelled if label == _BOOSTER]
    for label, target in labelled:
        if label == _BOOSTER and target is not boosters[-1]:
            continue
        name = _make_free(label, parts)
        if _is_of(target, "lightgbm.basic", "Booster"):
            parts[name] = _Trees(target)
            continue
        parts.update(find_parts(name, target))
        if label == "optimizer":
            parts[_make_free("parameters", parts)] = _Parameters(target)
    return parts


class _Parameters:
    """The parameters that an optimiser moves, by group and place in it: it knows no names."""

    def __init__(self, optimiser: Any) -> None:
        self._optimiser = optimiser

    def read(self) -> object:
        groups = enumerate(self._optimiser.param_groups)
        return {
            f"{group}/{number}": to_array(tensor)
            for group, options in groups
            for number, tensor in enumerate(options["params"])
        }


class _Trees:
    """The trees of a booster of LightGBM as text, without its settings, among which is how many rounds it was given."""

    def __init__(self, booster: Any) -> None:
        self._booster = booster

    def read(self) -> object:
        return self._booster.model_to_string().partition("\nparameters:")[0]


def _label(target: object) -> str:
    return next(label for label, module, name in _KINDS if _is_of(target, module, name))


def _is_of(target: object, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(target, kind)


def _list_instances(kind: Any) -> list[Any]:
    # ``isinstance`` would ask proxies, which may import or compute.
    return [each for each in gc.get_objects() if issubclass(type(each), kind)]


def _make_free(name: str, taken: Mapping[str, object]) -> str:
    number, free = 2, name
    while free in taken or any(each.startswith(f"{free}.") for each in taken):
        free, number = f"{name} {number}", number + 1
    return free


def _read_names(frame: FrameType | None) -> dict[int, str]:
    """Return names of objects by id: variables of the callers, the outermost's first, then attributes of ``self``."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    found: dict[int, str] = {}
    for each in reversed(frames):
        for scope in (each.f_globals, each.f_locals):
            for name, value in _list_variables(scope):
                found.setdefault(id(value), name)
    return found


def _list_own(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """Yield variables of the user's code that hold objects of known libraries, each object once."""
    seen: set[int] = set()
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            for scope in (frame.f_locals, frame.f_globals):
                for name, value in _list_variables(scope):
                    libraries = {cls.__module__.partition(".")[0] for cls in type(value).__mro__}
                    if libraries & _GENERATORS and id(value) not in seen:
                        seen.add(id(value))
                        yield name, value
        frame = frame.f_back


def _list_variables(scope: Mapping[str, Any], depth: int = 1) -> Iterator[tuple[str, Any]]:
    for name, value in [*scope.items()]:
        if name.startswith("__"):
            continue
        yield name, value
        if name == "self" and depth < _DEPTH_MAX and hasattr(value, "__dict__"):
            yield from _list_variables(vars(value), depth + 1)
