"""The kernel's table of mounts is read with every name that it can hold, and as paths lead through it."""

from __future__ import annotations

import os
import sys

import pytest
from apart import needs_world, run_apart
from hypothesis import given
from hypothesis import strategies as st
from mount_entries import entry

from twice.recorder.kernel import libc
from twice.recorder.kernel.mounts import (
    is_below,
    parent_folder,
    parse_mount_table,
    read_mount_table,
    visible_mounts,
)
from twice.recorder.kernel.namespaces import enter_namespaces

HERE = rb"""22 27 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
28 27 0:25 / /mnt/a\040folder ro,nosuid,nodev,relatime master:7 propagate_from:2 - tmpfs none rw,size=4k
30 27 0:27 /sub\134x /srv rw,noatime - fuse.sshfs host:/a\011b rw,user_id=0
31 30 8:1 / /srv/disk rw - ext4  rw,errors=remount-ro
"""


def escape(text: bytes) -> bytes:
    """Escape a name as the kernel's ``mangle`` does."""
    return b"".join(rb"\%03o" % byte if byte in b" \t\n\\#" else bytes((byte,)) for byte in text)


def test_the_fields_of_a_line_are_read() -> None:
    _, root, folder, remote, disk = parse_mount_table(HERE)

    assert (root.number, root.parent, root.path) == (27, 1, "/")
    assert folder.path == "/mnt/a folder"
    assert (folder.is_read_only, root.is_read_only) == (True, False)
    assert folder.flags == libc.MS_NOSUID | libc.MS_NODEV
    assert (remote.path, remote.kind) == ("/srv", "fuse.sshfs")
    assert disk.system_options == ("rw", "errors=remount-ro")
    assert disk.options == ("rw",)


@given(
    path=st.binary(min_size=1, max_size=300).filter(lambda name: b"\0" not in name),
    source=st.binary(max_size=40).filter(lambda name: b"\0" not in name),
)
def test_any_name_comes_back(path: bytes, source: bytes) -> None:
    line = b"9 8 0:1 / /" + escape(path) + b" rw shared:1 - tmpfs " + escape(source) + b" rw\n"

    (found,) = parse_mount_table(line)

    assert os.fsencode(found.path) == b"/" + path
    assert (found.kind, found.system_options) == ("tmpfs", ("rw",))


def test_a_path_of_four_thousand_bytes_is_read() -> None:
    path = "/" + "/".join(["f" * 250] * 16)

    assert entry(2, 1, path).path == path


@pytest.mark.parametrize("line", [b"1 2", b"1 2 0:1 / / rw shared:1", b"1 2 0:1 / / rw - ext4"])
def test_a_line_with_too_few_fields_is_an_error(line: bytes) -> None:
    with pytest.raises(ValueError, match="mount table"):
        parse_mount_table(line)


def test_a_mount_that_another_one_lies_on_is_not_visible() -> None:
    mounts = [
        entry(1, 0, "/"),
        entry(2, 1, "/data"),
        entry(3, 2, "/data/inner"),
        entry(4, 2, "/data"),
        entry(5, 1, "/other"),
        entry(6, 5, "/other/inner"),
        entry(7, 1, "/otherwise"),
    ]

    assert [mount.number for mount in visible_mounts(mounts)] == [1, 4, 5, 6, 7]


def test_a_mount_over_the_root_is_not_visible() -> None:
    mounts = [entry(1, 0, "/"), entry(2, 1, "/"), entry(3, 2, "/hidden"), entry(4, 1, "/seen")]

    assert [mount.number for mount in visible_mounts(mounts)] == [1, 4]


def test_no_mount_is_visible_in_an_empty_table() -> None:
    assert visible_mounts([]) == []


@pytest.mark.parametrize(
    ("path", "kind", "has"),
    [
        ("/", "ext4", True),
        ("/", "overlay", True),
        ("/home/me/remote", "fuse.sshfs", True),
        ("/unheard", "newfs", True),
        ("/dev/shm", "tmpfs", True),
        ("/dev", "devtmpfs", False),
        ("/dev", "tmpfs", False),
        ("/dev/null", "devtmpfs", False),
        ("/proc", "proc", False),
        ("/proc/acpi", "tmpfs", False),
        ("/sys/fs/cgroup", "tmpfs", False),
        ("/run/user/1000/doc", "autofs", False),
        ("/gone//deleted", "ext4", False),
    ],
)
def test_systems_of_the_machine_hold_no_real_files(path: str, kind: str, has: bool) -> None:
    assert entry(2, 1, path, kind).has_real_files is has


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
def test_the_table_of_this_process_has_its_root() -> None:
    assert visible_mounts(read_mount_table())[0].path == "/"


@needs_world
def test_the_topmost_of_two_mounts_is_the_visible_one(tmp_path: object) -> None:
    def run() -> bool:
        enter_namespaces()
        for flags in (0, libc.MS_NOEXEC):
            libc.mount("none", str(tmp_path), "tmpfs", flags)
        mounts = read_mount_table()
        below, above = (mount for mount in mounts if mount.path == str(tmp_path))
        assert above.flags == libc.MS_NOEXEC
        return [each for each in visible_mounts(mounts) if each in (below, above)] == [above]

    assert run_apart(run)


def test_paths_lie_in_their_folders() -> None:
    assert [parent_folder(path) for path in ("/a/b", "/a", "/")] == ["/a", "/", "/"]
    assert [is_below("/a/b", folder) for folder in ("/", "/a", "/a/b")] == [True] * 3
    assert [is_below("/ab", folder) for folder in ("/a", "/ab/c")] == [False] * 2
