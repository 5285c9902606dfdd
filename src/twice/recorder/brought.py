"""What a program brought along that decides numbers, read back when it ends: threads, kernels, a GPU.

The fingerprint is taken before the program begins; a library that it loads later, and a switch that it
sets, show here alone. What is not here: what the environment is (``environment``), and judging any of it.

Invariant: no library is imported and no device initialised to be asked; what is not loaded has no row.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from twice.recorder.environment import find_driver_version, loaded_blas
from twice.recorder.probes import run_probes

_DRIVERS: Final = ("libcuda.so", "libamdhip64.so", "libhsa-runtime64.so", "libze_loader.so")
_SWITCHES: Final = (
    "cudnn.deterministic", "cudnn.benchmark", "cudnn.allow_tf32", "cuda.matmul.allow_tf32",
)  # fmt: skip
"""Below ``torch.backends``."""
_MAPS: Final = Path("/proc/self/maps")
_VARIABLES: Final = (
    "CUDA_", "CUBLAS_", "CUDNN_", "NCCL_", "NVIDIA_TF32", "XLA_FLAGS", "TF_CUDNN", "TF_DETERMINISTIC",
    "JAX_",
)  # fmt: skip


def numerics_at_end() -> dict[str, object]:
    """Return threads and kernels of numeric libraries, subnormal numbers, and signs of a GPU."""
    blas = loaded_blas()
    return {
        "threads": {each.where: each.threads for each in blas},
        "kernels": {each.where: each.architecture for each in blas},
        "probes": run_probes(("float",)),
        "gpu": _gpu(),
    }


def _gpu() -> dict[str, object]:
    """Return the signs that a GPU was used, and how; ``told`` is false where the system cannot say."""
    drivers = _drivers()
    torch: Any = sys.modules.get("torch")
    return {
        "told": drivers is not None,
        "reached": sorted({*(drivers or ()), *_initialised(torch)}),
        "driver": find_driver_version(),
        "cards": _cards(torch),
        "switches": dict(sorted({**dict(_switches(torch)), **_variables()}.items())),
    }


def _drivers() -> list[str] | None:
    """Return the GPU drivers that this process has loaded; None where the system does not say."""
    try:
        lines = _MAPS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    names = {Path(line.split(maxsplit=5)[5]).name for line in lines if ".so" in line}
    return sorted({each for each in _DRIVERS if any(name.startswith(each) for name in names)})


def _initialised(torch: Any) -> Iterator[str]:
    """Yield the libraries that report that they run on a GPU."""
    with suppress(AttributeError):
        if torch.cuda.is_initialized():
            yield "torch"
    bridge: Any = sys.modules.get("jax._src.xla_bridge")
    with suppress(AttributeError):
        if {"cuda", "gpu", "rocm"} & set(bridge._backends):
            yield "jax"


def _cards(torch: Any) -> list[str]:
    """Return the names of the cards, where torch uses them already."""
    with suppress(AttributeError, RuntimeError):
        if torch.cuda.is_initialized():
            return [str(torch.cuda.get_device_name(at)) for at in range(torch.cuda.device_count())]
    return []


def _switches(torch: Any) -> Iterator[tuple[str, str]]:
    """Yield torch's own switches, by the names in its documentation."""
    asking: Any = getattr(torch, "are_deterministic_algorithms_enabled", None)
    if asking is not None:
        yield "use_deterministic_algorithms", str(asking()).lower()
    for name in _SWITCHES:
        with suppress(AttributeError, RuntimeError):
            yield name, str(attrgetter(name)(torch.backends)).lower()


def _variables() -> dict[str, str]:
    """Return the process's variables that switch a GPU's libraries."""
    return {name: value for name, value in os.environ.items() if name.startswith(_VARIABLES)}
