"""Other numeric modes for experiments, and what kernels libraries chose that do not tell.

A library that was compiled for fast arithmetic may flush denormal numbers to zero in the thread that loads it. Any code
may let PyTorch multiply float32 in fewer bits. A process is given either on purpose. oneDNN takes no notice of a
misspelt instruction set and reports none, and XLA has no reading of it: what they chose is read from a result.

Not for: deciding which modes are worth trying (``diagnosis.vary``). Not covered: denormals on processors other than
x86-64, and in threads that run already.

Invariant: a process that asks for none has the modes that it had, and runs no computation for this.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any, Final

from twice.foundation.digests import digest_bytes
from twice.recorder.imports import ImportWatch

_ENVIRONMENT_BYTES: Final = 32  # fenv_t of the GNU C library: 28 bytes of the x87 unit, then MXCSR
_MXCSR_AT: Final = 28
_FLUSH: Final = 0x8040  # bits FTZ and DAZ, Intel SDM volume 1, 10.2.3
_asked: list[bool] = []


def flush_denormals() -> None:
    """Flush denormal numbers to zero in this thread, and in threads that it starts from now on."""
    if not can_flush_denormals():
        raise OSError("only known for the GNU C library on x86-64")
    libm = ctypes.CDLL("libm.so.6")
    kept = ctypes.create_string_buffer(_ENVIRONMENT_BYTES)
    libm.fegetenv(kept)
    (mode,) = struct.unpack_from("<I", kept, _MXCSR_AT)
    struct.pack_into("<I", kept, _MXCSR_AT, mode | _FLUSH)
    libm.fesetenv(kept)


def can_flush_denormals() -> bool:
    """Return whether ``flush_denormals`` knows this machine."""
    return platform.machine() == "x86_64" and platform.libc_ver()[0].startswith("glibc")


def lower_matmul_precision() -> None:
    """Let PyTorch multiply float32 matrices in bfloat16 or TF32, where the processor or GPU has that, once it is loaded."""

    def lower(torch: ModuleType) -> None:
        torch.set_float32_matmul_precision("medium")

    ImportWatch({"torch": lower}).install()


def ask_for_kernels() -> None:
    """Let ``read_kernels`` compute in this process."""
    _asked.append(True)


def read_kernels() -> dict[str, str]:
    """Return digests of a result of oneDNN and of XLA, if the process was asked for them and has loaded their library."""
    found: dict[str, str] = {}
    if not _asked:
        return found
    with suppress(Exception):  # a program may leave its libraries in any state
        if (torch := sys.modules.get("torch")) is not None:
            found["onednn"] = digest_bytes(_convolve(torch)).hex[:8]
    with suppress(Exception):
        if (jax := sys.modules.get("jax")) is not None:
            found["xla"] = digest_bytes(_raise_e(jax)).hex[:8]
    return found


def _convolve(torch: Any) -> bytes:
    on = {"dtype": torch.float32, "device": "cpu"}
    image = torch.arange(2 * 8 * 16 * 16, **on).remainder(97.0).div(97.0).reshape(2, 8, 16, 16)
    kernel = torch.arange(16 * 8 * 9, **on).remainder(89.0).div(89.0).reshape(16, 8, 3, 3)
    with torch.no_grad():
        result: bytes = torch.nn.functional.conv2d(image, kernel).numpy().tobytes()
    return result


def _raise_e(jax: Any) -> bytes:
    import numpy as np

    # JAX ends its backends with the program; a new one shall begin on the processor alone.
    if not sys.modules["jax._src.xla_bridge"]._backends:
        jax.config.update("jax_platforms", "cpu")
    values = (np.arange(256, dtype=np.float32) % 97 - 48) / 7
    placed = jax.device_put(values, jax.local_devices(backend="cpu")[0])
    result: bytes = np.asarray(jax.jit(jax.lax.exp)(placed)).tobytes()
    return result
