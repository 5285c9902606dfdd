"""Modules, optimisers, schedulers and scalers of torch as parts.

A module's part holds what ``state_dict`` leaves out, too: buffers that are not persistent, gradients that wait for an
optimiser, which parameters are trained, and the mode of each module. An optimiser's state keeps its dtypes, which
``load_state_dict`` casts to those of the parameters.

Not covered: attributes of a module that are neither parameters, buffers nor extra state; hooks; state that is
sharded among processes.

Invariant: all of a state is compared with its object before the first value is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from twice.integrations.checkpoints.loader_part import LoaderPart
from twice.integrations.checkpoints.parts import Part, TargetPart
from twice.integrations.checkpoints.plain_parts import StateDictPart
from twice.integrations.checkpoints.torch_generators import (
    TorchGeneratorPart,
    describe_devices,
)
from twice.integrations.checkpoints.trees import (
    MISFITS,
    from_tree,
    tensor_from_tree,
    tensor_to_tree,
    to_tree,
)


class ModulePart(TargetPart):
    """A ``torch.nn.Module``: tensors, gradients, modes, and what is trained."""

    @property
    def device(self) -> str:  # type: ignore[override]
        """Where parameters and buffers lie."""
        return describe_devices(tensor.device for tensor in self._list_tensors().values())

    def read(self) -> object:
        """Return parameters and buffers by name, gradients, names of frozen parameters, modes, and extra states."""
        parameters = dict(self.target.named_parameters())
        return {
            "tensors": self._read_all(self._list_tensors(), ""),
            "gradients": self._read_all(
                {name: one.grad for name, one in parameters.items() if one.grad is not None},
                "gradient of ",
            ),
            "frozen": [name for name, one in parameters.items() if not one.requires_grad],
            "modes": {name: module.training for name, module in self.target.named_modules()},
            "extra": {
                name: to_tree(module.get_extra_state(), f"{self.name}.{name}")
                for name, module in self._list_extra().items()
            },
        }

    def write(self, state: object) -> None:
        """Put the state back."""
        plain: Any = state
        tensors, parameters = self._list_tensors(), dict(self.target.named_parameters())
        modules, extra = dict(self.target.named_modules()), self._list_extra()
        try:
            self._check_keys("parameters and buffers", plain["tensors"], tensors)
            self._check_keys("modules", plain["modes"], modules)
            self._check_keys("extra states", plain["extra"], extra)
            values = self._fit_all(plain["tensors"], tensors)
            gradients = self._fit_all(plain["gradients"], parameters)
            extra_values = {name: from_tree(tree) for name, tree in plain["extra"].items()}
            frozen, modes = set(plain["frozen"]), plain["modes"]
            if not all(type(mode) is bool for mode in modes.values()):
                raise ValueError("a mode is not true or false")
        except MISFITS as error:
            raise self.refuse(
                f"is not one of a module ({error})", "what read() returned"
            ) from error
        with torch.no_grad():
            for name, value in values.items():
                tensors[name].copy_(value)
        for name, parameter in parameters.items():
            parameter.requires_grad_(name not in frozen)
            gradient = gradients.get(name)
            parameter.grad = None if gradient is None else gradient.to(parameter.device)
        for name, module in modules.items():
            module.training = modes[name]
        for name, value in extra_values.items():
            extra[name].set_extra_state(value)

    def _list_tensors(self) -> dict[str, Any]:
        return {**dict(self.target.named_parameters()), **dict(self.target.named_buffers())}

    def _list_extra(self) -> dict[str, Any]:
        default = torch.nn.Module.get_extra_state
        return {
            name: module
            for name, module in self.target.named_modules()
            if type(module).get_extra_state is not default
        }

    def _read_all(self, tensors: Mapping[str, Any], what: str) -> dict[str, object]:
        for name, tensor in tensors.items():
            if torch.nn.parameter.is_lazy(tensor):
                raise self.refuse(
                    f"cannot be written: {name} has no shape before the first batch",
                    "a module that has seen a batch",
                )
        return {
            name: tensor_to_tree(tensor, f"{what}{self.name}.{name}")
            for name, tensor in tensors.items()
        }

    def _check_keys(self, what: str, kept: Iterable[str], there: Iterable[str]) -> None:
        missing, more = sorted(set(there) - set(kept)), sorted(set(kept) - set(there))
        if missing or more:
            words = [f"lacks the {what} {', '.join(map(repr, missing))}"] * bool(missing)
            words += [f"has the {what} {', '.join(map(repr, more))}"] * bool(more)
            raise self.refuse(" and ".join(words), f"the {what} of this {self.kind}")

    def _fit_all(self, trees: Mapping[str, object], tensors: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tensors of trees on the CPU, once shapes and dtypes are those of the module's."""
        values = {}
        for name, tree in trees.items():
            value, there = tensor_from_tree(tree, "cpu"), tensors[name]
            if (value.shape, value.dtype) != (there.shape, there.dtype):
                raise self.refuse(
                    f"has {name} as {value.dtype} of the shape {list(value.shape)}",
                    f"{there.dtype} of the shape {list(there.shape)}",
                )
            values[name] = value
        return values


class OptimizerPart(TargetPart):
    """A ``torch.optim.Optimizer``: options of its groups, and state by the order of parameters."""

    @property
    def device(self) -> str:  # type: ignore[override]
        """Where the parameters lie."""
        return describe_devices(one.device for one in self._list_parameters())

    def read(self) -> object:
        """Return the options of groups, shapes of parameters, and the states of those that have one."""
        parameters = self._list_parameters()
        return {
            "groups": [
                {
                    key: len(value) if key == "params" else to_tree(value, f"{self.name}.{key}")
                    for key, value in group.items()
                }
                for group in self.target.param_groups
            ],
            "shapes": [list(one.shape) for one in parameters],
            "state": {
                str(at): to_tree(dict(self.target.state[one]), f"{self.name}[{at}]")
                for at, one in enumerate(parameters)
                if one in self.target.state
            },
        }

    def write(self, state: object) -> None:
        """Put the state back."""
        plain: Any = state
        parameters = self._list_parameters()
        groups = self.target.param_groups
        try:
            sizes = [group["params"] for group in plain["groups"]]
            shapes = [list(one.shape) for one in parameters]
            if sizes != [len(group["params"]) for group in groups] or plain["shapes"] != shapes:
                raise self.refuse(
                    f"is of groups of {sizes} parameters with the shapes {plain['shapes']}",
                    f"those of this {self.kind}: {[len(group['params']) for group in groups]}, {shapes}",
                )
            options = [
                {key: from_tree(value) for key, value in group.items() if key != "params"}
                for group in plain["groups"]
            ]
            for kept, group in zip(options, groups, strict=True):
                if kept.keys() | {"params"} != group.keys():
                    raise ValueError(f"its options are {', '.join(sorted(kept))}")
            states = {int(at): from_tree(tree) for at, tree in plain["state"].items()}
            placed = {parameters[at]: _place(one, parameters[at]) for at, one in states.items()}
        except MISFITS as error:
            raise self.refuse(
                f"is not one of this {self.kind} ({error})", "what read() returned"
            ) from error
        for kept, group in zip(options, groups, strict=True):
            group.update(kept)
        self.target.state.clear()
        self.target.state.update(placed)

    def _list_parameters(self) -> list[Any]:
        return [one for group in self.target.param_groups for one in group["params"]]


def find_parts(name: str, target: object) -> dict[str, Part]:
    """Return the part of an object of torch; nothing for one whose class is not known."""
    if isinstance(target, torch.utils.data.DataLoader):
        return {name: LoaderPart(name, target)}
    if isinstance(target, torch.nn.Module):
        return {name: ModulePart(name, target)}
    if isinstance(target, torch.optim.Optimizer):
        return {name: OptimizerPart(name, target)}
    if isinstance(target, torch.optim.lr_scheduler.LRScheduler | torch.amp.GradScaler):
        return {name: StateDictPart(name, target)}
    if isinstance(target, torch.Generator):
        return {name: TorchGeneratorPart(name, target)}
    return {}


def _place(state: dict[str, Any], parameter: Any) -> dict[str, Any]:
    """Move tensors from the same kind of device to the parameter's own: the number of a card may be another one."""
    return {
        key: value.to(parameter.device)
        if isinstance(value, torch.Tensor) and value.device.type == parameter.device.type
        else value
        for key, value in state.items()
    }
