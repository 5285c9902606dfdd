"""A program that cannot be run is one clear error before anything is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from twice.cli import dispatch
from twice.errors import ProgramNotFound, TwiceError, UsageError


@pytest.mark.parametrize(
    ("program", "said", "to_do"),
    [
        (["nowhere.py"], "no file nowhere.py", "Check the path"),
        (["pond"], "pond is a folder", "-m pond"),
        (["."], ". is a folder", "-m test_it_says"),
        (["broken.py"], "broken.py line 2 is not Python", "python"),
        (["late.py"], "'return' outside function", "python"),
        (["-m", "pond/fish.py"], "'pond/fish.py' is a path", "twice record pond/fish.py"),
        (["-m", "no.such.module"], "There is no module no.such.module", "Check the name"),
        (["-m", "pond.nothing"], "There is no module pond.nothing", "Check the name"),
        (["-m", "pond"], "package without a __main__", "pond.MODULE"),
        (["-m", "3d"], "no name of a module", "package.module"),
        ([""], "does not name a program", "For example"),
        (["x" * 5000], "does not name a program", "For example"),
    ],
)
def test_it_says_what_was_given_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: list[str], said: str, to_do: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pond").mkdir()
    (tmp_path / "pond" / "fish.py").touch()
    (tmp_path / "broken.py").write_text("x = 1\ny = (\n")
    (tmp_path / "late.py").write_text("return 3\n")

    with pytest.raises(ProgramNotFound) as refused:
        dispatch(["record", *program, "--seed", "7", "-o", "a.twice"])

    assert refused.value.id == "E-PROGRAM-001"
    assert said in refused.value.happened
    assert to_do in refused.value.remedy
    assert not (tmp_path / "a.twice").exists()


@pytest.mark.parametrize(
    ("arguments", "said", "to_do"),
    [
        (["s.py", "--seed", "7", "--lr", "3e-4"], "no such option '--lr'", "-- --lr 3e-4"),
        (["s.py:main", "--seed", "7", "--", "x"], "was given arguments: x", "without :function"),
        (["--seed", "7"], "no program was given", "train.py"),
    ],
)
def test_arguments_in_the_wrong_place_are_told_where_they_go(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
    to_do: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text("def main(run):\n    pass\n")

    with pytest.raises(UsageError) as refused:
        dispatch(["record", *arguments])

    assert isinstance(refused.value, TwiceError)
    assert said in refused.value.happened
    assert to_do in refused.value.remedy
