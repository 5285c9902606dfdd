"""Streams of torch: one ``torch.Generator`` per name, on a device. Imports torch: the extra ``torch``.

torch takes in 64 bits of a sub-seed, and its CPU generator 32 of those, so two of a great many CPU
streams may coincide (even odds at 77,000). torch shows no memory: a position costs microseconds,
and on a GPU it is the generator's seed and offset, which live on the host.

Invariant: a stream draws the numbers of ``torch.Generator(device).manual_seed(torch_seed(seed))``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import torch

from twice.foundation.seeds import Seed
from twice.recorder.streams.governed import (
    Governed,
    Unshareable,
    refuse_reseeding,
    refuse_sharing,
    refuse_state,
)


def torch_seed(seed: Seed) -> int:
    """Return the low 64 bits of a seed, the argument of ``manual_seed``."""
    return seed.value & (2**64 - 1)


def torch_kind(device: Any) -> str:
    """Name the kind of a generator on a device; ``cuda`` means ``cuda:0``, not the current one."""
    named = torch.device(device)
    return "torch:cpu" if named.type == "cpu" else f"torch:{named.type}:{named.index or 0}"


class TorchStream(Unshareable, torch.Generator):  # type: ignore[misc, unused-ignore]  # Any without torch
    """A ``torch.Generator`` that cannot be copied, pickled or re-seeded; torch's kernels see an ordinary one."""

    def clone_state(self) -> NoReturn:
        """Refuse: E-RNG-002."""
        raise refuse_sharing(self.stream_name, "cloned")

    def seed(self) -> NoReturn:
        """Refuse: E-RNG-005."""
        raise refuse_reseeding(self.stream_name)

    def manual_seed(self, _seed: int) -> NoReturn:
        """Refuse: E-RNG-005."""
        raise refuse_reseeding(self.stream_name)


class GovernedTorch(Governed):
    """One ``torch.Generator``."""

    def __init__(self, generator: Any) -> None:
        self.generator = self._torch = generator
        self.kind = torch_kind(generator.device)
        self.moving = lambda: _read_bytes(generator)

    def read(self) -> dict[str, object]:
        """Return torch's state as bytes; 5,056 of them on a CPU."""
        return {"kind": self.kind, "state": _read_bytes(self._torch)}

    def _put(self, state: Mapping[str, object]) -> None:
        _write_bytes(self._torch, state.get("state"), self.kind)


def open_torch(name: str, seed: Seed, device: str) -> GovernedTorch:
    """Make the stream of a name on a device from its sub-seed, seeded once."""
    stream: Any = TorchStream(torch_kind(device).removeprefix("torch:"))
    torch.Generator.manual_seed(stream, torch_seed(seed))
    stream.stream_name = name
    return GovernedTorch(stream)


class GovernedTorchDefaults(Governed):
    """torch's default generators: the CPU's, and each GPU's once CUDA has been started."""

    kind = "torch-defaults"

    def __init__(self) -> None:
        self.generator = torch.default_generator
        self.moving = lambda: b"".join(self._states().values())

    def seed_all(self, seed: Seed) -> None:
        """Seed every default generator; those of GPUs not yet started get it when they start."""
        torch.manual_seed(torch_seed(seed))

    def _generators(self) -> dict[str, Any]:
        started = torch.cuda.default_generators if torch.cuda.is_initialized() else ()
        on_gpus = {f"cuda:{index}": each for index, each in enumerate(started)}
        return {"cpu": torch.default_generator, **on_gpus}

    def _states(self) -> dict[str, bytes]:
        return {name: _read_bytes(each) for name, each in self._generators().items()}

    def read(self) -> dict[str, object]:
        """Return one state per device."""
        return {"kind": self.kind, "states": self._states()}

    def _put(self, state: Mapping[str, object]) -> None:
        states = state.get("states")
        if not isinstance(states, Mapping):
            raise refuse_state(f"holds the states {states!r}", self.kind)
        if any(str(name).startswith("cuda") for name in states):
            torch.cuda.init()
        here = self._generators()
        for name, raw in states.items():
            if name not in here:
                raise refuse_state(f"is for the device {name!r}, which is not here", self.kind)
            _write_bytes(here[name], raw, self.kind)


def _read_bytes(generator: Any) -> bytes:
    raw: bytes = generator.get_state().numpy().tobytes()
    return raw


def _write_bytes(generator: Any, raw: object, kind: str) -> None:
    if not isinstance(raw, bytes):
        raise refuse_state(f"holds {type(raw).__name__} and no bytes", kind)
    try:
        generator.set_state(torch.frombuffer(bytearray(raw), dtype=torch.uint8))
    except (RuntimeError, TypeError, ValueError) as error:
        raise refuse_state(f"was not taken by torch ({error})", kind) from error
