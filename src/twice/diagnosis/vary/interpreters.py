"""Other interpreters on this machine, for the factor that varies Python and library versions together.

An interpreter serves when it can import this version of twice with all that it needs, which the program
needs too. What differs is told by its fingerprint: the version of Python, and those of libraries.

Not for: an interpreter that a record names. Which program is started is only ever said by the caller.

Invariant: an interpreter that differs in nothing is not varied.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from twice.diagnosis.vary.factor import Here, Tried, skipped
from twice.errors import TwiceError, UsageError
from twice.foundation.environment import Fingerprint
from twice.recording.measuring import measure_in

_MINORS: Final = range(11, 16)


def require_interpreter(path: str) -> str:
    """The absolute path of an interpreter that the caller named.

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


def chosen_interpreter(here: Here) -> Tried:
    """Another interpreter: the one that was named, else the first on PATH that serves."""
    if here.setup is not None and here.setup.predicate.sample is not None:
        return skipped("a statistical run draws its sample in this interpreter")
    reasons = []
    for path in [here.python] if here.python else _on_path():
        try:
            found = measure_in(here.base, python=path)
        except TwiceError as error:
            reasons.append(f"{path} cannot import twice ({_telling(error)})")
            continue
        apart = _apart(measure_in(here.base), found)
        if apart:
            return Tried({}, shown=f"{path}: {', '.join(apart)}", python=path)
        reasons.append(f"{path} has the same versions as this one")
    return skipped("; ".join(reasons) or "there is no other one on PATH; name one with --python")


def _on_path() -> list[str]:
    own = os.path.realpath(sys.executable)
    named = [shutil.which(f"python3.{minor}") for minor in _MINORS]
    found = [path for path in named if path and os.path.realpath(path) != own]
    return [path for path in found if not path.endswith(f"python3.{sys.version_info.minor}")]


def _apart(here: Fingerprint, there: Fingerprint) -> list[str]:
    """Versions of the other side that differ, Python's first."""
    found = []
    if here.python.version != there.python.version:
        found.append(f"Python {there.python.version} instead of {here.python.version}")
    for name in sorted({**here.libraries, **there.libraries}):
        ours, theirs = here.libraries.get(name, "none"), there.libraries.get(name, "none")
        if ours != theirs:
            found.append(f"{name} {theirs} instead of {ours}")
    return found


def _telling(error: TwiceError) -> str:
    """The line of a child's last words that says most: the error, else what was printed first."""
    lines = error.expected.removeprefix("Its last words: ").splitlines()
    errors = [line for line in lines if "Error: " in line]
    return (errors or lines or [error.happened])[-1 if errors else 0].strip()
