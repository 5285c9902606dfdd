"""Signals reach the program, its record is closed, and what no replay can repeat is not judged."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import twice
from programs import cli, environ, write
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

WAITS = """
    import signal, sys, time
    def handle(number, frame):
        print("got", signal.Signals(number).name)
        if number != signal.SIGUSR1:
            sys.exit(5)
    if "own" in sys.argv:
        assert signal.signal(signal.SIGTERM, handle) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is handle
        signal.signal(signal.SIGUSR1, handle)
        signal.signal(signal.SIGINT, handle)
    print("ready", flush=True)
    try:
        for _ in range(1200):
            time.sleep(0.05)
    finally:
        print("finally")
"""


def put(folder: Path, source: str) -> str:
    (folder / "script.py").write_text(textwrap.dedent(source), encoding="utf-8")
    return str(folder / "script.py")


@pytest.mark.parametrize(
    ("own", "number", "printed", "how", "code"),
    [
        ((), signal.SIGTERM, "finally\n", "interrupted", 143),
        (("own",), signal.SIGTERM, "got SIGTERM\nfinally\n", "exit", 5),
        (("own",), signal.SIGINT, "got SIGINT\nfinally\n", "exit", 5),
    ],
)
def test_a_signal_to_the_command_is_the_programs_and_its_record_is_closed(
    tmp_path: Path, own: tuple[str, ...], number: int, printed: str, how: str, code: int
) -> None:
    path = put(tmp_path, WAITS)
    command = [sys.executable, "-m", "twice", "record", path, "--seed", "7", "-o", "a.twice"]
    running = subprocess.Popen(
        [*command, "--exit-code", "--", *own],
        cwd=tmp_path, env=environ(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(number)
        assert running.stdout.read() == printed

    assert running.returncode == code
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.complete
        assert record.ending is not None
        assert (record.ending["how"], record.ending["exit_code"]) == (how, code)
        assert record.printed()[0].decode() == "ready\n" + printed
        assert "interrupted_at_point" in record.ending
    assert verify(tmp_path / "a.twice").result == "UNKNOWN"


def test_signals_that_a_program_sends_itself_are_its_own_and_replay(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        """
        import os, signal
        signal.signal(signal.SIGUSR1, lambda number, frame: print("got", number))
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(before is signal.default_int_handler, signal.getsignal(signal.SIGTERM).name)
        """,
    )
    with twice.record(path, seed=7, out=tmp_path / "a.twice") as record:
        assert record.printed()[0] == b"got 10\ngot 10\nTrue SIG_DFL\n"
        assert verify(record.path).result == "PASS"


def test_a_program_that_leaves_at_once_has_an_ending_and_loses_what_it_lost(
    tmp_path: Path,
) -> None:
    path = put(
        tmp_path,
        """
        import atexit, os, sys
        atexit.register(print, "never")
        print("kept", flush=True)
        print("lost")
        try:
            os._exit(4)
        finally:
            print("never")
        """,
    )
    unbuffered = {"PYTHONUNBUFFERED": ""}
    with twice.record(path, seed=7, out=tmp_path / "a.twice", env=unbuffered) as record:
        assert record.printed()[0] == b"kept\n"
        assert record.ending is not None
        assert (record.ending["how"], record.ending["exit_code"]) == ("exit", 4)
        assert verify(record.path).result == "PASS"


@pytest.mark.heavy
def test_a_forked_child_and_a_daemon_leave_the_record_alone_and_are_a_caveat(
    tmp_path: Path,
) -> None:
    path = put(
        tmp_path,
        """
        import atexit, os, sys, time
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3)
                os._exit(0)
            atexit.register(print, "child's own")
            print("child", time.time() > 0)
            sys.exit(3)
        print("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
    )
    allowed = {"allow": ("process.fork",)}
    with twice.record(path, seed=7, out=tmp_path / "a.twice", **allowed) as record:
        assert record.complete
        assert record.printed()[0] == b"child True\nchild's own\nparent 3\n"
        statement = verify(record.path)
    assert statement.result == "PASS"
    assert any("the program forked" in caveat for caveat in statement.caveats)


@pytest.fixture
def hangups() -> Iterator[None]:
    """Heard, also where nohup had them ignored: children take that over."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangups")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("sends", ["os.kill(os.getpid(), {0})", "signal.raise_signal({0})"])
def test_a_signal_that_a_program_ends_itself_by_replays(
    tmp_path: Path, number: signal.Signals, sends: str
) -> None:
    path = put(
        tmp_path,
        f"""
        import os, signal
        try:
            {sends.format(int(number))}
        finally:
            print("finally")
        """,
    )
    with twice.record(path, seed=7, out=tmp_path / "a.twice") as record:
        assert record.ending is not None
        assert (record.ending["how"], record.ending["exit_code"]) == ("interrupted", 128 + number)
    statement = verify(tmp_path / "a.twice")
    assert (statement.result, statement.failure) == ("PASS", None)


def test_a_forked_child_is_ended_by_a_signal_as_it_is_without_twice(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        """
        import os, signal, time
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.write(writing, b"ready")
                time.sleep(60)
            finally:
                os.write(1, b"the child goes on")
                os._exit(0)
        os.read(reading, 5)
        os.kill(child, signal.SIGTERM)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
    )
    command = [sys.executable, "-m", "twice", "record", path, "--seed", "7", "-o", "a.twice"]
    ended = subprocess.run(
        command, cwd=tmp_path, env=environ(), capture_output=True, text=True, check=True
    )
    assert ended.stdout == "-15\n"
    assert "Traceback" not in ended.stderr


def test_a_timer_is_not_called_an_interrupt(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        """
        import signal
        signal.signal(signal.SIGALRM, lambda *_: print("late"))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        signal.pause()
        """,
    )
    twice.record(path, seed=7, out=tmp_path / "a.twice").close()
    statement = verify(tmp_path / "a.twice")
    assert statement.result == "UNKNOWN"
    assert any("or from a timer" in caveat for caveat in statement.caveats)
    assert not any("interrupted" in caveat for caveat in statement.caveats)


def test_a_signal_to_a_child_that_is_being_forked_is_not_lost(tmp_path: Path) -> None:
    source = """
        import os, signal

        def main(run):
            for tick in run.ticks(1):
                for _ in range(60):
                    child = os.fork()
                    if child == 0:
                        signal.pause()
                    os.kill(child, signal.SIGTERM)
                    assert os.waitpid(child, 0)[1] == signal.SIGTERM
        """
    done = cli(
        "record", write(tmp_path, source), "--seed", 1, "-o", "a.twice", "--allow", "process.fork",
        cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, "completed" in done.stderr) == (0, True), done.stderr
