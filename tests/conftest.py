"""What all tests share: ``programs`` stands on the path for every one of them."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from starts import StartBudget

# The wiring of this project's own specification, which the tests that were scaffolded import.
sys.path.insert(0, str(Path(__file__).parents[1] / "examples/itself"))

# A session's process refuses to start sessions, and a seed from the caller's shell would hide that
# one is missing: tests start from neither.
for _name in ("TWICE_SESSION", "TWICE_SEED"):
    os.environ.pop(_name, None)

# Thousands of processes import twice from this checkout. Where the caller's shell forbids bytecode files,
# as images of containers do, each would compile all of it anew: half of what the whole suite takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# twice remembers in the state folder which records this account made. The tests use a folder of their own, and
# pytest-xdist's workers share one: a record that one worker made is verified by another.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="twice-state-")
    _owner = os.getpid()

    @atexit.register
    def _remove_state() -> None:
        if os.getpid() == _owner:  # a forked child that exits normally runs this, too
            shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)


# How long an example takes is the machine's business.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# A shell that runs the suite in the background has it ignore interrupts, and programs inherit that: tests that
# interrupt one would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    budget = StartBudget(config)
    budget.count_starts()
    config.pluginmanager.register(budget, "start-budget")
