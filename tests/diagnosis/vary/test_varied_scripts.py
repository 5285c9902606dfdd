"""A program that never heard of twice is varied as it is recorded: with -m, and with its arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import cli


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
