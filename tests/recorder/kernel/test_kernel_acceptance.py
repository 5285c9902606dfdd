"""Acceptance of the layer below Python: what no other test shows end to end, by the number of the acceptance test."""

from __future__ import annotations

import ast
import os
import platform
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from apart import needs_number, needs_world

from programs import HANGS_AFTER_S, cli, environ
from static_program import write_static_program
from twice.recorder.kernel.file_state import FileHistory
from twice.recorder.runrecord import RunRecord
from twice.replayer.verification import Verification
from twice.replayer.verify import verify

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="system calls are supervised on Linux alone"
    ),
]
"""For what hangs: nothing here takes so long."""

C = """
import ctypes, errno, os, signal, subprocess, sys, threading

HERE = os.path.dirname(os.path.abspath(__file__))
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.opendir.restype = LIBC.readdir.restype = ctypes.c_void_p
LIBC.readdir.argtypes = LIBC.closedir.argtypes = [ctypes.c_void_p]


def c_path(name):
    return os.fsencode(os.path.join(HERE, name))


def c_open(name, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
    descriptor = LIBC.open(c_path(name), flags, 0o644)
    return descriptor if descriptor >= 0 else -ctypes.get_errno()


def c_write(name, data):
    descriptor = c_open(name)
    LIBC.write(descriptor, data, len(data))
    LIBC.close(descriptor)


def c_read(name):
    descriptor = c_open(name, os.O_RDONLY)
    held = ctypes.create_string_buffer(4096)
    size = LIBC.read(descriptor, held, 4096)
    LIBC.close(descriptor)
    return held.raw[: max(size, 0)]


def c_stat(name):
    held = ctypes.create_string_buffer(256)
    if LIBC.stat(c_path(name), held):
        return errno.errorcode[ctypes.get_errno()]
    return held.raw[48:56] + held.raw[88:104]  # size and time of change


def c_list(name):
    found, stream = [], LIBC.opendir(c_path(name))
    while entry := LIBC.readdir(stream):
        found.append(ctypes.string_at(entry + 19))
    LIBC.closedir(stream)
    return sorted(found)
"""


def record(folder: Path, source: str, *options: str) -> str:
    """Record a program in a folder of its own by the command line; return what it said to standard error."""
    (folder / "program.py").write_text(C + source, encoding="utf-8")
    command = ("record", "program.py:main", "--seed", "1", "--out", "a.twice", *options)
    done = cli(*command, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


def histories(folder: Path) -> dict[str, FileHistory]:
    """Return the record's history of each file, by its name."""
    with RunRecord.open(folder / "a.twice") as made:
        found = made.native_files()
    assert found.tier == "supervisor", found.refused
    assert found.problems == []
    return {Path(history.path).name: history for history in found.histories}


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Nothing below a folder is changed while the block runs."""

    def tree() -> dict[str, object]:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}

    before = tree()
    yield
    assert tree() == before


def verified(folder: Path) -> Verification:
    """Verify the record, while nothing in its folder changes."""
    with watched(folder):
        return verify(folder / "a.twice")


# 4. An input that only C reads


@needs_world
def test_4_an_input_of_c_code_that_the_record_carries_is_served(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"one")
    record(
        tmp_path,
        "def main(run):\n    run.compare('in', c_read('in'))\n    LIBC.unlink(c_path('in'))\n",
    )
    (tmp_path / "in").write_bytes(b"two")

    assert verified(tmp_path).result == "PASS"


# 5. Other bytes in the replay


@needs_world
def test_5_an_output_that_c_code_fills_otherwise_fails_and_is_named(tmp_path: Path) -> None:
    record(
        tmp_path,
        """
def main(run):
    drawn = ctypes.create_string_buffer(32)
    LIBC.getrandom(drawn, 32, 0)
    c_write("out", drawn.raw)
    print("done")
""",
    )
    held = (tmp_path / "out").read_bytes()

    statement = verified(tmp_path)

    assert statement.result == "FAIL"
    assert statement.to_json()["effects"]["files"]["differing"] == ["out"]
    assert (tmp_path / "out").read_bytes() == held


# 6. Children of every kind

CHILDREN = """
import multiprocessing


def child(name):
    c_write(name, b"child")


def main(run):
    for method in ("fork", "spawn", "forkserver"):
        process = multiprocessing.get_context(method).Process(target=child, args=(f"by-{method}",))
        process.start()
        process.join()
    subprocess.run(["sh", "-c", "echo x > by-shell"], cwd=HERE)
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", f"echo x > {HERE}/by-vfork"], os.environ), 0)
    for static in [name for name in ("static",) if os.path.exists(os.path.join(HERE, name))]:
        command = [os.path.join(HERE, static), os.path.join(HERE, "by-static")]
        os.waitpid(os.posix_spawn(command[0], command, os.environ), 0)
    run.compare("left", [name for name in c_list(".") if name.startswith(b"by-")])
"""


@needs_world
def test_6_children_of_every_kind_are_recorded_and_kept_away(tmp_path: Path) -> None:
    names = ["by-fork", "by-spawn", "by-forkserver", "by-shell", "by-vfork"]
    if platform.machine() == "x86_64":
        write_static_program(tmp_path / "static")
        names.append("by-static")
    record(tmp_path, CHILDREN)
    found = histories(tmp_path)
    assert {*names} <= {name for name, history in found.items() if history.has_effect}
    for name in names[::2]:
        (tmp_path / name).write_bytes(b"precious")
    for name in names[1::2]:
        (tmp_path / name).unlink()

    assert verified(tmp_path).result == "PASS"


# 7. What C code is told about files


@needs_world
def test_7_existence_sizes_times_and_listings_are_those_of_the_recording(tmp_path: Path) -> None:
    for name in ("same", "grows", "goes", "touched"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_bytes(b"inner")
    names = ["same", "grows", "goes", "touched", "made", "never", "folder/inner", "folder/made"]
    record(
        tmp_path,
        f"""
def main(run):
    run.compare("listed", [c_list("folder"), [LIBC.access(c_path(name), 0) for name in {names}]])
    run.compare("stated", [c_stat(name) for name in {names}])
    c_read("touched")
    c_write("grows", b"much longer than before")
    c_write("made", b"made")
    c_write("folder/made", b"made")
    LIBC.unlink(c_path("goes"))
    run.compare("listed after", [c_list("folder"), [LIBC.access(c_path(name), 0) for name in {names}]])
""",
    )
    (tmp_path / "folder" / "stranger").write_bytes(b"new since")

    assert verified(tmp_path).result == "PASS"


# 8. Threads


@pytest.mark.heavy
def test_8_eight_threads_of_a_thousand_native_opens_lose_none(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    record(
        tmp_path,
        """
def main(run):
    failed = []

    def work(thread):
        for number in range(1_000):
            descriptor = c_open(f"made/{thread}-{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            if descriptor < 0:
                failed.append(descriptor)
            LIBC.close(descriptor)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.compare("failed", failed)
    assert not failed
""",
    )

    made = {name for name, history in histories(tmp_path).items() if history.has_effect} - {"made"}
    assert len(made) == 8_000


# 9. Signals

SIGNALS = """
def main(run):
    signal.signal(signal.SIGALRM, lambda *_: None)
    if RESTARTS:
        signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    failed = []
    for number in range(5_000):
        for name, flags in (("in", os.O_RDONLY), (f"made/{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL)):
            descriptor = c_open(name, flags)
            if descriptor < 0:
                failed.append(errno.errorcode[-descriptor])
            LIBC.close(descriptor)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print({name: failed.count(name) for name in failed}, file=sys.stderr)
    print("made", len(os.listdir(os.path.join(HERE, "made"))), file=sys.stderr)
"""


@pytest.mark.heavy
def test_9_a_timer_s_signal_may_interrupt_a_native_open_and_none_is_lost_or_made_twice(
    tmp_path: Path,
) -> None:
    """A limit: without twice no open of an ordinary file is ever interrupted."""
    (tmp_path / "in").write_bytes(b"in")
    (tmp_path / "made").mkdir()

    said = record(tmp_path, f"RESTARTS = False\n{SIGNALS}")

    assert set(ast.literal_eval(said.splitlines()[0])) <= {"EINTR"}
    there = len(list((tmp_path / "made").iterdir()))
    made = {name for name, history in histories(tmp_path).items() if history.has_effect} - {"made"}
    assert len(made) == there


def test_9_no_signal_interrupts_what_python_does_not_call_again_by_itself(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()

    said = record(
        tmp_path,
        """
def main(run):
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    made = os.path.join(HERE, "made")
    for number in range(400):
        name = os.path.join(made, str(number))
        os.mkdir(name)
        os.rename(name, name + "x")
        os.symlink("nowhere", name)
        os.unlink(name)
        os.chmod(name + "x", 0o700)
        os.utime(name + "x", (1, 1))
        os.listdir(made), list(os.scandir(made)), os.listdir("/proc/self/fd")
        os.rmdir(name + "x")
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("done", file=sys.stderr)
""",
    )

    assert "done" in said.splitlines()


@pytest.mark.heavy
def test_9_a_signal_whose_handler_restarts_calls_interrupts_no_native_open(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"in")
    (tmp_path / "made").mkdir()

    said = record(tmp_path, f"RESTARTS = True\n{SIGNALS}")

    assert "{}" in said.splitlines()
    assert "made 5000" in said.splitlines()
    made = {name for name, history in histories(tmp_path).items() if history.has_effect} - {"made"}
    assert len(made) == 5_000


# 10. The supervisor's death


def test_10_when_the_supervisor_is_killed_no_process_is_left(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    (tmp_path / "program.py").write_text(
        C
        + """
reading, writing = os.pipe()
if not os.fork():
    signal.alarm(120)  # so that nothing is left behind where this fails
    held = LIBC.open(c_path("alive"), os.O_WRONLY)
    LIBC.write(held, b"x", 1)
    os.write(writing, b"x")
    while True:
        signal.pause()
os.read(reading, 1)
os.kill(os.getppid(), signal.SIGKILL)
while True:
    signal.pause()
""",
        encoding="utf-8",
    )

    try:
        done = subprocess.run(
            [sys.executable, "-m", "twice", "record", "program.py", "--seed", "1", "-o", "a.twice"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=environ(),
            timeout=HANGS_AFTER_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.fail("the recording does not end while a child of the program lives")

    assert done.returncode == 2
    assert "E-PROGRAM-003" in done.stderr
    assert os.read(alive, 8) == b"x"
    poll = select.poll()
    poll.register(alive, 0)
    try:
        assert poll.poll(HANGS_AFTER_S * 1000), "a process of the run lives on"
    finally:
        os.close(alive)
    assert cli("verify", "a.twice", "--no-statement", cwd=tmp_path).returncode == 2


# 13. Ways below the overlay


@needs_world
def test_13_a_file_that_twice_inherits_is_not_written_by_a_replay(tmp_path: Path) -> None:
    """Standard input may be a file that is open for writing, too."""
    source = """
def main(run):
    LIBC.lseek(0, 0, 2)
    LIBC.write(0, b"native", 6)
    return "written"
"""
    (tmp_path / "program.py").write_text(C + source, encoding="utf-8")
    (tmp_path / "held").write_bytes(b"held ")
    for command in (
        "record program.py:main --seed 1 --out a.twice",
        "verify a.twice --no-statement",
    ):
        (tmp_path / "held").write_bytes(b"held ")
        done = subprocess.run(
            ["sh", "-c", f'exec "$0" -m twice {command} 0<>held', sys.executable],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=environ(),
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "held").read_bytes() == b"held "


@needs_world
def test_13_a_working_folder_below_the_root_is_a_copy_for_c_code(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    record(
        tmp_path,
        """
def main(run):
    os.chdir(os.path.join(HERE, "deep", "er"))
    descriptor = LIBC.open(b"relative", os.O_WRONLY | os.O_CREAT, 0o644)
    LIBC.write(descriptor, b"written", 7)
    LIBC.close(descriptor)
    run.compare("there", c_read("deep/er/relative"))
""",
    )
    (tmp_path / "deep" / "er" / "relative").write_bytes(b"precious")

    assert verified(tmp_path).result == "PASS"


# 15. The process id

NUMBER = """
def main(run):
    number = LIBC.getpid()
    with open("/proc/self/comm") as file:
        file.read()
    descriptor = LIBC.open(b"/proc/%d/stat" % number, os.O_RDONLY)
    held = ctypes.create_string_buffer(64)
    LIBC.read(descriptor, held, 64)
    run.compare("number", [number, int(held.value.split()[0])])
"""


@needs_number
def test_15_the_recorded_process_id_leads_to_the_program_in_a_replay(tmp_path: Path) -> None:
    record(tmp_path, NUMBER)

    statement = verified(tmp_path)

    assert statement.result == "PASS"
    assert statement.files.processes == "number"


@needs_world
def test_15_without_a_process_namespace_the_verdict_names_the_difference(tmp_path: Path) -> None:
    record(tmp_path, NUMBER)

    with watched(tmp_path):
        done = cli(
            "verify", "a.twice", "--no-statement", cwd=tmp_path, env={"TWICE_WITHOUT": "number"}
        )

    assert done.returncode != 0
    assert "the process id was given again" not in done.stdout
    assert "process id" in done.stdout
