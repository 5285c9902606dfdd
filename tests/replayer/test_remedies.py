"""What a verdict proposes for a line or a file that no two runs agree on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs import cli
from twice.replayer.output_difference import find_pattern


@pytest.mark.parametrize(
    ("one", "other", "pattern"),
    [
        ("took 0.87 s", "took 0.9 s", "took [0-9][0-9.,:e+-]* s"),
        ("epoch 1 (3.2 it/s)", "epoch 1 (3.4 it/s)", r"epoch [0-9.,:]+ \([0-9][0-9.,:e+-]* it/s\)"),
        ("took 1 s", "wait 2 s", ""),
        ("same 1", "same 1", ""),
        ("17", "18", ""),
    ],
)
def test_a_pattern_is_proposed_for_numbers_alone(one: str, other: str, pattern: str) -> None:
    assert find_pattern(one, other) == pattern


@given(st.text("ab 01.:[(*", max_size=20), st.text("ab 01.:[(*", max_size=20))
def test_a_pattern_matches_both_lines(one: str, other: str) -> None:
    pattern = find_pattern(one, other)
    assert not pattern or (re.search(pattern, one) and re.search(pattern, other))


CLOCK = """
import ctypes
class Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]
now = Time()
ctypes.CDLL(None).clock_gettime(1, ctypes.byref(now))
print(f"took {now.seconds}.{now.nanoseconds:09d} s")
"""


def test_the_verdict_proposes_the_option_that_helps(tmp_path: Path) -> None:
    (tmp_path / "timed.py").write_text(CLOCK)
    told = cli(
        "record", "timed.py", "--seed", 1, "--allow", "native.load", "-o", "a.twice", cwd=tmp_path
    )
    assert told.returncode == 0, told.stderr
    failed = cli("verify", "a.twice", cwd=tmp_path)
    assert failed.returncode == 1
    (line,) = (line for line in failed.stdout.splitlines() if line.startswith("- to do:"))
    option = line.partition("--ignore-output ")[2].strip("'")
    made = cli(
        "record", "timed.py", "--seed", 1, "--allow", "native.load", "--ignore-output", option, "-o", "b.twice",
        cwd=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert cli("verify", "b.twice", cwd=tmp_path).stdout.startswith("PASS")


def test_a_changed_input_comes_with_the_options_for_files(tmp_path: Path) -> None:
    (tmp_path / "reads.py").write_text("print(len(open('in.txt').read()))\n")
    (tmp_path / "in.txt").write_text("one")
    assert cli("record", "reads.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path).returncode == 0
    (tmp_path / "in.txt").write_text("two")
    failed = cli("verify", "a.twice", cwd=tmp_path)
    assert failed.returncode == 1
    assert (
        "- to do: if in.txt may change between runs, record with --files contents" in failed.stdout
    )
