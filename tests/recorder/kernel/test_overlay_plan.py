"""A plan leaves no real file that can be changed, and covers what the kernel lets it cover."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mount_entries import entry

from twice.recorder.kernel import libc
from twice.recorder.kernel.mounts import (
    MountEntry,
    OverlayPlan,
    is_below,
    plan_overlays,
    visible_mounts,
)


def plan(mounts: list[MountEntry], folders: Iterable[str], **paths: list[str]) -> OverlayPlan:
    """Plan for a machine with these folders, which the user may all enter."""
    every = set(folders) | {mount.path for mount in mounts}
    every |= {
        "/".join(folder.split("/")[:end]) for folder in list(every) for end in range(2, 9)
    } - {""}

    def list_folders(folder: str) -> list[str]:
        start = folder.rstrip("/") + "/"
        inside = {path[len(start) :] for path in every if path.startswith(start)}
        return sorted(name for name in inside if name and "/" not in name)

    files = {mount.path for mount in mounts if mount.path.endswith(".conf")}
    return plan_overlays(
        mounts,
        list_folders=list_folders,
        can_enter=lambda path: path in every and path not in files,
        **paths,
    )


def overlays(made: OverlayPlan) -> list[str]:
    return sorted(planned.path for planned in made.overlays)


def read_only(made: OverlayPlan) -> list[str]:
    return sorted(planned.path for planned in made.read_only)


ROOT = entry(1, 0, "/")


def test_the_root_is_split_and_each_folder_in_it_covered() -> None:
    made = plan([ROOT], ["/etc", "/home/me", "/tmp"])

    assert overlays(made) == ["/etc", "/home", "/tmp"]
    assert (read_only(made), made.split) == (["/"], ("/",))


def test_a_folder_with_a_mount_below_is_split_down_to_it() -> None:
    mounts = [ROOT, entry(2, 1, "/home/me/remote/disk", "fuse.sshfs")]

    made = plan(mounts, ["/home/you", "/home/me/code", "/home/me/remote/beside", "/tmp"])

    assert overlays(made) == [
        "/home/me/code", "/home/me/remote/beside", "/home/me/remote/disk", "/home/you", "/tmp",
    ]  # fmt: skip
    assert made.split == ("/", "/home", "/home/me", "/home/me/remote")
    assert read_only(made) == ["/"]


def test_a_mount_with_a_mount_below_is_read_only_where_it_is_split() -> None:
    mounts = [ROOT, entry(2, 1, "/data"), entry(3, 2, "/data/a/deep")]

    made = plan(mounts, ["/data/b"])

    assert overlays(made) == ["/data/a/deep", "/data/b"]
    assert read_only(made) == ["/", "/data"]


def test_a_file_that_is_a_mount_becomes_read_only() -> None:
    mounts = [ROOT, entry(2, 1, "/etc/resolv.conf")]

    made = plan(mounts, ["/etc/ssl"])

    assert overlays(made) == ["/etc/ssl"]
    assert read_only(made) == ["/", "/etc/resolv.conf"]


def test_flags_of_a_mount_are_carried_on() -> None:
    mounts = [
        ROOT,
        entry(2, 1, "/tmp", "tmpfs", options=("rw", "nosuid", "nodev", "relatime")),
        entry(3, 1, "/srv", options=("rw", "noexec", "nosymfollow", "noatime")),
        entry(4, 3, "/srv/inner"),
    ]

    made = plan(mounts, ["/srv/other"])

    flags = {planned.path: planned.flags for planned in (*made.overlays, *made.read_only)}
    assert flags["/tmp"] == libc.MS_NOSUID | libc.MS_NODEV
    assert flags["/srv/other"] == libc.MS_NOEXEC | libc.MS_NOSYMFOLLOW
    assert flags["/srv"] == libc.MS_NOEXEC | libc.MS_NOSYMFOLLOW | libc.MS_RDONLY


def test_a_read_only_mount_is_covered_for_the_paths_that_need_it_alone() -> None:
    mounts = [
        ROOT,
        entry(2, 1, "/usr", options=("ro", "nodev")),
        entry(3, 1, "/data", options=("ro",)),
        entry(4, 3, "/data/inner", options=("ro",)),
    ]
    folders = ["/data/one", "/data/two"]

    assert overlays(plan(mounts, folders)) == []
    assert overlays(plan(mounts, folders, likely=["/usr/x"])) == []
    assert overlays(plan(mounts, folders, needed=["/usr/x"])) == ["/usr"]
    assert overlays(plan(mounts, folders, needed=["/data/one/x"])) == ["/data/one"]


def test_settings_of_the_machine_become_read_only_and_processes_stay() -> None:
    mounts = [
        ROOT,
        entry(2, 1, "/proc", "proc"),
        entry(3, 1, "/sys", "sysfs"),
        entry(4, 3, "/sys/fs/cgroup", "cgroup2"),
        entry(5, 1, "/dev", "tmpfs"),
        entry(6, 5, "/dev/pts", "devpts"),
        entry(7, 5, "/dev/shm", "tmpfs"),
        entry(8, 5, "/dev/null.conf", "devtmpfs"),
        entry(9, 1, "/net", "autofs"),
    ]

    made = plan(mounts, ["/tmp"])

    assert overlays(made) == ["/dev/shm", "/tmp"]
    assert {planned.path: planned.is_required for planned in made.read_only} == {
        "/": True, "/dev": False, "/sys": False,
    }  # fmt: skip


def test_of_very_many_folders_those_that_matter_are_covered() -> None:
    mounts = [ROOT, entry(2, 1, "/many/f7/mounted")]
    folders = [f"/many/f{number}" for number in range(200)] + ["/many/f7/beside"]

    made = plan(mounts, folders, needed=["/many/f3/a/b"], likely=["/many/f5"])

    assert overlays(made) == ["/many/f3", "/many/f5", "/many/f7/beside", "/many/f7/mounted"]


def test_a_folder_that_the_user_cannot_enter_is_left_out() -> None:
    made = plan_overlays([ROOT], list_folders=lambda _folder: ["closed"], can_enter=lambda _: False)

    assert (overlays(made), read_only(made)) == ([], ["/"])


names = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(places=st.lists(names, max_size=6, unique=True), folders=st.lists(names, max_size=12))
def test_every_folder_is_covered_or_read_only_and_no_overlay_has_a_mount_below(
    places: list[str], folders: list[str]
) -> None:
    mounts = [ROOT]
    for number, path in enumerate(sorted(places), start=2):
        above = max(
            (mount for mount in mounts if is_below(path, mount.path)), key=lambda m: len(m.path)
        )
        mounts.append(entry(number, above.number, path))

    made = plan(mounts, folders)

    covered, closed = overlays(made), read_only(made)
    for root in covered:
        assert not [m.path for m in mounts if m.path != root and is_below(m.path, root)]
        assert not [other for other in covered if other != root and is_below(other, root)]
    for mount in visible_mounts(mounts):
        assert mount.path in covered or mount.path in closed
    for folder in folders:
        owner = max(
            (mount for mount in mounts if is_below(folder, mount.path)), key=lambda m: len(m.path)
        )
        assert [root for root in covered if is_below(folder, root)] or owner.path in closed


@pytest.mark.parametrize("path", ["/dev/shm", "/dev"])
def test_shared_memory_is_covered_where_devices_are_an_ordinary_folder(path: str) -> None:
    made = plan([ROOT], ["/dev/shm", "/dev/input"])

    assert [root for root in overlays(made) if is_below(root, path)] == ["/dev/shm"]
