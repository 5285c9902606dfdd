"""How many threads numerical libraries start when nobody says: what a recording keeps, and a replay imposes.

OpenBLAS and Accelerate start one for each processor that the process may use, MKL and PyTorch one for each
core, NumExpr at most 16. ``OMP_NUM_THREADS`` is read by PyTorch and by OpenMP itself, whose own choice is the
number of processors: here it is that of cores, as PyTorch's is.

Source: documentation of the libraries; the kernel's ``/sys/devices/system/cpu``.
"""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_CPUS = Path("/sys/devices/system/cpu")
_NUMEXPR_MAX = 16
_OPENBLAS = "OPENBLAS_NUM_THREADS"
_pools_before_fork: list[Any] = []
"""Thread pools of the libraries that were loaded before this process was forked."""


def usual_counts(cpus: Path = _CPUS) -> dict[str, str]:
    """Return the number of threads that each library would start in this process, by its variable."""
    usable = _usable()
    processors, cores = len(usable), _count_cores(usable, cpus)
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
    _pools_before_fork[:] = find_thread_pools()


def find_thread_pools() -> list[Any]:
    """Return threadpoolctl's controllers of the numerical libraries that are loaded.

    It finds a library by its path. In a copy of the files that a fork entered, the path leads to another file than
    the one that was loaded before, so those are remembered.
    """
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    found = list(ThreadpoolController().lib_controllers)
    paths = {pool.filepath for pool in found}
    return [*found, *(pool for pool in _pools_before_fork if pool.filepath not in paths)]


def impose_counts() -> None:
    """Set OpenBLAS's threads, if it is loaded, to the number in its variable.

    By itself it starts no more than there are processors: on a smaller machine than the recording's, results
    would be others. MKL and OpenMP do as their variables say.
    """
    wanted = _wanted_count()
    if wanted > len(_usable()):
        with _signals_blocked():
            _give_threads(wanted)


def _wanted_count() -> int:
    """Return the number of threads in OpenBLAS's variable; 0 if there is none."""
    wanted = os.environ.get(_OPENBLAS, "")
    return int(wanted) if wanted.isdecimal() else 0


def _give_threads(count: int) -> None:
    for pool in find_thread_pools():
        if pool.internal_api == "openblas":
            pool.set_num_threads(count)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _usable() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _count_cores(processors: set[int], cpus: Path) -> int:
    """Count the cores of the processors; each counts as a core where the system does not say."""
    return len({_siblings(number, cpus) for number in processors})


def _siblings(number: int, cpus: Path) -> str:
    try:
        return (cpus / f"cpu{number}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return str(number)
