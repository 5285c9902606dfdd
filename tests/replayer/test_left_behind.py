"""What a replay leaves running, or waits for for ever, ends with it on every tier; what a recording leaves goes on.

Processes: what is left of one, and which, is what is tested.
"""

from __future__ import annotations

import os
import select
import tempfile
import threading
from pathlib import Path

import pytest
from native_runs import assert_untouched, find_processes, record, run_cli

from namespace_probes import list_missing
from programs import cli
from tiers import sampled

MISSING = list_missing()
pytestmark = [
    pytest.mark.integration,
    pytest.mark.fresh,  # processes that are left are found by the variables that they were started with
    pytest.mark.skipif(bool(MISSING), reason="; ".join(MISSING)),
]

CHILD = """
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.close(reading)
    for descriptor in range(3):
        os.close(descriptor)
    c_put(writing, b'x')
    c_read('wait')
    os._exit(0)
os.close(writing)
run.compare('started', c_get(reading, 1))
"""
DATAGRAMS = """
import socket
answering, asking = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
answering.bind(('127.0.0.1', 0))
asking.settimeout(0.1)
asking.sendto(b'word', answering.getsockname())
word, sender = answering.recvfrom(10)
answering.sendto(word[::-1], sender)
run.compare('answer', asking.recvfrom(10)[0])
try:
    asking.recv(10)
except TimeoutError:
    run.compare('nothing more', True)
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    scratch, folder = tmp_path / "scratch", tmp_path / "work"
    scratch.mkdir()
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return folder


@pytest.mark.parametrize("without", sampled(["number", "world"], {"world"}))
def test_a_child_that_never_ends_ends_with_the_replay(work: Path, without: str) -> None:
    os.mkfifo(work / "wait")
    path = record(work, CHILD)
    (work / "wait").write_bytes(b"now")  # to the child of the recording, which lives on
    assert find_processes(Path(os.environ["TMPDIR"])) == []

    with assert_untouched(work):
        done = run_cli("verify", path, "--no-statement", env={"TWICE_WITHOUT": without})

    assert done.returncode in {0, 2}, done.stdout + done.stderr
    assert find_processes(Path(os.environ["TMPDIR"])) == []


@pytest.mark.parametrize("without", sampled(["number", "world"], {"world"}))
@pytest.mark.heavy
def test_a_fifo_that_nobody_opens_is_named(work: Path, without: str) -> None:
    os.mkfifo(work / "pipe")
    writer = threading.Thread(target=(work / "pipe").write_bytes, args=(b"outside",), daemon=True)
    writer.start()
    path = record(work, "run.compare('read', c_read('pipe'))")
    writer.join()

    with assert_untouched(work):
        done = run_cli("verify", path, "--no-statement", env={"TWICE_WITHOUT": without})

    assert done.returncode == 2, done.stdout + done.stderr
    assert "pipe, a FIFO whose other end no replay opens" in done.stdout
    assert find_processes(Path(os.environ["TMPDIR"])) == []


def test_a_child_of_a_program_that_gave_way_to_another_can_still_change_a_large_file(
    tmp_path: Path,
) -> None:
    """Nobody makes digests any more for whoever lives on, and so nobody may be made to wait for one."""
    os.mkfifo(tmp_path / "go")
    os.mkfifo(tmp_path / "told")
    for name in ("read", "changed"):
        (tmp_path / name).write_bytes(bytes(8 << 20))
    code = (
        "open('go').read(); open('changed').close(); "
        "open('changed', 'r+').close(); open('told', 'w').write('done')"
    )
    (tmp_path / "program.py").write_text(
        "import os, subprocess, sys\n"
        "open('read').close()\n"
        f"subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True)\n"
        "os.execv('/bin/true', ['true'])\n"
    )
    told = os.open(tmp_path / "told", os.O_RDONLY | os.O_NONBLOCK)
    poll = select.poll()
    poll.register(told, select.POLLIN)

    done = cli("record", "program.py", "--seed", "1", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (tmp_path / "go").write_text("on")  # waits until the child reads
    assert poll.poll(20 * 1000), "the child waits for ever"
    assert os.read(told, 8) == b"done"
    os.close(told)


def test_datagrams_between_sockets_of_the_run_are_sent_again(work: Path) -> None:
    path = record(work, DATAGRAMS)
    done = run_cli("verify", path, "--no-statement")

    assert done.returncode == 0, done.stdout
