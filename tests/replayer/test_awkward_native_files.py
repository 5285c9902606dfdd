"""Files that C code and processes use in awkward ways: compared as they are, or named as a limit; never touched."""

from __future__ import annotations

import os
import random
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from native_runs import (
    assert_untouched,
    can_mount,
    find_processes,
    record,
    run_cli,
    run_with_mounts,
    verify_untouched,
    write_program,
)

from namespace_probes import list_missing
from tiers import sampled
from twice.recorder.runrecord import RunRecord

MISSING = list_missing()
pytestmark = [
    pytest.mark.integration,
    pytest.mark.fresh,  # processes that are left are found by the variables that they were started with
    pytest.mark.skipif(bool(MISSING), reason="; ".join(MISSING)),
]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder for a program; require that no process, mount or temporary file is left."""
    scratch, folder = tmp_path / "scratch", tmp_path / "work"
    scratch.mkdir()
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield folder
    assert find_processes(scratch) == []
    assert sorted(scratch.iterdir()) == []
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()


def read_histories(path: Path) -> set[str]:
    """Return the names of the files in a record."""
    with RunRecord.open(path) as made:
        return {Path(history.path).name for history in made.native_files().histories}


# Files that change while they are read

OUTSIDER = """
@twice.effect
def outsider():
    with open(os.environ['GO'], 'w'):
        pass
    with open(os.environ['DONE']) as file:
        file.read()
"""


class Outsider:
    """A hand outside the run that changes a file once, when the program waits for it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, changed: Path) -> None:
        folder.mkdir()
        self._go, self._done, self._changed = folder / "go", folder / "done", changed
        for name, path in (("GO", self._go), ("DONE", self._done)):
            os.mkfifo(path)
            monkeypatch.setenv(name, str(path))
        self._thread = threading.Thread(target=self._change, daemon=True)
        self._thread.start()

    def _change(self) -> None:
        self._go.read_bytes()
        self._changed.write_bytes(b"outsider")
        self._done.write_bytes(b"")

    def join(self) -> None:
        self._thread.join()


READS = {"python": "open(HERE + '/in', 'rb').read()", "native": "c_read('in')"}
PIPE_READS = {"python": "open(HERE + '/pipe', 'rb').read()", "native": "c_read('pipe')"}


@pytest.mark.parametrize("is_restored", [False, True], ids=["changed", "restored"])
@pytest.mark.parametrize("reads", list(READS))
@pytest.mark.sample(2)
def test_a_file_that_another_program_changes_between_two_reads_is_named(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: str, is_restored: bool
) -> None:
    (work / "in").write_bytes(b"original")
    outsider = Outsider(tmp_path / "outside", monkeypatch, work / "in")
    call = READS[reads]
    body = f"{OUTSIDER}\nrun.compare('one', {call})\noutsider()\nrun.compare('two', {call})"
    path = record(work, body)
    outsider.join()
    if is_restored:
        (work / "in").write_bytes(b"original")

    statement = verify_untouched(path)

    assert statement.result == "UNKNOWN", statement.to_markdown()
    assert any("in: another process changed it" in line for line in statement.caveats)


@pytest.mark.parametrize("is_restored", [False, True], ids=["changed", "restored"])
@pytest.mark.heavy
def test_a_file_that_another_program_changes_behind_a_native_descriptor_is_named(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_restored: bool
) -> None:
    (work / "in").write_bytes(b"original")
    outsider = Outsider(tmp_path / "outside", monkeypatch, work / "in")
    body = f"""{OUTSIDER}
descriptor = c_open('in')
run.compare('one', c_get(descriptor, 4))
outsider()
run.compare('two', c_get(descriptor))
"""
    path = record(work, body)
    outsider.join()
    if is_restored:
        (work / "in").write_bytes(b"original")

    statement = verify_untouched(path)

    assert statement.result == "UNKNOWN", statement.to_markdown()
    assert any("in: another process changed it" in line for line in statement.caveats)


def test_a_file_that_a_child_of_the_run_changes_between_two_native_reads_passes(
    work: Path,
) -> None:
    (work / "in").write_bytes(b"original")
    body = """
import subprocess
run.compare('one', c_read('in'))
subprocess.run('echo child > in', shell=True, cwd=HERE)
run.compare('two', c_read('in'))
"""
    path = record(work, body)

    assert verify_untouched(path).result == "PASS"


# Devices


@pytest.mark.heavy
def test_devices_work_natively_as_they_are(work: Path) -> None:
    body = """
run.compare('null', [c_put(c_open('/dev/null', os.O_WRONLY), b'gone'), c_read('/dev/null')])
run.compare('zero', c_read('/dev/zero', 8))
run.compare('full', c_error(c_put(c_open('/dev/full', os.O_WRONLY), b'x')))
run.compare('random', len(c_read('/dev/urandom', 8)))
import subprocess
run.compare('shell', subprocess.run('echo x > /dev/null; head -c 3 /dev/zero | wc -c', shell=True, capture_output=True).stdout)
"""
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert not {"null", "zero", "full", "urandom"} & read_histories(path)


def test_entropy_that_c_code_takes_from_a_device_is_never_a_pass_where_it_shows(work: Path) -> None:
    path = record(work, "run.compare('random', c_read('/dev/urandom', 16))")

    statement = verify_untouched(path)

    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert statement.failure.name == "random"


# FIFOs


@pytest.mark.heavy
def test_a_fifo_between_forked_processes_of_the_run_passes(work: Path) -> None:
    body = """
assert LIBC.mkfifo(c_path('pipe'), 0o600) == 0
pid = os.fork()
if pid == 0:
    c_write('pipe', b'from the child', os.O_WRONLY)
    os._exit(0)
run.compare('read', c_read('pipe'))
os.waitpid(pid, 0)
"""
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()


TO_MYSELF = """
descriptor = c_open('pipe', os.O_RDWR)
c_put(descriptor, b'to myself')
run.compare('read', c_get(descriptor))
"""


def test_a_fifo_that_was_there_before_passes(work: Path) -> None:
    os.mkfifo(work / "pipe")
    path = record(work, TO_MYSELF)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()


@pytest.mark.heavy
def test_a_fifo_that_is_gone_is_named(work: Path) -> None:
    os.mkfifo(work / "pipe")
    path = record(work, TO_MYSELF)
    (work / "pipe").unlink()

    statement = verify_untouched(path)

    assert statement.result == "FAIL"
    assert "pipe" in statement.to_json()["effects"]["files"]["differing"]


@pytest.mark.heavy
def test_a_fifo_that_the_run_removes_is_there_to_be_removed_again(work: Path) -> None:
    os.mkfifo(work / "pipe")
    path = record(work, "run.compare('removed', LIBC.unlink(c_path('pipe')))")

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert not (work / "pipe").exists()


SERVED_WRITER = """
import subprocess
assert LIBC.mkfifo(c_path('pipe'), 0o600) == 0
child = subprocess.Popen(['/bin/sh', '-c', 'echo from the child > pipe'], cwd=HERE)
run.compare('read', {reads})
child.wait()
"""


@pytest.mark.parametrize("reads", sampled(PIPE_READS, {"native"}))
def test_a_fifo_that_a_served_process_writes_does_not_hang_a_replay(work: Path, reads: str) -> None:
    path = record(work, SERVED_WRITER.format(reads=PIPE_READS[reads]))
    (work / "pipe").unlink(missing_ok=True)

    with assert_untouched(work):
        done = run_cli("verify", path, "--no-statement")

    assert done.returncode in {0, 2}, done.stdout + done.stderr
    if done.returncode:
        assert "pipe" in done.stdout


@pytest.mark.parametrize("reads", sampled(PIPE_READS, {"native"}))
@pytest.mark.heavy
def test_a_fifo_whose_writer_is_outside_the_run_does_not_hang_a_replay(
    work: Path, reads: str
) -> None:
    os.mkfifo(work / "pipe")
    writer = threading.Thread(target=(work / "pipe").write_bytes, args=(b"outside",), daemon=True)
    writer.start()
    path = record(work, f"run.compare('read', {PIPE_READS[reads]})")
    writer.join()

    with assert_untouched(work):
        done = run_cli("verify", path, "--no-statement")

    assert done.returncode in {0, 2}, done.stdout + done.stderr
    if done.returncode:
        assert "pipe" in done.stdout


# Files of the kernel


@pytest.mark.heavy
def test_files_of_the_kernel_are_read_natively_as_they_are(work: Path) -> None:
    body = """
status = c_read('/proc/self/status').split(b'\\n')
run.compare('status', [line for line in status if line.startswith((b'Pid:', b'Tgid:'))])
run.compare('processor', c_read('/proc/cpuinfo')[:9])
run.compare('map', b'r-xp' in c_read('/proc/self/maps'))
run.compare('by number', c_read(f'/proc/{os.getpid()}/comm'))
"""
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert not {"status", "cpuinfo", "maps", "comm"} & read_histories(path)


# Names that are no text

NO_TEXT = b"\xff\xfe.bin"


def test_a_name_that_is_no_text_is_written_and_read(work: Path) -> None:
    body = """
name = b'\\xff\\xfe.bin'
run.compare('input', c_read(b'in-' + name))
c_write(name, b'content')
run.compare('read back', c_read(name))
with open(os.path.join(os.fsencode(HERE), b'python-' + name), 'wb') as file:
    file.write(b'by Python')
run.compare('listed', sorted(os.listdir(os.fsencode(HERE)))[-1])
"""
    Path(os.fsdecode(os.fsencode(work) + b"/in-" + NO_TEXT)).write_bytes(b"input")
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    os.unlink(os.fsencode(work) + b"/" + NO_TEXT)
    assert verify_untouched(path).result == "PASS"


@pytest.mark.parametrize("json", [True, False], ids=["json", "text"])
@pytest.mark.heavy
def test_an_input_whose_name_is_no_text_is_named_when_it_changed(work: Path, json: bool) -> None:
    name = Path(os.fsdecode(os.fsencode(work) + b"/" + NO_TEXT))
    name.write_bytes(b"one")
    path = record(work, "c_read(b'\\xff\\xfe.bin')")
    name.write_bytes(b"two")

    with assert_untouched(work):
        done = run_cli("verify", path, "--no-statement", *(["--json"] if json else []))

    assert done.returncode == 1, done.stdout + done.stderr
    assert ".bin" in done.stdout
    assert "Traceback" not in done.stderr


# Many files


@pytest.mark.heavy
def test_many_files_are_listed_read_and_written(work: Path) -> None:
    (work / "many").mkdir()
    for number in range(300):
        (work / "many" / f"{number}").write_bytes(b"%d" % number)
    body = """
names = sorted(os.listdir(HERE + '/many'))
run.compare('read', sum(int(c_read('many/' + name)) for name in names))
os.mkdir(HERE + '/made')
for name in names:
    c_write('made/' + name, b'made')
"""
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert statement.files.written == 301
    (work / "many" / "77").write_bytes(b"78")
    failed = verify_untouched(path)
    assert failed.result == "FAIL"
    assert any("many/77, an input" in line for line in failed.files.describe_differences())


# Sparse files


@pytest.mark.heavy
def test_a_large_sparse_file_that_is_read_is_not_carried(work: Path) -> None:
    os.truncate(os.open(work / "sparse", os.O_CREAT | os.O_WRONLY), 100 << 20)
    body = """
descriptor = c_open('sparse')
held = ctypes.create_string_buffer(8)
run.compare('end', LIBC.pread(descriptor, held, 8, (100 << 20) - 4))
"""
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert path.stat().st_size < 1 << 20
    with open(work / "sparse", "r+b") as file:
        file.seek(50 << 20)
        file.write(b"X")
    failed = verify_untouched(path)
    assert failed.result == "FAIL"
    assert failed.to_json()["effects"]["files"]["differing"] == ["sparse"]


@pytest.mark.heavy
def test_a_large_sparse_file_that_is_changed_in_place_stays_small(work: Path) -> None:
    os.truncate(os.open(work / "sparse", os.O_CREAT | os.O_WRONLY), 100 << 20)
    path = record(work, "c_write('sparse', b'XX', os.O_RDWR)")

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert path.stat().st_size < 1 << 20


@pytest.mark.heavy
def test_a_sparse_file_above_the_copy_limit_is_named_and_not_judged(work: Path) -> None:
    os.truncate(os.open(work / "sparse", os.O_CREAT | os.O_WRONLY), 100 << 20)
    path = record(work, "c_write('sparse', b'XX', os.O_RDWR)", copy_limit=1 << 20)

    statement = verify_untouched(path)

    assert statement.result == "UNKNOWN"
    assert any("sparse: it held 104,857,600 bytes" in caveat for caveat in statement.caveats)


# Files without a name

NAMELESS = """
descriptor = c_open('.', os.O_TMPFILE | os.O_RDWR)
assert descriptor >= 0, ctypes.get_errno()
c_put(descriptor, b'nameless')
LIBC.lseek(descriptor, 0, 0)
run.compare('read', c_get(descriptor))
"""


@pytest.mark.heavy
def test_a_file_without_a_name_leaves_nothing(work: Path) -> None:
    path = record(work, NAMELESS)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert statement.files.written == 0


@pytest.mark.parametrize("change", ["keep", "remove", "overwrite"])
@pytest.mark.sample(1)
def test_a_file_without_a_name_that_gets_one_is_an_output(work: Path, change: str) -> None:
    body = f"""{NAMELESS}
AT_FDCWD, AT_SYMLINK_FOLLOW = -100, 0x400
linked = LIBC.linkat(AT_FDCWD, b'/proc/self/fd/%d' % descriptor, AT_FDCWD, c_path('named'), AT_SYMLINK_FOLLOW)
run.compare('linked', c_error(linked))
LIBC.close(descriptor)
run.compare('read by name', c_read('named'))
"""
    path = record(work, body)
    assert (work / "named").read_bytes() == b"nameless"
    if change == "remove":
        (work / "named").unlink()
    elif change == "overwrite":
        (work / "named").write_bytes(b"precious")

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert "named" in read_histories(path)


# Memory maps

MAPPED = """
descriptor = c_open({name!r}, os.O_RDWR)
address = LIBC.mmap(None, 8192, 3, 1, descriptor, 0)
assert address not in (None, 2 ** 64 - 1), ctypes.get_errno()
LIBC.close(descriptor)
run.compare('held', ctypes.string_at(address, 4))
ctypes.memmove(address + 4096, b'MAPS', 4)
"""
ENDS = {
    "synced": "LIBC.msync(address, 8192, 4)\nLIBC.munmap(address, 8192)",
    "unmapped": "LIBC.munmap(address, 8192)",
    "left": "",
}


@pytest.mark.parametrize("end", sampled(ENDS, {"left"}))
def test_a_shared_map_that_outlives_its_descriptor_is_compared(work: Path, end: str) -> None:
    (work / "map").write_bytes(b"0" * 8192)
    path = record(work, MAPPED.format(name="map") + ENDS[end])
    assert (work / "map").read_bytes()[4096:4100] == b"MAPS"

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert statement.files.written == 1


@pytest.fixture
def memory() -> Iterator[Path]:
    """Give a folder in memory, of which the system does not say when a map changes it."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no folder in memory")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.mark.parametrize("end", sampled(ENDS, {"left"}))
@pytest.mark.heavy
def test_a_shared_map_of_a_file_in_memory_is_compared(work: Path, memory: Path, end: str) -> None:
    (memory / "map").write_bytes(b"0" * 8192)
    path = record(work, MAPPED.format(name=str(memory / "map")) + ENDS[end])
    assert (memory / "map").read_bytes()[4096:4100] == b"MAPS"

    with assert_untouched(memory):
        statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert statement.files.written == 1


def test_a_numpy_memmap_is_compared(work: Path) -> None:
    (work / "map").write_bytes(b"\0" * 8192)
    body = """
import numpy
held = numpy.memmap(HERE + '/map', dtype='uint8', mode='r+')
run.compare('sum', int(held.sum()))
held[4096] += 1
made = numpy.memmap(HERE + '/made', dtype='float64', mode='w+', shape=(512,))
made[:] = numpy.sqrt(numpy.arange(512))
"""
    path = record(work, body)
    (work / "made").unlink()

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()


@pytest.mark.heavy
def test_a_map_that_reads_sees_what_is_written_beside_it(work: Path) -> None:
    (work / "map").write_bytes(b"0" * 8192)
    body = """
descriptor = c_open('map', os.O_RDONLY)
address = LIBC.mmap(None, 8192, 1, 1, descriptor, 0)
run.compare('before', [ctypes.string_at(address, 4), c_get(descriptor, 4)])
c_write('map', b'WRITTEN', os.O_RDWR)
run.compare('by map', ctypes.string_at(address, 4))
LIBC.lseek(descriptor, 0, 0)
run.compare('by descriptor', c_get(descriptor, 4))
"""
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result in {"PASS", "UNKNOWN"}, statement.to_markdown()
    if statement.result == "UNKNOWN":
        assert any("map" in caveat for caveat in statement.caveats)


# io_uring


@pytest.mark.heavy
def test_a_ring_of_calls_is_answered_alike_in_recording_and_replay(work: Path) -> None:
    body = """
parameters = ctypes.create_string_buffer(120)
run.compare('ring', c_error(LIBC.syscall(425, 4, parameters)))
run.compare('no memory', c_error(LIBC.syscall(425, 4, None)))
"""
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()


# Hard links


@pytest.mark.parametrize("flags", ["os.O_RDWR", "NEW"], ids=["in place", "truncated"])
@pytest.mark.parametrize("reads_first", [True, False], ids=["read first", "unread"])
@pytest.mark.sample(2)
def test_a_file_with_two_names_that_is_written_through_one_passes_or_is_named(
    work: Path, flags: str, reads_first: bool
) -> None:
    (work / "one").write_bytes(b"0123456789")
    os.link(work / "one", work / "two")
    first = "run.compare('first', c_read('two'))\n" if reads_first else ""
    path = record(
        work, f"{first}c_write('one', b'changed', {flags})\nrun.compare('two', c_read('two'))"
    )

    statement = verify_untouched(path)

    assert statement.result in {"PASS", "UNKNOWN"}, statement.to_markdown()
    if statement.result == "UNKNOWN":
        assert any("hard links" in caveat for caveat in statement.caveats), statement.caveats
    assert (work / "one").samefile(work / "two")


@pytest.mark.heavy
def test_a_file_with_two_names_that_was_put_back_passes_or_is_named(work: Path) -> None:
    (work / "one").write_bytes(b"0123456789")
    os.link(work / "one", work / "two")
    path = record(work, "c_write('one', b'changed')\nrun.compare('two', c_read('two'))")
    (work / "one").write_bytes(b"0123456789")

    statement = verify_untouched(path)

    assert statement.result in {"PASS", "UNKNOWN"}, statement.to_markdown()
    if statement.result == "UNKNOWN":
        assert any("hard links" in caveat for caveat in statement.caveats), statement.caveats


@pytest.mark.heavy
def test_an_input_with_two_names_is_an_input_like_others(work: Path) -> None:
    (work / "one").write_bytes(b"input")
    os.link(work / "one", work / "two")
    path = record(work, "run.compare('both', [c_read('one'), c_read('two')])")

    assert verify_untouched(path).result == "PASS"
    (work / "one").write_bytes(b"other")
    failed = verify_untouched(path)
    assert failed.result == "FAIL"
    assert failed.to_json()["effects"]["files"]["differing"] == ["one", "two"]


@pytest.mark.parametrize("written", ["old", "new"])
@pytest.mark.parametrize("reads_first", [True, False], ids=["read first", "unread"])
@pytest.mark.heavy
def test_a_second_name_that_the_run_makes_passes_or_is_named(
    work: Path, written: str, reads_first: bool
) -> None:
    (work / "old").write_bytes(b"0123456789")
    first = "run.compare('first', c_read('old'))" if reads_first else ""
    body = f"""
{first}
assert LIBC.link(c_path('old'), c_path('new')) == 0
c_write({written!r}, b'XX', os.O_RDWR)
run.compare('both', [c_read('old'), c_read('new')])
"""
    path = record(work, body)
    assert (work / "old").read_bytes() == b"XX23456789"

    statement = verify_untouched(path)

    assert statement.result in {"PASS", "UNKNOWN"}, statement.to_markdown()
    if statement.result == "UNKNOWN":
        assert any("old" in caveat for caveat in statement.caveats), statement.caveats


@pytest.mark.heavy
def test_a_counter_behind_a_second_name_of_the_run_begins_where_it_began(work: Path) -> None:
    (work / "counter").write_bytes(b"1")
    body = """
assert LIBC.link(c_path('counter'), c_path('alias')) == 0
descriptor = c_open('alias', os.O_RDWR)
count = int(c_get(descriptor)) + 1
LIBC.lseek(descriptor, 0, 0)
c_put(descriptor, b'%d' % count)
LIBC.close(descriptor)
LIBC.unlink(c_path('alias'))
run.compare('count', count)
"""
    path = record(work, body)
    assert (work / "counter").read_bytes() == b"2"

    statement = verify_untouched(path)

    assert statement.result in {"PASS", "UNKNOWN"}, statement.to_markdown()
    if statement.result == "UNKNOWN":
        assert any("counter" in caveat for caveat in statement.caveats), statement.caveats


# Mounts and folders that are gone, moved or read-only

needs_mounts = pytest.mark.skipif(not can_mount(), reason="this system lets nobody mount memory")


@needs_mounts
@pytest.mark.heavy
def test_an_input_on_a_mount_that_went_away_is_named(work: Path) -> None:
    (work / "mount").mkdir()
    program = write_program(work, "run.compare('read', c_read('mount/in'))")
    script = """
mount -t tmpfs none "$2/mount"
echo input > "$2/mount/in"
twice record "$1" --seed 1 --allow native -o "$2/a.twice" --quiet
twice verify "$2/a.twice" --no-statement
umount "$2/mount"
if twice verify "$2/a.twice" --no-statement; then exit 9; else exit $?; fi
"""
    done = run_with_mounts(script, program, work)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "PASS" in done.stdout
    assert "mount/in held blake3" in done.stdout or "mount/in, an input" in done.stdout
    assert "Traceback" not in done.stderr


@needs_mounts
@pytest.mark.heavy
def test_an_output_beside_a_mount_is_compared_or_named(work: Path) -> None:
    (work / "mount").mkdir()
    program = write_program(work, "c_write('out', b'x')")
    script = """
mount -t tmpfs none "$2/mount"
twice record "$1" --seed 1 --allow native -o "$2/a.twice" --quiet
twice verify "$2/a.twice" --no-statement
"""
    done = run_with_mounts(script, program, work)

    assert done.returncode in {0, 2}, done.stdout + done.stderr
    if done.returncode:
        assert "UNKNOWN" in done.stdout
        assert "no copy could be made of out" in done.stdout
    assert (work / "out").read_bytes() == b"x"


@needs_mounts
@pytest.mark.heavy
def test_a_mount_in_a_crowded_folder_for_temporary_files_is_no_obstacle(
    work: Path, tmp_path: Path
) -> None:
    crowded = tmp_path / "crowded"
    for number in range(70):
        (crowded / f"{number}").mkdir(parents=True)
    program = write_program(work, "c_write('out', b'x')")
    script = """
export TMPDIR="$3"
mount -t tmpfs none "$3/0"
twice record "$1" --seed 1 --allow native -o "$2/a.twice" --quiet
twice verify "$2/a.twice" --no-statement
"""
    done = run_with_mounts(script, program, work, crowded)

    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(crowded.rglob("*"))) == 70


@needs_mounts
@pytest.mark.heavy
def test_outputs_on_a_mount_that_went_away_are_compared(work: Path) -> None:
    (work / "mount").mkdir()
    program = write_program(work, "c_write('mount/out', b'x')")
    script = """
mount -t tmpfs none "$2/mount"
twice record "$1" --seed 1 --allow native -o "$2/a.twice" --quiet
umount "$2/mount"
twice verify "$2/a.twice" --no-statement
"""
    done = run_with_mounts(script, program, work)

    assert done.returncode == 0, done.stdout + done.stderr
    assert list((work / "mount").iterdir()) == []


@pytest.mark.parametrize("is_native", [True, False], ids=["native", "python"])
@pytest.mark.heavy
def test_outputs_in_a_folder_that_is_gone_are_compared(work: Path, is_native: bool) -> None:
    (work / "folder").mkdir()
    writes = (
        "c_write('folder/out', b'x')" if is_native else "Path(HERE, 'folder/out').write_text('x')"
    )
    path = record(work, writes)
    (work / "folder").rename(work / "elsewhere")

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert not (work / "folder").exists()


@pytest.mark.heavy
def test_an_input_in_a_folder_that_is_gone_is_named(work: Path, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "in").write_bytes(b"input")
    path = record(work, "run.compare('read', c_read('../gone/in'))")
    (tmp_path / "gone").rename(tmp_path / "elsewhere")

    statement = verify_untouched(path)

    assert statement.result == "FAIL"
    assert any("gone/in, an input" in line for line in statement.files.describe_differences())


def test_a_record_whose_program_is_gone_is_one_error(work: Path, tmp_path: Path) -> None:
    path = record(work, "c_write('out', b'x')")
    path = path.rename(tmp_path / "a.twice")
    work.rename(tmp_path / "elsewhere")

    with assert_untouched(tmp_path / "elsewhere"):
        done = run_cli("verify", path, "--no-statement", cwd=tmp_path)

    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("E-"), done.stderr
    assert "Traceback" not in done.stderr
    assert not work.exists()


def test_a_record_is_verified_from_any_folder(work: Path, tmp_path: Path) -> None:
    (work / "in").write_bytes(b"input")
    path = record(work, "run.compare('read', c_read('in'))\nc_write('out', b'x')")
    (tmp_path / "elsewhere").mkdir()

    with assert_untouched(work), assert_untouched(tmp_path / "elsewhere"):
        done = run_cli("verify", path, "--no-statement", cwd=tmp_path / "elsewhere")

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_that_moved_is_verified_where_it_is(work: Path, tmp_path: Path) -> None:
    (work / "in").write_bytes(b"input")
    record(work, "run.compare('read', c_read('in'))\nc_write('out', b'x')")
    moved = work.rename(tmp_path / "moved")

    with assert_untouched(moved):
        done = run_cli("verify", moved / "a.twice", "--no-statement", cwd=moved)

    assert done.returncode == 0 or done.stderr.startswith("E-"), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not work.exists()


@needs_mounts
@pytest.mark.heavy
def test_a_folder_that_became_read_only_is_no_obstacle(work: Path) -> None:
    (work / "in").write_bytes(b"input")
    program = write_program(
        work, "run.compare('read', c_read('in'))\nc_write('in', b'xx', os.O_RDWR)"
    )
    script = """
twice record "$1" --seed 1 --allow native -o "$2/a.twice" --quiet
mount --bind "$2" "$2"
mount -o remount,bind,ro "$2"
twice verify "$2/a.twice" --no-statement
"""
    done = run_with_mounts(script, program, work)

    assert done.returncode == 0, done.stdout + done.stderr
    assert (work / "in").read_bytes() == b"xxput"


@needs_mounts
@pytest.mark.heavy
def test_a_write_into_a_read_only_folder_fails_again(work: Path) -> None:
    (work / "fixed").mkdir()
    program = write_program(
        work,
        "run.compare('refused', [c_error(c_open('fixed/out', NEW)), c_error(LIBC.mkdir(c_path('fixed/new'), 0o700))])",
    )
    script = """
mount -t tmpfs none "$2/fixed"
echo held > "$2/fixed/in"
mount -o remount,ro "$2/fixed"
twice record "$1" --seed 1 --allow native -o "$2/a.twice" --quiet
twice verify "$2/a.twice" --no-statement
"""
    done = run_with_mounts(script, program, work)

    assert done.returncode == 0, done.stdout + done.stderr


# Processes that outlive the run

DAEMON = """
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.close(writing)
    for descriptor in range(3):
        os.close(descriptor)
    c_write('early', b'early')
    {waits}
    c_write('late', b'late')
    os._exit(0)
os.close(reading)
while not c_read('early'):
    pass
"""


@pytest.mark.heavy
def test_a_child_that_never_ends_does_not_keep_a_replay(work: Path) -> None:
    os.mkfifo(work / "wait")
    path = record(work, DAEMON.format(waits="c_read('wait')"))

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    assert not (work / "late").exists()
    (work / "wait").write_bytes(b"now")  # to the child of the recording, which lives on
    assert find_processes(Path(os.environ["TMPDIR"])) == []
    assert (work / "late").read_bytes() == b"late"


@pytest.mark.heavy
def test_what_a_child_writes_after_the_end_is_no_part_of_the_run(work: Path) -> None:
    path = record(work, DAEMON.format(waits="c_get(reading, 1)  # until the program has ended"))
    assert find_processes(Path(os.environ["TMPDIR"])) == []
    assert (work / "late").read_bytes() == b"late"
    (work / "late").write_bytes(b"precious")

    statement = verify_untouched(path)

    assert statement.result in {"PASS", "UNKNOWN"}, statement.to_markdown()
    if statement.result == "UNKNOWN":
        assert "late" in statement.to_markdown()


def test_a_served_child_that_outlives_the_run_does_not_start_again(work: Path) -> None:
    os.mkfifo(work / "wait")
    body = """
import subprocess
subprocess.run('(read line < wait; echo late > late) > /dev/null 2>&1 &', shell=True, cwd=HERE)
"""
    path = record(work, body)

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()
    (work / "wait").write_bytes(b"now\n")
    assert find_processes(Path(os.environ["TMPDIR"])) == []
    assert (work / "late").read_bytes() == b"late\n"


# Links and names


@pytest.mark.heavy
def test_links_that_lead_in_circles_or_nowhere_are_answered_alike(work: Path) -> None:
    (work / "loop").symlink_to("loop")
    (work / "there").symlink_to("back")
    (work / "back").symlink_to("there")
    (work / "dangling").symlink_to("nothing")
    (work / "folder").symlink_to("missing/folder")
    body = """
run.compare('errors', [c_error(c_open(name)) for name in ('loop', 'there', 'dangling', 'folder/in')])
run.compare('writes', [c_error(c_open(name, NEW)) for name in ('loop', 'back', 'folder/out')])
c_write('dangling', b'through a link')
run.compare('made', c_read('nothing'))
LIBC.symlink(b'made-loop', c_path('made-loop'))
run.compare('own', c_error(c_open('made-loop')))
"""
    path = record(work, body)
    assert (work / "nothing").read_bytes() == b"through a link"

    assert verify_untouched(path).result == "PASS"
    (work / "nothing").unlink()
    statement = verify_untouched(path)
    assert statement.result == "PASS", statement.to_markdown()


@pytest.mark.heavy
def test_a_link_that_leads_elsewhere_now_is_shown_as_it_was(work: Path) -> None:
    for name in ("v1", "v2"):
        (work / name).write_bytes(name.encode())
    (work / "current").symlink_to("v1")
    path = record(work, "run.compare('read', c_read('current'))")
    (work / "current").unlink()
    (work / "current").symlink_to("v2")

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()


@pytest.mark.heavy
def test_long_names_and_names_with_newlines_are_names(work: Path) -> None:
    body = """
names = ['x' * 255, 'line\\nbreak', ' lead', 'trail ', 'q"uote', 'back\\\\slash', 'comma,colon:', '-dash']
for name in names:
    c_write(name, name.encode())
    run.compare('read', [c_read(name), c_read('in-' + name[3:])])
"""
    (work / f"in-{'x' * 252}").write_bytes(b"input")
    (work / "in-e\nbreak").write_bytes(b"input")
    path = record(work, body)

    assert verify_untouched(path).result == "PASS"
    for name in ("x" * 255, "line\nbreak", "comma,colon:"):
        (work / name).unlink()
    statement = verify_untouched(path)
    assert statement.result == "PASS", statement.to_markdown()
    (work / "in-e\nbreak").write_bytes(b"other")
    failed = verify_untouched(path)
    assert failed.result == "FAIL"
    assert "break" in failed.to_markdown()


@pytest.mark.parametrize("flags", ["os.O_RDONLY", "NEW"], ids=["read", "written"])
@pytest.mark.heavy
def test_a_name_that_is_too_long_is_refused_alike(work: Path, flags: str) -> None:
    path = record(work, f"run.compare('error', c_error(c_open('x' * 256, {flags})))")

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()


@pytest.mark.heavy
def test_a_path_that_is_too_long_is_refused_alike(work: Path) -> None:
    path = record(work, "run.compare('error', c_error(c_open('d/' * 3000 + 'x', NEW)))")

    statement = verify_untouched(path)

    assert statement.result == "PASS", statement.to_markdown()


DEEP = """
name = b'd' * 250
for _ in range(20):
    assert LIBC.mkdir(name, 0o755) == 0
    assert LIBC.chdir(name) == 0
descriptor = LIBC.open(b'deep', NEW, 0o644)
assert descriptor >= 0, ctypes.get_errno()
c_put(descriptor, b'deep')
LIBC.close(descriptor)
descriptor = LIBC.open(b'deep', os.O_RDONLY)
run.compare('read', c_get(descriptor))
LIBC.chdir(b'/')
"""


@pytest.mark.heavy
def test_a_file_deeper_than_any_path_is_written_or_named_as_a_limit(work: Path) -> None:
    (work / "top").mkdir()
    path = record(work, f"LIBC.chdir(c_path('top'))\n{DEEP}")

    statement = verify_untouched(path)

    assert statement.result in {"PASS", "UNKNOWN"}, statement.to_markdown()
    if statement.result == "UNKNOWN":
        assert any("path" in caveat for caveat in statement.caveats), statement.caveats


# Full disks


@needs_mounts
@pytest.mark.heavy
def test_a_full_disk_for_copies_makes_the_verdict_unknown_and_names_the_file(work: Path) -> None:
    (work / "large").write_bytes(bytes(range(256)) * 8192)
    (work / "small").mkdir()
    program = write_program(work, "c_write('large', b'XX', os.O_RDWR)\nprint('done')")
    script = """
mount -t tmpfs -o size=1m none "$2/small"
TMPDIR="$2/small" twice record "$1" --seed 1 --allow native -o "$2/a.twice"
find "$2/small" -mindepth 1 1>&2
umount "$2/small"
if twice verify "$2/a.twice" --no-statement; then exit 9; else exit $?; fi
"""
    done = run_with_mounts(script, program, work)

    assert done.returncode == 2, done.stdout + done.stderr
    assert "UNKNOWN" in done.stdout
    assert "large: its content could not be kept" in done.stdout
    assert "Traceback" not in done.stderr
    assert str(work / "small") not in done.stderr, "files were left in the small folder"
    assert (work / "large").read_bytes()[:4] == b"XX\x02\x03"


@needs_mounts
@pytest.mark.heavy
def test_a_full_disk_while_a_replay_unpacks_is_one_error(work: Path) -> None:
    (work / "large").write_bytes(random.Random(1).randbytes(2 << 20))
    (work / "small").mkdir()
    program = write_program(work, "c_write('large', b'XX', os.O_RDWR)\nprint('done')")
    script = """
twice record "$1" --seed 1 --allow native -o "$2/a.twice" --quiet 2> /dev/null
mount -t tmpfs -o size=1m none "$2/small"
if TMPDIR="$2/small" twice verify "$2/a.twice" --no-statement; then code=0; else code=$?; fi
find "$2/small" -mindepth 1 | sed 's/^/left: /'
exit $code
"""
    done = run_with_mounts(script, program, work)

    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("E-"), done.stdout + done.stderr
    assert "Standard output" not in done.stderr
    assert str(work / "small") in done.stderr
    assert "left: " not in done.stdout
    assert (work / "large").read_bytes()[:2] == b"XX"


@needs_mounts
def test_a_full_disk_for_the_record_is_one_error(work: Path) -> None:
    (work / "large").write_bytes(random.Random(1).randbytes(2 << 20))
    (work / "again").write_bytes(random.Random(2).randbytes(2 << 20))
    (work / "small").mkdir()
    program = write_program(work, "c_write('large', b'XX', os.O_RDWR)\nprint('done')")
    script = """
mount -t tmpfs -o size=1m none "$2/small"
record() { twice record "$1" --seed 1 --allow native -o "$2/small/a.twice" --on-full "$3"; }
if record "$1" "$2" stop; then exit 9; else echo "stopped with $?"; fi
find "$2/small" -mindepth 1 | sed 's/^/left: /'
cp "$2/again" "$2/large"
record "$1" "$2" go-on
"""
    done = run_with_mounts(script, program, work)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("E-OUTPUT-002"), done.stdout + done.stderr
    assert "stopped with 2" in done.stdout
    assert "left: " not in done.stdout
    assert "warning: E-OUTPUT-002" in done.stderr, done.stderr
    assert "the record holds a part of them" in done.stderr
    assert (work / "large").read_bytes()[:2] == b"XX"
