"""What can be varied around a program: one row for each factor, with the value that is tried here.

What no variable reaches is handed to the
child, which does it to itself before the program is loaded (``environment.process_start``). So a varied run is
recorded, executed again and traced like any other, and can be made by hand with ``--env``. Only the
factor ``interpreter`` starts another program. Not here: running anything that is varied.

Invariant: choosing a value changes nothing in this process.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import site
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from twice.diagnosis.vary.factor import (
    Factor,
    FactorSetting,
    VaryContext,
    choose_between,
    skip,
)
from twice.diagnosis.vary.numeric_factors import (
    NUMERIC_FACTORS,
    ONE_PROCESSOR,
    count_processors,
)
from twice.errors import TwiceError, UsageError
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

# Where the C library has no database of zones it still reads a zone that is written out.
_ZONES: Final = (
    ("Pacific/Chatham", "Asia/Kathmandu")
    if Path("/usr/share/zoneinfo/Pacific/Chatham").is_file()
    else ("CHA-12:45", "NPT-5:45")
)


def _choose_clock_offset(context: VaryContext) -> FactorSetting:
    if context.setup is not None and context.setup.clock is not None:
        return skip("the clock of this run is a function of its ticks")
    # More than a year, and no whole number of days or hours: each part of a date differs.
    offset_s = int(context.value(CHILD_CLOCK_OFFSET) or 0) + 400 * 86_400 + 5 * 3600 + 7 * 60
    return FactorSetting({CHILD_CLOCK_OFFSET: str(offset_s)}, "400 days, 5 h 7 min later")


def _choose_locale(context: VaryContext) -> FactorSetting:
    now = context.value("LC_ALL") or context.value("LANG")
    # Turkish first: it differs in most, down to the capital letter of i.
    for name in ("tr_TR.UTF-8", "de_DE.UTF-8", "fr_FR.UTF-8", "en_US.UTF-8", "C"):
        if name != now and _has_locale(name):
            return FactorSetting({"LANG": name, "LC_ALL": name})
    return skip("there is no other locale here")


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
        return skip(f"packages are loaded from the home directory ({own})")
    home = context.empty_folder("home")
    return FactorSetting({"HOME": home, "USER": "somebody", "LOGNAME": "somebody"})


def _choose_working_directory(context: VaryContext) -> FactorSetting:
    return FactorSetting({CHILD_FOLDER: context.empty_folder("elsewhere")}, "an empty folder")


def _choose_global_generators(context: VaryContext) -> FactorSetting:
    if context.setup is None or not context.setup.program.whole:
        return skip("they are streams of the run, whose seed is theirs")
    if context.setup.predicate.determinism_class is not DeterminismClass.BIT_EXACT:
        return skip("runs of two seeds are compared byte by byte, and this class is not")
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
        return skip("this system does not let a process choose its processors")
    if count_processors() < 2 or context.value(CHILD_CPUS) == "1":
        return skip(ONE_PROCESSOR)
    return FactorSetting({CHILD_CPUS: "1"})


def _choose_interpreter(context: VaryContext) -> FactorSetting:
    """Choose the named interpreter, else a different one on PATH that can import twice."""
    if context.setup is not None and context.setup.predicate.sample is not None:
        return skip("a statistical run draws its sample in this interpreter")
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
    return skip("; ".join(reasons) or "there is no other one on PATH; name one with --python")


# A table: the name and what it is for people, then how it is chosen and what is read back of it.
# fmt: off
FACTORS: Final = (
    Factor("hash seed", "order of sets of str and bytes",
           choose_between("PYTHONHASHSEED", "1", "2"), ("hash",)),
    *NUMERIC_FACTORS,
    Factor("clock offset", "the wall clock, more than a year ahead",
           _choose_clock_offset, ("clock offset",)),
    Factor("time zone", "local time", choose_between("TZ", *_ZONES), ("time zone",),
           remedy="name the zone: datetime.now(UTC), datetime.fromtimestamp(t, UTC), time.gmtime()"),
    Factor("locale", "language, sorting, formatting and encoding", _choose_locale, ("locale",)),
    Factor("user and home", "user name and home directory", _choose_user, ("home",)),
    Factor("working directory", "an empty folder to stand in",
           _choose_working_directory, ("folder",),
           remedy="build paths from the place of the file: Path(__file__).parent"),
    Factor("environment", "one long variable more",
           choose_between("TWICE_NOISE", "x" * 4096, shown="TWICE_NOISE, 4096 characters"),
           ("environment",)),
    Factor("listing order", "folders are listed backwards",
           choose_between(CHILD_LISTINGS, "backwards", shown="backwards"), ("listing",),
           remedy="sort what a folder lists, and match files by their names, not by their positions"),
    Factor("memory layout", "addresses of objects, by another allocator",
           choose_between("PYTHONMALLOC", "malloc", "pymalloc"), ("allocator",)),
    Factor("garbage collection", "thresholds of the collector",
           choose_between(CHILD_GC, "7,3,2", "5000,20,20"), ("collection",)),
    Factor("task order", "order of asyncio's ready tasks: newest first, and orders of a simulated loop",
           choose_between(CHILD_TASKS, "newest-first", shown="newest first"), ("task turns",)),
    Factor("switch interval", "how often threads take turns",
           choose_between(CHILD_SWITCH, "0.0001", "0.02"), ("switching",)),
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


def require_able(settings: Mapping[str, FactorSetting], named: Sequence[str]) -> None:
    """Refuse an experiment in which nothing, or not what was asked for by name, can be varied."""
    unable = [f"{name}: {each.skipped}" for name, each in settings.items() if each.skipped]
    if unable and (named or len(unable) == len(settings)):
        raise UsageError(
            f"What was asked for cannot be varied here: {'; '.join(unable)}.",
            "Expected factors that can.",
            "Choose others; they are listed by: twice vary --list",
        )
