"""A diagnosis that may take no more time says what it found by then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import twice
from namespace_probes import probe_world
from programs import cli
from twice.diagnosis.diagnose import diagnose

pytestmark = pytest.mark.integration

PROGRAM = """
import time

def main(run):
    held = run.track("held", {"total": 0})
    names = {"alpha", "beta", "gamma"}
    for tick in run.ticks(3):
        for n in range(tick and 400_000):
            pass
        for name in names:
            held["total"] = held["total"] * 3 + len(name) + ord(name[0])
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    (folder / "program.py").write_text(PROGRAM)
    for seed in (1, 2):
        made = cli(
            "record", "program.py:main", "--seed", 1, "-o", f"{seed}.twice",
            cwd=folder, env={"PYTHONHASHSEED": str(seed)},
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
    return folder


def test_what_was_found_before_the_end_is_told(pair: Path) -> None:
    found = diagnose(pair / "1.twice", pair / "2.twice", time_limit_s=0.05)
    assert (found.result, found.exit_code, found.operation) == ("unlocalised", 1, None)
    assert found.compare_point is not None
    assert any("time limit of 0.05 s was reached" in caveat for caveat in found.caveats)


def test_enough_time_is_no_limit(pair: Path) -> None:
    found = diagnose(pair / "1.twice", pair / "2.twice", time_limit_s=600)
    assert found.operation is not None
    assert found.operation.code == "for name in names:"
    assert found.caveats == []


@pytest.mark.parametrize("given", ["0", "0s", "-1s", "soon", "1d", "", "1e9s", "9" * 400 + "h"])
def test_a_time_that_is_none_is_refused(pair: Path, given: str) -> None:
    told = cli("diagnose", "1.twice", "2.twice", f"--time-limit={given}", cwd=pair)
    assert told.returncode == 2
    assert "E-USE-001" in told.stderr
    assert "--time-limit 60s" in told.stderr


def test_the_limit_stands_in_the_verdict(pair: Path) -> None:
    told = cli("diagnose", "1.twice", "2.twice", "--time-limit", "0.05s", cwd=pair)
    assert told.returncode == 1
    assert "caveat: " in told.stdout
    assert twice.TwiceError.__name__ not in told.stdout


@pytest.mark.skipif(not probe_world().available, reason=probe_world().reason)
@pytest.mark.heavy
def test_a_way_to_the_window_that_never_ends_is_ended(tmp_path: Path) -> None:
    source = f"""
import os, posix, time

def main(run):
    held = run.track("held", {{"n": 0}})
    for tick in run.ticks(3):
        held["n"] += tick * int(os.environ["SIDE"])
        if tick == 0 and posix.readlink("/proc/self/ns/mnt") != {os.readlink("/proc/self/ns/mnt")!r}:
            time.sleep(600)
"""
    (tmp_path / "program.py").write_text(source)
    for side in (1, 2):
        made = cli(
            "record", "program.py:main", "--seed", 1, "-o", f"{side}.twice",
            cwd=tmp_path, env={"SIDE": str(side)},
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
    found = diagnose(tmp_path / "1.twice", tmp_path / "2.twice", time_limit_s=2)
    assert any("time limit of 2 s was reached" in caveat for caveat in found.caveats)
