"""The two recordings of each case, made once in a run of the tests: its processes share them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cases import Case

Recorded = Callable[[Case], tuple[Path, Path]]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test run; the same one in all its processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "zoo"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def recorded(shared: Path) -> Recorded:
    """Run A and run B of a case; nobody writes into their folder."""

    def made(case: Case) -> tuple[Path, Path]:
        folder = shared / case.name
        folder.mkdir(exist_ok=True)
        a, b = folder / "a.twice", folder / "b.twice"
        with (folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "complete").exists():
                a.unlink(missing_ok=True)
                b.unlink(missing_ok=True)
                case.record_a(folder)
                case.record_b(folder, a)
                (folder / "complete").touch()
        return a, b

    return made
