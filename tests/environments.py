"""Interpreters with libraries that are never installed beside the tests, made once and kept.

Blender's module is 800 MB and for Python 3.11 alone; it, pedalboard and DawDreamer are under the GPL. A
variable names an interpreter that has them; without one, an environment is made under the user's
cache with pip, once, under a lock that other workers wait for. Only where that fails, because there is
no such Python or no package index, there is none, with the reason.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))

BLENDER = ("bpy==4.5.15", "numpy<2", "pydantic", *_PROJECT["project"]["dependencies"])
EFFECTS = ("pedalboard==0.9.26", "dawdreamer==0.9.0", "imageio-ffmpeg==0.8.1", "numpy==2.4.6")


CACHE = "TWICE_TESTS_CACHE"
"""The variable that says where environments are kept, since tests have a home of their own."""


def find_cache() -> Path:
    """Return the folder that environments are kept in."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(CACHE) or Path(home) / "twice" / "tests")


def blender() -> tuple[str, str]:
    """Return an interpreter with real Blender, or "" and the reason why there is none."""
    return _interpreter("TWICE_BLENDER_PYTHON", BLENDER)


def effects() -> tuple[str, str]:
    """Return an interpreter with effects, a workstation and an encoder of sound, or "" and the reason."""
    return _interpreter("TWICE_PEDALBOARD_PYTHON", EFFECTS)


def _interpreter(variable: str, wanted: tuple[str, ...]) -> tuple[str, str]:
    named = os.environ.get(variable)
    if named:
        return named, ""
    cache = find_cache()
    cache.mkdir(parents=True, exist_ok=True)
    name = wanted[0].replace("==", "-")
    place = cache / name
    with (cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = place / "complete"
        kept = complete.read_text("utf-8") if complete.is_file() else None
        why = "" if kept == "\n".join(wanted) else _made(place, wanted)
    return ("", why) if why else (str(place / "bin" / "python"), "")


def _made(place: Path, wanted: tuple[str, ...]) -> str:
    """Make the environment; return why it could not be made, or ""."""
    found = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")
    if found is None:
        return f"no Python 3.11, which {wanted[0]} is installed for"
    shutil.rmtree(place, ignore_errors=True)
    steps = [
        [found, "-m", "venv", str(place)],
        [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(place, ignore_errors=True)
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            return f"{wanted[0]} cannot be installed here: {' '.join(said)[:300]}"
    (place / "complete").write_text("\n".join(wanted), "utf-8")
    return ""
