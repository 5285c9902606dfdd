"""What can be varied around a program: one row per factor, with the value that is tried here.

Every factor is a few variables of a child's surroundings; what no variable reaches is handed to the
child, which does it to itself before the program is loaded (``surroundings.handed``). So a varied
run is recorded, executed again and traced like any other, and can be made by hand with ``--env``.

``seen`` names what the child reads back of a factor: when none of it differs from the run that is not
varied, the factor had no effect, and then nothing was tried. Not here: running anything.

Invariant: choosing a value changes nothing in this process.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import platform
import site
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from twice.diagnosis.vary.factor import Factor, Here, Tried, skipped
from twice.diagnosis.vary.interpreters import chosen_interpreter
from twice.recording.surroundings import THREAD_CAPS
from twice.recording.surroundings.handed import (
    CHILD_CLOCK_OFFSET,
    CHILD_CPUS,
    CHILD_FOLDER,
    CHILD_GC,
    CHILD_LISTINGS,
    CHILD_SWITCH,
    CHILD_TASKS,
    CHILD_UMASK,
)

NOISE: Final = "TWICE_NOISE"
_NOISE_SIZE: Final = 4096
_ZONES: Final = "/usr/share/zoneinfo"


def _either(variable: str, first: str, second: str) -> Callable[[Here], Tried]:
    """A factor of one variable: the first value, or the second where the run has the first already."""
    return lambda here: Tried({variable: second if here.value(variable) == first else first})


def _threads(here: Here) -> Tried:
    single = all(here.value(name) in {"", "1"} for name in THREAD_CAPS)
    if single and _processor_count() < 2:
        return skipped("there is one processor only")
    return Tried(dict.fromkeys(THREAD_CAPS, "2" if single else "1"))


def _blas_kernels(here: Here) -> Tried:
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return skipped(f"no other kernel set is known for {platform.machine()}")
    other = "Haswell" if here.value("OPENBLAS_CORETYPE") == "Nehalem" else "Nehalem"
    return Tried({"OPENBLAS_CORETYPE": other})


def _cpu_features(here: Here) -> Tried:
    if here.value("NPY_ENABLE_CPU_FEATURES"):
        return skipped("NPY_ENABLE_CPU_FEATURES is set, and numpy takes only one of the two")
    known = _numpy_features()
    given = here.value("NPY_DISABLE_CPU_FEATURES").replace(",", " ").split()
    more = [name for name in known if name not in given]
    if not more:
        return skipped("numpy uses no processor feature here that could be switched off")
    return Tried({"NPY_DISABLE_CPU_FEATURES": " ".join([*given, *more])})


def _time_zone(here: Here) -> Tried:
    first, second = "Pacific/Chatham", "Asia/Kathmandu"
    if not Path(_ZONES, first).is_file():
        first, second = "CHA-12:45", "NPT-5:45"
    return Tried({"TZ": first if here.value("TZ") != first else second})


def _locale(here: Here) -> Tried:
    now = here.value("LC_ALL") or here.value("LANG")
    for name in ("tr_TR.UTF-8", "de_DE.UTF-8", "fr_FR.UTF-8", "en_US.UTF-8", "C"):
        if name != now and _has_locale(name):
            return Tried({"LANG": name, "LC_ALL": name})
    return skipped("there is no other locale here")


def _user(here: Here) -> Tried:
    own = site.getusersitepackages()
    if own in sys.path:
        return skipped(f"packages are loaded from the home directory ({own})")
    home = here.folder / "home"
    home.mkdir(exist_ok=True)
    return Tried({"HOME": str(home), "USER": "somebody", "LOGNAME": "somebody"})


def _folder(here: Here) -> Tried:
    empty = here.folder / "elsewhere"
    empty.mkdir(exist_ok=True)
    return Tried({CHILD_FOLDER: str(empty)}, shown="an empty folder")


def _noise(here: Here) -> Tried:
    del here
    return Tried({NOISE: "x" * _NOISE_SIZE}, shown=f"{NOISE}, {_NOISE_SIZE} characters")


def _mask(here: Here) -> Tried:
    return Tried(
        {CHILD_UMASK: "0077" if (here.value(CHILD_UMASK) or _own_mask()) != "0077" else "0022"}
    )


def _processors(here: Here) -> Tried:
    if not hasattr(os, "sched_setaffinity"):
        return skipped("this system does not let a process choose its processors")
    if _processor_count() < 2 or here.value(CHILD_CPUS) == "1":
        return skipped("there is one processor only")
    return Tried({CHILD_CPUS: "1"})


def _libm(here: Here) -> Tried:
    if not platform.libc_ver()[0].startswith("glibc"):
        return skipped("only the GNU C library can be told which instructions to use")
    given = here.value("GLIBC_TUNABLES")
    if "glibc.cpu.hwcaps" in given:
        return skipped("GLIBC_TUNABLES chooses instructions already")
    wanted = "glibc.cpu.hwcaps=-AVX2,-FMA"
    return Tried({"GLIBC_TUNABLES": f"{given}:{wanted}" if given else wanted})


def _clock_offset(here: Here) -> Tried:
    if here.setup is not None and here.setup.clock is not None:
        return skipped("the clock of this run is a function of its ticks")
    now = int(here.value(CHILD_CLOCK_OFFSET) or 0)
    return Tried({CHILD_CLOCK_OFFSET: str(now + _OFFSET_S)}, shown="400 days, 5 h 7 min later")


def _switched(name: str, word: str, shown: str) -> Callable[[Here], Tried]:
    """A factor that can only be switched on; where it is on already, it is switched off."""

    def choose(here: Here) -> Tried:
        if here.value(name) == word:
            return Tried({name: ""}, shown="as the system has it")
        return Tried({name: word}, shown=shown)

    return choose


FACTORS: Final = (
    Factor(
        "hash seed",
        "order of sets of str and bytes",
        _either("PYTHONHASHSEED", "1", "2"),
        ("hash",),
    ),
    Factor(
        "threads", "thread counts of BLAS and OpenMP", _threads, ("blas threads", "torch threads")
    ),
    Factor("blas kernels", "OpenBLAS kernels of another processor", _blas_kernels, ("blas",)),
    Factor(
        "cpu features",
        "numpy without this processor's vector extensions",
        _cpu_features,
        ("dispatch numpy",),
    ),
    Factor(
        "aten",
        "torch without this processor's vector extensions",
        _either("ATEN_CPU_CAPABILITY", "default", "avx2"),
        ("torch capability",),
    ),
    Factor(
        "mkl",
        "MKL by the branch that every processor has",
        _either("MKL_CBWR", "COMPATIBLE", "AUTO"),
        ("mkl branch",),
    ),
    Factor("libm", "exp, sin and the like without AVX2 and FMA", _libm, ("libm",)),
    Factor(
        "clock offset", "the wall clock, more than a year ahead", _clock_offset, ("clock offset",)
    ),
    Factor("time zone", "local time", _time_zone, ("time zone",)),
    Factor("locale", "language, sorting, formatting and encoding", _locale, ("locale",)),
    Factor("user and home", "user name and home directory", _user, ("home",)),
    Factor("working directory", "an empty folder to stand in", _folder, ("folder",)),
    Factor("environment", "one long variable more", _noise, ("environment",)),
    Factor(
        "listing order",
        "folders are listed backwards",
        _switched(CHILD_LISTINGS, "backwards", "backwards"),
        ("listing",),
    ),
    Factor(
        "memory layout",
        "addresses of objects, by another allocator",
        _either("PYTHONMALLOC", "malloc", "pymalloc"),
        ("allocator",),
    ),
    Factor(
        "garbage collection",
        "thresholds of the collector",
        _either(CHILD_GC, "7,3,2", "5000,20,20"),
        ("collection",),
    ),
    Factor(
        "task order",
        "the newest of asyncio's ready tasks goes first",
        _switched(CHILD_TASKS, "newest-first", "newest first"),
        ("task turns",),
    ),
    Factor(
        "switch interval",
        "how often threads take turns",
        _either(CHILD_SWITCH, "0.0001", "0.02"),
        ("switching",),
    ),
    Factor("umask", "modes of new files", _mask, ("umask",)),
    Factor("processors", "one processor only", _processors, ("processors",), alone=True),
    Factor(
        "interpreter",
        "another Python, with its libraries",
        chosen_interpreter,
        ("python", "library *"),
        alone=True,
    ),
)

_OFFSET_S: Final = 400 * 86_400 + 5 * 3600 + 7 * 60


def _processor_count() -> int:
    can_ask = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if can_ask else os.cpu_count() or 1


def _numpy_features() -> list[str]:
    """Features that numpy chooses at run time and finds here, as its variables spell them."""
    inner = "numpy._core" if importlib.util.find_spec("numpy._core") else "numpy.core"
    umath = importlib.import_module(f"{inner}._multiarray_umath")
    return [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]


def _has_locale(name: str) -> bool:
    """Whether the C library knows a locale; asked without setting it."""
    try:
        library = ctypes.CDLL(None)
        library.newlocale.restype = ctypes.c_void_p
        made = library.newlocale(ctypes.c_int(0x1FBF), name.encode(), None)
        if made:
            library.freelocale(ctypes.c_void_p(made))
    except (OSError, AttributeError, TypeError):
        return name == "C"
    return bool(made)


def _own_mask() -> str:
    """This process's file mode mask, four octal digits; empty where reading would change it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return ""
    return next((line.split()[1] for line in status.splitlines() if line.startswith("Umask:")), "")
