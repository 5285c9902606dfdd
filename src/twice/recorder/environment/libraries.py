"""The libraries that this process has loaded, and the threads of the numerical ones.

A recording keeps how many threads libraries start when nobody says, and a replay imposes it. OpenBLAS and Accelerate
start one for each processor that the process may use, MKL and PyTorch one for each core, NumExpr at most 16.
``OMP_NUM_THREADS`` is read by PyTorch and by OpenMP itself, whose own choice is the number of processors: here it
is that of cores, as PyTorch's is.

Source: documentation of the libraries; the kernel's ``/sys/devices/system/cpu``.

Invariant: no library is imported to be asked, but numpy.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from twice.foundation.environment import BlasFacts

# The real ones: bound before anything is patched.
_open, _read, _close = os.open, os.read, os.close
_READ_BYTES: Final = 1 << 16
_CPUS: Final = Path("/sys/devices/system/cpu")
_NUMEXPR_MAX: Final = 16
_OPENBLAS: Final = "OPENBLAS_NUM_THREADS"
_pools_before_fork: list[Any] = []
"""Thread pools of the libraries that were loaded before this process was forked."""


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
