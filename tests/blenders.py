"""An interpreter with real Blender, in an environment of its own, made once and kept.

Blender's module is GPL, 800 MB, and for Python 3.11 alone, so it is never installed beside the
tests. ``TWICE_BLENDER_PYTHON`` names an interpreter that has it; without one, an environment is made
under the user's cache with pip, once, under a lock that other workers wait for. Only where that
fails, because there is no Python 3.11 or no package index, there is none, with the reason.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

BPY = "bpy==4.5.15"
LIGHT = (
    "blake3", "numpy<2", "pydantic", "PyYAML", "rfc8785", "threadpoolctl", "xxhash", "zstandard"
)  # fmt: skip


def interpreter() -> tuple[str, str]:
    """The interpreter, made where it is not there yet, or "" and why there is none."""
    named = os.environ.get("TWICE_BLENDER_PYTHON")
    if named:
        return named, ""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "twice" / "tests"
    cache.mkdir(parents=True, exist_ok=True)
    place = cache / BPY.replace("==", "-")
    with (cache / "blender.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        why = "" if (place / "complete").is_file() else _made(place)
    return ("", why) if why else (str(place / "bin" / "python"), "")


def _made(place: Path) -> str:
    """Makes the environment; why it could not, or ""."""
    found = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")
    if found is None:
        return "no Python 3.11, the only one that Blender 4.5 is built for"
    shutil.rmtree(place, ignore_errors=True)
    steps = [
        [found, "-m", "venv", str(place)],
        [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", BPY, *LIGHT],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(place, ignore_errors=True)
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            return f"{BPY} cannot be installed here: {' '.join(said)[:300]}"
    (place / "complete").write_text("")
    return ""
