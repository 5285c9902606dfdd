"""What a program reads from its standard input is recorded, and a replay needs none."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import cli
from tiers import sampled
from twice.recorder.runrecord import RunRecord

pytestmark = pytest.mark.integration

DOORS = [
    "print([line for line in sys.stdin])",
    "print(repr(sys.stdin.read()))",
    "print(sys.stdin.readline(2), sys.stdin.readlines())",
    "print(input('name? '), input(), sys.stdin.read(3))",
    "print(sys.stdin.buffer.readline(), list(sys.stdin.buffer))",
    "print(bytes(sys.stdin.buffer.read(7)), sys.stdin.buffer.read1(4))",
    "print(list(fileinput.input('-')))",
    "print(sys.stdin.isatty(), sys.stdin.fileno(), sys.stdin.encoding, sys.stdin.readable())",
]
TEXT = "first\nzweite größe\n\nlast"


@pytest.mark.parametrize("door", sampled(DOORS, DOORS[:2]))
def test_a_script_that_reads_standard_input_is_verified_without_it(
    tmp_path: Path, door: str
) -> None:
    (tmp_path / "script.py").write_text(f"import fileinput, sys\n{door}\n", encoding="utf-8")
    told = cli("record", "script.py", "--seed", 1, "--out", "a.twice", cwd=tmp_path, input=TEXT)
    assert told.returncode == 0, told.stderr
    for _ in range(2):
        checked = cli("verify", "a.twice", cwd=tmp_path, input="something else\n")
        assert checked.returncode == 0, checked.stdout + checked.stderr
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.printed()[0]


def test_the_words_are_those_that_were_typed(tmp_path: Path) -> None:
    script = "import sys\nprint(input(), '|', sys.stdin.readline().strip(), '|', next(sys.stdin))\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    cli("record", "script.py", "--seed", 1, "--out", "a.twice", cwd=tmp_path, input=TEXT)
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.printed()[0].decode() == "first | zweite größe | \n\n"


def test_the_end_of_the_input_is_the_end_in_replay(tmp_path: Path) -> None:
    script = "try:\n    while True: input()\nexcept EOFError:\n    print('over')\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    cli("record", "script.py", "--seed", 1, "--out", "a.twice", cwd=tmp_path, input=TEXT)
    checked = cli("verify", "a.twice", cwd=tmp_path, input="more\n")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_another_read_fails_at_its_call(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\n"
        "print(sys.stdin.readline(4 if __import__('posix').access('there', 0) else 3))\n"
    )
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    (tmp_path / "there").touch()
    cli("record", "script.py", "--seed", 1, "--out", "a.twice", cwd=tmp_path, input=TEXT)
    (tmp_path / "there").unlink()
    checked = cli("verify", "a.twice", cwd=tmp_path)
    assert checked.returncode == 1
    assert "stdin.read" in checked.stdout
