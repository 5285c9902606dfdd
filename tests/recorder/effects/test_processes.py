"""Processes that a program starts run once, while recording; replays are told what came of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded, verified
from twice.recorder.cadence import Cadence
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

EVERY_DOOR = """
    import os, subprocess, sys
    from pathlib import Path
    from subprocess import PIPE, STDOUT, Popen

    SIDE = Path(__file__).parent / "side"
    UPPER = "import sys\\nfor line in sys.stdin: print(line.upper(), end='')"

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(2):
            mark = f"echo {tick} >> {SIDE}; date +%N; echo $$"
            done = subprocess.run(["sh", "-c", mark + "; exit 3"], capture_output=True, text=True)
            seen += [done.stdout, done.stderr, done.returncode]
            seen.append(subprocess.check_output(mark, shell=True))
            seen.append(subprocess.getoutput(mark))
            with os.popen(mark) as lines:
                seen += list(lines)
            with Popen([sys.executable, "-c", UPPER], stdin=PIPE, stdout=PIPE, text=True) as upper:
                upper.stdin.writelines(["a\\n", "grün\\n"])
                upper.stdin.close()
                seen += [*upper.stdout, upper.pid]
            seen.append(upper.returncode)
            first = Popen(["sh", "-c", mark], stdout=PIPE, stderr=STDOUT)
            second = Popen(["cat"], stdin=first.stdout, stdout=PIPE)
            seen += [second.communicate(), first.wait(), first.poll()]
"""


def test_processes_run_once_however_often_a_run_is_verified(tmp_path: Path) -> None:
    with recorded(tmp_path, EVERY_DOOR) as record:
        marks = (tmp_path / "side").read_text()
        statements = [verify(record.path) for _ in range(3)]
    assert [each.result for each in statements] == ["PASS"] * 3
    assert all(each.manifest_matches for each in statements)
    assert marks.split() == ["0"] * 5 + ["1"] * 5
    assert (tmp_path / "side").read_text() == marks


def test_what_a_process_shares_with_the_run_is_printed_in_replay(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import os, subprocess

        def main(run):
            codes = run.track("codes", [])
            for tick in run.ticks(2):
                codes.append(os.system("echo system $$; echo wrong >&2; exit 4"))
                codes.append(os.system("kill -9 $$"))
                print("between", flush=True)
                codes.append(subprocess.call("echo call; echo joined >&2", shell=True, stderr=1))
        """,
        compare_errors=True,
    )
    assert (statement.result, statement.failure) == ("PASS", None)
    with RunRecord.open(statement.path) as record:
        printed, errors = record.printed()
        words = [line.split()[0] for line in printed.decode().splitlines()]
        assert words == ["system", "between", "call", "joined"] * 2
        assert errors == b"wrong\n" * 2


def test_limits_signals_and_refusals_are_raised_again(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import subprocess
        from subprocess import PIPE, Popen

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(1):
                try:
                    subprocess.run("echo begun; exec sleep 60", shell=True, timeout=0.3, stdout=PIPE)
                except subprocess.TimeoutExpired as late:
                    seen += [late.output, late.timeout, str(late)]
                try:
                    Popen(["no-such-program"])
                except FileNotFoundError as error:
                    seen += [error.errno, error.strerror, error.filename]
                try:
                    subprocess.run("exit 7", shell=True, check=True)
                except subprocess.CalledProcessError as error:
                    seen += [error.returncode, str(error)]
                sleeper = Popen(["sleep", "60"])
                seen.append(sleeper.poll())
                sleeper.terminate()
                seen += [sleeper.wait(), repr(sleeper)]
                refused = Popen(["true"], stdin=PIPE)
                refused.wait()
                try:
                    refused.stdin.write(b"x" * 10)
                    refused.stdin.flush()
                except BrokenPipeError as error:
                    seen.append(error.errno)
                run.compare("told", len(seen))
        """,
    )
    assert (statement.result, statement.failure) == ("PASS", None)
    with RunRecord.open(statement.path) as record:
        assert record.ending is not None
        assert record.ending["how"] == "completed"


@pytest.mark.parametrize(
    ("body", "recorded_text", "replayed_text"),
    [
        ('subprocess.run(["echo", "b" if LATER else "a"])', "process.start", "'b'"),
        ('subprocess.run("true", shell=LATER)', "process.start", "True"),
        ('subprocess.run("true", cwd="/" if LATER else None)', "process.start", "'/'"),
        (
            'subprocess.run("true", env={"LATER" if LATER else "NOW": "1"})',
            "process.start",
            "LATER",
        ),
        ('subprocess.run("cat", input=b"b" if LATER else b"a")', "process.communicate", "process"),
        ('os.system("true" if LATER else "false")', "process.system", "'true'"),
    ],
)
def test_another_command_fails_at_its_call(
    tmp_path: Path, body: str, recorded_text: str, replayed_text: str
) -> None:
    source = f"""
        import os, subprocess
        from pathlib import Path

        LATER = __import__("posix").access(Path(__file__).parent / "later", 0)

        def main(run):
            for tick in run.ticks(3):
                {body}
    """
    with recorded(tmp_path, source) as record:
        (tmp_path / "later").touch()
        statement = verify(record.path)
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("effect", 0)
    assert recorded_text in statement.failure.recorded
    assert replayed_text in statement.failure.replayed


def test_a_run_that_starts_at_a_snapshot_finds_its_processes(tmp_path: Path) -> None:
    source = """
        import subprocess

        class Told:
            def __init__(self):
                self.lines = []

            def state(self):
                return self.lines

            def restore(self, state):
                self.lines = list(state)

        def main(run):
            told = run.track("told", Told())
            steady = subprocess.Popen(["yes"], stdout=subprocess.PIPE, text=True)
            for tick in run.ticks(6):
                told.lines.append(steady.stdout.readline())
                told.lines.append(subprocess.check_output(["sh", "-c", "echo $$"], text=True))
            steady.kill()
            steady.wait()
    """
    with recorded(tmp_path, source, cadence=Cadence("tick", 2)) as record:
        assert verify(record.path).result == "PASS"
        assert verify(record.path, first=4).result == "PARTIAL"


def test_threads_start_processes_of_their_own(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import subprocess
        from concurrent.futures import ThreadPoolExecutor

        def pid(_):
            return subprocess.getoutput("echo $$")

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                with ThreadPoolExecutor(3) as pool:
                    seen += pool.map(pid, range(6))
        """,
    )
    assert statement.result == "PASS"


def test_processes_of_libraries_really_run_and_are_counted(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import asyncio

        async def shout():
            process = await asyncio.create_subprocess_exec(
                "echo", "same", stdout=asyncio.subprocess.PIPE
            )
            return (await process.communicate())[0]

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(1):
                seen.append(asyncio.run(shout()))
        """,
        allow=("process.start",),
    )
    assert statement.result == "PASS"
    with RunRecord.open(statement.path) as record:
        assert record.ending is not None
        assert record.ending["effects"]["ungoverned"] == {"process.start": 1}


def test_a_class_derived_from_popen_is_governed(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import subprocess

        class Shell(subprocess.Popen):
            def __init__(self, command):
                super().__init__(command, shell=True, stdout=subprocess.PIPE)

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(1):
                shell = Shell("echo $$")
                seen += [shell.communicate()[0], isinstance(shell, subprocess.Popen)]
        """,
    )
    assert statement.result == "PASS"
