"""``twice check --confirm``: what it prints, how it ends, and what it refuses; what runs a program does so in processes of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from programs import call, cli

SET = """
import sys

def names(people):
    found = {str(person) for person in people}
    return list(found)

print(names(range(int(sys.argv[1]))))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.twice.check]\n")
    (tmp_path / "program.py").write_text(SET)
    return tmp_path


@pytest.mark.heavy
def test_json_has_a_witness_for_the_finding_and_a_confirmation(folder: Path) -> None:
    ran = cli(
        "check",
        "program.py",
        "--json",
        "--confirm",
        "program.py",
        "--seed",
        1,
        "--",
        40,
        cwd=folder,
    )

    assert ran.returncode == 1, ran.stderr
    document = json.loads(ran.stdout)
    (finding,) = document["findings"]
    assert finding["witness"]["factor"] == "hash seed"
    assert finding["witness"]["operation"]["path"] == "program.py"
    assert finding["witness"]["operation"]["line"] == 6
    assert document["summary"]["confirmation"]["outcomes"] == {"confirmed": 1}
    assert document["summary"]["confirmation"]["unexplained"] == []


@pytest.mark.heavy
def test_a_fact_that_was_taken_away_is_named_all_the_same(folder: Path) -> None:
    silenced = SET.replace("list(found)", "list(found)  # twice: ignore[set-order] it is small")
    (folder / "program.py").write_text(silenced)

    ran = cli("check", "program.py", "--confirm", "program.py", "--seed", 1, "--", 40, cwd=folder)

    assert ran.returncode == 1, ran.stderr
    assert "not shown, and a fact: program.py:6 set-order, confirmed" in ran.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "1"], "--seed was given without --confirm"),
        (["--set", "a=1"], "--set was given without --confirm"),
        (
            ["--confirm", "program.py", "--format", "sarif"],
            "--confirm and --format sarif were given together",
        ),
        (["--confirm", "program.py", "--fix"], "--confirm and --fix were given together"),
        (["--confirm", "program.py", "--baseline-update"], "-"),
        (["--confirm", "program.py", "--class", "statistical"], "statistical class"),
        (["--confirm", "a.twice", "--seed", "1"], "a.twice, which is no program"),
        (["--confirm", "absent.py", "--seed", "1"], "absent.py"),
        (["--confirm", "program.py:names", "--seed", "1", "--", "x"], "was given arguments: x"),
        (["--confirm", "program.py", "--seed", "many"], "many"),
        (["--confirm", "program.py", "--seed", "1", "--set", "a"], "'a'"),
    ],
)
def test_wrong_use_is_one_error(folder: Path, options: list[str], said: str) -> None:
    ran = call("check", "program.py", *options, cwd=folder)

    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith("E-")
    assert ran.stderr.count("\nE-") == 0
    assert said in ran.stderr


def test_without_a_program_what_stands_after_two_dashes_is_a_path(folder: Path) -> None:
    ran = call("check", "--json", "--", "program.py", cwd=folder)

    document = json.loads(ran.stdout)
    assert document["summary"]["files"] == 1
    assert document["findings"][0]["witness"] is None
    assert "confirmation" not in document["summary"]


@pytest.mark.heavy
def test_a_program_that_differs_from_itself_says_in_what_and_what_found_it(folder: Path) -> None:
    timed = f"import time\n\nstarted = time.time()\nprint('at', started)\n{SET}"
    (folder / "program.py").write_text(timed)
    command = ("check", "program.py", "--seed", 1, "--confirm", "program.py")

    said = cli(*command, "--", 40, cwd=folder)
    document = json.loads(cli(*command, "--json", "--", 40, cwd=folder).stdout)

    itself = "differs from itself in started at program.py:3, which is found there: clock"
    assert said.returncode == 1, said.stderr
    assert f"\nprogram.py {itself}; mend that first, or record it\n" in said.stdout
    assert "not shown, and a fact: program.py:10 set-order, confirmed" in said.stdout
    assert document["summary"]["confirmation"]["itself"] == itself
    assert document["summary"]["confirmation"]["outcomes"] == {"confirmed": 2}


@pytest.mark.heavy
def test_what_differs_from_itself_and_was_not_found_is_said(folder: Path) -> None:
    hidden = "import os\n\nprint(getattr(os, 'ur' + 'andom')(4).hex())\n"
    (folder / "program.py").write_text(hidden)

    ran = cli("check", "program.py", "--confirm", "program.py", "--seed", 1, cwd=folder)

    assert ran.returncode == 1, ran.stderr
    assert "program.py was run: there was nothing to confirm\n" in ran.stdout
    assert "differs from itself in output at program.py:3, where nothing was found" in ran.stdout
    assert "nothing found; runs part" in ran.stdout


@pytest.mark.integration
def test_where_nothing_was_found_two_runs_are_compared_all_the_same(folder: Path) -> None:
    (folder / "program.py").write_text("print(sum(range(9)))\n")

    ran = cli("check", "program.py", "--confirm", "program.py", "--seed", 1, cwd=folder)

    assert ran.returncode == 0, ran.stderr
    assert "program.py was run: there was nothing to confirm\n" in ran.stdout
    assert "two runs with nothing varied did the same" in ran.stdout


@pytest.mark.heavy
def test_a_package_is_run_as_a_module(folder: Path) -> None:
    (folder / "people").mkdir()
    (folder / "people" / "__init__.py").touch()
    (folder / "people" / "__main__.py").write_text(SET)

    ran = cli("check", "people", "--json", "--confirm=-m people", "--seed", 1, "--", 40, cwd=folder)

    assert ran.returncode == 1, ran.stderr
    document = json.loads(ran.stdout)
    assert document["summary"]["confirmation"]["program"] == "-m people"
    assert document["summary"]["confirmation"]["outcomes"] == {"confirmed": 1}
    (finding,) = document["findings"]
    assert finding["witness"]["operation"]["path"] == "people/__main__.py"


def test_how_a_module_is_named_stands_in_the_help_and_in_the_refusal(folder: Path) -> None:
    asked = call("check", "--help", cwd=folder)
    refused = call("check", "program.py", "--confirm", "-m", "people", cwd=folder)

    assert '--confirm="-m package"' in asked.stdout
    assert refused.returncode == 2
    assert "--confirm='-m package'" in refused.stderr
