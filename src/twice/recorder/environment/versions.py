"""The versions under a run: interpreter, system, processor, graphics cards, and distributions that decide results.

It reads files of the system, loaded libraries and installed metadata. It imports numpy, which every run loads, and
nothing else that is heavy; a BLAS that is loaded later (by scipy, by torch) is seen only by a measurement after that.

Not for: what a version means for results. Probes show that.

Invariant: where a platform does not tell, the field is empty; measuring never fails and starts no process.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from twice.errors import UsageError
from twice.foundation.environment import CpuFacts, Fingerprint, OsFacts, PythonFacts
from twice.recorder.environment.libraries import read_loaded_blas, read_system_file

if TYPE_CHECKING:
    from twice.recorder.run import Run
    from twice.recorder.runrecord import RunRecord

_OF_GPU: Final = tuple(
    f"nvidia-{name}-cu{major}"
    for name in ("cublas", "cuda-runtime", "cudnn", "nccl")
    for major in (11, 12)
)
_CARDS: Final = Path("/proc/driver/nvidia/gpus")

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


def measure_versions() -> Fingerprint:
    """Measure the interpreter, the system, the processor, and the libraries that have a version; nothing else."""
    numpy_features = read_numpy_features()  # First: it loads numpy, and so its BLAS.
    rows = _read_cpuinfo(Path("/proc/cpuinfo"))
    flags = (rows.get("flags") or rows.get("features") or "").split()
    features = tuple(flag for flag in flags if _CPU_FEATURES.fullmatch(flag))
    build = " ".join((*platform.python_build(), platform.python_compiler())).strip()
    return Fingerprint(
        python=PythonFacts(
            version=platform.python_version(),
            implementation=platform.python_implementation(),
            build=build,
        ),
        os=OsFacts(system=platform.system(), release=platform.release(), libc=_read_libc()),
        cpu=CpuFacts(
            arch=platform.machine(),
            model=rows.get("model name") or os.environ.get("PROCESSOR_IDENTIFIER", ""),
            features=features or numpy_features,
        ),
        libraries=dict(_find_libraries()),
        blas=tuple(read_loaded_blas()),
        gpu=dict(_find_gpu()),
    )


def read_versions(source: Run | RunRecord, names: Iterable[str]) -> dict[str, str]:
    """Return the versions of libraries that pins name.

    A distribution has its own name (``numpy``), BLAS that of its author (``openblas``, ``mkl``), libm that of the C
    library (``glibc``), the interpreter ``python``. Where several copies of one BLAS are loaded, numpy's counts.

    Args:
        source: a run, whose process is asked, as an effect: a replay answers what was recorded. Or a record: the
            libraries that were loaded when its run began.
        names: names of libraries.

    Returns:
        The version of each as the library tells it, such as ``2.2.0``; in the order of names.

    Raises:
        UsageError: E-USE-001, for names of nothing that is there. Its fields are ``names`` and ``known``.
    """
    from twice.recorder.runrecord import RunRecord

    if isinstance(source, RunRecord):
        there = Fingerprint.from_json(source.identity["environment"]).versions
    else:
        there = source.effects.call("versions of libraries", lambda: measure_versions().versions)
    wanted = list(names)
    unknown = [name for name in wanted if name not in there]
    if unknown:
        raise UsageError(
            f"Pins name {', '.join(map(repr, unknown))}, and nothing here has that name.",
            f"Expected names among {', '.join(sorted(there))}.",
            "Correct the row in 08.pins, or install the library, and run twice scaffold again.",
            names=unknown,
            known=sorted(there),
        )
    return {name: there[name] for name in wanted}


def list_imported_libraries() -> list[str]:
    """Return the distributions of ``LIBRARIES`` that this process has loaded by now, sorted."""
    return sorted(
        name
        for name in LIBRARIES
        if name in _BELOW_OTHERS or _MODULES.get(name, name.replace("-", "_")) in sys.modules
    )


def read_driver_version() -> str:
    """Return the version of NVIDIA's driver; "" where none is loaded."""
    return read_system_file("/sys/module/nvidia/version").strip()


def read_numpy_features() -> tuple[str, ...]:
    """Return the instruction sets that numpy may use in this process, with its settings applied."""
    try:
        import numpy as np
    except ImportError:
        return ()
    inner: Any = getattr(np, "_core", None) or getattr(np, "core", None)
    table = getattr(getattr(inner, "_multiarray_umath", None), "__cpu_features__", {})
    return tuple(sorted(name for name, present in table.items() if present))


def _find_gpu() -> Iterator[tuple[str, str]]:
    """Yield driver and cards as the kernel names them, which initialises nothing."""
    if version := read_driver_version():
        yield "driver", version
    with suppress(OSError):
        for at, card in enumerate(sorted(_CARDS.iterdir())):
            about = read_system_file(card / "information")
            found = re.search(r"^Model:\s*(.+)$", about, re.MULTILINE)
            yield f"card {at}", found[1].strip() if found else "unknown"


def _read_libc() -> str:
    """Return the C library and its version; on macOS the system version, which implies both."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        if sys.platform == "darwin":
            return f"macOS {platform.mac_ver()[0]}"
        return " ".join(part for part in platform.libc_ver() if part)


def _read_cpuinfo(path: Path) -> dict[str, str]:
    """Read the first processor's lines of Linux's description; return none elsewhere."""
    first = read_system_file(path).partition("\n\n")[0]
    rows = (line.partition(":") for line in first.splitlines())
    return {name.strip().lower(): " ".join(value.split()) for name, _, value in rows}


def _find_libraries() -> Iterator[tuple[str, str]]:
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
