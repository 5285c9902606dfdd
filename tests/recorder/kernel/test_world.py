"""A replay sees the files as they were, through every way of reading, and changes none of the real ones."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from apart import needs_world, run_apart
from recorded import RecordedRun, replay, state_of

from twice.recorder.kernel import libc
from twice.recorder.kernel.file_state import ABSENT, FileHistory, FileState
from twice.recorder.kernel.mounts import read_mount_table, visible_mounts
from twice.recorder.kernel.namespaces import NamespaceRefused, enter_namespaces, give_up_rights
from twice.recorder.kernel.world import World

pytestmark = needs_world
NOT_UTF8 = os.fsdecode(b"caf\xe9 \xff")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedRun:
    return RecordedRun(tmp_path / "kept")


@pytest.fixture
def layers(tmp_path: Path) -> Path:
    return tmp_path / "layers"


def tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder: contents, permissions, times, inodes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, status.st_ino, content)
    return found


def read_by_c(path: object) -> bytes:
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = library.open(os.fsencode(path), os.O_RDONLY)
    assert descriptor >= 0, os.strerror(ctypes.get_errno())
    buffer = ctypes.create_string_buffer(4096)
    count = library.read(descriptor, buffer, 4096)
    library.close(descriptor)
    return buffer.raw[:count]


def read_by_mapping(path: object) -> bytes:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return bytes(mapped)


def read_by_child(path: object) -> bytes:
    return subprocess.run(["cat", os.fsencode(path)], capture_output=True, check=True).stdout


@pytest.mark.integration
@pytest.mark.parametrize("read", [read_by_c, read_by_child, read_by_mapping])
def test_code_of_any_language_reads_what_stood_there_when_the_run_began(
    data: Path, recorded: RecordedRun, layers: Path, read: Callable[[object], bytes]
) -> None:
    file = data / "state.bin"
    file.write_bytes(b"as it was")
    recorded.run(lambda: file.write_bytes(b"as the run left it"), changes=[file])
    file.write_bytes(b"a person's")

    assert replay(recorded.world(layers), lambda: read(file)).value == b"as it was"


def test_the_same_change_again_leaves_no_difference_and_the_real_files_alone(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    names = ("changed", "made", "removed", "untouched")
    changed, made, removed, untouched = (data / name for name in names)
    for file in (changed, removed, untouched):
        file.write_text(f"{file.name} before")

    def program() -> list[str]:
        seen = sorted(os.listdir(data))
        with open(changed, "r+") as file:
            file.write("CHANGED")
        made.write_text("new")
        removed.unlink()
        return seen

    recorded.run(program, changes=[changed, made, removed])
    made.write_text("overwritten by a person")
    before = tree(data)

    replayed = replay(recorded.world(layers), program)

    assert replayed.value == ["changed", "removed", "untouched"]
    assert (replayed.changed, replayed.differences) == ([], [])
    assert tree(data) == before


@pytest.mark.integration
def test_a_database_in_wal_mode_is_as_it_was_and_stays_so(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    file = data / "runs.db"

    def add() -> list[tuple[int]]:
        base = sqlite3.connect(file)
        base.execute("pragma journal_mode=wal")
        base.execute("create table if not exists steps (number integer)")
        found = base.execute("select number from steps order by number").fetchall()
        base.execute("insert into steps values (?)", (len(found),))
        base.commit()
        base.close()
        return found

    add()
    recorded.run(add, changes=[file, f"{file}-wal", f"{file}-shm"])
    before = tree(data)

    for _ in range(3):
        replayed = replay(recorded.world(layers), add)
        assert replayed.value == [(0,)]
        assert replayed.differences == []
    assert tree(data) == before


def test_a_mapping_that_is_written_goes_nowhere_else(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    file = data / "array"
    file.write_bytes(bytes(8192))

    def program() -> None:
        with open(file, "r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
            mapped[5000:5004] = b"here"

    recorded.run(program, changes=[file])
    file.write_bytes(bytes(8192))
    before = tree(data)

    assert replay(recorded.world(layers), program).differences == []
    assert tree(data) == before


def test_the_working_folder_leads_into_the_world(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    def program() -> str:
        Path("here").write_text("relative")
        return os.getcwd()

    replayed = replay(recorded.world(layers), program, before=lambda: os.chdir(data))

    assert replayed.value == str(data)
    assert list(data.iterdir()) == []


def test_every_way_out_of_the_world_is_closed(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    """A new name in any folder of any mount is a copy, or refused."""
    folders = ["/", "/dev", "/dev/shm", "/etc", "/home", "/mnt", "/run", "/tmp", "/usr", "/var/tmp"]
    folders += [mount.path for mount in visible_mounts(read_mount_table())]
    folders += [os.path.expanduser("~"), str(data), os.path.dirname(os.path.realpath(__file__))]
    name = f"twice-{os.getpid()}"

    def program() -> list[str]:
        made = []
        for folder in folders:
            try:
                os.close(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            except OSError:
                continue
            made.append(folder)
        return made

    replayed = replay(recorded.world(layers), program)

    assert str(data) in replayed.value
    assert replayed.report.refused == ()
    assert [folder for folder in folders if os.path.lexists(f"{folder}/{name}")] == []


def test_a_device_can_still_be_written(recorded: RecordedRun, layers: Path) -> None:
    def program() -> int:
        return subprocess.run("echo x > /dev/null", shell=True, check=False).returncode

    assert replay(recorded.world(layers), program).value == 0


@pytest.mark.integration
def test_a_folder_that_the_run_made_is_not_there_at_the_start(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    def program() -> bool:
        was_there = (data / "out").exists()
        (data / "out/deep").mkdir(parents=True)
        (data / "out/deep/file").write_text("x")
        return was_there

    recorded.run(program, changes=[data / "out", data / "out/deep", data / "out/deep/file"])
    replayed = replay(recorded.world(layers), program)

    assert (replayed.value, replayed.differences) == (False, [])


def test_a_folder_that_the_run_removed_is_there_again(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    (data / "old").mkdir(mode=0o750)
    (data / "old/file").write_text("x")

    def program() -> tuple[str, int]:
        seen = (data / "old/file").read_text(), stat.S_IMODE((data / "old").stat().st_mode)
        (data / "old/file").unlink()
        (data / "old").rmdir()
        return seen

    recorded.run(program, changes=[data / "old", data / "old/file"])
    replayed = replay(recorded.world(layers), program)

    assert (replayed.value, replayed.differences) == (("x", 0o750), [])
    assert list(data.iterdir()) == []


@pytest.mark.integration
def test_a_link_points_where_it_pointed(data: Path, recorded: RecordedRun, layers: Path) -> None:
    link = data / "latest"
    link.symlink_to("one")

    def program() -> str:
        seen = os.readlink(link)
        link.unlink()
        link.symlink_to("two")
        return seen

    recorded.run(program, changes=[link])
    replayed = replay(recorded.world(layers), program)

    assert (replayed.value, replayed.differences) == ("one", [])
    assert os.readlink(link) == "two"


@pytest.mark.integration
def test_a_folder_took_the_place_of_a_file(data: Path, recorded: RecordedRun, layers: Path) -> None:
    place = data / "place"
    place.write_text("a file")

    def program() -> str:
        seen = place.read_text()
        place.unlink()
        place.mkdir()
        (place / "inside").write_text("x")
        return seen

    recorded.run(program, changes=[place, place / "inside"])
    replayed = replay(recorded.world(layers), program)

    assert (replayed.value, replayed.differences) == ("a file", [])


@pytest.mark.integration
def test_names_that_are_not_utf8_are_names(data: Path, recorded: RecordedRun, layers: Path) -> None:
    old, new = data / NOT_UTF8, data / f"new {NOT_UTF8}"
    old.write_text("as it was")

    def program() -> str:
        seen = old.read_text()
        old.write_text("changed")
        new.write_text("made")
        return seen

    recorded.run(program, changes=[old, new])
    replayed = replay(recorded.world(layers), program)

    assert (replayed.value, replayed.differences) == ("as it was", [])


@pytest.mark.integration
def test_permissions_and_times_are_those_of_the_recording(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    file = data / "tool"
    file.write_text("as it was")
    file.chmod(0o741)
    os.utime(file, ns=(10**18, 10**18 + 7))
    recorded.run(lambda: file.write_text("changed"), changes=[file])
    file.chmod(0o600)

    replayed = replay(
        recorded.world(layers),
        lambda: (stat.S_IMODE(file.stat().st_mode), file.stat().st_mtime_ns),
    )

    assert replayed.value == (0o741, 10**18 + 7)


def test_a_folder_around_old_files_keeps_its_permissions_and_time(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    inner = data / "inner"
    inner.mkdir(mode=0o711)
    (inner / "file").write_text("as it was")
    recorded.run(lambda: (inner / "file").write_text("changed"), changes=[inner / "file"])
    folders = [inner, data, data.parent]

    def statuses() -> list[tuple[int, int]]:
        return [(folder.stat().st_mode, folder.stat().st_mtime_ns) for folder in folders]

    assert replay(recorded.world(layers), statuses).value == statuses()


def test_the_folders_below_the_root_give_the_rights_that_they_gave(
    recorded: RecordedRun, layers: Path
) -> None:
    folders = ["/dev/shm", "/etc", "/home", "/tmp", "/usr", "/var"]

    def rights() -> list[tuple[int, bool]]:
        # Without what the owner may do: a user cannot make a folder that is someone else's.
        return [
            (os.stat(folder).st_mode & 0o7077, os.access(folder, os.W_OK)) for folder in folders
        ]

    before = rights()
    assert replay(recorded.world(layers), rights).value == before


def test_an_input_that_changed_and_is_not_carried_is_named(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    same, other, gone = (data / name for name in ("same", "other", "gone"))
    for file in (same, other, gone):
        file.write_text(file.name)
    recorded.run(lambda: None, reads=[same, other, gone])
    other.write_text("OTHER")
    gone.unlink()

    changed = recorded.world(layers).prepare()

    assert {one.path for one in changed} == {str(other), str(gone)}
    assert [one.now for one in changed] == [ABSENT, state_of(other)]
    assert [one.recorded.size for one in changed] == [4, 5]


def test_an_input_that_changed_and_is_carried_is_served(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    file = data / "input"
    file.write_text("as it was")
    (recorded.kept / state_of(file).digest.partition(":")[2]).write_text("as it was")
    recorded.run(lambda: None, reads=[file])
    file.unlink()

    replayed = replay(recorded.world(layers), file.read_text)

    assert (replayed.changed, replayed.value) == ([], "as it was")
    assert not file.exists()


def test_a_file_that_was_truncated_unread_has_its_old_size(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    file = data / "output"
    file.write_text("a longer text")
    before = replace(state_of(file, with_content=False), mtime_ns=10**18)
    file.write_text("short")
    recorded.histories = [FileHistory(str(file), before, state_of(file), was_changed=True)]

    def program() -> tuple[int, int]:
        status = file.stat()
        file.write_text("short")
        return status.st_size, status.st_mtime_ns

    replayed = replay(recorded.world(layers), program)

    assert (replayed.value, replayed.changed, replayed.differences) == ((13, 10**18), [], [])


@pytest.mark.integration
@pytest.mark.parametrize("size", [13, 5_000_000])
def test_what_is_added_to_a_file_is_compared_from_where_it_begins(
    data: Path, recorded: RecordedRun, layers: Path, size: int
) -> None:
    file = data / "log"
    file.write_bytes(b"x" * size)
    before = state_of(file, with_content=False)

    def program(text: str = "added") -> int:
        with open(file, "a") as opened:
            opened.write(text)
        return file.stat().st_size

    program()
    history = FileHistory(
        str(file), before, state_of(file, appended_from=size), was_changed=True, appended_from=size
    )
    recorded.histories = [history]
    file.write_bytes(b"x" * size + b"added and later more")

    assert replay(recorded.world(layers), program).differences == []
    other = replay(recorded.world(layers), lambda: program("other"))
    assert other.differing() == {str(file): f"bytes {size:,} to {size + 4:,}"}


def test_a_listing_shows_the_names_of_the_recording(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    for name in ("one", "two"):
        (data / name).write_text(name)
    recorded.histories = [
        FileHistory(str(data), state_of(data, with_names=True), state_of(data), was_read=True)
    ]
    (data / "later").write_text("by a person")
    (data / "cache").mkdir()

    replayed = replay(
        recorded.world(layers, is_ignored=lambda path: path.endswith("cache")),
        lambda: sorted(os.listdir(data)),
    )

    assert (replayed.value, replayed.changed) == (["cache", "one", "two"], [])
    (data / "one").unlink()
    (changed,) = recorded.world(layers).prepare()
    assert (changed.path, changed.now.names) == (str(data), ("cache", "later", "two"))


def test_a_difference_says_where_it_begins(data: Path, recorded: RecordedRun, layers: Path) -> None:
    file = data / "output"
    recorded.run(lambda: file.write_bytes(bytes(300_000)), changes=[file])

    def program() -> None:
        file.write_bytes(bytes(100_000) + b"x" + bytes(199_999))

    (difference,) = replay(recorded.world(layers), program).differences

    assert difference.path == str(file)
    assert difference.where == "bytes 65,536 to 131,071"
    assert difference.recorded == recorded.histories[0].after
    assert difference.replayed.size == 300_000


def test_what_the_replay_alone_writes_or_removes_is_a_difference(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    for name in ("kept", "removed", "touched", "ignored"):
        (data / name).write_text(name)
    (data / "folder").mkdir()
    (data / "folder/inside").write_text("x")

    def program() -> None:
        (data / "extra").write_text("x")
        (data / "kept").write_text("other")
        (data / "removed").unlink()
        (data / "touched").chmod(0o600)
        os.close(os.open(data / "touched", os.O_RDWR))
        (data / "ignored").write_text("other")
        (data / "folder/inside").unlink()
        (data / "folder").rmdir()
        (data / "folder").mkdir()

    world = recorded.world(layers, is_ignored=lambda path: path.endswith("/ignored"))
    replayed = replay(world, program)

    assert replayed.differing() == {
        str(data / "extra"): "written only in the replay",
        str(data / "folder/inside"): "removed only in the replay",
        str(data / "kept"): "written only in the replay",
        str(data / "removed"): "removed only in the replay",
    }
    states = {one.path: (one.recorded.kind, one.replayed.kind) for one in replayed.differences}
    assert states[str(data / "extra")] == ("absent", "file")
    assert states[str(data / "removed")] == ("file", "absent")


def test_an_output_that_the_replay_does_not_write_is_a_difference(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    file = data / "output"
    recorded.run(lambda: file.write_text("x"), changes=[file])

    (difference,) = replay(recorded.world(layers), lambda: None).differences

    assert (difference.path, difference.replayed) == (str(file), ABSENT)


def test_what_the_replay_wrote_can_be_copied_out(
    data: Path, recorded: RecordedRun, layers: Path, tmp_path: Path
) -> None:
    (data / "removed").write_text("x")
    (tmp_path / "out").mkdir()

    def program() -> list[str]:
        folder = os.open(tmp_path / "out", os.O_RDONLY)
        world = recorded.world(layers)
        world.enter(enter_namespaces())
        (data / "deep").mkdir()
        (data / "deep/file").write_text("written")
        (data / "deep/file").chmod(0o640)
        (data / "link").symlink_to("deep")
        (data / "removed").unlink()
        return world.copy_out(folder)

    removed = run_apart(program)

    copied = Path(f"{tmp_path}/out{data}")
    assert removed == [str(data / "removed")]
    assert sorted(os.listdir(copied)) == ["deep", "link"]
    assert (copied / "deep/file").read_text() == "written"
    assert stat.S_IMODE((copied / "deep/file").stat().st_mode) == 0o640
    assert os.readlink(copied / "link") == "deep"
    assert os.listdir(data) == ["removed"]


@pytest.mark.integration
def test_a_mount_below_the_folder_is_covered_as_well(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    below = data / "inner/mounted"
    below.mkdir(parents=True)
    beside = data / "beside"
    beside.mkdir()
    for folder in (below, beside):
        (folder / "file").write_text("real")

    def prepare() -> None:
        enter_namespaces()
        libc.mount("tmpfs", str(below), "tmpfs")
        (below / "file").write_text("as it was")
        recorded.run(
            lambda: (below / "file").write_text("changed"),
            changes=[below / "file"],
        )
        (beside / "file").write_text("real")

    def program() -> tuple[str, str]:
        seen = (below / "file").read_text()
        (below / "file").write_text("changed")
        (beside / "file").write_text("replayed")
        with pytest.raises(OSError) as refused:
            (data / "new").write_text("x")
        return seen, errno.errorcode[refused.value.errno or 0]

    def run() -> tuple[object, ...]:
        prepare()
        replayed = replay(recorded.world(layers), program)
        return replayed.value, replayed.differing(), (below / "file").read_text()

    value, differing, real = run_apart(run)

    assert value == ("as it was", "EROFS")
    assert differing == {str(beside / "file"): "written only in the replay"}
    assert real == "changed"
    assert (beside / "file").read_text() == "real"


@pytest.mark.skipif(os.geteuid() == 0, reason="only a user's namespace locks mounts")
def test_mounts_of_the_host_are_covered_with_the_flags_that_they_have(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    mounted = data / "mounted"
    (mounted / "inner").mkdir(parents=True)

    def program() -> list[str]:
        (mounted / "beside/file").write_text("replayed")
        (mounted / "inner/file").write_text("replayed")
        refusals = []
        for path in (mounted / "file", mounted / "new"):
            with pytest.raises(OSError) as refused:
                path.write_text("replayed")
            refusals.append(errno.errorcode[refused.value.errno or 0])
        flags = {mount.path: mount.flags for mount in visible_mounts(read_mount_table())}
        assert flags[str(mounted)] == flags[str(mounted / "beside")] == locked
        return refusals

    locked = libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC

    def run() -> tuple[object, ...]:
        enter_namespaces()
        libc.mount("tmpfs", str(mounted), "tmpfs", locked | libc.MS_NOATIME)
        for name in ("inner", "beside"):
            (mounted / name).mkdir()
        (mounted / "file").write_text("real")
        libc.mount("tmpfs", str(mounted / "inner"), "tmpfs")
        # Without rights the world is made in a user namespace inside of this one, as on any host.
        libc.drop_capabilities()
        replayed = replay(recorded.world(layers), program)
        left = [path.name for path in sorted(mounted.rglob("*"))]
        return replayed.value, replayed.report.refused, left

    assert run_apart(run) == (["EROFS", "EROFS"], (), ["beside", "file", "inner"])


@pytest.mark.integration
def test_files_of_an_overlay_are_covered_by_another(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    (data / "file").write_text("as it was")

    def run() -> tuple[object, ...]:
        entered = enter_namespaces()
        memory = data.parent / "memory"
        memory.mkdir()
        libc.mount("tmpfs", str(memory), "tmpfs")
        for name in ("upper", "work"):
            (memory / name).mkdir()
        options = f"lowerdir={data},upperdir={memory}/upper,workdir={memory}/work"
        options += "" if entered.is_of_host else ",userxattr"
        libc.mount("overlay", str(data), "overlay", 0, options)
        recorded.run(lambda: (data / "file").write_text("changed"), changes=[data / "file"])
        replayed = replay(recorded.world(layers), (data / "file").read_text)
        return replayed.value, (data / "file").read_text()

    assert run_apart(run) == ("as it was", "changed")
    assert (data / "file").read_text() == "as it was"


@pytest.mark.integration
def test_large_worlds_lie_on_disk_where_the_disk_can_hold_them(
    data: Path, recorded: RecordedRun, tmp_path: Path
) -> None:
    (data / "file").write_text("as it was")
    recorded.run(lambda: (data / "file").write_text("changed"), changes=[data / "file"])
    disk = tmp_path / "disk"
    disk.mkdir()

    def run() -> tuple[object, ...]:
        enter_namespaces()
        # A file system of its own stands for a disk: layers cannot lie in what they are laid over.
        libc.mount("tmpfs", str(disk), "tmpfs")
        world = recorded.world(disk / "layers", memory_bytes_max=0)
        replayed = replay(world, (data / "file").read_text)
        written = sorted(os.listdir(disk / "layers/disk"))
        world.discard()
        return replayed.value, replayed.report.is_in_memory, written, os.listdir(disk / "layers")

    value, is_in_memory, written, left = run_apart(run)

    assert (value, is_in_memory, left) == ("as it was", False, [])
    assert written


@pytest.mark.integration
def test_layers_in_the_folder_that_they_would_cover_lie_in_memory(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    (data / "file").write_text("as it was")
    recorded.run(lambda: (data / "file").write_text("changed"), changes=[data / "file"])

    replayed = replay(recorded.world(layers, memory_bytes_max=0), (data / "file").read_text)

    assert replayed.value == "as it was"


@pytest.mark.heavy
def test_five_thousand_files_are_as_they_were(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    made = [data / f"{number % 50:02}/made-{number}" for number in range(4_000)]
    changed = [data / f"{number % 50:02}/changed-{number}" for number in range(1_000)]
    for number in range(50):
        (data / f"{number:02}").mkdir()
    for file in changed:
        file.write_text(f"{file.name} as it was")

    def program() -> int:
        count = sum(file.read_text().endswith("as it was") for file in changed)
        for file in (*made, *changed):
            file.write_text(f"{file.name} written")
        return count + sum(len(os.listdir(data / f"{number:02}")) for number in range(50))

    recorded.run(program, changes=[*made, *changed])
    before = tree(data)
    replayed = replay(recorded.world(layers), program)

    assert replayed.value == 1_000 + 5_000
    assert (replayed.changed, replayed.differences) == ([], [])
    assert tree(data) == before
    assert (
        replay(recorded.world(layers), lambda: sum(map(len, map(os.listdir, data.iterdir())))).value
        == 1_000
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")
def test_what_the_user_may_not_do_stays_forbidden(
    data: Path, recorded: RecordedRun, layers: Path
) -> None:
    secret = data / "secret"
    secret.write_text("x")
    secret.chmod(0)

    def run() -> list[str]:
        world = recorded.world(layers)
        entered = enter_namespaces()
        world.enter(entered)
        give_up_rights(entered)
        refusals = []
        for path, flags in (("/usr/new", os.O_WRONLY | os.O_CREAT), (secret, os.O_RDONLY)):
            with pytest.raises(PermissionError) as refused:
                os.open(path, flags)
            refusals.append(errno.errorcode[refused.value.errno or 0])
        return refusals

    assert run_apart(run) == ["EACCES", "EACCES"]


def test_a_world_is_refused_whole_when_its_folder_cannot_be_made(data: Path) -> None:
    (data / "file").write_text("x")

    def run() -> tuple[bool, str]:
        world = World([], lambda _digest: None, str(data / "file/folder"))
        with pytest.raises(NamespaceRefused) as refused:
            world.enter(enter_namespaces())
        return refused.value.is_entered, refused.value.reason

    is_entered, reason = run_apart(run)
    assert is_entered
    assert "file" in reason


def test_a_content_that_nobody_knows_is_named(data: Path, layers: Path) -> None:
    file = data / "huge"
    file.write_text("changed in place")
    before = FileState("file", size=7, mode=0o644, mtime_ns=1)
    history = FileHistory(
        str(file), before, state_of(file), was_changed=True, problem="too large to be kept"
    )

    (changed,) = World([history], lambda _digest: None, str(layers)).prepare()

    assert (changed.path, changed.recorded) == (str(file), before)
