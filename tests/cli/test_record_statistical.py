"""Claims about the options of ``twice record`` that declare the statistical class."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from twice.cli import dispatch
from twice.errors import ClassRefused, UsageError

PROGRAM = """
def main(run):
    run.summary("score", float(run.rng("x").normal()))
"""
STATISTICAL = ["--class", "statistical", "--summary", "score"]


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "scored.py"
    path.write_text(PROGRAM)
    return f"{path}:main"


@pytest.mark.integration
def test_a_statistical_run_is_recorded_and_verified(
    tmp_path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "s.twice")
    test = ["--test", "ks", "--epsilon", "0.5", "--n", "2", "--alpha", "0.1"]

    assert dispatch(["record", program, "--seed", "1", *STATISTICAL, *test, "-o", out]) == 0
    capsys.readouterr()
    assert dispatch(["verify", out, "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["result"] == "PASS"
    assert document["samples"]["test"] == "ks"
    assert document["samples"]["alpha"] == 0.1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--summary", "score", "--epsilon", "1"], UsageError),
        (["--class", "statistical", "--n", "3"], UsageError),
        ([*STATISTICAL, "--test", "means"], UsageError),
        ([*STATISTICAL, "--test", "guess", "--epsilon", "1"], ClassRefused),
        ([*STATISTICAL, "--epsilon", "1", "--n", "1"], ClassRefused),
        (["--class", "statistical"], UsageError),
    ],
)
def test_half_a_declaration_is_refused(
    tmp_path: Path, program: str, options: list[str], error: type[Exception]
) -> None:
    out = tmp_path / "s.twice"

    with pytest.raises(error):
        dispatch(["record", program, "--seed", "1", *options, "-o", str(out)])

    assert not out.exists()
