"""A program has the process id of its recording, and ends as it would without."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from apart import needs_number, run_apart

from twice.recorder.kernel import libc
from twice.recorder.kernel.kept_program import ProgramEnd, start_program
from twice.recorder.kernel.namespaces import enter_namespaces

pytestmark = needs_number
WANTED = 48_123


def run_numbered(
    program: Callable[[], object], wanted: int | None = WANTED, linger_s: float = 0.0
) -> ProgramEnd:
    def run() -> ProgramEnd:
        enter_namespaces(process_numbers=True)
        return start_program(wanted, program, linger_s=linger_s).wait()

    return run_apart(run)


@pytest.mark.integration
def test_the_program_has_the_number_and_its_children_count_on(tmp_path: Path) -> None:
    def program() -> None:
        child = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True)
        shown = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        told = f"{os.getpid()} {os.readlink('/proc/self')} {child.stdout.strip()} {shown}"
        (tmp_path / "told").write_text(told)

    end = run_numbered(program)

    assert end == ProgramEnd(0, WANTED, problem="")
    assert (tmp_path / "told").read_text() == f"{WANTED} {WANTED} {WANTED + 1} [1, {WANTED}]"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda: None, 0),
        (lambda: sys.exit(7), 7),
        (lambda: sys.exit(), 0),
        (lambda: sys.exit("a reason"), 1),
        (lambda: os._exit(200), 200),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), -signal.SIGTERM),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), -signal.SIGKILL),
    ],
    ids=["returned", "exit-7", "exit", "exit-text", "_exit", "signal", "kill"],
)
def test_the_program_ends_as_it_would_without(end: Callable[[], object], code: int) -> None:
    assert run_numbered(end).exit_code == code


@pytest.mark.integration
def test_an_error_of_the_program_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        raise ValueError("said by the program")

    assert run_numbered(program).exit_code == 1
    assert "ValueError: said by the program" in capfd.readouterr().err


@pytest.mark.integration
def test_a_number_that_cannot_be_had_is_replaced_and_named(tmp_path: Path) -> None:
    end = run_numbered(lambda: (tmp_path / "ran").touch(), wanted=1)

    assert end.exit_code == 0
    assert end.number > 1
    assert end.problem == "1 is process 1 of the namespace, or nobody"
    assert (tmp_path / "ran").exists()


@pytest.mark.integration
def test_a_number_beyond_the_largest_is_replaced_and_named() -> None:
    end = run_numbered(lambda: None, wanted=1 << 40)

    assert end.number != 1 << 40
    assert "ns_last_pid" in end.problem


@pytest.mark.integration
def test_without_a_wish_any_number_does() -> None:
    end = run_numbered(lambda: None, wanted=None)

    assert end.problem == ""


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_a_signal_to_the_caller_reaches_the_program(number: signal.Signals) -> None:
    reading, writing = os.pipe()

    def program() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
        os.write(writing, b"ready")
        os._exit(signal.sigwait({number}))

    def run() -> ProgramEnd:
        caller = os.getpid()
        sender = os.fork()
        if not sender:  # outside of the namespace
            libc.end_with_parent(caller)  # else it would wait for a program that was never started
            os.read(reading, 5)
            os.kill(caller, number)
            os._exit(0)
        enter_namespaces(process_numbers=True)
        return start_program(WANTED, program).wait()

    assert run_apart(run).exit_code == number
    os.close(reading)
    os.close(writing)


@pytest.mark.integration
def test_a_signal_from_the_program_to_its_parent_does_not_come_back() -> None:
    def program() -> None:
        os.kill(os.getppid(), signal.SIGTERM)
        os.kill(os.getppid(), signal.SIGUSR1)
        os._exit(3)

    assert run_numbered(program).exit_code == 3


def test_orphans_are_reaped(tmp_path: Path) -> None:
    def program() -> None:
        # The shell's child outlives the shell, and ends while the program still runs.
        subprocess.run(["sh", "-c", "true & true & exit 0"], check=True)
        while sum(name.isdigit() for name in os.listdir("/proc")) > 2:
            pass
        (tmp_path / "alone").touch()

    assert run_numbered(program).exit_code == 0
    assert (tmp_path / "alone").exists()


def test_nothing_outlives_the_program(tmp_path: Path) -> None:
    reading, writing = os.pipe()

    def program() -> None:
        os.set_inheritable(writing, True)
        subprocess.Popen(["sleep", "1000"], close_fds=False)

    assert run_numbered(program).exit_code == 0
    os.close(writing)
    assert os.read(reading, 1) == b"", "the pipe's last writer is gone"
    os.close(reading)


@pytest.mark.integration
def test_other_processes_may_be_given_time(tmp_path: Path) -> None:
    def program() -> None:
        subprocess.Popen(["sh", "-c", f"sleep 0.2; echo late > {tmp_path}/late"])

    assert run_numbered(program, linger_s=60).exit_code == 0
    assert (tmp_path / "late").read_text() == "late\n"


@pytest.mark.integration
def test_time_for_other_processes_is_limited() -> None:
    def program() -> None:
        subprocess.Popen(["sleep", "1000"])

    assert run_numbered(program, linger_s=0.1).exit_code == 0


def test_when_process_1_is_killed_everything_ends() -> None:
    reading, writing = os.pipe()

    def program() -> None:
        os.write(writing, b"ready")
        signal.pause()

    def run() -> ProgramEnd:
        enter_namespaces(process_numbers=True)
        started = start_program(WANTED, program)
        os.read(reading, 5)
        started.kill()
        return started.wait()

    assert run_apart(run).exit_code == -signal.SIGKILL
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_when_the_caller_is_killed_everything_ends() -> None:
    reading, writing = os.pipe()
    caller = os.fork()
    if not caller:
        try:
            enter_namespaces(process_numbers=True)
            start_program(WANTED, lambda: (os.write(writing, b"ready"), signal.pause())).wait()
        finally:
            os._exit(1)
    os.read(reading, 5)
    os.kill(caller, signal.SIGKILL)
    os.waitpid(caller, 0)
    os.close(writing)

    assert os.read(reading, 1) == b""
    os.close(reading)


def test_the_caller_can_wait_for_a_descriptor() -> None:
    def run() -> bytes:
        enter_namespaces(process_numbers=True)
        started = start_program(WANTED, lambda: None)
        ready, _, _ = select.select([started], [], [])
        end = started.wait()
        return f"{ready == [started]} {end.exit_code}".encode()

    assert run_apart(run) == b"True 0"


def test_a_reader_of_the_program_sees_its_end() -> None:
    """Process 1 keeps no end of the program's pipes open."""

    def run() -> tuple[bytes, int]:
        reading, writing = os.pipe()
        enter_namespaces(process_numbers=True)
        go, gone = os.pipe()

        def program() -> None:
            os.close(gone)
            os.write(writing, b"said")
            os.close(writing)
            os.read(go, 1)

        started = start_program(WANTED, program)
        os.close(writing)
        with open(reading, "rb") as pipe:
            said = pipe.read()
        os.close(gone)
        return said, started.wait().exit_code

    assert run_apart(run) == (b"said", 0)
