"""What can be recorded: functions, modules, scripts, inline code; and what each record is good for."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

import twice
from programs import cli, environ, names, recorded, write
from twice.errors import ProgramNotRerunnable, SeedMissing, TickMisuse
from twice.recorder.runrecord import RunRecord
from twice.replayer.replay_session import replay
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration


def test_a_script_is_recorded_by_output_and_exit_code_and_its_verdict_says_so(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import random, sys, time\n"
        "import beside\n"
        "if __name__ == '__main__':\n"
        "    print(sys.argv[1:], random.random(), time.time(), beside.VALUE)\n"
        "    sys.exit(3)\n"
    )
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    out = tmp_path / "a.twice"
    done = cli("record", script, "--seed", 7, "-o", out, "--", "--lr", "3e-4")
    assert (done.returncode, done.stdout[:17]) == (1, "['--lr', '3e-4'] ")
    statement = verify(out)
    assert (statement.result, statement.exit_code) == ("PASS", 0)
    said = "a plain script: its reads, files, output and exit code were compared; its state was not"
    assert said in statement.caveats
    assert any("random" in caveat for caveat in statement.caveats)
    with RunRecord.open(out) as record:
        assert names(record) == [(-1, "start"), (-1, "end")]
        assert record.ending is not None
        assert record.ending["exit_code"] == 3
        assert len(record.ending["files"]) == 2


def test_a_program_that_says_why_it_exits_is_heard_and_its_traceback_is_its_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "p.py").write_text(
        "import sys\n"
        "def leaves(run):\n    sys.exit('no more fish')\n"
        "def breaks(run):\n    raise ValueError('torn net')\n"
    )
    left = cli("record", "p.py:leaves", "--seed", 7, "-o", "l.twice", cwd=tmp_path)
    broke = cli("record", "p.py:breaks", "--seed", 7, "-o", "b.twice", cwd=tmp_path)

    assert (left.returncode, broke.returncode) == (1, 1)
    assert left.stderr.startswith("no more fish\n")
    assert "(exit, exit code 1)" in left.stderr
    assert broke.stderr.startswith("Traceback (most recent call last):\n  File")
    assert "p.py" in broke.stderr.splitlines()[1]
    assert "executing.py" not in broke.stderr


def test_a_record_that_holds_little_is_said_to_when_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("def main(run):\n    run.track('net', [1])\n")
    script = cli("record", "p.py", "--seed", 7, "-o", "s.twice", cwd=tmp_path)
    still = cli("record", "p.py:main", "--seed", 7, "-o", "m.twice", cwd=tmp_path)

    assert (script.returncode, still.returncode) == (0, 0)
    assert "note: a plain script" in script.stderr
    assert "p.py:main" in script.stderr
    assert "note: run.ticks() was not used" in still.stderr


def test_a_module_is_recorded_and_found_again_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rules.py").write_text("FACTOR = 3\n")
    (package / "room.py").write_text(
        "from house.rules import FACTOR\n\n"
        "class Room:\n"
        "    @staticmethod\n"
        "    def main(run):\n"
        "        seen = run.track('seen', [])\n"
        "        for tick in run.ticks(3):\n"
        "            seen.append(tick * FACTOR)\n"
    )
    monkeypatch.chdir(tmp_path)
    with twice.record("house.room:Room.main", seed=1, out="a.twice") as record:
        assert record.ticks == 3
        assert record.ending is not None
        assert set(record.ending["files"]) == {
            "house/__init__.py", "house/room.py", "house/rules.py",
        }  # fmt: skip
    monkeypatch.chdir(package)
    assert verify(tmp_path / "a.twice").result == "PASS"


def named(run: twice.Run) -> None:
    """Walk, as a function of this module that a fresh process can find."""
    walked = run.track("walked", [0.0])
    draw = run.rng("walk")
    for _ in run.ticks(4):
        walked.append(float(draw.normal()))


def test_a_function_is_recorded_by_its_own_name(tmp_path: Path) -> None:
    with twice.record(named, seed=3, out=tmp_path / "a.twice") as record:
        assert record.setup.program.function == "named"
        assert verify(record.path).result == "PASS"


def test_a_closure_is_recorded_here_and_cannot_be_told_again(tmp_path: Path) -> None:
    bias = 0.5

    def main(run: twice.Run) -> None:
        walked = run.track("walked", [])
        for tick in run.ticks(3):
            walked.append(tick + bias)

    with twice.record(main, seed=1, out=tmp_path / "a.twice") as record:
        assert (record.ticks, record.setup.program.kind) == (3, "inline")
    statement = verify(tmp_path / "a.twice")
    assert (statement.result, statement.exit_code) == ("UNKNOWN", 2)
    assert any("twice record FILE.py:main" in caveat for caveat in statement.caveats)
    with pytest.raises(ProgramNotRerunnable, match="E-PROGRAM-002"):
        replay(tmp_path / "a.twice")
    done = cli("verify", tmp_path / "a.twice")
    assert (done.returncode, done.stdout.startswith("UNKNOWN")) == (2, True)


@pytest.mark.parametrize(
    ("error", "how", "exit_code", "is_raised"),
    [
        (ValueError("no"), "exception", 1, False),
        (TickMisuse("a", "b", "c"), "refused", 2, True),
        (KeyboardInterrupt(), "interrupted", 130, True),
        (SystemExit(3), "exit", 3, True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
@pytest.mark.sample(1)
def test_a_closure_that_raises_leaves_a_record_that_says_so(
    tmp_path: Path, error: BaseException, how: str, exit_code: int, is_raised: bool
) -> None:
    def main(run: twice.Run) -> None:
        for _ in run.ticks(3):
            raise error

    with pytest.raises(type(error)) if is_raised else nullcontext():
        twice.record(main, seed=1, out=tmp_path / "a.twice")

    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.ending is not None
        assert (record.ending["how"], record.ending["exit_code"]) == (how, exit_code)
        assert record.ticks == 1


def test_inline_code_in_a_script_is_recorded(tmp_path: Path) -> None:
    script = tmp_path / "notebook.py"
    script.write_text(
        "import time, twice\n"
        "with twice.recording('a.twice', seed=5, config={'n': 4}) as run:\n"
        "    walk = run.track('walk', [0.0])\n"
        "    for tick in run.ticks(run.config['n']):\n"
        "        walk.append(float(run.streams.python(f'draw/{tick}').random()))\n"
        "        time.time()\n"
        "print('done')\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path, env=environ(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert (record.ticks, record.config) == (4, {"n": 4})
        assert record.ending is not None
        assert record.ending["effects"]["strict"] == {"clock.time": 4}
    assert verify(tmp_path / "a.twice").exit_code == 2


def test_the_seed_comes_from_the_call_or_the_environment_and_from_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SeedMissing, match="E-SEED-001"):
        twice.record(named, out=tmp_path / "a.twice")
    monkeypatch.setenv("TWICE_SEED", "77")
    with twice.record(named, out=tmp_path / "a.twice") as record:
        assert record.seed.value == 77
    with twice.record(named, seed=78, out=tmp_path / "b.twice") as record:
        assert record.seed.value == 78
    done = cli("record", write(tmp_path, "def main(run):\n    list(run.ticks(1))\n"),
               "-o", tmp_path / "c.twice", env={"TWICE_SEED": "79"})  # fmt: skip
    assert done.returncode == 0
    with RunRecord.open(tmp_path / "c.twice") as record:
        assert record.seed.value == 79


def test_a_program_that_records_is_refused_where_it_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(twice.TwiceError, match="itself being executed by a session"):
        recorded(
            tmp_path,
            """
            import twice

            def other(run):
                list(run.ticks(1))

            def main(run):
                twice.record(other, seed=1, out="inner.twice")
            """,
        )
    assert not (tmp_path / "a.twice").exists()


def test_the_streams_and_global_generators_that_were_used_are_named(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import random
        import numpy as np

        def main(run):
            draw = run.rng("walk")
            for tick in run.ticks(3):
                draw.normal(), random.random(), np.random.random()
            print("drawn")
        """,
    ) as record:
        assert record.ending is not None
        assert "walk" in str(record.ending["streams"])
        assert len(record.ending["globals_used"]) == 2
        statement = verify(record.path)
    assert statement.result == "PASS"
    assert any("global generators" in caveat for caveat in statement.caveats)


def test_a_function_sees_no_arguments_of_the_process_that_executes_it(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import argparse, sys

        def main(run):
            argparse.ArgumentParser().parse_args()
            seen = run.track("seen", list(sys.argv))
            for tick in run.ticks(2):
                seen.append(tick)
            print(sys.argv)
        """,
    ) as record:
        assert verify(record.path).result == "PASS"
        assert record.printed()[0].decode() == f"{[str(tmp_path / 'program.py')]}\n"


@pytest.mark.parametrize(
    "source",
    [
        "import atexit\natexit.register(lambda: print('late', THERE))\n",
        (
            "import threading, time\n"
            "def wait():\n    time.sleep(0.05)\n    print('late', THERE)\n"
            "threading.Thread(target=wait).start()\n"
        ),
        (
            "import concurrent.futures as futures\n"
            "futures.ThreadPoolExecutor(1).submit(lambda: print('late', THERE))\n"
        ),
    ],
)
@pytest.mark.parametrize("leaving", ["", "raise SystemExit(3)\n"])
@pytest.mark.sample(3)
def test_what_a_script_prints_while_it_ends_is_its_output(
    tmp_path: Path, source: str, leaving: str
) -> None:
    script = tmp_path / "script.py"
    exists = "from pathlib import Path\nTHERE = __import__('posix').access(Path(__file__).parent / 'there', 0)\n"
    script.write_text(exists + source + leaving)
    (tmp_path / "there").touch()
    with twice.record(str(script), seed=1, out=tmp_path / "a.twice") as record:
        assert record.printed()[0] == b"late True\n"
        assert verify(record.path).result == "PASS"
        (tmp_path / "there").unlink()  # nobody opened it, so nobody can say what it held
        assert verify(record.path).result == "FAIL"


def test_threads_that_outlive_a_function_are_part_of_its_run(tmp_path: Path) -> None:
    source = """
        import threading, time

        def linger():
            time.sleep(0.3)
            print("late")

        def main(run):
            threading.Thread(target=linger).start()
            run.track("seen", []).append(1)
    """
    with recorded(tmp_path, source) as record:
        assert record.printed()[0] == b"late\n"
        assert verify(record.path).result == "PASS"


def test_files_in_the_folder_stand_in_for_no_module_of_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('not the library')\n")
    (tmp_path / "beside.py").write_text("PUSH = 3\n")
    (tmp_path / "sims").mkdir()
    (tmp_path / "sims" / "sim.py").write_text(
        "import beside\n"
        "def main(run):\n"
        "    seen = run.track('seen', [])\n"
        "    for tick in run.ticks(2):\n"
        "        seen.append(beside.PUSH)\n"
    )

    monkeypatch.chdir(tmp_path)

    with twice.record("sims/sim.py:main", seed=1, out="a.twice") as record:
        assert verify(record.path).result == "PASS"


def test_what_is_executed_is_the_source_and_not_bytecode_of_an_earlier_one(tmp_path: Path) -> None:
    source = "def main(run):\n    for tick in run.ticks(2):\n        run.compare('at', 1)\n"
    program = write(tmp_path, source)
    path = tmp_path / "program.py"
    moment = path.stat()
    twice.record(program, seed=1, out=tmp_path / "a.twice").close()
    path.write_text(path.read_text().replace("'at', 1", "'at', 2"))
    os.utime(path, ns=(moment.st_atime_ns, moment.st_mtime_ns))

    statement = verify(tmp_path / "a.twice", informational=True)

    assert (statement.result, statement.failure and statement.failure.name) == ("FAIL", "at")
