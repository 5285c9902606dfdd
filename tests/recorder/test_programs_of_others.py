"""Programs that others wrote are recorded as they are, and replay."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from programs import cli, rewritten
from tiers import sampled
from twice.errors import SnapshotMissing, TwiceError
from twice.recorder.runrecord import RunRecord
from twice.replayer.restore_test import restores
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

UNITTEST = (
    "import random, time, unittest\n"
    "class Fish(unittest.TestCase):\n"
    "    def test_swims(self):\n        self.assertLess(random.random(), time.time())\n"
    "    def test_flies(self):\n        self.fail('it does not')\n"
)
PYTEST = (
    "def test_swims(tmp_path):\n    assert tmp_path.is_dir()\ndef test_flies():\n    assert 0\n"
)
COMMANDS = {
    "json": (("-m", "json.tool", "--", "--indent", "1"), 0, '{\n "a": [\n  1\n ]\n}\n'),
    "a wrong option": (("-m", "json.tool", "--", "--no-such"), 2, "unrecognized arguments"),
    "calendar": (("-m", "calendar", "--", "2026", "3"), 0, "March 2026"),
    "timeit": (("-m", "timeit", "--", "-n", "2", "-r", "1", "sorted([3, 1])"), 0, "per loop"),
    "unittest": (("-m", "unittest", "--", "-v", "fish"), 1, "Ran 2 tests"),
    "pytest": (("-m", "pytest", "--", "-q", "-p", "no:cacheprovider", "pond.py"), 1, "1 passed"),
}


@pytest.mark.parametrize("name", sampled(COMMANDS, COMMANDS.keys() - {"pytest"}))
def test_a_program_of_somebody_elses_is_recorded_and_replays(tmp_path: Path, name: str) -> None:
    (tmp_path / "fish.py").write_text(UNITTEST)
    (tmp_path / "pond.py").write_text(PYTEST)
    command, code, said = COMMANDS[name]
    at = command.index("--")
    own, rest = command[:at], command[at:]
    # The folders that pytest clears away: not those of the run that tests this.
    aside = {"PYTEST_DEBUG_TEMPROOT": str(tmp_path)}

    done = cli(
        "record", *own, "--seed", 7, "-o", "a.twice", "--exit-code", *rest,
        cwd=tmp_path, input='{"a": [1]}', env=aside,
    )  # fmt: skip
    again = cli("verify", "a.twice", cwd=tmp_path, env=aside)

    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    assert again.stdout.startswith("PASS"), again.stdout
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.ending is not None
        assert record.ending["exit_code"] == code


def test_a_record_that_names_no_interpreter_is_refused_and_one_of_another_is_told_apart(
    tmp_path: Path,
) -> None:
    (tmp_path / "s.py").write_text("print(1)\n")
    twice.record(str(tmp_path / "s.py"), seed=1, out=tmp_path / "a.twice").close()
    with RunRecord.open(tmp_path / "a.twice") as record:
        environment = record.identity["environment"]
    without = {name: value for name, value in environment.items() if name != "python"}
    other = {**environment, "python": {**environment["python"], "version": "3.10.1"}}
    rewritten(tmp_path / "a.twice", tmp_path / "without.twice", environment=without)
    rewritten(tmp_path / "a.twice", tmp_path / "other.twice", environment=other)

    with pytest.raises(TwiceError, match="None at python"):
        verify(tmp_path / "without.twice")
    statement = verify(tmp_path / "other.twice")
    assert (statement.result, statement.axis) == ("PASS", "reproducibility")
    assert [each.what for each in statement.environment] == ["python version"]


def test_restores_of_a_whole_program_are_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("print(1)\n")
    twice.record(str(tmp_path / "s.py"), seed=1, out=tmp_path / "a.twice").close()

    with pytest.raises(SnapshotMissing, match="a whole program"):
        restores(tmp_path / "a.twice")
