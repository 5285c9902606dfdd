"""What numerical libraries of this process really use: threads, kernels, instruction sets, modes, switches.

A reader asks the library itself, and answers by place: two copies of OpenBLAS give two rows. The C library says
nothing of the variants that it chose, so its results are compared with known ones. Modes of the floating-point unit
belong to the calling thread.

Not here: what is wanted (``knobs``). Nothing is imported or changed to be asked.

Invariant: a library that the process has not loaded gives no row.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from twice.recorder.environment.libraries import (
    list_mapped_files,
    read_loaded_blas,
    read_numpy_dispatch,
)

Reading = Mapping[str, str]
"""What is in force, by place."""

_SMALLEST, _HALF, _TINIEST, _LARGE, _ONE, _ULP = (
    2.0**-1022,
    0.5,
    2.0**-1074,
    2.0**600,
    1.0,
    2.0**-53,
)
# Names, and no literals in expressions, which the compiler folds before the thread's modes act.

_WITNESSES: Final = (
    (math.exp, "0x1.cfd28a56de6d0p+3", "0x1.e164adf18fe9dp+20", "0x1.e164adf18fe9cp+20"),
    (math.exp, "-0x1.95fa02d3e5553p+4", "0x1.5053d47f0d651p-37", "0x1.5053d47f0d650p-37"),
    (math.sin, "0x1.76c7535e6637cp+5", "0x1.179a9a8c8bc57p-2", "0x1.179a9a8c8bc58p-2"),
    (math.sin, "0x1.aeeb042d113b8p+3", "0x1.910162e5209f6p-1", "0x1.910162e5209f5p-1"),
    (math.atan, "-0x1.bddbdb7531727p+3", "-0x1.7fc822d7b552fp+0", "-0x1.7fc822d7b552ep+0"),
)
"""A function and an argument at which glibc's variants part: the result with FMA, and the one of every x86-64."""
_BRANCHES: Final = {1: "none", 2: "AUTO", 3: "COMPATIBLE", 4: "SSE2", 6: "SSSE3", 7: "SSE4_1", 8: "SSE4_2", 9: "AVX",
                    10: "AVX2", 12: "AVX512", 14: "AVX512_E1"}  # fmt: skip
"""Source: ``mkl_types.h``, ``MKL_CBWR_*``."""
_STRICT: Final = 0x10000
_MISSING: Final = object()
_FULL: Final = ("", "none", "ieee")


def read_denormals() -> str:
    """Return ``kept`` or ``flushed``: what becomes of subnormal results and operands in this thread."""
    return "kept" if _SMALLEST * _HALF and _TINIEST * _LARGE else "flushed"


def read_rounding() -> str:
    """Return ``to nearest`` or ``directed``, of this thread."""
    is_nearest = _ONE + _ULP == _ONE and -_ONE - _ULP == -_ONE and _ONE + 3 * _ULP > _ONE
    return "to nearest" if is_nearest else "directed"


def read_libm() -> str:
    """Return ``FMA`` or ``SSE2``: the variants that glibc's ``exp``, ``sin`` and ``atan`` are; empty for another library."""
    found = [function(float.fromhex(x)).hex() for function, x, _, _ in _WITNESSES]
    if found == [fused for _, _, fused, _ in _WITNESSES]:
        return "FMA"
    return "SSE2" if found == [plain for _, _, _, plain in _WITNESSES] else ""


def _read_blas(field: str, author: str) -> Reading:
    return {
        one.where: str(getattr(one, field))
        for one in read_loaded_blas()
        if one.internal_api == author
    }


def _read_openmp() -> Reading:
    """Return threads of PyTorch where it is loaded; a pool of OpenMP has as many, or is told by who uses it."""
    if torch := _find("torch", "get_num_threads"):
        return {"torch": str(torch())}
    return {one.where: str(one.threads) for one in read_loaded_blas() if one.library == "openmp"}


@cache
def _open_mkl(paths: tuple[str, ...]) -> Any:
    for path in paths:
        name = Path(path).name
        if ".so" in name and ("mkl_rt" in name or "mkl_core" in name or "libtorch_cpu" in name):
            library = ctypes.CDLL(path)
            if hasattr(library, "mkl_serv_cbwr_get"):
                return library
    return None


def _read_mkl(name: str, *arguments: int) -> int | None:
    """Return what an internal function of MKL says; None where it is not loaded, or has none of that name."""
    library = _open_mkl(tuple(list_mapped_files()))
    function = getattr(library, name, None)
    return None if function is None else int(function(*arguments))


def _read_mkl_threads() -> Reading:
    found = _read_mkl("mkl_serv_get_max_threads")
    return {} if found is None else {"mkl": str(found)}


def _read_mkl_branch() -> Reading:
    found = _read_mkl("mkl_serv_cbwr_get", 1)
    if found is None:
        return {}
    branch = _BRANCHES.get(found & ~_STRICT, str(found))
    return {"mkl": f"{branch},STRICT" if found & _STRICT else branch}


def _read_numpy() -> Reading:
    """Return the instruction sets above its baseline that numpy's kernels may use."""
    known, present = read_numpy_dispatch()
    return {"numpy": " ".join(name for name in known if name in present) or "baseline"}


def _find(module: str, path: str) -> Any:
    """Return an attribute of a loaded module; None where there is none."""
    return _find_below(sys.modules.get(module), path.split("."))


def _find_below(found: Any, parts: Sequence[str]) -> Any:
    for name in parts:
        found = getattr(found, name, None)
    return found


def _ask(place: str) -> Reading:
    """Return what a function of a loaded module returns, or an attribute is."""
    module, _, path = place.partition(":")
    *parts, last = path.removesuffix("()").split(".")
    owner = _find_below(sys.modules.get(module), parts)
    try:
        value: Any = getattr(owner, last, _MISSING)
        if value is _MISSING:
            return {}
        value = value() if path.endswith("()") else value
    except RuntimeError as error:
        # torch refuses to tell of a switch by its older name, once a newer one disagrees with it.
        value = f"not told: {str(error).splitlines()[0]}"
    return {module: str(value).lower() if isinstance(value, bool) else str(value)}


def _read_torch_determinism() -> Reading:
    """Return ``true``, ``false`` or what stands between them; a warning stops no operation."""
    if not (is_on := _find("torch", "are_deterministic_algorithms_enabled")):
        return {}
    only_warns = _find("torch", "is_deterministic_algorithms_warn_only_enabled")
    if is_on() and only_warns is not None and only_warns():
        return {"torch": "warn_only, which only warns"}
    return {"torch": str(is_on()).lower()}


def _read_torch_precision() -> Reading:
    """Return ``ieee``, or the operations on float32 that torch's newer switches let compute with fewer bits.

    These never refuse to tell. ``none`` is the library's own choice, which is ieee wherever no older switch says else.
    """
    backends = _find("torch", "backends")
    owners = {
        f"{backend}.{operation}": _find_below(backends, (place, operation))
        for backend, place in (("cuda", "cudnn"), ("mkldnn", "mkldnn"))
        for operation in ("conv", "rnn")
    }
    owners |= {
        f"{name}.matmul": _find_below(backends, (name, "matmul")) for name in ("cuda", "mkldnn")
    }
    told = {name: str(getattr(owner, "fp32_precision", "")) for name, owner in owners.items()}
    if not any(told.values()):
        return {}
    reduced = [f"{name} {value}" for name, value in told.items() if value not in _FULL]
    return {"torch": ", ".join(reduced) or "ieee"}


_READERS: Final[Mapping[str, Callable[[], Reading]]] = {
    "openblas threads": lambda: _read_blas("threads", "openblas"),
    "openblas kernels": lambda: _read_blas("architecture", "openblas"),
    "openmp threads": _read_openmp,
    "mkl threads": _read_mkl_threads,
    "mkl branch": _read_mkl_branch,
    "numexpr threads": lambda: _ask("numexpr:get_num_threads()"),
    "numba threads": lambda: _ask("numba:config.NUMBA_NUM_THREADS"),
    "numpy features": _read_numpy,
    "aten capability": lambda: _ask("torch:backends.cpu.get_cpu_capability()"),
    "libm branch": lambda: {"libm": found} if (found := read_libm()) else {},
    "torch deterministic algorithms": _read_torch_determinism,
    "torch fp32 precision": _read_torch_precision,
    "denormals": lambda: {"this thread": read_denormals()},
    "rounding": lambda: {"this thread": read_rounding()},
}


def read(name: str) -> Reading:
    """Return what is in force, by place; nothing where no library that knows of it is loaded.

    Args:
        name: of a reader, or ``module:path`` of an attribute, with ``()`` at the end of a function.
    """
    return _READERS[name]() if name in _READERS else _ask(name)
