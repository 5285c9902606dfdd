"""What all tests share: ``programs`` stands on the path for every one of them."""

from __future__ import annotations

import atexit
import gc
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import environments
import programs
from forks import Forks
from starts import StartBudget
from tiers import leave_to_the_night
from twice.worker import process

# A session's process refuses to start sessions, and a seed from the caller's shell would hide that
# one is missing: tests start from neither.
for _name in ("TWICE_SESSION", "TWICE_SEED", "PYTEST_ADDOPTS"):
    os.environ.pop(_name, None)

# Thousands of processes import twice from this checkout. Where the caller's shell forbids bytecode files,
# as images of containers do, each would compile all of it anew: half of what the whole suite takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What an account keeps at home is the tests' own: twice remembers there which records the account made, and git how
# somebody wants it. Workers of pytest-xdist share it: a record that one worker made is verified by another.
_is_worker = "PYTEST_XDIST_WORKER" in os.environ
if not _is_worker:
    os.environ[environments.CACHE] = str(environments.find_cache())
    os.environ["HOME"] = tempfile.mkdtemp(prefix="twice-tests-")
    for _name in ("state", "cache", "config", "data"):
        os.environ[f"XDG_{_name.upper()}_HOME"] = f"{os.environ['HOME']}/{_name}"
    Path(os.environ["HOME"], "forks").mkdir()
    _owner = os.getpid()

    @atexit.register
    def _remove_home() -> None:
        if os.getpid() == _owner:  # a forked child that exits normally runs this, too
            shutil.rmtree(os.environ["HOME"], ignore_errors=True)


_file: Path | None = None  # of the test that runs
FORKS = Forks(Path(os.environ["HOME"]) / "forks", os.getppid() if _is_worker else os.getpid())
process.starter = FORKS.start
programs.FORKS = FORKS


# How long an example takes is the machine's business. Examples are the same ones in every run; the nightly run
# asks for others, and more: --hypothesis-profile random.
for _profile, _is_repeatable in (("random", False), ("repeatable", True)):
    settings.register_profile(
        _profile,
        max_examples=40 if _is_repeatable else 200,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=_is_repeatable,
        database=None,
    )
settings.load_profile("repeatable")

# A shell that runs the suite in the background has it ignore interrupts, and programs inherit that: tests that
# interrupt one would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    budget = StartBudget(config, FORKS)
    budget.count_starts()
    config.pluginmanager.register(budget, "start-budget")


@pytest.fixture(autouse=True)
def _fresh(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test that is marked so start interpreters, not forks."""
    if request.node.get_closest_marker("fresh") or request.config.getoption("--fresh"):
        monkeypatch.setattr(FORKS, "is_open", False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fresh", action="store_true", help="start an interpreter for every session: no forks"
    )
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in another order")


@pytest.hookimpl(tryfirst=True)  # before tiers are selected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_to_the_night(items)
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)


def pytest_collection_finish() -> None:
    """Let no run that a test records have the modules of all tests for its program's: a restore follows references."""
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "").name.startswith("test_"):
            del sys.modules[name]
    os.chdir(tempfile.mkdtemp(dir=os.environ["HOME"]))  # a recording lists the files of its folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Function) -> Iterator[None]:
    """Give a test the module that it stands in."""
    global _file
    if _file != item.path:
        # What the tests before have left is collected once, and not by every test that collects.
        _file = item.path
        gc.collect()
        gc.freeze()
    sys.modules[item.module.__name__] = item.module
    try:
        return (yield)
    finally:
        del sys.modules[item.module.__name__]
