"""Files that C code and processes read and write: as they were in every replay, compared, and never touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import twice
from namespace_probes import list_missing
from programs import HANGS_AFTER_S, cli, wait_until, write
from twice.foundation.digests import digest_bytes
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import branch
from twice.replayer.replay_session import replay
from twice.replayer.verification import Verification
from twice.replayer.verify import verify

MISSING = list_missing()
pytestmark = pytest.mark.skipif(bool(MISSING), reason="; ".join(MISSING))

C = """
    import ctypes, os, sys
    from pathlib import Path

    HERE = str(Path(__file__).parent)
    LIBC = ctypes.CDLL(None, use_errno=True)

    def c_path(name):
        return os.fsencode(os.path.join(HERE, name))

    def c_write(name, data, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
        descriptor = LIBC.open(c_path(name), flags, 0o644)
        assert descriptor >= 0, name
        LIBC.write(descriptor, data, len(data))
        LIBC.close(descriptor)

    def c_read(name):
        descriptor = LIBC.open(c_path(name), os.O_RDONLY)
        if descriptor < 0:
            return None
        held = ctypes.create_string_buffer(1 << 16)
        size = LIBC.read(descriptor, held, 1 << 16)
        LIBC.close(descriptor)
        return held.raw[:size]
"""


def tree(folder: Path) -> dict[str, object]:
    """Every file below a folder: kind, content, permissions and time of change."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (
            status.st_mode, status.st_mtime_ns if not path.is_dir() else 0, status.st_ino, content,
        )  # fmt: skip
    return found


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Nothing below a folder is changed while the block runs."""
    before = tree(folder)
    yield
    assert tree(folder) == before


def record(folder: Path, body: str, **options: Any) -> Path:
    """Record a program whose main has this body; the record's path."""
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    program = write(folder, f"{C}\n    def main(run):\n{lines}")
    (folder / "__pycache__").mkdir(exist_ok=True)
    options = {"seed": 1, "out": folder / "a.twice", "allow": ("native",), **options}
    with twice.record(program, **options) as made:
        assert made.ending is not None
        assert made.ending["how"] == "completed", made.ending
        return made.path


def verified(path: Path) -> Verification:
    """Verify a record, while nothing in its folder changes."""
    with watched(path.parent):
        return verify(path)


@pytest.mark.integration
def test_an_output_that_was_overwritten_stays_so_and_the_run_passes(tmp_path: Path) -> None:
    path = record(tmp_path, "c_write('out', b'result')")
    (tmp_path / "out").write_bytes(b"precious")

    assert verified(path).result == "PASS"


@pytest.mark.integration
def test_an_output_that_was_removed_stays_away(tmp_path: Path) -> None:
    path = record(tmp_path, "c_write('out', b'result')")
    (tmp_path / "out").unlink()

    assert verified(path).result == "PASS"


@pytest.mark.integration
def test_a_change_in_place_verifies_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "table.db").write_bytes(b"0123456789")
    body = "run.compare('held', c_read('table.db'))\nc_write('table.db', b'XX', os.O_RDWR)"
    path = record(tmp_path, body)

    assert [verified(path).result for _ in range(3)] == ["PASS"] * 3


@pytest.mark.integration
@pytest.mark.parametrize("shows", [True, False], ids=["shown", "unseen"])
def test_an_input_of_c_code_that_changed_is_named(tmp_path: Path, shows: bool) -> None:
    (tmp_path / "in").write_bytes(b"one")
    path = record(tmp_path, "print(c_read('in'))" if shows else "c_read('in')")
    (tmp_path / "in").write_bytes(b"two")

    statement = verified(path)

    assert statement.result == "FAIL"
    assert any("in, an input" in line for line in statement.files.describe_differences())
    assert statement.to_json()["effects"]["files"]["differing"] == ["in"]


@pytest.mark.integration
def test_an_input_that_the_run_changed_itself_is_served(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"one")
    path = record(tmp_path, "print(c_read('in'))\nc_write('in', b'next')")
    (tmp_path / "in").write_bytes(b"another")

    assert verified(path).result == "PASS"


@pytest.mark.integration
def test_a_planted_difference_in_an_output_is_named_with_its_place(tmp_path: Path) -> None:
    # A counter that two recordings would share: nothing of it is printed.
    (tmp_path / "elsewhere").mkdir()
    counter = tmp_path / "elsewhere" / "counter"
    counter.write_bytes(b"1")
    body = """
drawn = ctypes.create_string_buffer(8)
LIBC.getrandom(drawn, 8, 0)
data = bytearray(200_000)
data[150_000:150_008] = drawn.raw
c_write('out', bytes(data))
"""
    path = record(tmp_path, body)
    with RunRecord.open(path) as made:
        began = next(h for h in made.native_files().histories if h.path.endswith("/out"))
    assert began.after.size == 200_000
    statement = verified(path)

    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert statement.failure.name == "files"
    assert "bytes 131,072 to" in statement.failure.replayed
    assert statement.to_json()["effects"]["files"]["differing"] == ["out"]


@pytest.mark.integration
def test_c_code_finds_the_tree_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_bytes(b"inner")
    body = """
run.compare('before', [c_read('made'), c_read('old'), c_read('folder/inner')])
run.compare('there', [LIBC.access(c_path(name), 0) for name in ('made', 'old', 'folder/inner')])
c_write('made', b'made')
LIBC.unlink(c_path('old'))
LIBC.rename(c_path('made'), c_path('folder/inner'))
run.compare('after', [c_read('made'), c_read('old'), c_read('folder/inner')])
"""
    path = record(tmp_path, body)
    (tmp_path / "stranger").write_bytes(b"new since")

    assert verified(path).result == "PASS"


@pytest.mark.integration
def test_python_and_c_see_one_tree(tmp_path: Path) -> None:
    body = """
Path(HERE, 'by-python').write_bytes(b'python')
run.compare('c reads python', c_read('by-python'))
c_write('by-c.tmp', b'c')
os.replace(Path(HERE, 'by-c.tmp'), Path(HERE, 'by-c'))
run.compare('python reads c', Path(HERE, 'by-c').read_bytes())
run.compare('c reads both', [c_read('by-c'), c_read('by-c.tmp')])
"""
    path = record(tmp_path, body)
    for name in ("by-python", "by-c"):
        (tmp_path / name).unlink()

    assert verified(path).result == "PASS"


@pytest.mark.integration
def test_sqlite_needs_no_adapter(tmp_path: Path) -> None:
    body = """
import sqlite3
table = sqlite3.connect(Path(HERE, 'runs.db'))
table.execute('pragma journal_mode=wal')
table.execute('create table if not exists runs (number integer)')
table.execute('insert into runs values (1)')
table.commit()
run.compare('runs', table.execute('select count(*) from runs').fetchone()[0])
table.close()
"""
    record(tmp_path, body)
    path = record(tmp_path, body, force=True)  # the second run finds the first one's row

    assert [verified(path).result for _ in range(2)] == ["PASS"] * 2


@pytest.mark.integration
def test_memory_maps_are_files_like_others(tmp_path: Path) -> None:
    (tmp_path / "map").write_bytes(b"0" * 8192)
    body = """
import mmap
with open(Path(HERE, 'map'), 'r+b') as file, mmap.mmap(file.fileno(), 0) as held:
    run.compare('held', held[:4])
    held[4096:4100] = b'MAPS'
"""
    path = record(tmp_path, body)

    assert verified(path).result == "PASS"
    assert (tmp_path / "map").read_bytes()[4096:4100] == b"MAPS"


@pytest.mark.integration
def test_what_a_served_process_wrote_is_put_in_place(tmp_path: Path) -> None:
    body = """
import subprocess
subprocess.run('echo made > made; mkdir folder; date +%N > folder/now; ln -s made link; rm gone', shell=True, cwd=HERE)
run.compare('left', [c_read('made'), c_read('folder/now'), c_read('link'), c_read('gone')])
"""
    (tmp_path / "gone").write_bytes(b"gone")
    path = record(tmp_path, body)
    (tmp_path / "made").write_bytes(b"changed since")

    assert verified(path).result == "PASS"


@pytest.mark.integration
def test_forked_processes_run_again_in_the_copy(tmp_path: Path) -> None:
    body = """
for number in range(3):
    pid = os.fork()
    if pid == 0:
        c_write(f'child-{number}', str(number).encode())
        os._exit(0)
    os.waitpid(pid, 0)
run.compare('left', [c_read(f'child-{number}') for number in range(3)])
"""
    path = record(tmp_path, body)
    (tmp_path / "child-1").unlink()

    statement = verified(path)

    assert statement.result == "PASS"
    assert statement.files.processes == "number"


@pytest.mark.integration
def test_the_process_id_is_given_again_to_code_in_c(tmp_path: Path) -> None:
    path = record(tmp_path, "run.compare('pid', LIBC.getpid())")

    assert verified(path).result == "PASS"


@pytest.mark.integration
def test_a_branch_keeps_its_files_beside_its_record(tmp_path: Path) -> None:
    source = f"""{C}
    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(3):
            seen.append(run.input("push", lambda: 1))
            c_write("state", b"%d" % sum(seen))
    """
    with twice.record(write(tmp_path, source), seed=1, out=tmp_path / "a.twice", allow=("native",)):
        pass
    held = (tmp_path / "state").read_bytes()
    with branch(tmp_path / "a.twice", at=1, inputs={"push": 10}, out=tmp_path / "b.twice") as made:
        assert made.was_supervised
    assert (tmp_path / "state").read_bytes() == held == b"3"
    kept = tmp_path / "b.twice.files"
    assert (kept / str(tmp_path / "state")[1:]).read_bytes() == b"12"
    assert verified(tmp_path / "b.twice").result == "PASS"


@pytest.mark.heavy
def test_a_replay_and_a_diagnosis_touch_nothing(tmp_path: Path) -> None:
    source = f"""{C}
    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(4):
            seen.append(run.input("push", lambda: 1))
            c_write("state", b"%d" % sum(seen))
    """
    program = write(tmp_path, source)
    for name in ("a", "b"):
        twice.record(program, seed=1, out=tmp_path / f"{name}.twice", allow=("native",)).close()
    branch(tmp_path / "a.twice", at=2, inputs={"push": 5}, out=tmp_path / "c.twice").close()

    with watched(tmp_path):
        with replay(tmp_path / "a.twice", at=3) as session:
            session.step(1)
        assert twice.diagnose(tmp_path / "a.twice", tmp_path / "c.twice").exit_code == 1


@pytest.mark.integration
def test_a_recording_in_a_copy_touches_nothing(tmp_path: Path) -> None:
    body = "c_write('out', b'x')\n        c_read('large')\n        print(1)\n"
    program = write(tmp_path, f"{C}\n    def main(run):\n        {body}")
    (tmp_path / "large").write_bytes(bytes(4 << 20))

    options: dict[str, Any] = {"seed": 1, "allow": ("native",), "in_copy": True}
    with twice.record(program, out=tmp_path / "a.twice", **options) as made:
        assert made.was_supervised
        (large,) = [each for each in made.native_files().histories if each.path.endswith("large")]
        assert large.before.digest
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert left == {"a.twice", "large", "program.py"}


@pytest.mark.integration
def test_what_a_replay_wrote_can_be_kept(tmp_path: Path) -> None:
    path = record(tmp_path, "c_write('out', b'result')")
    (tmp_path / "out").unlink()
    kept = tmp_path.with_name(f"{tmp_path.name}-kept")

    done = cli("verify", path, "--no-statement", "--keep", kept)

    assert done.returncode == 0, done.stdout + done.stderr
    assert (kept / str(tmp_path / "out")[1:]).read_bytes() == b"result"
    elsewhere = kept.with_name(f"{kept.name}-by-api")
    assert verify(path, keep=elsewhere).result == "PASS"
    assert (elsewhere / str(tmp_path / "out")[1:]).read_bytes() == b"result"
    again = cli("verify", path, "--no-statement", "--keep", kept)
    assert again.returncode == 2
    assert "E-OUTPUT-001" in again.stderr


@pytest.mark.integration
def test_without_a_world_writes_are_refused_and_nothing_is_judged(tmp_path: Path) -> None:
    path = record(tmp_path, "c_write('out', b'result')")
    (tmp_path / "out").write_bytes(b"precious")

    with watched(tmp_path):
        done = cli("verify", path, "--no-statement", env={"TWICE_WITHOUT": "world"})

    assert done.returncode == 2
    assert done.stdout.startswith("UNKNOWN")
    assert "not judged: code other than Python wants to write out" in done.stdout


@pytest.mark.integration
def test_without_any_protection_nothing_is_executed(tmp_path: Path) -> None:
    path = record(tmp_path, "c_write('out', b'result')")
    (tmp_path / "out").write_bytes(b"precious")

    with watched(tmp_path):
        done = cli("verify", path, "--no-statement", env={"TWICE_WITHOUT": "world,refusal"})

    assert done.returncode == 2
    assert "E-FILE-002" in done.stderr


@pytest.mark.integration
def test_a_tier_that_is_none_is_an_error(tmp_path: Path) -> None:
    path = record(tmp_path, "pass")

    done = cli("verify", path, "--no-statement", env={"TWICE_WITHOUT": "wrold"})

    assert done.returncode == 2
    assert "'wrold'" in done.stderr


@pytest.mark.integration
def test_a_statement_says_by_what_it_was_governed(tmp_path: Path) -> None:
    path = record(tmp_path, "c_write('out', b'result')", allow=("native.load",))

    statement = verified(path).to_json()

    assert statement["effects"]["governed"]["files"] == "world"
    assert statement["effects"]["governed"]["processes"] == "number"
    assert statement["effects"]["files"]["written"] == 1
    assert statement["executed"] == str(tmp_path / "program.py")
    assert str(digest_bytes(b"")) not in statement["effects"]["seal"]
    assert "a copy of the files as they were" in statement["effects"]["seal"]


CLOCK_IN_FILE = (
    "c_write('own.db', LIBC.time(None).to_bytes(8, 'little') + bytes(LIBC.getpid() % 7))"
)


def fails_in_time(path: Path) -> Verification:
    """Verify until the clock that C code reads shows another second than in the recording."""
    while True:
        statement = verified(path)
        if statement.result != "PASS" or statement.files.passed_over:
            return statement


@pytest.mark.integration
@pytest.mark.heavy
def test_a_file_that_a_library_fills_from_its_own_clock_gets_a_policy(tmp_path: Path) -> None:
    path = record(tmp_path, CLOCK_IN_FILE)

    failed = fails_in_time(path)

    assert failed.result == "FAIL"
    assert "--file-policy own.db=existence" in failed.to_markdown()
    path = record(tmp_path, CLOCK_IN_FILE, force=True, file_policies=(("own.db", "existence"),))
    passed = fails_in_time(path)
    assert passed.result == "PASS"
    assert "own.db differs and is not judged: --file-policy own.db=existence" in passed.caveats


@pytest.mark.integration
@pytest.mark.parametrize("given", ["own.db", "own.db=sometimes", "=ignore"])
def test_a_policy_that_is_none_is_an_error(tmp_path: Path, given: str) -> None:
    (tmp_path / "program.py").write_text("print(1)\n")

    done = cli("record", "program.py", "--seed", "1", "--file-policy", given, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("E-USE-001")
    assert not (tmp_path / "program.twice").exists()


@pytest.mark.integration
@pytest.mark.parametrize("given", ["", "-1", "12X", "1e9", "9" * 20])
def test_a_size_that_is_none_is_an_error(tmp_path: Path, given: str) -> None:
    (tmp_path / "program.py").write_text("print(1)\n")

    done = cli("record", "program.py", "--seed", "1", f"--copy-limit={given}", cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("E-USE-001")


@pytest.mark.integration
def test_a_large_file_that_was_changed_in_place_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"0" * 5000)
    path = record(tmp_path, "c_write('large', b'XX', os.O_RDWR)", copy_limit=4096)

    statement = verified(path)

    assert statement.result == "UNKNOWN"
    assert any("large: it held 5,000 bytes" in caveat for caveat in statement.caveats)


@pytest.mark.integration
def test_files_that_are_hidden_from_a_replay_are_named(tmp_path: Path) -> None:
    path = record(tmp_path, "run.compare('found', c_read('settings'))")
    (tmp_path / "settings").write_bytes(b"new")

    statement = verified(path)

    assert statement.result == "PASS"
    assert any(caveat.endswith("looked for it: settings") for caveat in statement.caveats)


@pytest.mark.integration
def test_a_copy_between_files_is_made_in_a_replay_too(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"0123456789")
    body = """
source, target = os.open(c_path('in'), os.O_RDONLY), os.open(c_path('out'), os.O_WRONLY | os.O_CREAT)
run.compare('copied', os.copy_file_range(source, target, 4))
run.compare('at', os.copy_file_range(source, target, 4, 2, 6))
"""
    path = record(tmp_path, body)

    assert verified(path).result == "PASS"


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_verification_that_is_ended_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "program.py").write_text(
        "import ctypes, os\nif os.path.exists('wait'): ctypes.CDLL(None).sleep(600)\n"
    )
    recorded = cli("record", "program.py", "--seed", "1", "--files", "none", cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    (tmp_path / "wait").touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    with subprocess.Popen(
        [sys.executable, "-m", "twice", "verify", "program.twice", "--no-statement"],
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        wait_until(lambda: list(temporary.glob("twice-session-*/*/world")), process)
        process.send_signal(number)
        process.communicate(timeout=HANGS_AFTER_S)

    assert process.returncode == 128 + number
    assert list(temporary.iterdir()) == []
