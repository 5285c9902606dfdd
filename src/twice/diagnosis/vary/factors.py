"""What can be varied around a program: one row for each factor, with the value that is tried here.

A factor is a few variables of a child's surroundings. What no variable reaches is handed to the
child, which does it to itself before the program is loaded (``environment.process_start``). So a varied run is
recorded, executed again and traced like any other, and can be made by hand with ``--env``. Only the
factor ``interpreter`` starts another program. Not here: running anything that is varied.

Invariant: choosing a value changes nothing in this process.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import platform
import shutil
import site
import sys
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from twice.errors import TwiceError, UsageError
from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import DeterminismClass
from twice.recorder.environment.fingerprint import measure_in
from twice.recorder.environment.process_start import (
    CHILD_CLOCK_OFFSET,
    CHILD_CPUS,
    CHILD_FOLDER,
    CHILD_GC,
    CHILD_LISTINGS,
    CHILD_SWITCH,
    CHILD_TASKS,
    CHILD_UMASK,
)
from twice.recorder.environment.surroundings import THREAD_CAPS, Surroundings
from twice.recorder.setup import Setup

_ONE_PROCESSOR: Final = "there is one processor only"

# Where the C library has no database of zones it still reads a zone that is written out.
_ZONES: Final = (
    ("Pacific/Chatham", "Asia/Kathmandu")
    if Path("/usr/share/zoneinfo/Pacific/Chatham").is_file()
    else ("CHA-12:45", "NPT-5:45")
)


@dataclass(frozen=True, slots=True)
class VaryContext:
    """What the choice of a value depends on.

    Attributes:
        base: the surroundings of the run that is not varied.
        folder: an absolute path for empty folders of the experiment.
        setup: the rules of the run, where they are decided.
        python: an interpreter that the caller named; empty for none.
    """

    base: Surroundings
    folder: Path
    setup: Setup | None = None
    python: str = ""

    def value(self, name: str) -> str:
        """Return a variable of the run that is not varied; empty when it was not decided."""
        variable = self.base.variables.get(name)
        return "" if variable is None else variable.value or ""

    def empty_folder(self, name: str) -> str:
        """Make a folder of the experiment and return its absolute path."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return str(folder)


@dataclass(frozen=True, slots=True)
class FactorSetting:
    """The value of a factor that is tried here, or why none is.

    Attributes:
        variables: what the varied run is given.
        shown: the value for people; made from ``variables`` when empty.
        skipped: why it cannot be varied here; empty when it can.
        python: the interpreter that executes the run; empty for this one.
        other_seed: whether twice seeds the run from another master seed.
    """

    variables: Mapping[str, str]
    shown: str = ""
    skipped: str = ""
    python: str = ""
    other_seed: bool = False

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
        choose: returns the value to try.
        seen: names of settings that the child reads back, ``*`` at the end for all that begin so. A
            variable that nobody obeyed moves none of them, and a run under it proves nothing.
        alone: it is tried in a run of its own, because it could hide another.
        remedy: how a program stops depending on it, where one thing mostly helps.
    """

    name: str
    what: str
    choose: Callable[[VaryContext], FactorSetting]
    seen: tuple[str, ...]
    alone: bool = False
    remedy: str = ""

    def took_effect(self, unvaried: Mapping[str, str], varied: Mapping[str, str]) -> bool:
        """Return whether a setting of the factor differs between two runs."""
        return any(
            unvaried.get(name) != varied.get(name)
            for name in (*unvaried, *varied)
            if any(fnmatchcase(name, pattern) for pattern in self.seen)
        )

    def explain_no_effect(self, unvaried: Mapping[str, str]) -> str:
        """Return what to say of the factor when its settings all stayed as they were."""
        known = [f"{name} is still {unvaried[name]}" for name in self.seen if unvaried.get(name)]
        if known:
            return f"it was set and had no effect: {', '.join(known)}"
        return f"nothing that it acts on was used (no {', no '.join(self.seen)} to read back)"


def _skip(why: str) -> FactorSetting:
    return FactorSetting({}, skipped=why)


def _choose_between(
    variable: str, first: str, second: str = "", *, shown: str = ""
) -> Callable[[VaryContext], FactorSetting]:
    """Make a choice of the first value, or the second if the run has the first; empty unsets."""

    def choose(context: VaryContext) -> FactorSetting:
        if context.value(variable) != first:
            return FactorSetting({variable: first}, shown)
        return FactorSetting({variable: second}, "" if second else "as the system has it")

    return choose


def _count_processors() -> int:
    can_ask = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if can_ask else os.cpu_count() or 1


def _choose_threads(context: VaryContext) -> FactorSetting:
    is_single = all(context.value(name) in {"", "1"} for name in THREAD_CAPS)
    if is_single and _count_processors() < 2:
        return _skip(_ONE_PROCESSOR)
    return FactorSetting(dict.fromkeys(THREAD_CAPS, "2" if is_single else "1"))


def _choose_blas_kernels(context: VaryContext) -> FactorSetting:
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return _skip(f"no other kernel set is known for {platform.machine()}")
    return _choose_between("OPENBLAS_CORETYPE", "Nehalem", "Haswell")(context)


def _choose_cpu_features(context: VaryContext) -> FactorSetting:
    if context.value("NPY_ENABLE_CPU_FEATURES"):
        return _skip("NPY_ENABLE_CPU_FEATURES is set, and numpy takes only one of the two")
    core = "numpy._core" if importlib.util.find_spec("numpy._core") else "numpy.core"
    umath = importlib.import_module(f"{core}._multiarray_umath")
    given = context.value("NPY_DISABLE_CPU_FEATURES").replace(",", " ").split()
    # Only what numpy chooses at run time: the features of its baseline are compiled in.
    more = [
        name
        for name in umath.__cpu_dispatch__
        if umath.__cpu_features__.get(name) and name not in given
    ]
    if not more:
        return _skip("numpy uses no processor feature here that could be switched off")
    return FactorSetting({"NPY_DISABLE_CPU_FEATURES": " ".join([*given, *more])})


def _choose_libm(context: VaryContext) -> FactorSetting:
    if not platform.libc_ver()[0].startswith("glibc"):
        return _skip("only the GNU C library can be told which instructions to use")
    given = context.value("GLIBC_TUNABLES")
    if "glibc.cpu.hwcaps" in given:
        return _skip("GLIBC_TUNABLES chooses instructions already")
    wanted = "glibc.cpu.hwcaps=-AVX2,-FMA"
    return FactorSetting({"GLIBC_TUNABLES": f"{given}:{wanted}" if given else wanted})


def _choose_clock_offset(context: VaryContext) -> FactorSetting:
    if context.setup is not None and context.setup.clock is not None:
        return _skip("the clock of this run is a function of its ticks")
    # More than a year, and no whole number of days or hours: each part of a date differs.
    offset_s = int(context.value(CHILD_CLOCK_OFFSET) or 0) + 400 * 86_400 + 5 * 3600 + 7 * 60
    return FactorSetting({CHILD_CLOCK_OFFSET: str(offset_s)}, "400 days, 5 h 7 min later")


def _choose_locale(context: VaryContext) -> FactorSetting:
    now = context.value("LC_ALL") or context.value("LANG")
    # Turkish first: it differs in most, down to the capital letter of i.
    for name in ("tr_TR.UTF-8", "de_DE.UTF-8", "fr_FR.UTF-8", "en_US.UTF-8", "C"):
        if name != now and _has_locale(name):
            return FactorSetting({"LANG": name, "LC_ALL": name})
    return _skip("there is no other locale here")


def _has_locale(name: str) -> bool:
    # locale.setlocale would change this process; newlocale only makes an object.
    try:
        library = ctypes.CDLL(None)
        library.newlocale.restype = ctypes.c_void_p
        made = library.newlocale(ctypes.c_int(0x1FBF), name.encode(), None)
        if made:
            library.freelocale(ctypes.c_void_p(made))
    except (OSError, AttributeError, TypeError):
        return name == "C"
    return bool(made)


def _choose_user(context: VaryContext) -> FactorSetting:
    own = site.getusersitepackages()
    # With another home these packages would be missing, and the run would fail for that alone.
    if own in sys.path:
        return _skip(f"packages are loaded from the home directory ({own})")
    home = context.empty_folder("home")
    return FactorSetting({"HOME": home, "USER": "somebody", "LOGNAME": "somebody"})


def _choose_working_directory(context: VaryContext) -> FactorSetting:
    return FactorSetting({CHILD_FOLDER: context.empty_folder("elsewhere")}, "an empty folder")


def _choose_global_generators(context: VaryContext) -> FactorSetting:
    if context.setup is None or not context.setup.program.whole:
        return _skip("they are streams of the run, whose seed is theirs")
    if context.setup.predicate.determinism_class is not DeterminismClass.BIT_EXACT:
        return _skip("runs of two seeds are compared byte by byte, and this class is not")
    return FactorSetting({}, "another seed for random, numpy.random and torch", other_seed=True)


def _choose_umask(context: VaryContext) -> FactorSetting:
    mask = context.value(CHILD_UMASK)
    status = Path("/proc/self/status")
    # Not by os.umask, which can read the mask of this process only by changing it.
    if not mask and status.is_file():
        lines = status.read_text(encoding="utf-8").splitlines()
        mask = next((line.split()[1] for line in lines if line.startswith("Umask:")), "")
    return FactorSetting({CHILD_UMASK: "0077" if mask != "0077" else "0022"})


def _choose_processors(context: VaryContext) -> FactorSetting:
    if not hasattr(os, "sched_setaffinity"):
        return _skip("this system does not let a process choose its processors")
    if _count_processors() < 2 or context.value(CHILD_CPUS) == "1":
        return _skip(_ONE_PROCESSOR)
    return FactorSetting({CHILD_CPUS: "1"})


def _choose_interpreter(context: VaryContext) -> FactorSetting:
    """Choose the named interpreter, else a different one on PATH that can import twice."""
    if context.setup is not None and context.setup.predicate.sample is not None:
        return _skip("a statistical run draws its sample in this interpreter")
    paths = [context.python]
    if not context.python:
        minors = [minor for minor in range(11, 16) if minor != sys.version_info.minor]
        on_path = [shutil.which(f"python3.{minor}") for minor in minors]
        own = os.path.realpath(sys.executable)
        paths = [path for path in on_path if path and os.path.realpath(path) != own]
    reasons = []
    for path in paths:
        try:
            there = measure_in(context.base, python=path)
        except TwiceError as error:
            # The error itself says more than the traceback above it; else the first line does.
            lines = error.expected.removeprefix("Its last words: ").splitlines()
            errors = [line for line in lines if "Error: " in line]
            said = errors[-1] if errors else (lines or [error.happened])[0]
            reasons.append(f"{path} cannot import twice ({said.strip()})")
            continue
        here = measure_in(context.base)
        ours = {"Python": here.python.version, **here.libraries}
        theirs = {"Python": there.python.version, **there.libraries}
        differing = [
            f"{name} {theirs.get(name, 'none')} instead of {ours.get(name, 'none')}"
            for name in ("Python", *sorted({**here.libraries, **there.libraries}))
            if ours.get(name) != theirs.get(name)
        ]
        # An interpreter that differs in nothing would vary nothing.
        if differing:
            return FactorSetting({}, f"{path}: {', '.join(differing)}", python=path)
        reasons.append(f"{path} has the same versions as this one")
    return _skip("; ".join(reasons) or "there is no other one on PATH; name one with --python")


# A table: the name and what it is for people, then how it is chosen and what is read back of it.
# fmt: off
FACTORS: Final = (
    Factor("hash seed", "order of sets of str and bytes",
           _choose_between("PYTHONHASHSEED", "1", "2"), ("hash",)),
    Factor("threads", "thread counts of BLAS and OpenMP",
           _choose_threads, ("blas threads", "torch threads")),
    Factor("blas kernels", "OpenBLAS kernels of another processor",
           _choose_blas_kernels, ("blas",)),
    Factor("cpu features", "numpy without this processor's vector extensions",
           _choose_cpu_features, ("dispatch numpy",)),
    Factor("aten", "torch without this processor's vector extensions",
           _choose_between("ATEN_CPU_CAPABILITY", "default", "avx2"), ("torch capability",)),
    Factor("mkl", "MKL by the branch that every processor has",
           _choose_between("MKL_CBWR", "COMPATIBLE", "AUTO"), ("mkl branch",)),
    Factor("libm", "exp, sin and the like without AVX2 and FMA", _choose_libm, ("libm",)),
    Factor("clock offset", "the wall clock, more than a year ahead",
           _choose_clock_offset, ("clock offset",)),
    Factor("time zone", "local time", _choose_between("TZ", *_ZONES), ("time zone",),
           remedy="name the zone: datetime.now(UTC), datetime.fromtimestamp(t, UTC), time.gmtime()"),
    Factor("locale", "language, sorting, formatting and encoding", _choose_locale, ("locale",)),
    Factor("user and home", "user name and home directory", _choose_user, ("home",)),
    Factor("working directory", "an empty folder to stand in",
           _choose_working_directory, ("folder",),
           remedy="build paths from the place of the file: Path(__file__).parent"),
    Factor("environment", "one long variable more",
           _choose_between("TWICE_NOISE", "x" * 4096, shown="TWICE_NOISE, 4096 characters"),
           ("environment",)),
    Factor("listing order", "folders are listed backwards",
           _choose_between(CHILD_LISTINGS, "backwards", shown="backwards"), ("listing",),
           remedy="sort what a folder lists, and match files by their names, not by their positions"),
    Factor("memory layout", "addresses of objects, by another allocator",
           _choose_between("PYTHONMALLOC", "malloc", "pymalloc"), ("allocator",)),
    Factor("garbage collection", "thresholds of the collector",
           _choose_between(CHILD_GC, "7,3,2", "5000,20,20"), ("collection",)),
    Factor("task order", "order of asyncio's ready tasks: newest first, and orders of a simulated loop",
           _choose_between(CHILD_TASKS, "newest-first", shown="newest first"), ("task turns",)),
    Factor("switch interval", "how often threads take turns",
           _choose_between(CHILD_SWITCH, "0.0001", "0.02"), ("switching",)),
    Factor("umask", "modes of new files", _choose_umask, ("umask",)),
    Factor("global generators", "seeds of random, numpy.random and torch, which twice gives to a script",
           _choose_global_generators, ("global generators",), alone=True),
    Factor("processors", "one processor only", _choose_processors, ("processors",), alone=True),
    Factor("interpreter", "another Python, with its libraries",
           _choose_interpreter, ("python", "library *"), alone=True),
)
# fmt: on


def select_factors(names: Sequence[str] | None) -> list[Factor]:
    """Return factors by name, in the order of the list; all when ``names`` is None.

    Raises:
        UsageError: E-USE-001, for an unknown name.
    """
    known = {factor.name: factor for factor in FACTORS}
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"There is no factor {name!r}.",
                f"Factors: {', '.join(known)}.",
                "See: twice vary --list",
                factor=name,
            )
    return [factor for factor in FACTORS if names is None or factor.name in names]


def resolve_interpreter(path: str) -> str:
    """Return the absolute path of an interpreter that the caller named.

    Raises:
        UsageError: E-USE-001, when there is none.
    """
    found = shutil.which(path)
    if found is None:
        raise UsageError(
            f"There is no interpreter {path}.",
            "Expected the path of a Python, or its name on PATH.",
            "For example: --python python3.12, or --python venv/bin/python",
            python=path,
        )
    return str(Path(found).absolute())
