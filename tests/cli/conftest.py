"""What the tests of the command line share: a folder with a swarm and two runs of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from programs import cli

SWARM = Path(__file__).parents[2] / "examples" / "swarm.py"
SETTINGS = ("--set", "n=4", "--set", "ticks=210", "--snapshots", "every=100")


@pytest.fixture(scope="session")
def recorded_swarm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with examples/swarm.py, a.twice, and b.twice, which branched from it at tick 120."""
    folder = tmp_path_factory.mktemp("swarm")
    (folder / "examples").mkdir()
    shutil.copyfile(SWARM, folder / "examples" / "swarm.py")
    program = ("record", "examples/swarm.py:main", "--seed", 42, *SETTINGS)
    assert cli(*program, "-o", "a.twice", cwd=folder).returncode == 0
    forked = cli(
        "branch", "a.twice", "--at", 120, "--input", "push=0.3", "-o", "b.twice", cwd=folder
    )
    assert forked.returncode == 0, forked.stderr
    return folder


@pytest.fixture
def swarm(recorded_swarm: Path, tmp_path: Path) -> Path:
    """Copy that folder, for one test to change."""
    folder = tmp_path / "swarm"
    shutil.copytree(recorded_swarm, folder)
    return folder
