"""The mounts that this process sees, and the plan by which a replay covers every real file of the machine.

The kernel refuses an overlay over a folder with a mount of the host below it. Such a folder is split: each
folder in it gets an overlay of its own, and the mount that it belongs to becomes read-only, so that
nothing new appears in the folder itself.

Not for: mounting (``world``). Overlays of one file system that is mounted twice do not see each other.

Invariant: a path in a value is the path as a process would open it, whatever bytes are in it. A real file lies
below an overlay of the plan, below a mount that the plan makes read-only, or where it could not be changed anyway.
Source: proc_pid_mountinfo(5).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from twice.recorder.kernel import libc
from twice.recorder.kernel.paths import is_below, is_link, leads_to_folder, parent_folder

_SPLIT_MAX = 64

LEFT_ALONE: Final = frozenset({
    "autofs", "binfmt_misc", "cgroup", "cgroup2", "devpts", "fusectl", "hugetlbfs", "mqueue",
    "nsfs", "proc", "rpc_pipefs",
})  # fmt: skip
"""Systems of no real files in which programs write as they run."""
SETTINGS: Final = frozenset({
    "bpf", "configfs", "debugfs", "devtmpfs", "efivarfs", "nfsd", "pstore", "securityfs", "selinuxfs",
    "smackfs", "sysfs", "tracefs",
})  # fmt: skip
"""Systems of no real files that show the machine and its settings: read-only in a replay."""

DEVICES, SHARED_MEMORY = "/dev", "/dev/shm"  # noqa: S108  (where POSIX puts shared memory)
_OF_THE_SYSTEM = (DEVICES, "/proc", "/sys")
DELETED = "//deleted"
_ESCAPE = re.compile(rb"\\([0-7]{3})")
_FLAGS: Final = {
    "ro": libc.MS_RDONLY,
    "nosuid": libc.MS_NOSUID,
    "nodev": libc.MS_NODEV,
    "noexec": libc.MS_NOEXEC,
    "nosymfollow": libc.MS_NOSYMFOLLOW,
}


class MountEntry(NamedTuple):
    """One mount: what is needed of a line of the table.

    ``number`` and ``parent`` are ids of mounts, ``kind`` is a type of file system, ``fuse.sshfs`` for example. Of the
    options, ``system_options`` are those of the file system, the same for all its mounts.
    """

    number: int
    parent: int
    path: str
    options: tuple[str, ...]
    kind: str
    system_options: tuple[str, ...]

    @property
    def is_read_only(self) -> bool:
        """Return whether nothing can be written through this mount."""
        return "ro" in self.options or "ro" in self.system_options

    @property
    def has_real_files(self) -> bool:
        """Return whether it has files that are not the system's own."""
        if self.kind in LEFT_ALONE or self.kind in SETTINGS or self.path.endswith(DELETED):
            return False
        # Device nodes cannot be opened through an overlay of a user namespace.
        is_of_system = any(is_below(self.path, folder) for folder in _OF_THE_SYSTEM)
        return not is_of_system or is_below(self.path, SHARED_MEMORY)

    @property
    def flags(self) -> int:
        """Flags that an overlay on this mount, and a change of it, must carry on.

        In a user namespace the kernel locks them: a change without them is refused.
        """
        return sum(flag for name, flag in _FLAGS.items() if name in self.options and name != "ro")


def read_mount_table() -> list[MountEntry]:
    """Return the mounts of this process's mount namespace that it can reach; an ``OSError`` without ``/proc``."""
    return parse_mount_table(Path("/proc/self/mountinfo").read_bytes())


def parse_mount_table(data: bytes) -> list[MountEntry]:
    """Return the mounts that a text in the format of ``/proc/PID/mountinfo`` lists, in its order.

    A line with too few fields is a ``ValueError``.
    """
    mounts = []
    for line in filter(None, data.split(b"\n")):
        first, separator, last = line.partition(b" - ")
        fields, described = first.split(b" "), last.split(b" ")
        if not separator or len(fields) < 6 or len(described) < 3:
            raise ValueError(f"a line of the mount table that cannot be read: {line!r}")
        options, system_options = _options(fields[5]), _options(b" ".join(described[2:]))
        path, kind = _unescape(fields[4]), _unescape(described[0])
        mounts.append(
            MountEntry(int(fields[0]), int(fields[1]), path, options, kind, system_options)
        )
    return mounts


def _options(field: bytes) -> tuple[str, ...]:
    return tuple(_unescape(option) for option in field.split(b","))


def _unescape(field: bytes) -> str:
    return os.fsdecode(_ESCAPE.sub(lambda found: bytes((int(found[1], 8) & 0xFF,)), field))


def visible_mounts(mounts: Sequence[MountEntry]) -> list[MountEntry]:
    """Return the mounts that a path leads to: none that another one lies on, sorted by path."""
    on = {(mount.parent, mount.path): mount for mount in mounts if mount.path != "/"}
    numbers = {mount.number for mount in mounts if mount.number != mount.parent}
    # What is mounted over "/" later is not there for a process that has its root already.
    top = next((m for m in mounts if m.path == "/" and m.parent not in numbers), None)
    if top is None:
        return []

    def resolve(path: str) -> MountEntry:
        current, here = top, ""
        for part in path.split("/")[1:] if path != "/" else ():
            here += "/" + part
            while (above := on.get((current.number, here))) is not None:
                current = above
        return current

    return sorted((m for m in mounts if resolve(m.path) is m), key=lambda mount: mount.path)


class PlannedMount(NamedTuple):
    """A path at which a replay mounts an overlay, or makes a mount read-only, which may be one of a file.

    ``is_required`` says whether real files are open to changes when it fails.
    """

    path: str
    flags: int = 0
    is_required: bool = True


class OverlayPlan(NamedTuple):
    """What covers the real files of this machine.

    No folder of ``overlays`` lies within another. In the folders of ``split`` nothing new can be made, because a mount
    stands below them.
    """

    overlays: tuple[PlannedMount, ...]
    read_only: tuple[PlannedMount, ...]
    split: tuple[str, ...]


def _can_enter(folder: str) -> bool:
    """Return whether a folder leads anywhere for this user: if not, nothing below it can be changed."""
    return not is_link(folder) and leads_to_folder(folder) and os.access(folder, os.X_OK)


def _list_folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def plan_overlays(
    mounts: Sequence[MountEntry],
    *,
    needed: Iterable[str] = (),
    likely: Iterable[str] = (),
    list_folders: Callable[[str], list[str]] = _list_folders,
    can_enter: Callable[[str], bool] = _can_enter,
) -> OverlayPlan:
    """Return which overlays and read-only mounts keep a replay away from every real file.

    ``needed`` are paths that the replay writes, or that must show other files than the real ones: a mount that is
    read-only gets overlays for these alone. ``likely`` are paths that it may write: in a folder with more folders than
    could each get an overlay, those with a needed or a likely path get one. ``list_folders`` leaves links out.
    """
    visible, must_cover = visible_mounts(mounts), _with_folders(needed)
    may_cover = must_cover | _with_folders(likely)
    mounted = frozenset(mount.path for mount in visible)
    above_mounts = _with_folders(parent_folder(path) for path in mounted if path != "/")
    overlays: list[PlannedMount] = []
    read_only: list[PlannedMount] = []
    split: list[str] = []

    def cover(folder: str, flags: int, wanted: frozenset[str], split_max: int) -> None:
        """Plan an overlay on a folder, or on its subfolders if a mount is below."""
        if folder not in above_mounts and folder != "/":
            if can_enter(folder):
                overlays.append(PlannedMount(folder, flags))
            return
        split.append(folder)
        inside = [f"{folder.rstrip('/')}/{name}" for name in list_folders(folder)]
        inside = [path for path in inside if path not in mounted and path != DEVICES]
        if folder == "/" and not {DEVICES, SHARED_MEMORY} & mounted:
            inside.append(SHARED_MEMORY)
        everyone = len(inside) <= split_max
        for path in inside:
            if everyone or path in wanted or path in above_mounts:
                cover(path, flags, wanted, split_max)

    for mount in visible:
        if mount.has_real_files:
            if not mount.is_read_only:
                cover(mount.path, mount.flags, may_cover, _SPLIT_MAX)
            elif mount.path in must_cover:
                cover(mount.path, mount.flags, must_cover, 0)
            is_covered = bool(overlays) and overlays[-1].path == mount.path
        else:
            # A mount may be a single device, as containers without rights get them.
            is_in_devices = is_below(mount.path, DEVICES) and mount.path != DEVICES
            is_covered = mount.kind in LEFT_ALONE or (is_in_devices and not can_enter(mount.path))
        if not is_covered and not mount.is_read_only and not mount.path.endswith(DELETED):
            flags = mount.flags | libc.MS_RDONLY
            read_only.append(PlannedMount(mount.path, flags, mount.has_real_files))
    return OverlayPlan(tuple(overlays), tuple(read_only), tuple(split))


def _with_folders(paths: Iterable[str]) -> frozenset[str]:
    """Return paths and all folders that they lie in."""
    found: set[str] = set()
    for path in paths:
        here = path
        while here not in found:
            found.add(here)
            here = parent_folder(here)
    return frozenset(found)
