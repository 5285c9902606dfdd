"""A recording knows every file that any code of its process tree opens, changes or removes."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from programs import HANGS_AFTER_S, cli, recorded
from static_program import write_static_program
from twice.foundation.digests import Algorithm, new_hasher
from twice.recorder.kernel.file_state import FileHistory
from twice.recorder.runrecord import RunRecord

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="system calls are supervised on Linux alone"
    ),
]

C = """
    import ctypes, os, sys
    from pathlib import Path

    HERE = str(Path(__file__).parent)
    LIBC = ctypes.CDLL(None, use_errno=True)

    def c_open(name, flags, mode=0o644):
        return LIBC.open(os.fsencode(os.path.join(HERE, name)), flags, mode)

    def c_write(name, data, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
        descriptor = c_open(name, flags)
        assert descriptor >= 0, name
        LIBC.write(descriptor, data, len(data))
        LIBC.close(descriptor)

    def c_read(name):
        descriptor = c_open(name, os.O_RDONLY)
        held = ctypes.create_string_buffer(1 << 16)
        size = LIBC.read(descriptor, held, 1 << 16)
        LIBC.close(descriptor)
        return held.raw[:size]

    def c_path(name):
        return os.fsencode(os.path.join(HERE, name))
"""


def histories(record: RunRecord) -> dict[str, FileHistory]:
    """Return the record's histories, by the name of the file."""
    found = record.native_files()
    assert found.tier == "supervisor", found.refused
    return {Path(history.path).name: history for history in found.histories}


def run_of(folder: Path, body: str, **options: Any) -> dict[str, FileHistory]:
    """Record a program whose main has this body; what is known of each file."""
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    source = f"{C}\n    def main(run):\n{lines}"
    with recorded(folder, source, allow=("native",), **options) as record:
        assert record.ending["how"] == "completed", record.ending
        return histories(record)


def digest(data: bytes) -> str:
    hasher = new_hasher(Algorithm.BLAKE3)
    hasher.update(data)
    return f"blake3:{hasher.digest().hex()}"


def test_what_c_code_reads_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"input")

    found = run_of(tmp_path, "c_read('in.txt')")["in.txt"]

    assert found.was_read
    assert not found.was_changed
    assert found.before.digest == digest(b"input")


def test_what_c_code_writes_is_an_output(tmp_path: Path) -> None:
    found = run_of(tmp_path, "c_write('out.txt', b'output')")["out.txt"]

    assert found.before.kind == "absent"
    assert found.has_effect
    assert found.after.digest == digest(b"output")


def test_a_file_that_is_changed_in_place_is_copied_first(tmp_path: Path) -> None:
    (tmp_path / "table.db").write_bytes(b"0123456789")
    lines = "".join(f"        {line}\n" for line in ["c_write('table.db', b'XX', os.O_RDWR)"])

    with recorded(tmp_path, f"{C}\n    def main(run):\n{lines}", allow=("native",)) as record:
        found = histories(record)["table.db"]
        carried = b"".join(record.contents())

    assert found.is_kept
    assert found.before.digest == digest(b"0123456789")
    assert found.after.digest == digest(b"XX23456789")
    assert b"0123456789" in carried


def test_what_nobody_read_is_not_copied(tmp_path: Path) -> None:
    for name in ("truncated", "removed", "replaced"):
        (tmp_path / name).write_bytes(b"old")

    found = run_of(
        tmp_path,
        """
c_write('truncated', b'new')
LIBC.unlink(c_path('removed'))
c_write('fresh', b'fresh')
LIBC.rename(c_path('fresh'), c_path('replaced'))
""",
    )

    assert {name: history.is_kept for name, history in found.items() if history.was_changed} == {
        "truncated": False, "removed": False, "replaced": False,
    }  # fmt: skip
    assert found["removed"].after.kind == "absent"
    assert found["replaced"].after.digest == digest(b"fresh")
    assert found["truncated"].before.size == 3


def test_what_was_read_is_copied_before_it_is_truncated(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"old")

    found = run_of(tmp_path, "c_read('state')\nc_write('state', b'new')")["state"]

    assert found.was_read
    assert found.is_kept
    assert found.before.digest == digest(b"old")


def test_of_a_file_that_is_added_to_the_addition_is_known(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_bytes(b"old lines\n")

    found = run_of(tmp_path, "c_write('run.log', b'new', os.O_WRONLY | os.O_APPEND)")["run.log"]

    assert found.appended_from == len(b"old lines\n")
    assert not found.is_kept
    assert found.after.digest == digest(b"new")


def test_of_a_file_that_is_added_to_and_read_back_all_is_kept(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_bytes(b"old lines\n")
    body = "c_write('run.log', b'new', os.O_WRONLY | os.O_APPEND)\nc_read('run.log')"

    found = run_of(tmp_path, body)["run.log"]

    assert found.appended_from is None
    assert found.is_kept
    assert found.before.digest == digest(b"old lines\n")


def test_a_file_that_is_opened_for_writing_and_left_alone_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "table.db").write_bytes(b"held")

    found = run_of(tmp_path, "LIBC.close(c_open('table.db', os.O_RDWR))")["table.db"]

    assert found.was_read
    assert not found.was_changed
    assert not found.is_kept


def test_a_file_that_was_looked_for_in_vain_is_known_to_be_absent(tmp_path: Path) -> None:
    found = run_of(tmp_path, "assert c_open('settings.ini', os.O_RDONLY) < 0")["settings.ini"]

    assert found.was_read
    assert found.before.kind == "absent"


def test_a_file_that_comes_and_goes_is_nothing(tmp_path: Path) -> None:
    found = run_of(tmp_path, "c_write('scratch', b'x')\nLIBC.unlink(c_path('scratch'))")

    assert "scratch" not in found


def test_a_link_that_was_followed_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1" / "data").write_bytes(b"one")
    (tmp_path / "current").symlink_to("v1")

    found = run_of(tmp_path, "c_read('current/data')")

    assert found["current"].before.target == "v1"
    assert found["data"].path == str(tmp_path / "v1" / "data")


def test_a_renamed_folder_takes_its_files_along(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "inner").write_bytes(b"held")

    body = "        LIBC.rename(c_path('old'), c_path('new'))\n"

    with recorded(tmp_path, f"{C}\n    def main(run):\n{body}", allow=("native",)) as record:
        found = {history.path: history for history in record.native_files().histories}

    assert found[f"{tmp_path}/new/inner"].after.digest == digest(b"held")
    assert found[f"{tmp_path}/old/inner"].is_kept
    assert found[f"{tmp_path}/old"].after.kind == "absent"


CHILDREN = """
    import multiprocessing as mp, os, subprocess, sys
    from pathlib import Path

    HERE = Path(__file__).parent

    def child(name):
        (HERE / name).write_text("x")

    def main(run):
        run.track("nothing", [])
        if (pid := os.fork()) == 0:
            child("by-fork"); os._exit(0)
        os.waitpid(pid, 0)
        for method in ("spawn", "forkserver", "fork"):
            process = mp.get_context(method).Process(target=child, args=(f"by-{method}-process",))
            process.start(); process.join()
        subprocess.run(["sh", "-c", "echo x > by-shell; (cd ..; echo x > $OLDPWD/by-subshell)"], cwd=HERE)
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", f"echo x > {HERE}/by-vfork"], os.environ)
        os.waitpid(pid, 0)
        os.system(f"{HERE}/static {HERE}/by-static")
"""


def test_what_children_of_every_kind_write_is_known(tmp_path: Path) -> None:
    has_static = platform.machine() == "x86_64"
    if has_static:
        write_static_program(tmp_path / "static")
    with recorded(tmp_path, CHILDREN, allow=("process",)) as record:
        found = histories(record)

    wanted = {"by-fork", "by-spawn-process", "by-forkserver-process", "by-fork-process", "by-shell",
              "by-subshell", "by-vfork"} | ({"by-static"} if has_static else set())  # fmt: skip
    assert wanted <= {name for name, history in found.items() if history.has_effect}


def test_a_child_s_program_is_an_input(tmp_path: Path) -> None:
    script = tmp_path / "tool.sh"
    script.write_text("#!/bin/sh\necho tool\n")
    script.chmod(0o755)

    found = run_of(tmp_path, "import subprocess\nsubprocess.run([HERE + '/tool.sh'])")

    assert found["tool.sh"].was_read
    assert found["tool.sh"].before.digest == digest(script.read_bytes())


def test_eight_threads_of_c_code_lose_no_file(tmp_path: Path) -> None:
    body = """
import threading
def work(number):
    for at in range(200):
        c_write(f"{number}-{at % 50}", b"x")
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    found = run_of(tmp_path, body)

    assert sum(history.has_effect for history in found.values()) == 8 * 50


def test_files_of_every_odd_kind_are_told_or_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    odd = os.fsdecode(b"odd-\xff")
    (tmp_path / odd).write_bytes(b"odd")
    body = f"""
LIBC.close(c_open('fifo', os.O_RDWR))
c_read({odd!r})
descriptor = LIBC.open(os.fsencode(HERE), os.O_TMPFILE | os.O_RDWR, 0o600)
LIBC.write(descriptor, b'named later', 11)
LIBC.linkat(-100, f'/proc/self/fd/{{descriptor}}'.encode(), -100, c_path('linked'), 0x400)
LIBC.open(b'/dev/null', os.O_RDWR)
LIBC.open(None, 0)
LIBC.syscall(425, 4, ctypes.create_string_buffer(120))
"""
    found = run_of(tmp_path, body)

    assert found[odd].before.digest == digest(b"odd")
    assert found["linked"].after.digest == digest(b"named later")
    assert "null" not in found


def test_a_large_file_that_is_changed_in_place_is_named_and_not_copied(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"0" * 5000)

    found = run_of(tmp_path, "c_write('large', b'XX', os.O_RDWR)", copy_limit=4096)["large"]

    assert not found.is_kept
    assert "5,000 bytes" in found.problem
    assert "--copy-limit" in found.problem


def test_no_supervisor_s_file_is_left_behind_and_no_process(tmp_path: Path) -> None:
    run_of(tmp_path, "c_write('out.txt', b'output')")

    left = sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__")
    assert left == ["a.twice", "out.txt", "program.py"]


def test_without_a_supervisor_the_record_says_so(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print(1)\n")

    done = cli(
        "record", "program.py", "--seed", "1", cwd=tmp_path, env={"TWICE_WITHOUT": "supervisor"}
    )

    assert done.returncode == 0, done.stderr
    with RunRecord.open(tmp_path / "program.twice") as record:
        assert record.native_files().tier == "listing"


def test_a_supervisor_that_is_killed_ends_the_recording_with_an_error(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)\n"
    )

    done = cli("record", "program.py", "--seed", "1", cwd=tmp_path)

    assert done.returncode == 2
    assert "E-PROGRAM-003" in done.stderr
    assert "SIGKILL" in done.stderr
    verified = cli("verify", "program.twice", cwd=tmp_path)
    assert verified.returncode == 2, verified.stdout


def test_a_child_that_outlives_the_run_can_still_open_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    os.mkfifo(tmp_path / "told")
    code = "open('go').read(); open('late', 'w').write('x'); open('told', 'w').write('done')"
    (tmp_path / "program.py").write_text(
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True)\n"
    )

    done = cli("record", "program.py", "--seed", "1", "--quiet", cwd=tmp_path)
    (tmp_path / "go").write_text("on")  # waits until the child reads

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "told").read_text() == "done"
    assert (tmp_path / "late").read_text() == "x"


def test_signals_reach_the_program_through_the_keeper(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, signal\n"
        "signal.signal(signal.SIGUSR1, lambda *_: (print('told', flush=True), os._exit(7)))\n"
        "print('ready', flush=True)\nsignal.pause()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "twice", "record", "program.py", "--seed", "1", "--exit-code"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGUSR1)
    out, _ = process.communicate(timeout=HANGS_AFTER_S)

    assert out == "told\n"
    assert process.returncode == 7


def test_without_a_supervisor_native_writes_are_named_and_do_not_pass(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import sqlite3\nopen('by-python', 'w').close()\n"
        "table = sqlite3.connect('table.db'); table.execute('create table t (a)'); table.close()\n"
    )
    without = {"TWICE_WITHOUT": "supervisor"}

    done = cli(
        "record", "program.py", "--seed", "1", "--allow", "files.sqlite3", cwd=tmp_path, env=without
    )

    assert "files.native: table.db" in done.stderr.replace(f"{tmp_path}/", "")
    assert "by-python" not in done.stderr
    with RunRecord.open(tmp_path / "program.twice") as record:
        assert record.native_files().tier == "listing"
    verified = cli("verify", "program.twice", "--no-statement", cwd=tmp_path)
    assert verified.returncode == 2
    assert "files.native" in verified.stdout


def test_a_recording_in_the_caller_s_process_names_native_writes(tmp_path: Path) -> None:
    code = (
        "import sqlite3, twice\n"
        "with twice.recording('a.twice', seed=1, allow=('files.sqlite3',)):\n"
        "    table = sqlite3.connect('table.db'); table.execute('create table t (a)'); table.close()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert "files.native" in done.stderr
    assert "table.db" in done.stderr
