"""An interpreter with real Blender, in an environment of its own, made once and kept.

Blender's module is GPL, 800 MB, and for Python 3.11 alone, so it is never installed beside the
tests. ``TWICE_BLENDER_PYTHON`` names an interpreter that has it; without one, an environment is made
under the user's cache with pip, once, under a lock that other workers wait for. Only where that
fails, because there is no Python 3.11 or no package index, the tests are skipped, with the reason.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BPY = "bpy==4.5.15"
LIGHT = (
    "blake3", "numpy<2", "pydantic", "PyYAML", "rfc8785", "threadpoolctl", "xxhash", "zstandard"
)  # fmt: skip
SOURCE = Path(__file__).parents[3] / "src"
PROGRAMS = Path(__file__).with_name("programs")

Ask = Callable[..., Any]


@pytest.fixture(scope="session")
def blender_python() -> str:
    """The interpreter."""
    named = os.environ.get("TWICE_BLENDER_PYTHON")
    if named:
        return named
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "twice" / "tests"
    cache.mkdir(parents=True, exist_ok=True)
    place = cache / BPY.replace("==", "-")
    with (cache / "blender.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").is_file():
            _make(place)
    return str(place / "bin" / "python")


def _make(place: Path) -> None:
    found = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")
    if found is None:
        pytest.skip("no Python 3.11, the only one that Blender 4.5 is built for")
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
            pytest.skip(f"{BPY} cannot be installed here: {' '.join(said)[:300]}")
    (place / "complete").write_text("")


@pytest.fixture(scope="session")
def ask(blender_python: str) -> Ask:
    """Runs a program in a Blender process of its own; what it answers as its last line."""

    def run(
        program: str, request: object = None, /, *, before: tuple[str, ...] = (), **environ: str
    ) -> Any:
        command = [*before, blender_python, str(PROGRAMS / f"{program}.py"), json.dumps(request)]
        surroundings = {**os.environ, "PYTHONPATH": str(SOURCE), **environ}
        done = subprocess.run(
            command, env=surroundings, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        (last,) = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
        return json.loads(last.removeprefix("ANSWER "))

    return run
