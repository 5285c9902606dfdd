"""Programs that run in a Blender process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from environments import blender
from programs import HANGS_AFTER_S

SOURCE = Path(__file__).parents[4] / "src"
PROGRAMS = Path(__file__).with_name("programs")
sys.path.append(str(PROGRAMS))

Ask = Callable[..., Any]


@pytest.fixture(scope="session")
def blender_python() -> str:
    """Return the interpreter."""
    python, why = blender()
    if not python:
        pytest.skip(why)
    return python


@pytest.fixture(scope="session")
def ask(blender_python: str) -> Ask:
    """Run a program in a Blender process of its own; return the answer in its last line."""

    def run(
        program: str, request: object = None, /, *, before: tuple[str, ...] = (), **environ: str
    ) -> Any:
        command = [*before, blender_python, str(PROGRAMS / f"{program}.py"), json.dumps(request)]
        surroundings = {**os.environ, "PYTHONPATH": str(SOURCE), **environ}
        done = subprocess.run(
            command,
            env=surroundings,
            capture_output=True,
            text=True,
            check=False,
            timeout=HANGS_AFTER_S,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        (last,) = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
        return json.loads(last.removeprefix("ANSWER "))

    return run
