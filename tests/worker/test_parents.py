"""Whoever starts a worker loads little: what executes a program is the worker's.

Fresh interpreters: which modules are loaded is what is tested.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

OF_THE_WORKER = (
    "numpy",
    "twice.recorder.effects.layer",
    "twice.recorder.kernel.supervisor",
    "twice.recorder.kernel.world",
    "twice.recorder.session",
    "twice.recorder.streams",
)


@pytest.mark.integration
@pytest.mark.parametrize(
    "module", ["twice.recorder.runrecord", "twice.recorder.recorder", "twice.replayer.verify"]
)
def test_a_parent_loads_nothing_that_executes_a_program(module: str) -> None:
    code = (
        f"import sys, {module}; print(*(name for name in {OF_THE_WORKER} if name in sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []
