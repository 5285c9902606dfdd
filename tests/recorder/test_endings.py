"""However a program ends, its record opens, says how it ended, and is held to that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import twice
from programs import HANGS_AFTER_S, cli, environ, names, recorded, verified, wait_until, write
from twice.errors import EncodingRefused, ProgramFailed, TwiceError
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify


def ending(record: RunRecord) -> tuple[str, int]:
    assert record.ending is not None
    return record.ending["how"], record.ending["exit_code"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("leaving", "how", "code"),
    [
        ("return", "completed", 0),
        ("sys.exit()", "exit", 0),
        ("sys.exit(7)", "exit", 7),
        ('sys.exit("wrong")', "exit", 1),
        ("raise ValueError('x')", "exception", 1),
        ("raise KeyboardInterrupt", "interrupted", 130),
        ("raise Odd", "exception", 1),
        ('raise ValueError("\\udc80")', "exception", 1),
        ("raise BaseException", "exception", 1),
    ],
)
@pytest.mark.sample(4)
def test_the_record_says_how_the_program_ended(
    tmp_path: Path, leaving: str, how: str, code: int
) -> None:
    statement = verified(
        tmp_path,
        f"""
        import sys

        class Odd(Exception):
            def __str__(self):
                raise RuntimeError

        def main(run):
            print("said")
            for tick in run.ticks(4):
                if tick == 2:
                    {leaving}
        """,
    )
    with RunRecord.open(statement.path) as record:
        assert ending(record) == (how, code)
        assert names(record)[-2:] == [(2, "tick"), (2, "end")]
    assert statement.result == "PASS"


@pytest.mark.integration
def test_another_ending_than_the_recorded_one_fails(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import sys
        from pathlib import Path

        def main(run):
            list(run.ticks(2))
            sys.exit(3 if __import__("posix").access(Path(__file__).parent / "later", 0) else 0)
        """,
    ) as record:
        (tmp_path / "later").touch()
        statement = verify(record.path)
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.recorded) == ("ending", "exit, exit code 0")
    assert "3" in statement.failure.replayed


@pytest.mark.integration
@pytest.mark.parametrize("state", ["1 / 0", "object()"])
def test_a_state_that_can_no_longer_be_read_does_not_cost_the_ending(
    tmp_path: Path, state: str
) -> None:
    source = f"""
        class Part:
            ticks = 0

            def state(self):
                return self.ticks if self.ticks < 3 else {state}

        def main(run):
            part = run.track("part", Part())
            for tick in run.ticks(9):
                part.ticks += 1
    """
    if state == "object()":
        with pytest.raises(EncodingRefused, match="'part'"):
            recorded(tmp_path, source)
    else:
        recorded(tmp_path, source).close()
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.complete
        assert ending(record) == (("refused", 2) if state == "object()" else ("exception", 1))
        assert names(record) == [(-1, "start"), (0, "tick"), (1, "tick")]


@pytest.mark.integration
def test_a_state_that_fails_at_the_very_end_is_the_ending(tmp_path: Path) -> None:
    recorded(
        tmp_path,
        """
        class Part:
            over = False

            def state(self):
                return 1 / (not self.over)

        def main(run):
            part = run.track("part", Part())
            for tick in run.ticks(2):
                pass
            part.over = True
        """,
    ).close()
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert ending(record) == ("exception", 1)
        assert record.ending is not None
        assert record.ending["exception"]["type"] == "builtins.ZeroDivisionError"


@pytest.mark.integration
@pytest.mark.parametrize("in_copy", [False, True])
def test_a_process_that_dies_leaves_what_it_recorded(tmp_path: Path, in_copy: bool) -> None:
    with pytest.raises(ProgramFailed, match="exit code 9") as caught:
        recorded(
            tmp_path,
            """
            import os

            def main(run):
                for tick in run.ticks():
                    if tick == 5000:
                        print("last words", flush=True)
                        os.write(2, b"on the way out")
                        os._exit(9)
            """,
            in_copy=in_copy,
        )
    assert not [*tmp_path.glob(".twice-*")]
    assert "on the way out" in caught.value.expected
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert (record.complete, record.ending) == (False, None)
        assert len(record.reader.points) > 1000
        statement = verify(record.path)
    assert (statement.result, statement.exit_code) == ("PARTIAL", 2)
    assert any("torn" in caveat for caveat in statement.caveats)


WAITING = """
    import os, sys, time
    from pathlib import Path

    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        seen = Path(__file__).parent / "begun"
        for tick in run.ticks():
            walk.step(0.5)
            run.input("push", lambda: tick)
            if tick == 20 and not seen.exists():
                seen.touch()
            while tick == 20 and not __import__("posix").access(Path(__file__).parent / "go", 0):
                pass
"""


def interrupted(folder: Path, source: str, *, group: bool) -> subprocess.CompletedProcess[str]:
    """Record on the command line and interrupt: the terminal's whole group, or the parent alone."""
    program = write(folder, source, walk=True)
    command = ["record", program, "--seed", "1", "-o", str(folder / "a.twice")]
    process = subprocess.Popen(
        [sys.executable, "-m", "twice", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ(),
        start_new_session=True,
    )
    begun = folder / "begun"
    wait_until(begun.exists, process)
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=HANGS_AFTER_S)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.integration
@pytest.mark.parametrize("group", [True, False], ids=["terminal", "parent alone"])
def test_an_interrupt_closes_the_record_and_what_came_before_verifies(
    tmp_path: Path, group: bool
) -> None:
    done = interrupted(tmp_path, WAITING, group=group)
    assert done.returncode == 1, done.stderr
    assert "interrupted" in done.stderr
    assert "Traceback" not in done.stderr
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.complete
        assert ending(record) == ("interrupted", 130)
        assert record.ticks == 21
        statement = verify(record.path)
    assert (statement.result, statement.exit_code) == ("PARTIAL", 2)
    assert statement.counts["passed"] == statement.counts["evaluated"] == 21
    assert any("a signal came" in caveat for caveat in statement.caveats)


@pytest.mark.integration
def test_a_program_that_survives_an_interrupt_is_judged_up_to_it(tmp_path: Path) -> None:
    source = """
    import time
    from pathlib import Path

    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        begun = Path(__file__).parent / "begun"
        for tick in run.ticks(30):
            try:
                while tick == 20 and walk.x != 1000.0:
                    begun.touch()
            except KeyboardInterrupt:
                walk.x = 1000.0
            walk.step(0.5)
    """
    done = interrupted(tmp_path, source, group=True)
    assert done.returncode == 0, done.stderr
    statement = verify(tmp_path / "a.twice", last=None)
    assert (statement.result, statement.failure) == ("PARTIAL", None)
    assert statement.counts["evaluated"] == 21


def wait_for_program(process: subprocess.Popen[str]) -> None:
    """Wait until the process of the program runs below a verification: keeper, process 1, program."""

    def find_program() -> list[int]:
        generation = [process.pid]
        for _ in range(3):  # from the top each time: what is tried first starts processes as well
            below: list[int] = []
            for pid in generation:
                with suppress(OSError):
                    below += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
            generation = below
        return generation

    wait_until(find_program, process)


@pytest.mark.integration
def test_interrupting_a_verification_is_no_verdict(tmp_path: Path) -> None:
    source = """
    from pathlib import Path

    def main(run):
        posix = __import__("posix")
        there = Path(__file__).parent / "there"
        for tick in run.ticks(30):
            while not posix.access(there, 0):
                pass
    """
    (tmp_path / "there").touch()
    recorded(tmp_path, source).close()
    (tmp_path / "there").unlink()
    process = subprocess.Popen(
        [sys.executable, "-m", "twice", "verify", str(tmp_path / "a.twice")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ(),
        start_new_session=True,
    )
    wait_for_program(process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=HANGS_AFTER_S)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert sorted(path.name for path in tmp_path.glob("*.json")) == []


@pytest.mark.integration
def test_a_program_that_raises_its_own_interrupt_is_held_to_that(tmp_path: Path) -> None:
    later = tmp_path / "later"
    with recorded(
        tmp_path,
        f"""
        from pathlib import Path

        def main(run):
            for tick in run.ticks(3):
                pass
            if not __import__('posix').access({str(later)!r}, 0):
                raise KeyboardInterrupt
        """,
    ) as record:
        assert verify(record.path).result == "PASS"
        later.touch()
        statement = verify(record.path)
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert statement.failure.name == "ending"


@pytest.mark.integration
@pytest.mark.parametrize("leaving", ["sys.exit(5)", "os._exit(5)", "raise ValueError", "return"])
def test_a_child_that_the_program_forks_does_not_touch_the_record(
    tmp_path: Path, leaving: str
) -> None:
    statement = verified(
        tmp_path,
        f"""
        import os, sys, time

        def main(run):
            walk = run.track("walk", Walk(run.rng("walk")))
            codes = run.track("codes", [])
            print("not twice")
            for tick in run.ticks(300):
                walk.step(0.5)
                time.time()
                if tick in (3, 150):
                    child = os.fork()
                    if not child:
                        time.time(), walk.step(9.0), os.urandom(4)
                        print("child of", tick)
                        {leaving}
                    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        walk=True,
        allow=("process.fork",),
    )
    assert (statement.result, statement.counts["passed"]) == ("PASS", 302)
    with RunRecord.open(statement.path) as record:
        record.reader.check()
        printed = record.printed()[0].decode()
        assert printed.count("not twice") == 1
        assert printed.count("child of") == 2 or leaving == "os._exit(5)"
        assert [tick for tick, name in names(record) if name == "tick"] == list(range(300))


@pytest.mark.integration
def test_a_forked_child_ends_by_a_signal_though_it_waits_in_c(tmp_path: Path) -> None:
    # A handler of Python's is not run there; with one, a pool that stops its workers waits for ever.
    with recorded(
        tmp_path,
        """
        import os, signal

        def main(run):
            reads, writes = os.pipe()
            child = os.fork()
            if not child:
                held = open("/proc/self/status").read().partition("SigCgt:")[2].split()[0]
                os.write(writes, held.encode())
                os._exit(0)
            os.waitpid(child, 0)
            held = int(os.read(reads, 100), 16)
            for number in (signal.SIGTERM, signal.SIGHUP):
                print(number.name, held >> (number - 1) & 1)
        """,
        allow=("process.fork",),
    ) as record:
        assert record.printed()[0].decode() == "SIGTERM 0\nSIGHUP 0\n"


@pytest.mark.integration
def test_multiprocessing_workers_do_not_touch_the_record(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import multiprocessing, os

        def square(value):
            return value * value

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                with multiprocessing.get_context("fork").Pool(2) as pool:
                    seen.append(pool.map(square, range(tick + 3)))
        """,
        allow=("process.fork", "process.signal"),
    )
    assert statement.result == "PASS"


def test_an_exception_in_inline_code_is_raised_and_recorded(tmp_path: Path) -> None:
    def divide() -> None:
        with twice.recording(tmp_path / "a.twice", seed=1) as run:
            for tick in run.ticks(5):
                1 / (2 - tick)

    with pytest.raises(ZeroDivisionError):
        divide()
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.complete
        assert ending(record) == ("exception", 1)
        assert record.ticks == 3


@pytest.mark.integration
def test_the_command_line_says_so_when_the_program_failed(tmp_path: Path) -> None:
    program = write(tmp_path, "def main(run):\n    raise LookupError('gone')\n")
    done = cli("record", program, "--seed", 1, "-o", tmp_path / "a.twice")
    assert done.returncode == 1
    assert "LookupError: gone" in done.stderr
    assert "(exception)" in done.stderr


@pytest.mark.integration
@pytest.mark.parametrize(
    "refused",
    [
        "run.track('a', object())",
        "run.track('a', [object()]); next(iter(run.ticks(2)))",
        "import os; os._exit(3)",
    ],
)
def test_an_old_record_outlives_a_run_that_never_came_to_its_first_tick(
    tmp_path: Path, refused: str
) -> None:
    with recorded(tmp_path, "def main(run):\n    pass\n") as record:
        old = record.path.read_bytes()
    with pytest.raises(TwiceError):
        recorded(tmp_path, f"def main(run):\n    {refused}\n", force=True)
    assert (tmp_path / "a.twice").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".partial"] == []


@pytest.mark.integration
@pytest.mark.parametrize("leaving", ["os._exit(3)", "run.track('a', object())", "pass"])
def test_a_new_record_replaces_the_old_one_from_its_first_tick_on(
    tmp_path: Path, leaving: str
) -> None:
    with recorded(tmp_path, "def main(run):\n    pass\n") as record:
        old = record.run_id
    source = f"import os\ndef main(run):\n    for tick in run.ticks(3):\n        {leaving}\n"
    with suppress(TwiceError):
        recorded(tmp_path, source, force=True).close()
    with RunRecord.open(tmp_path / "a.twice") as new:
        assert new.run_id != old
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".partial"] == []
