"""The libraries under a run and the machine below them: versions, what this process has loaded, and its threads.

It reads files of the system, loaded libraries and installed metadata. It imports numpy, which every run loads, and
nothing else that is heavy; a BLAS that is loaded later (by scipy, by torch) is seen only by a measurement after that.

A recording keeps how many threads libraries start when nobody says, and a replay imposes it. OpenBLAS and Accelerate
start one for each processor that the process may use, MKL and PyTorch one for each core, NumExpr at most 16.
``OMP_NUM_THREADS`` is read by PyTorch and by OpenMP itself, whose own choice is the number of processors: here it
is that of cores, as PyTorch's is.

Not for: what a version means for results. Probes show that.

Source: documentation of the libraries; the kernel's ``/sys/devices/system/cpu``.

Invariant: where a platform does not tell, the field is empty; measuring never fails, and no library is imported to be
asked, but numpy.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from twice.errors import UsageError
from twice.foundation.environment import BlasFacts, CpuFacts, Fingerprint, OsFacts, PythonFacts

if TYPE_CHECKING:
    from twice.recorder.run import Run
    from twice.recorder.runrecord import RunRecord

# The real ones: bound before anything is patched.
_open, _read, _close = os.open, os.read, os.close
_READ_BYTES: Final = 1 << 16
_CPUS: Final = Path("/sys/devices/system/cpu")
_NUMEXPR_MAX: Final = 16
_OPENBLAS: Final = "OPENBLAS_NUM_THREADS"
_pools_before_fork: list[Any] = []
"""Thread pools of the libraries that were loaded before this process was forked."""


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


def read_system_file(path: str | os.PathLike[str], errors: str = "replace") -> str:
    """Return the text of a file of the kernel's; empty where there is none."""
    pieces = []
    with suppress(OSError):
        descriptor = _open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while piece := _read(descriptor, _READ_BYTES):
                pieces.append(piece)
        finally:
            _close(descriptor)
    return b"".join(pieces).decode("utf-8", errors)


def list_mappings() -> list[tuple[str, str, str]]:
    """Return address range, permissions and path of all mapped memory; nothing where the system does not say."""
    text = read_system_file("/proc/self/maps", "surrogateescape")
    rows = [line.split(maxsplit=5) for line in text.split("\n") if line]
    return [(row[0], row[1], row[5] if len(row) > 5 else "") for row in rows]


def list_mapped_files(permissions: str = "") -> list[str]:
    """Return the paths of the files that this process has mapped, sorted; none where the system does not say.

    Args:
        permissions: those of the mapping, such as ``r-xp`` for code; empty for every one.
    """
    return sorted({path for _, its, path in list_mappings() if "/" in path and permissions in its})


def read_loaded_blas() -> list[BlasFacts]:
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
        for one in (pool.info() for pool in _find_thread_pools())
    ]


def read_torch() -> tuple[str, str] | None:
    """Return PyTorch's instruction set and number of threads; None where this process has not loaded it."""
    torch: Any = sys.modules.get("torch")
    with suppress(AttributeError):
        return str(torch.backends.cpu.get_cpu_capability()), str(torch.get_num_threads())
    return None


def usual_counts(cpus: Path = _CPUS) -> dict[str, str]:
    """Return the number of threads that each library would start in this process, by its variable."""
    usable = find_usable_processors()
    processors = len(usable)
    # Where the system does not name the processors of one core, each counts as a core.
    siblings = (f"cpu{number}/topology/thread_siblings_list" for number in usable)
    cores = len({read_system_file(cpus / each) or each for each in siblings})
    return {
        "OMP_NUM_THREADS": str(cores),
        _OPENBLAS: str(processors),
        "MKL_NUM_THREADS": str(cores),
        "NUMEXPR_NUM_THREADS": str(min(processors, _NUMEXPR_MAX)),
        "VECLIB_MAXIMUM_THREADS": str(processors),
    }


def load_numpy() -> None:
    """Load numpy, which every session needs, so that the program does not notice the threads of its OpenBLAS.

    A program that never imports numpy would not have them. A signal that such a program blocks would reach one of
    them and end the process, so all signals are blocked while they start: threads inherit that.
    """
    with _signals_blocked():
        importlib.import_module("numpy.random")
    impose_counts()


def load_numpy_for_forks() -> None:
    """Load numpy in a process that will fork, and end the threads of its OpenBLAS.

    In a fork they begin when they are first needed: for some milliseconds each of them would wait busily.
    """
    importlib.import_module("numpy.random")
    fork = os.fork()  # before which OpenBLAS ends them
    if fork == 0:
        os._exit(0)
    os.waitpid(fork, 0)
    _pools_before_fork[:] = _find_thread_pools()


def impose_counts() -> None:
    """Set OpenBLAS's threads, if it is loaded, to the number in its variable.

    By itself it starts no more than there are processors: on a smaller machine than the recording's, results
    would be others. MKL and OpenMP do as their variables say.
    """
    text = os.environ.get(_OPENBLAS, "")
    wanted = int(text) if text.isdecimal() else 0
    if wanted <= len(find_usable_processors()):
        return
    with _signals_blocked():
        for pool in _find_thread_pools():
            if pool.internal_api == "openblas":
                pool.set_num_threads(wanted)


def _find_thread_pools() -> list[Any]:
    """Return threadpoolctl's controllers of the numerical libraries that are loaded.

    It finds a library by its path. In a copy of the files that a fork entered, the path leads to another file than
    the one that was loaded before, so those are remembered.
    """
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    found = list(ThreadpoolController().lib_controllers)
    paths = {pool.filepath for pool in found}
    return [*found, *(pool for pool in _pools_before_fork if pool.filepath not in paths)]


@contextmanager
def _signals_blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def find_usable_processors() -> set[int]:
    """Return the numbers of the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


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
    return tuple(
        sorted(name for name, present in _read_umath("__cpu_features__").items() if present)
    )


def read_numpy_dispatch() -> tuple[list[str], list[str]]:
    """Return the instruction sets that numpy's kernels choose between, and those of them that they may use."""
    known, features = _read_umath("__cpu_dispatch__"), _read_umath("__cpu_features__")
    return list(known), [name for name in known if features.get(name)]


def _read_umath(name: str) -> Any:
    """Return a table of numpy's; an empty one where there is no numpy."""
    try:
        import numpy as np
    except ImportError:
        return {}
    inner: Any = getattr(np, "_core", None) or getattr(np, "core", None)
    return getattr(getattr(inner, "_multiarray_umath", None), name, {})


def _find_gpu() -> Iterator[tuple[str, str]]:
    """Yield driver and cards as the kernel names them, which initialises nothing."""
    if version := read_driver_version():
        yield "driver", version
    for at, card in enumerate(list_cards() or ()):
        yield f"card {at}", card


def list_cards() -> list[str] | None:
    """Return the names of NVIDIA's cards as the kernel tells them; None where it has a driver and lists no cards."""
    try:
        folders = sorted(_CARDS.iterdir())
    except OSError:
        return None if read_driver_version() else []
    models = (
        re.search(r"^Model:\s*(.+)$", read_system_file(each / "information"), re.MULTILINE)
        for each in folders
    )
    return [model[1].strip() if model else "unknown" for model in models]


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
