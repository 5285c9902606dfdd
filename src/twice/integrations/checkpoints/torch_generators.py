"""Generators of torch as parts, and the devices that parts lie on.

Not covered: generators of devices other than the CPU and CUDA.

Invariant: CUDA is not initialised to look at its generators.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from twice.integrations.checkpoints.parts import Part, TargetPart
from twice.integrations.checkpoints.trees import MISFITS


class TorchGeneratorPart(TargetPart):
    """A ``torch.Generator``."""

    @property
    def device(self) -> str:  # type: ignore[override]
        """Where it draws."""
        return describe_devices([self.target.device])

    def read(self) -> object:
        """Return the bytes of its state."""
        return self.target.get_state().numpy().copy()

    def write(self, state: object) -> None:
        """Put the state back."""
        try:
            if not isinstance(state, np.ndarray):
                raise TypeError("it is no array")
            self.target.set_state(torch.from_numpy(state.copy()))
        except MISFITS as error:
            raise self.refuse(
                f"is not one of a torch.Generator ({error})", "its get_state()"
            ) from error


def find_process_parts(prefix: str, names: frozenset[str]) -> dict[str, Part]:
    """Return the default generators: of the CPU, and of each CUDA device once CUDA is used or a name asks for it."""
    found = {f"{prefix}.torch": torch.default_generator}
    if any(name.startswith(f"{prefix}.torch_cuda") for name in names) and torch.cuda.is_available():
        torch.cuda.init()
    if torch.cuda.is_initialized():
        for at, generator in enumerate(torch.cuda.default_generators):
            found[f"{prefix}.torch_cuda_{at}"] = generator
    return {name: TorchGeneratorPart(name, generator) for name, generator in found.items()}


def describe_devices(devices: Iterable[Any]) -> str:
    """Return the kinds of devices: ``cpu``, and for CUDA the name of the card, on which the bits depend."""
    kinds = {
        f"cuda {torch.cuda.get_device_name(device)}" if device.type == "cuda" else device.type
        for device in devices
    }
    return ", ".join(sorted(kinds))
