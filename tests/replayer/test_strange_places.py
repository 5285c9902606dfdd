"""A record in a place that does not fit it: one clear error, exit code 2, nothing executed, nothing left behind.

In this process: every case is refused before anything is executed.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

import twice
from programs import call

PROGRAM = """
from beside import PUSH

def main(run):
    held = run.track("held", [0])
    for tick in run.ticks(3):
        held[0] += PUSH
"""
EXECUTES = (
    "verify RECORD --no-statement",
    "verify RECORD --no-statement --restores",
    "replay RECORD --at 1",
    "branch RECORD --at 1 -o new.twice",
    "rerun RECORD -o new.twice",
)


def record_in(folder: Path) -> Path:
    """Make a folder with a program, its helper and its record, recorded from inside."""
    folder.mkdir()
    (folder / "game.py").write_text(PROGRAM)
    (folder / "beside.py").write_text("PUSH = 1\n")
    with chdir(folder):
        twice.record("game.py:main", seed=1, out=folder / "a.twice").close()
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_in(tmp_path_factory.mktemp("places") / "first")


def edit_helper(checkout: Path) -> tuple[Path, Path]:
    (checkout / "beside.py").write_text("PUSH = 2\n")
    return checkout, checkout / "a.twice"


def replace_program(checkout: Path) -> tuple[Path, Path]:
    (checkout / "game.py").write_text("def main(run):\n    print('another program')\n")
    return checkout, checkout / "a.twice"


def remove_folder(checkout: Path) -> tuple[Path, Path]:
    record = (checkout / "a.twice").rename(checkout.parent / "a.twice")
    shutil.rmtree(checkout)
    return checkout.parent, record


def move_record(checkout: Path) -> tuple[Path, Path]:
    """Move the record beside another program of the same name."""
    other = checkout.with_name("other")
    other.mkdir()
    (other / "game.py").write_text("def main(run):\n    pass\n")
    record = (checkout / "a.twice").rename(other / "a.twice")
    shutil.rmtree(checkout)
    return other, record


def enter_second_checkout(checkout: Path) -> tuple[Path, Path]:
    second = checkout.with_name("second")
    shutil.copytree(checkout, second)
    (second / "beside.py").write_text("PUSH = 3\n")
    return second, checkout / "a.twice"


PLACES = {
    "an edited helper": (edit_helper, "beside.py differs", "is now", "bring the recorded source back"),
    "another program": (replace_program, "game.py differs", "is now", "bring the recorded source"),
    "a folder that is gone": (remove_folder, "beside.py and 1 more differs", "it is gone", "bring the"),
    "a moved record": (move_record, "beside.py and 1 more differs", "it is gone", "bring the recorded"),
    "two checkouts": (enter_second_checkout, "beside.py differs", "which counts before", "verify from"),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_code_that_is_not_the_recorded_one_is_refused_wherever_it_lies(
    place: str, tmp_path: Path
) -> None:
    arrange: Callable[[Path], tuple[Path, Path]]
    arrange, *words = PLACES[place]
    folder, record = arrange(record_in(tmp_path / "first"))
    before = sorted(folder.rglob("*"))

    for command in EXECUTES:
        done = call(*command.replace("RECORD", str(record)).split(), cwd=folder)

        assert (done.returncode, done.stdout, done.stderr[:15]) == (2, "", "E-PROGRAM-004  ")
        assert [word for word in words if word not in done.stderr] == []
        assert len(re.findall(r"\bE-[A-Z]+-\d{3}\b", done.stderr)) == 1
    assert sorted(folder.rglob("*")) == before


def test_records_of_two_programs_are_not_diagnosed(checkout: Path) -> None:
    (checkout / "other.py").write_text(PROGRAM + "    print('done')\n")
    twice.record(f"{checkout}/other.py:main", seed=1, out=checkout / "b.twice").close()

    done = call("diagnose", "a.twice", "b.twice", "--json", cwd=checkout)

    told = json.loads(done.stdout)
    assert (done.returncode, told["result"]) == (2, "not-same-input")
    assert [each["what"] for each in told["input_differences"]] == ["code game.py"]


@pytest.mark.parametrize(
    ("command", "error", "words"),
    [
        ("record game.py:main --seed 1 --allow unicorns -o b.twice", "E-USE-001", "unicorns"),
        ("verify a.twice --trust --allow unicorns", "E-USE-001", "unicorns"),
        ("replay a.twice --at 1 --trust --allow unicorns", "E-USE-001", "unicorns"),
        ("branch a.twice --at 1 -o b.twice --trust --allow unicorns", "E-USE-001", "unicorns"),
        ("verify a.twice --allow clock", "E-USE-001", "--trust"),
        ("vary a.twice --factor interpreter --python gone/python", "E-USE-001", "gone/python"),
    ],
)
def test_a_name_that_names_nothing_is_refused(
    checkout: Path, command: str, error: str, words: str
) -> None:
    before = sorted(checkout.rglob("*"))

    done = call(*command.split(), cwd=checkout)

    assert (done.returncode, done.stdout, done.stderr[:9]) == (2, "", error)
    assert words in done.stderr
    assert sorted(checkout.rglob("*")) == before


SIZES = {
    "large": str(10**30),
    "of thousands of digits": "9" * 5000,
    "below the start": "-2",
    "no number": "nan",
    "a fraction": "1e9",
    "empty": "",
}


@pytest.mark.parametrize(
    "command",
    [
        "show a.twice --tick",
        "show a.twice --snapshot",
        "replay a.twice --at",
        "replay a.twice --at 0 --to",
        "branch a.twice -o new.twice --at",
        "verify a.twice --no-statement --from",
        "verify a.twice --no-statement --to",
        "trace a.twice -o new.trace --tick",
    ],
)
@pytest.mark.parametrize("size", SIZES)
def test_a_place_that_no_record_has_is_refused(checkout: Path, command: str, size: str) -> None:
    done = call(*command.split(), SIZES[size], cwd=checkout)

    assert done.returncode == 2, done.stdout
    assert re.match(r"E-[A-Z]+-\d{3}  ", done.stderr), done.stderr
    assert len(done.stderr) < 12_000  # what was given stands in it
    assert not [*checkout.glob("new*"), *checkout.glob(".twice*")]
