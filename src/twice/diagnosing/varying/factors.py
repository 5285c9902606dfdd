"""What can be varied around a program: one row per factor, with the value that is tried here.

Every factor is a few variables of a child's surroundings; what no variable reaches is handed to the
child, which does it to itself before the program is loaded (``surroundings.handed``). So a varied
run is recorded, executed again and traced like any other, and can be made by hand with ``--env``.

Not here: running anything. Not varied: the clock, the order of listings, the order of tasks, the
version of Python or of a library.

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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from twice.recording.surroundings import THREAD_CAPS, Surroundings, Variable
from twice.recording.surroundings.handed import (
    CHILD_CPUS,
    CHILD_FOLDER,
    CHILD_GC,
    CHILD_SWITCH,
    CHILD_UMASK,
)

NOISE: Final = "TWICE_NOISE"
_NOISE_SIZE: Final = 4096
_ZONES: Final = "/usr/share/zoneinfo"


@dataclass(frozen=True, slots=True)
class Here:
    """What the choice of a value depends on.

    Attributes:
        base: the surroundings of the run that is not varied.
        folder: an absolute path for empty folders of the experiment.
    """

    base: Surroundings
    folder: Path

    def value(self, name: str) -> str:
        """A variable of the run that is not varied; empty when it was not decided."""
        variable = self.base.variables.get(name)
        return "" if variable is None else variable.value or ""


@dataclass(frozen=True, slots=True)
class Tried:
    """The value of a factor that is tried here, or why none is.

    Attributes:
        variables: what the varied run is given.
        shown: the value for people; made from ``variables`` when empty.
        skipped: why it cannot be varied here; empty when it can.
    """

    variables: Mapping[str, str]
    shown: str = ""
    skipped: str = ""

    @property
    def value(self) -> str:
        """The value as people read it."""
        return self.shown or " ".join(f"{name}={value}" for name, value in self.variables.items())


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing around a program that may be varied.

    Attributes:
        name: as it is asked for.
        what: one line for people.
        choose: the value to try.
        alone: it is tried in a run of its own, because it could hide another.
    """

    name: str
    what: str
    choose: Callable[[Here], Tried]
    alone: bool = False


def varied(base: Surroundings, tried: Tried) -> Surroundings:
    """Surroundings with one factor varied."""
    changed = {name: Variable(value, "explicit") for name, value in tried.variables.items()}
    return replace(base, variables={**base.variables, **changed})


def _hash_seed(here: Here) -> Tried:
    return Tried({"PYTHONHASHSEED": "1" if here.value("PYTHONHASHSEED") != "1" else "2"})


def _threads(here: Here) -> Tried:
    single = all(here.value(name) in {"", "1"} for name in THREAD_CAPS)
    if single and _processor_count() < 2:
        return _not("there is one processor only")
    return Tried(dict.fromkeys(THREAD_CAPS, "2" if single else "1"))


def _blas_kernels(here: Here) -> Tried:
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return _not(f"no other kernel set is known for {platform.machine()}")
    other = "Haswell" if here.value("OPENBLAS_CORETYPE") == "Nehalem" else "Nehalem"
    return Tried({"OPENBLAS_CORETYPE": other})


def _cpu_features(here: Here) -> Tried:
    if here.value("NPY_ENABLE_CPU_FEATURES"):
        return _not("NPY_ENABLE_CPU_FEATURES is set, and numpy takes only one of the two")
    known = _numpy_features()
    given = here.value("NPY_DISABLE_CPU_FEATURES").replace(",", " ").split()
    more = [name for name in known if name not in given]
    if not more:
        return _not("numpy uses no processor feature here that could be switched off")
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
    return _not("there is no other locale here")


def _user(here: Here) -> Tried:
    own = site.getusersitepackages()
    if own in sys.path:
        return _not(f"packages are loaded from the home directory ({own})")
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


def _memory(here: Here) -> Tried:
    other = "malloc" if here.value("PYTHONMALLOC") != "malloc" else "pymalloc"
    return Tried({"PYTHONMALLOC": other})


def _collection(here: Here) -> Tried:
    return Tried({CHILD_GC: "7,3,2" if here.value(CHILD_GC) != "7,3,2" else "5000,20,20"})


def _switching(here: Here) -> Tried:
    return Tried({CHILD_SWITCH: "0.0001" if here.value(CHILD_SWITCH) != "0.0001" else "0.02"})


def _mask(here: Here) -> Tried:
    return Tried(
        {CHILD_UMASK: "0077" if (here.value(CHILD_UMASK) or _own_mask()) != "0077" else "0022"}
    )


def _processors(here: Here) -> Tried:
    if not hasattr(os, "sched_setaffinity"):
        return _not("this system does not let a process choose its processors")
    if _processor_count() < 2 or here.value(CHILD_CPUS) == "1":
        return _not("there is one processor only")
    return Tried({CHILD_CPUS: "1"})


FACTORS: Final = (
    Factor("hash seed", "order of sets of str and bytes", _hash_seed),
    Factor("threads", "thread counts of BLAS and OpenMP", _threads),
    Factor("blas kernels", "OpenBLAS kernels of another processor", _blas_kernels),
    Factor("cpu features", "numpy without this processor's vector extensions", _cpu_features),
    Factor("time zone", "local time", _time_zone),
    Factor("locale", "language, sorting, formatting and encoding", _locale),
    Factor("user and home", "user name and home directory", _user),
    Factor("working directory", "an empty folder to stand in", _folder),
    Factor("environment", "one long variable more", _noise),
    Factor("memory layout", "addresses of objects, by another allocator", _memory),
    Factor("garbage collection", "thresholds of the collector", _collection),
    Factor("switch interval", "how often threads take turns", _switching),
    Factor("umask", "modes of new files", _mask),
    Factor("processors", "one processor only", _processors, alone=True),
)


def _not(why: str) -> Tried:
    return Tried({}, skipped=why)


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
