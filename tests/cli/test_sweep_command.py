"""Claims about ``twice sweep`` that need no run: what is refused before one begins, and what is left then."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import call, write


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["program.py:main"], "missing option '--seeds'"),
        (["program.py:main", "--seeds", "0"], "0 is not in the range"),
        (["--seeds", "2"], "no program was given"),
        (["absent.py:main", "--seeds", "2"], "absent.py"),
        (["program.py:other", "--seeds", "2"], "has no function 'other'"),
        (["program.py:main", "--seeds", "2", "--set", "lr"], "--set 'lr' is not a key and its values"),
        (["program.py:main", "--seeds", "2", "--until", "0.1"], "--until was given without --summary"),
        (["program.py:main", "--seeds", "2", "--summary", "x", "--until", "-1"], "--until is -1.0"),
        (["program.py:main", "--seeds", "2", "--summary", "x", "--alpha", "1"], "--alpha is 1.0"),
        (["program.py:main", "--seeds", "2", "--class", "statistical"], "a sweep is one itself"),
        (["program.py:main", "--seeds", "2", "--seed", "many"], "the seed 'many' is not an integer"),
        (["program.py:main", "--seeds", "2", "--on", "moon"], "'moon' is no place"),
    ],
)  # fmt: skip
def test_what_makes_no_sweep_is_one_error_and_leaves_nothing(
    tmp_path: Path, words: list[str], why: str
) -> None:
    write(tmp_path, "def main(run): pass\n")

    done = call("sweep", *words, "-o", "out", cwd=tmp_path)

    assert done.returncode == 2
    assert why.lower() in done.stderr.lower()
    assert not [*tmp_path.glob("out/*.twice")]
    assert not (tmp_path / "out").exists()


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "def main(run): pass\n")

    done = call("sweep", "program.py:main", "--seeds", 2, "-o", ".", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "program.py is in it" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]
