"""Bad input is one clear error: id, what happened, what was expected, what to do; exit code 2."""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from programs import HANGS_AFTER_S, WALK, cli, environ, recorded, rewritten
from twice.recorder.cadence import Cadence
from twice.recorder.record.layout import Header
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

PROGRAM = """
import twice

class Part:
    def __init__(self, value):
        self.value = value

    def state(self):
        return {"list": [1, {"odd": self.value}]}

def main(run):
    walk = run.track("walk", Walk(run.rng("walk")))
    for tick in run.ticks(4):
        walk.step(0.5)

def asks(run):
    print(run.config["speed"])

def unencodable(run):
    run.track("part", Part(object()))
    list(run.ticks(2))

def twins(run):
    run.track("part", [1])
    run.track("part", [2])

def streams(run):
    run.rng("walk"), run.rng("walk")

def nameless(run):
    run.rng("")

def text(run):
    list(run.ticks("three"))

def constant(run):
    run.input("push", 3)

def opaque(run):
    run.input("push", object)

def none():
    pass

async def later(run):
    list(run.ticks(2))

def lazy(run):
    yield from run.ticks(2)

def spent(run):
    list(run.ticks(2))
    run.track("part", Part(object()))
    list(run.ticks(2))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a program, its record, and every kind of file that is not a record."""
    at = tmp_path_factory.mktemp("input")
    (at / "p.py").write_text(WALK + PROGRAM)
    (at / "broken.py").write_text("def main(run:\n")
    (at / "latin.py").write_bytes(b"def main(run): print('caf\xe9')\n")
    (at / "notes.txt").write_text("buy milk\n" * 100)
    (at / "empty.twice").touch()
    (at / "folder.twice").mkdir()
    for suffix, text in {
        "toml": "speed = = 3", "json": "[1, 2]", "yaml": "a: [1", "ini": "a=1", "bin.toml": "a = 1",
    }.items():  # fmt: skip
        (at / f"bad.{suffix}").write_text(text)
    (at / "bad.bin.toml").write_bytes(b"a = '\xff\xfe'")
    done = cli("record", "p.py:main", "--seed", 1, "-o", "a.twice", "--quiet", cwd=at)
    assert done.returncode == 0, done.stderr
    whole = (at / "a.twice").read_bytes()
    (at / "torn.twice").write_bytes(whole[:-200])
    (at / "stub.twice").write_bytes(whole[:100])
    with RunRecord.open(at / "a.twice") as record:
        newer = Header(99, record.reader.run_id, record.reader.algorithm, "9.0.0").pack()
    (at / "newer.twice").write_bytes(newer + whole[len(newer) :])
    return at


def assert_clear(done: subprocess.CompletedProcess[str], error: str, *words: str) -> None:
    """One error of ours on standard error, and nothing else anywhere."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith(f"{error}  "), done.stderr
    assert "Traceback" not in done.stderr
    assert len(re.findall(r"\bE-[A-Z]+-\d{3}\b", done.stderr)) == 1, done.stderr
    assert len(done.stderr.strip().splitlines()) >= 2, "what happened, and what to do"
    for word in words:
        assert word in done.stderr, done.stderr


RECORD = ["record", "p.py:main", "--seed", "1"]
BAD_RECORDINGS = {
    "no such file": (["record", "q.py:main", "--seed", "1"], "E-PROGRAM-001", "q.py"),
    "no such function": (["record", "p.py:man", "--seed", "1"], "E-PROGRAM-001", "'man'", "main"),
    "no such module": (["record", "nowhere.at:main", "--seed", "1"], "E-PROGRAM-001", "nowhere.at"),
    "no such function in a module": (["record", "p:man", "--seed", "1"], "E-PROGRAM-001", "'man'"),
    "not a program": (["record", "p", "--seed", "1"], "E-PROGRAM-001", "'p'"),
    "not python": (["record", "broken.py:main", "--seed", "1"], "E-PROGRAM-001", "line 1"),
    "no seed": (["record", "p.py:main"], "E-SEED-001", "--seed 42", "TWICE_SEED"),
    "seed is a word": (["record", "p.py:main", "--seed", "x1"], "E-SEED-003", "x1"),
    "seed is negative": (["record", "p.py:main", "--seed=-4"], "E-SEED-003", "-4"),
    "seed is too large": (["record", "p.py:main", "--seed", str(1 << 256)], "E-SEED-003"),
    "key not given": (["record", "p.py:asks", "--seed", "1", "--set", "sped=3"],
                      "E-CONFIG-002", "'speed'", "Did you mean 'sped'"),
    "set without value": ([*RECORD, "--set", "speed"], "E-CONFIG-001", "'speed'", "key=value"),
    "set without key": ([*RECORD, "--set", "=3"], "E-CONFIG-001", "'=3'"),
    "config is missing": ([*RECORD, "--config", "none.toml"], "E-CONFIG-001", "none.toml"),
    "config is not TOML": ([*RECORD, "--config", "bad.toml"], "E-CONFIG-001", "bad.toml"),
    "config is a list": ([*RECORD, "--config", "bad.json"], "E-CONFIG-001", "bad.json"),
    "config is not YAML": ([*RECORD, "--config", "bad.yaml"], "E-CONFIG-001", "bad.yaml"),
    "config of another kind": ([*RECORD, "--config", "bad.ini"], "E-CONFIG-001", ".ini"),
    "config is not text": ([*RECORD, "--config", "bad.bin.toml"], "E-CONFIG-001", "bad.bin.toml"),
    "config is a folder": ([*RECORD, "--config", "folder.twice"], "E-CONFIG-001", "folder.twice"),
    "state without a form": (["record", "p.py:unencodable", "--seed", "1"],
                             "E-ENCODE-001", "'part'", "odd", "object"),
    "input without a form": (["record", "p.py:opaque", "--seed", "1"],
                             "E-ENCODE-001", "'push'", "object"),
    "input that is a value": (["record", "p.py:constant", "--seed", "1"], "E-USE-001", "'push'"),
    "ticks that are text": (["record", "p.py:text", "--seed", "1"], "E-TICK-001", "'three'"),
    "program without a run": (["record", "p.py:none", "--seed", "1"], "E-PROGRAM-001", "p.py:none"),
    "program that is async": (["record", "p.py:later", "--seed", "1"], "E-PROGRAM-001", "async"),
    "program that yields": (["record", "p.py:lazy", "--seed", "1"], "E-PROGRAM-001", "yield"),
    "program that is a class": (["record", "p.py:Part", "--seed", "1"], "E-PROGRAM-001", "class"),
    "program without its name": (["record", "p.py:", "--seed", "1"], "E-PROGRAM-001", "'p.py:'"),
    "program in another coding": (["record", "latin.py:main", "--seed", "1"],
                                  "E-PROGRAM-001", "latin.py"),
    "arguments of a function": (["record", "p.py:main", "n=3", "--seed", "1"],
                                "E-USE-001", "n=3", "--set"),
    "component twice": (["record", "p.py:twins", "--seed", "1"], "E-TRACK-002", "'part'"),
    "stream twice": (["record", "p.py:streams", "--seed", "1"], "E-RNG-001", "'walk'"),
    "stream without a name": (["record", "p.py:nameless", "--seed", "1"], "E-SEED-002", "''"),
    "class that is none": ([*RECORD, "--class", "exactly"], "E-CLASS-001", "exactly"),
    "scope that is none": ([*RECORD, "--scope", "moon"], "E-CLASS-001", "moon"),
    "cadence that is none": ([*RECORD, "--snapshots", "often"], "E-CLASS-001", "often"),
    "granularity that is none": ([*RECORD, "--compare", "atom"], "E-CLASS-001", "atom"),
    "clock that is none": ([*RECORD, "--clock", "sun"], "E-CLASS-001", "sun"),
    "digest that is none": ([*RECORD, "--digest", "md5"], "E-USE-001", "md5"),
    "variable without value": ([*RECORD, "--env", "A"], "E-USE-001", "'A'"),
    "option that is none": ([*RECORD, "--sed", "3"], "E-USE-001", "--sed"),
    "folder that is not there": ([*RECORD, "-o", "none/a.twice"], "E-OUTPUT-002", "none"),
    "folder that is a file": ([*RECORD, "-o", "notes.txt/a.twice"], "E-OUTPUT-002", "notes.txt"),
    "output that is there": ([*RECORD, "-o", "notes.txt"], "E-OUTPUT-001", "notes.txt", "--force"),
    "output that is a folder": ([*RECORD, "-o", "folder.twice", "--force"],
                                "E-OUTPUT-002", "folder.twice"),
    "random hash seed": ([*RECORD, "--env", "PYTHONHASHSEED=random"],
                         "E-ENV-001", "PYTHONHASHSEED"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_RECORDINGS)
def test_what_cannot_be_recorded_is_refused_and_leaves_nothing(folder: Path, case: str) -> None:
    arguments, error, *words = BAD_RECORDINGS[case]
    out = folder / f"{case.replace(' ', '-')}.twice"
    if "-o" not in arguments:
        arguments = [*arguments, "-o", str(out)]
    milk = (folder / "notes.txt").read_bytes()
    done = cli(*arguments, cwd=folder, env={"TWICE_SEED": None})
    assert_clear(done, error, *words)
    assert not out.exists()
    assert (folder / "notes.txt").read_bytes() == milk


BAD_RECORDS = {
    "missing": ("none.twice", "E-RECORD-005", "No such file"),
    "folder": ("folder.twice", "E-RECORD-005", "folder.twice"),
    "empty": ("empty.twice", "E-RECORD-00", "empty.twice"),
    "foreign": ("notes.txt", "E-RECORD-002", "notes.txt"),
    "newer": ("newer.twice", "E-RECORD-001", "99"),
    "cut in its first block": ("stub.twice", "E-RECORD-003", "stub.twice"),
}


@pytest.mark.parametrize("case", BAD_RECORDS)
@pytest.mark.parametrize("command", ["verify", "branch", "rerun"])
def test_what_is_no_record_is_refused_and_leaves_nothing(
    folder: Path, tmp_path: Path, case: str, command: str
) -> None:
    name, error, word = BAD_RECORDS[case]
    out = tmp_path / "out.twice"
    more = {"verify": [], "branch": ["--at", 1, "-o", out], "rerun": ["-o", out]}[command]
    before = sorted(path.name for path in folder.iterdir())
    done = cli(command, name, *more, cwd=folder)
    if command in {"verify", "rerun"} and case == "folder":
        error = "E-USE-001"  # it stands for the records in it, and has none
    assert done.stderr.startswith(error)
    assert_clear(done, done.stderr.split(maxsplit=1)[0], word)
    assert sorted(path.name for path in folder.iterdir()) == before
    assert list(tmp_path.iterdir()) == []


def test_a_torn_record_is_judged_as_far_as_it_goes_and_never_exits_zero(folder: Path) -> None:
    done = cli("verify", "torn.twice", cwd=folder)
    assert (done.returncode, done.stdout.split(":")[0]) == (2, "PARTIAL")
    assert "torn" in done.stdout
    for command in (["branch", "torn.twice", "--at", 1, "-o", "b.twice"],):
        assert_clear(cli(*command, cwd=folder), "E-RECORD-003", "torn.twice")
    assert not (folder / "b.twice").exists()


def test_a_refusal_after_ticks_closes_the_record_and_says_where(folder: Path) -> None:
    done = cli("record", "p.py:spent", "--seed", 1, "-o", "spent.twice", cwd=folder)
    assert_clear(done, "E-ENCODE-001", "'part'", "odd")
    with RunRecord.open(folder / "spent.twice") as record:
        assert record.complete
        assert record.ending is not None
        assert record.ending["how"] == "refused"
        assert record.ticks == 2


def test_a_key_that_nobody_reads_is_reported_and_the_record_stands(folder: Path) -> None:
    done = cli(
        "record", "p.py:main", "--seed", 1, "--set", "sped=3", "-o", "extra.twice", cwd=folder
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "E-CONFIG-003" in done.stderr
    assert "sped" in done.stderr
    assert verify(folder / "extra.twice").result == "PASS"


def test_code_that_changed_is_refused_and_goes_on_for_information_only(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(WALK + PROGRAM)
    cli("record", "p.py:main", "--seed", 1, "-o", "a.twice", cwd=tmp_path)
    (tmp_path / "p.py").write_text(WALK + PROGRAM + "# changed\n")
    assert_clear(cli("verify", "a.twice", cwd=tmp_path), "E-PROGRAM-004", "p.py", "--informational")
    for command in (
        ["branch", "a.twice", "--at", 1, "-o", "b.twice"], ["rerun", "a.twice", "-o", "b.twice"],
    ):  # fmt: skip
        assert_clear(cli(*command, cwd=tmp_path), "E-PROGRAM-004", "p.py")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.twice", "p.py"]
    done = cli("verify", "a.twice", "--informational", cwd=tmp_path)
    assert (done.returncode, done.stdout.split(":")[0]) == (2, "UNKNOWN")
    (tmp_path / "p.py").unlink()
    assert_clear(cli("verify", "a.twice", cwd=tmp_path), "E-PROGRAM-004", "p.py", "gone")
    done = cli("verify", "a.twice", "--informational", cwd=tmp_path)
    assert_clear(done, "E-PROGRAM-001", "p.py")


def test_an_environment_that_differs_is_reported_and_verification_goes_on(tmp_path: Path) -> None:
    with recorded(tmp_path, "def main(run):\n    print(list(run.ticks(2)))\n") as record:
        measured = json.dumps(record.identity["environment"])
        elsewhere = json.loads(measured.replace(platform.python_version(), "3.9.1"))
        path = rewritten(record.path, tmp_path / "b.twice", environment=elsewhere)
    done = cli("verify", path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    statement = json.loads(done.stdout)
    assert (statement["result"], statement["axis"]) == ("PASS", "reproducibility")
    assert not statement["environment"]["same"]
    assert any("3.9.1" in str(row["recorded"]) for row in statement["environment"]["differences"])


GROWING = """
import numpy as np

def main(run):
    board = run.track("board", np.zeros(1000))
    draw = run.rng("board")
    ticks = run.ticks(400)
    while True:
        try:
            next(ticks)
            board[:] = draw.normal(size=board.shape)
            for number in range(30):
                run.phase("phase")
        except StopIteration:
            break
        except {caught}:
            pass
"""


@pytest.mark.parametrize("caught", ["KeyError", "Exception"])
def test_a_full_disk_stops_the_run_and_the_sealed_prefix_stays(tmp_path: Path, caught: str) -> None:
    (tmp_path / "p.py").write_text(GROWING.format(caught=caught))
    limit = 1_500_000

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-m", "twice", "record", "p.py:main", "--seed", "1",
         "--snapshots", "tick", "--on-full", "stop", "-o", "a.twice"],
        cwd=tmp_path, env=environ(), capture_output=True, text=True, check=False,
        preexec_fn=small_disk, timeout=HANGS_AFTER_S,
    )  # fmt: skip
    assert_clear(done, "E-OUTPUT-002", "a.twice", "File too large")
    assert (tmp_path / "a.twice").stat().st_size <= limit
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert not record.complete
        assert len(record.reader.points) > 1000
    statement = verify(tmp_path / "a.twice")
    assert (statement.result, statement.failure) == ("PARTIAL", None)


def test_a_folder_that_takes_no_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(WALK + PROGRAM)
    locked = Path("/proc/self/locked") if os.geteuid() == 0 else tmp_path / "locked"
    if os.geteuid() != 0:
        locked.mkdir(mode=0o500)
    out = locked / "a.twice"
    done = cli("record", "p.py:main", "--seed", 1, "-o", out, cwd=tmp_path)
    assert_clear(done, "E-OUTPUT-002", str(out))


def test_a_branch_output_that_is_there_is_kept(folder: Path) -> None:
    milk = (folder / "notes.txt").read_bytes()
    for command in (
        ["branch", "a.twice", "--at", 1, "-o", "notes.txt"],
        ["rerun", "a.twice", "-o", "notes.txt"],
    ):
        assert_clear(cli(*command, cwd=folder), "E-OUTPUT-001", "notes.txt", "--force")
    done = cli("branch", "a.twice", "--at", 99, "-o", "late.twice", cwd=folder)
    assert_clear(done, "E-RECORD-006", "99", "0 to 3")
    done = cli("branch", "a.twice", "--at", 1, "--input", "push=3", "-o", "late.twice", cwd=folder)
    assert_clear(done, "E-USE-001", "push")
    assert (folder / "notes.txt").read_bytes() == milk
    assert not (folder / "late.twice").exists()


def test_statements_are_numbered_and_never_overwritten(tmp_path: Path) -> None:
    with recorded(tmp_path, "def main(run):\n    print(list(run.ticks(2)))\n",
                  cadence=Cadence("none")) as record:  # fmt: skip
        path = record.path
    assert cli("verify", path).returncode == 0
    first = {each.name: each.read_bytes() for each in tmp_path.glob("*.verification-*")}
    assert cli("verify", path).returncode == 0
    assert sorted(first) == ["a.twice.verification-1.json", "a.twice.verification-1.md"]
    assert {name: (tmp_path / name).read_bytes() for name in first} == first
    assert (tmp_path / "a.twice.verification-2.json").exists()


def test_a_current_folder_that_was_removed_is_one_clear_error(tmp_path: Path) -> None:
    command = f"mkdir gone && cd gone && rmdir ../gone && exec '{sys.executable}' -m twice ls"

    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=environ(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert_clear(done, "E-USE-001", "current folder", "cd ..")


@pytest.mark.parametrize(
    "command", [["record", "--seed", "1", "-o", "a.twice"], ["gate"], ["verify"]]
)
def test_a_path_of_many_thousand_letters_is_one_short_error(
    command: list[str], tmp_path: Path
) -> None:
    done = cli(*command, "a" * 100_000 + ".py", cwd=tmp_path)

    assert done.returncode == 2
    assert re.match(r"E-[A-Z]+-\d{3}  ", done.stderr), done.stderr[:200]
    assert "File name too long" in done.stderr
    assert len(done.stderr) < 2_000


def test_names_that_steer_a_terminal_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "def main(run):\n"
        "    for tick in run.ticks(2):\n"
        "        named = {'key\\x1b[2J\\n::error::b': tick * run.config['n']}\n"
        "        run.compare('point\\x07\\n::error::a\\u202e', named)\n"
    )
    for n in (1, 2):
        made = cli(
            "record", "p.py:main", "--seed", 1, "--set", f"n={n}", "-o", f"{n}.twice", cwd=tmp_path
        )
        assert made.returncode == 0, made.stderr

    for verb in (
        ["diagnose", "1.twice", "2.twice", "--anyway"],
        ["show", "1.twice", "--tick", "1"],
    ):
        said = cli(*verb, cwd=tmp_path).stdout
        assert "::error::" in said
        assert not [line for line in said.splitlines() if line.startswith("::error")]
        assert [each for each in said if not each.isprintable() and each not in "\n\t"] == []


def test_an_error_that_nobody_reads_exits_2(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "twice", "verify", "none.twice"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environ(), stdout=writing, stderr=writing, check=False,
        timeout=HANGS_AFTER_S,
    )  # fmt: skip
    os.close(writing)

    assert done.returncode == 2
