"""Streams of torch: one ``torch.Generator`` per name, on a device. Needs the extra ``torch``.

torch takes in 64 bits of a sub-seed, and its CPU generator 32 of those, so two of a great many CPU
streams may coincide (even odds at 77,000). torch shows no memory: a position costs microseconds,
and on a GPU it is the generator's seed and offset, which live on the host.

Invariant: a stream draws the numbers of ``torch.Generator(device).manual_seed(torch_seed(seed))``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.errors import ExtraMissing
from twice.foundation.seeds import Seed
from twice.recorder.streams.governed import Governed
from twice.recorder.streams.refusals import state_refused


def torch_seed(seed: Seed) -> int:
    """Return the low 64 bits of a seed, the argument of ``manual_seed``."""
    return seed.value & (2**64 - 1)


def torch_kind(device: Any) -> str:
    """Name the kind of a generator on a device; ``cuda`` means ``cuda:0``, not the current one.

    Raises:
        ExtraMissing: E-EXTRA-001, when torch is not installed.
    """
    try:
        import torch
    except ImportError:
        raise ExtraMissing(
            "A torch stream was asked for, and torch is not installed.",
            "Streams of torch need the extra twice[torch].",
            "pip install 'twice[torch]'",
            extra="torch",
        ) from None
    named = torch.device(device)
    return "torch:cpu" if named.type == "cpu" else f"torch:{named.type}:{named.index or 0}"


def open_torch(name: str, seed: Seed, device: str) -> GovernedTorch:
    """Make the stream of a name on a device from its sub-seed; torch is there."""
    from twice.recorder.streams.torch_owned import owned

    where = torch_kind(device).removeprefix("torch:")
    return GovernedTorch(owned(name, torch_seed(seed), where))


class GovernedTorch(Governed):
    """One ``torch.Generator``."""

    def __init__(self, generator: Any) -> None:
        self.generator = self._torch = generator
        self.kind = torch_kind(generator.device)
        self.moving = self._position

    def _position(self) -> bytes:
        return _state_bytes(self._torch.get_state())

    def read(self) -> dict[str, object]:
        """Return torch's state as bytes; 5,056 of them on a CPU."""
        return {"kind": self.kind, "state": self._position()}

    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back in place.

        Raises:
            StreamStateRefused: E-RNG-004, when the state does not fit.
        """
        match dict(state):
            case {"kind": self.kind, "state": bytes(raw)}:
                _put(self._torch, raw, self.kind)
            case _:
                raise state_refused(f"is of kind {state.get('kind')!r}", self.kind)


class GovernedTorchDefaults(Governed):
    """torch's default generators: the CPU's, and each GPU's once CUDA has been started."""

    kind = "torch-defaults"

    def __init__(self) -> None:
        import torch

        self.generator = torch.default_generator
        self.moving = self._position

    def reseed(self, seed: Seed) -> None:
        """Seed every default generator; those of GPUs not yet started get it when they start."""
        import torch

        torch.manual_seed(torch_seed(seed))

    def _generators(self) -> dict[str, Any]:
        import torch

        found: dict[str, Any] = {"cpu": torch.default_generator}
        if torch.cuda.is_initialized():
            for index, generator in enumerate(torch.cuda.default_generators):
                found[f"cuda:{index}"] = generator
        return found

    def _position(self) -> bytes:
        return b"".join(_state_bytes(each.get_state()) for each in self._generators().values())

    def read(self) -> dict[str, object]:
        """Return one state per device."""
        states = {name: _state_bytes(each.get_state()) for name, each in self._generators().items()}
        return {"kind": self.kind, "states": states}

    def write(self, state: Mapping[str, object]) -> None:
        """Put the states back in place.

        Raises:
            StreamStateRefused: E-RNG-004, when a state does not fit, or its device is not here.
        """
        states = state.get("states")
        if state.get("kind") != self.kind or not isinstance(states, Mapping):
            raise state_refused(f"is of kind {state.get('kind')!r}", self.kind)
        if any(str(name).startswith("cuda") for name in states):
            import torch

            torch.cuda.init()
        here = self._generators()
        for name, raw in states.items():
            if name not in here or not isinstance(raw, bytes):
                raise state_refused(f"is for the device {name!r}, which is not here", self.kind)
            _put(here[name], raw, self.kind)


def _state_bytes(state: Any) -> bytes:
    raw: bytes = state.numpy().tobytes()
    return raw


def _put(generator: Any, raw: bytes, kind: str) -> None:
    import torch

    try:
        generator.set_state(torch.frombuffer(bytearray(raw), dtype=torch.uint8))
    except (RuntimeError, TypeError, ValueError) as error:
        raise state_refused(f"was not taken by torch ({error})", kind) from error
