"""A program that never heard of twice is varied as it is recorded: with -m, and with its arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import twice
from programs import cli
from twice.errors import UsageError


@pytest.mark.heavy
@pytest.mark.parametrize("named", [["own.py"], ["-m", "own"]])
def test_a_script_and_a_module_are_varied_with_their_own_arguments(
    tmp_path: Path, named: list[str]
) -> None:
    (tmp_path / "own.py").write_text("import sys\nprint({'names', *sys.argv[1:]})\n")
    asked = ["--seed", "1", "--factor", "hash seed"]

    alone = cli("vary", *named, *asked, cwd=tmp_path)
    varied = cli("vary", *named, *asked, "--", "--lr", "3e-4", cwd=tmp_path)

    assert alone.returncode == 0, alone.stdout
    assert varied.returncode == 1, varied.stdout + varied.stderr
    shown = f"next: twice record {' '.join(named)} --seed 1 -o a.twice -- --lr 3e-4"
    assert shown in [line.strip() for line in varied.stdout.splitlines()]


TIMED = """
import sys, time
begun = time.perf_counter()
names = {"names", "of", "a", "set", "in", "some", "order", *sys.argv[1:]}
print(*(sorted(names) if "sorted" in names else names))
print(f"took {time.perf_counter() - begun:.9f} s", file=sys.stderr)
"""


@pytest.mark.integration
@pytest.mark.heavy
def test_a_program_that_prints_a_measured_time_is_varied_without_that_line(tmp_path: Path) -> None:
    """A fork of the command line for each form of the program: a hash seed is read at the start of a process."""
    (tmp_path / "own.py").write_text(TIMED)
    asked = ["vary", "own.py", "--seed", "1", "--factor", "hash seed"]

    varied = json.loads(cli(*asked, "--json", cwd=tmp_path).stdout)
    (pattern,) = varied["measured"]
    own, seed = varied["factors"]
    left_out = cli(*asked, "--ignore-output", pattern, "--", "sorted", cwd=tmp_path)
    still = cli(*asked, "--", "sorted", cwd=tmp_path)

    assert (varied["result"], varied["caveats"]) == ("FAIL", [])
    assert (own["factor"], own["result"], own["divergence"]["operation"]["line"]) == (
        "nothing",
        "differs",
        3,
    )
    assert own["divergence"]["remedies"][-1].endswith(f"twice vary --ignore-output '{pattern}'")
    assert (seed["result"], seed["divergence"]["operation"]["line"]) == ("differs", 5)
    assert left_out.stdout.splitlines()[:2] == [
        "PASS: own.py stays the same, 1 factor varied",
        f"- caveat: lines of output that match {pattern!r} were not compared (--ignore-output)",
    ]
    assert still.stdout.startswith("FAIL: own.py differs from itself though nothing was varied")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("source", "result", "reason"),
    [
        ("print(np.random.random())", "differs", "it draws from generators that twice alone seeds"),
        ("np.random.seed(3); print(np.random.random())", "same", ""),
        ("print(np.random.default_rng(3).random())", "unavailable", "nothing that it acts on was used"),
    ],
    ids=["seeded by twice", "seeded by itself", "its own"],
)  # fmt: skip
@pytest.mark.sample(1)
def test_global_generators_that_twice_alone_seeds_are_a_factor(
    tmp_path: Path, source: str, result: str, reason: str
) -> None:
    """Recordings in processes of their own, since a script is executed as Python does it."""
    program = tmp_path / "own.py"
    program.write_text(f"import numpy as np\n{source}\n")

    found = twice.vary(program, seed=1, factors=["global generators", "umask"], skip_unable=True)

    row, umask = found.factors[1], found.factors[0]
    assert (row.factor, row.result, umask.result) == ("global generators", result, "same")
    assert row.reason.startswith(reason)


@pytest.mark.integration
@pytest.mark.heavy
def test_the_streams_of_a_run_are_no_global_generators(tmp_path: Path) -> None:
    """The program is looked at in a process of its own."""
    program = tmp_path / "own.py"
    program.write_text("def main(run):\n    run.compare('x', 1)\n")

    with pytest.raises(UsageError, match="they are streams of the run"):
        twice.vary(f"{program}:main", seed=1, factors=["global generators"])


@pytest.mark.integration
def test_a_pass_names_the_generators_that_twice_seeded(tmp_path: Path) -> None:
    """A fork of the command line, which records in processes of their own."""
    (tmp_path / "own.py").write_text("import random\nprint(random.random())\n")

    done = cli("vary", "own.py", "--seed", "1", "--factor", "umask", cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout.splitlines()[1].startswith(
        "- caveat: global generators were drawn from (global/random): twice seeds them"
    )


@pytest.mark.integration
@pytest.mark.heavy
def test_a_number_that_may_come_from_chance_is_not_called_a_measurement(tmp_path: Path) -> None:
    """A fork of the command line, which records in processes of their own."""
    source = (
        "import os, time\nprint(f'score {time.time() * 0 + int.from_bytes(os.urandom(8)):.3f}')\n"
    )
    (tmp_path / "own.py").write_text(source)

    done = cli("vary", "own.py", "--seed", "1", "--factor", "umask", "--json", cwd=tmp_path)

    varied = json.loads(done.stdout)
    assert varied["measured"] == []
    assert [each["result"] for each in varied["factors"]] == ["differs", "could-not-tell"]


@pytest.mark.integration
def test_a_record_has_its_arguments_already(tmp_path: Path) -> None:
    (tmp_path / "a.twice").write_bytes(b"")
    refused = cli("vary", "a.twice", "--", "--lr", "3e-4", cwd=tmp_path)
    assert refused.returncode == 2
    assert "a.twice is a record, and was given arguments: --lr 3e-4." in refused.stderr


@pytest.mark.integration
def test_an_option_that_is_not_there_is_told_in_three_sentences(tmp_path: Path) -> None:
    refused = cli("vary", "own.py", "--lr", "3e-4", cwd=tmp_path)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 3
    assert "twice vary train.py --seed 7 -- --lr 3e-4" in refused.stderr
    assert len(cli("show", "a.twice", "--lr", cwd=tmp_path).stderr.splitlines()) == 3
