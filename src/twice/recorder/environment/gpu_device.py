"""The device that a run computed on: driver, cards, and versions of the libraries below torch and JAX.

Every session asks for it when it ends, so nothing is loaded for this.

Not here: what a policy sets (``gpu_policy``).

Invariant: nothing here initialises a device, and of what is not loaded nothing is told.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from twice.recorder.environment.libraries import (
    list_cards,
    list_mapped_files,
    read_driver_version,
)

_VERSIONS: Final[Mapping[str, tuple[str, str]]] = {
    "cuda driver": ("libcuda.so", "cuDriverGetVersion"),
    "cuda runtime": ("libcudart.so", "cudaRuntimeGetVersion"),
    "cudnn": ("libcudnn.so", "cudnnGetVersion"),
    "nccl": ("libnccl.so", "ncclGetVersion"),
}
"""Loaded libraries, and their functions that tell a version and need no device.

Source: CUDA Driver API 6.3, CUDA Runtime API 6.10, cuDNN Backend API, NCCL API ``ncclGetVersion``."""


def describe_device() -> dict[str, Any]:
    """Return driver, cards and versions as they tell themselves; cards that torch uses, with their processors.

    ``built_for`` is the CUDA that torch was compiled for, which says nothing of what is loaded.
    """
    torch: Any = sys.modules.get("torch")
    found: dict[str, Any] = {
        "driver": read_driver_version(),
        "cards": list_cards() or [],
        "versions": dict(_read_versions()),
        "used": _describe_used(torch),
    }
    built_for = getattr(getattr(torch, "version", None), "cuda", None)
    return {**found, **({"built_for": str(built_for)} if built_for else {})}


def _read_versions() -> dict[str, str]:
    loaded = {Path(path).name: path for path in list_mapped_files()}
    found = {}
    for name, (library, function) in _VERSIONS.items():
        path = next((path for file, path in loaded.items() if file.startswith(library)), None)
        if path is None:
            continue
        with suppress(OSError, AttributeError):
            ask = getattr(ctypes.CDLL(path), function)
            version = ctypes.c_int()
            if name == "cudnn":
                ask.restype = ctypes.c_size_t
                version.value = ask()
            elif ask(ctypes.byref(version)) != 0:
                continue
            found[name] = _to_text(name, version.value)
    return found


def _to_text(name: str, number: int) -> str:
    """Write a version as its library does: NCCL counts 23203 for 2.32.3, cuDNN 91002 for 9.10.2, CUDA 12080 for 12.8."""
    if name.startswith("cuda"):
        return f"{number // 1000}.{number % 1000 // 10}"
    major = 10_000 if number >= 10_000 else 1_000
    return f"{number // major}.{number % major // 100}.{number % 100}"


def _describe_used(torch: Any) -> list[dict[str, Any]]:
    """Return the cards that torch has initialised; nothing where it has not."""
    used = []
    with suppress(AttributeError, RuntimeError):
        if torch.cuda.is_initialized():
            for at in range(torch.cuda.device_count()):
                card = torch.cuda.get_device_properties(at)
                used.append(
                    {
                        "name": str(card.name),
                        "capability": f"{card.major}.{card.minor}",
                        "processors": int(card.multi_processor_count),
                    }
                )
    return used


def find_unknown_card(device: Mapping[str, Any]) -> str:
    """Say which card in use tells no name or no capability, so that no record can say where it ran; empty for none."""
    for at, card in enumerate(device["used"]):
        if not card["name"].strip() or not re.fullmatch(r"[1-9][0-9]*\.[0-9]+", card["capability"]):
            return f"GPU {at}"
    return ""
