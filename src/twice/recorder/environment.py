"""Measure the environment of this process as a ``Fingerprint``.

It looks at what is there: files of the system, loaded libraries, installed metadata, variables. It
imports numpy, which every run loads, and nothing else that is heavy; a BLAS that is loaded later (by
scipy, by torch) is seen only by a measurement after that. Where a platform does not tell, the field
is empty; measuring never fails and starts no process.

Invariant: measuring changes nothing that a program could see, and two measurements in processes
with equal settings on one machine are equal.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from twice.foundation.environment import BlasFacts, CpuFacts, Fingerprint, OsFacts, PythonFacts
from twice.recorder.probes import run_probes
from twice.recorder.probes.kept import KeptProbes
from twice.recorder.redaction.secret_names import is_secret
from twice.recorder.settings import settings_at_start
from twice.recorder.surroundings.thread_counts import find_thread_pools, impose_counts
from twice.recorder.variables import is_relevant

_OF_GPU: Final = tuple(
    f"nvidia-{name}-cu{major}"
    for name in ("cublas", "cuda-runtime", "cudnn", "nccl")
    for major in (11, 12)
)
_CARDS: Final = Path("/proc/driver/nvidia/gpus")
_DRIVER_VERSION: Final = Path("/sys/module/nvidia/version")

LIBRARIES: Final = frozenset(
    {
        *_OF_GPU,
        "ale-py", "blake3", "bpy", "cupy", "flax", "gymnasium", "imageio", "jax", "jaxlib", "keras",
        "lightgbm", "llvmlite", "mesa", "mkl", "mlflow", "mujoco", "networkx", "numba", "numexpr",
        "numpy", "opencv-python", "pandas", "pettingzoo", "pillow", "polars", "pyarrow", "pybullet",
        "ray", "scikit-learn", "scipy", "simpy", "stable-baselines3", "tensorflow", "torch",
        "torchvision", "transformers", "triton", "twice", "xgboost", "xxhash", "zstandard",
    }
)  # fmt: skip
"""Distributions whose version can change what a run computes, by normalised name."""

_MODULES: Final = {
    "opencv-python": "cv2", "pillow": "PIL", "scikit-learn": "sklearn",
    **dict.fromkeys(_OF_GPU, "torch"),  # which loads them below Python
}  # fmt: skip
"""Modules of distributions that are not named like them."""
_BELOW_OTHERS: Final = frozenset({"blake3", "mkl", "twice", "xxhash", "zstandard"})
"""Distributions that count although no program imports them."""

_CPU_FEATURES: Final = re.compile(
    r"avx.*|fma4?|f16c|sse.*|ssse3|bmi[12]|amx.*|gfni|vaes|vpclmulqdq|aes|asimd.*|sve.*|sme|sme[0-9_].*|neon"
    r"|fphp|bf16|i8mm|vsx|vx|vector"
)


def measure(
    *, probes: bool = True, groups: Collection[str] | None = None, kept: KeptProbes | None = None
) -> Fingerprint:
    """Measure the present fingerprint of this process.

    Args:
        probes: whether to run the numeric probes (about a tenth of a second).
        groups: which groups of probes to run; see ``twice.recorder.probes.run_probes``.
        kept: probes that need not run again; all groups are meant then.

    Raises:
        UsageError: E-USE-001, for a probe group that there is not.
    """
    numpy_features = _numpy_features()
    impose_counts()
    found = replace(
        measure_versions(),
        dispatch=dict(_dispatch(numpy_features)),
        variables=_variables(),
        settings=settings_at_start(),
    )
    if not probes:
        return found
    return replace(found, probes=run_probes(groups) if kept is None else kept.run(found))


def measure_versions() -> Fingerprint:
    """Measure the interpreter, the system, the processor, and the libraries that have a version; nothing else."""
    numpy_features = _numpy_features()  # First: it loads numpy, and so its BLAS.
    return Fingerprint(
        python=_python(),
        os=_os(),
        cpu=_cpu(numpy_features),
        libraries=dict(_libraries()),
        blas=tuple(loaded_blas()),
        gpu=dict(_gpu()),
    )


def find_driver_version() -> str:
    """Return the version of NVIDIA's driver; "" where none is loaded."""
    with suppress(OSError):
        return _DRIVER_VERSION.read_text(encoding="utf-8", errors="replace").strip()
    return ""


def _gpu() -> Iterator[tuple[str, str]]:
    """Yield driver and cards as the kernel names them, which initialises nothing."""
    if version := find_driver_version():
        yield "driver", version
    with suppress(OSError):
        for at, card in enumerate(sorted(_CARDS.iterdir())):
            about = (card / "information").read_text(encoding="utf-8", errors="replace")
            found = re.search(r"^Model:\s*(.+)$", about, re.MULTILINE)
            yield f"card {at}", found[1].strip() if found else "unknown"


def _python() -> PythonFacts:
    build = " ".join((*platform.python_build(), platform.python_compiler())).strip()
    return PythonFacts(
        version=platform.python_version(),
        implementation=platform.python_implementation(),
        build=build,
    )


def _os() -> OsFacts:
    return OsFacts(system=platform.system(), release=platform.release(), libc=_libc())


def _libc() -> str:
    """Return the C library and its version; on macOS the system version, which implies both."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        if sys.platform == "darwin":
            return f"macOS {platform.mac_ver()[0]}"
        return " ".join(part for part in platform.libc_ver() if part)


def _cpu(numpy_features: tuple[str, ...]) -> CpuFacts:
    told = _cpuinfo(Path("/proc/cpuinfo"))
    flags = (told.get("flags") or told.get("features") or "").split()
    features = tuple(flag for flag in flags if _CPU_FEATURES.fullmatch(flag))
    return CpuFacts(
        arch=platform.machine(),
        model=told.get("model name") or os.environ.get("PROCESSOR_IDENTIFIER", ""),
        features=features or numpy_features,
    )


def _cpuinfo(path: Path) -> dict[str, str]:
    """Read the first processor's lines of Linux's description; return none elsewhere."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    rows = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {name.strip().lower(): " ".join(value.split()) for name, _, value in rows}


def _libraries() -> Iterator[tuple[str, str]]:
    """Yield the installed versions, from the names of metadata folders.

    ``importlib.metadata.version`` parses each distribution's whole description for the same answer:
    20 to 35 ms for this list against 1 ms. As in imports, the first place on the path wins.
    """
    seen: dict[str, None] = {}
    for folder in sys.path:
        try:
            names = sorted(entry.name for entry in Path(folder or ".").iterdir())
        except OSError:
            continue
        for entry in names:
            stem = entry.removesuffix(".dist-info")
            name, _, version = stem.partition("-")
            normal = re.sub(r"[-_.]+", "-", name).lower()
            if stem != entry and normal in LIBRARIES and normal not in seen:
                seen[normal] = None
                yield normal, version


def list_imported_libraries() -> list[str]:
    """Return the distributions of ``LIBRARIES`` that this process has loaded by now, sorted."""
    return sorted(
        name
        for name in LIBRARIES
        if name in _BELOW_OTHERS or _MODULES.get(name, name.replace("-", "_")) in sys.modules
    )


def loaded_blas() -> list[BlasFacts]:
    """Return the BLAS and OpenMP libraries that this process has loaded, as they read back now."""
    return [
        BlasFacts(
            library=str(one.get("user_api") or ""),
            internal_api=str(one.get("internal_api") or ""),
            version=str(one.get("version") or ""),
            architecture=str(one.get("architecture") or ""),
            threads=int(one.get("num_threads") or 0),
            where="/".join(Path(str(one.get("filepath") or "")).parts[-2:]),
        )
        for one in (pool.info() for pool in find_thread_pools())
    ]


def _numpy_features() -> tuple[str, ...]:
    """Return the instruction sets that numpy may use in this process, with its settings applied."""
    try:
        import numpy as np
    except ImportError:
        return ()
    inner: Any = getattr(np, "_core", None) or getattr(np, "core", None)
    table = getattr(getattr(inner, "_multiarray_umath", None), "__cpu_features__", {})
    return tuple(sorted(name for name, present in table.items() if present))


def _dispatch(numpy_features: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if numpy_features:
        yield "numpy", " ".join(numpy_features)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        backends = getattr(torch, "backends", None)
        capability = getattr(getattr(backends, "cpu", None), "get_cpu_capability", None)
        yield "torch", str(capability()) if capability is not None else ""
        yield "torch threads", str(torch.get_num_threads())


def _variables() -> dict[str, str]:
    return {
        name: "redacted" if is_secret(name) else _printable(value)
        for name, value in os.environ.items()
        if is_relevant(name)
    }


def _printable(value: str) -> str:
    """Return the value as text that JSON can carry; bytes that are not UTF-8 become escapes."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
