"""The mounts that this process sees: the kernel's table, read into values.

Not for: what a replay mounts over them (``overlay_plan``).

Invariant: a path in a value is the path as a process would open it, whatever bytes are in it.
Source: proc_pid_mountinfo(5).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from twice.foundation.dataclass import dataclass
from twice.recorder.kernel import libc

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


@dataclass(frozen=True, slots=True)
class MountEntry:
    """One mount: a line of the table.

    Attributes:
        number: id of the mount.
        parent: id of the mount that it stands on.
        device: ``major:minor``.
        root: folder or file of the file system that is mounted.
        path: where it is mounted, for this process.
        options: of this mount.
        propagation: ``shared:N``, ``master:N`` and the like; empty for a private mount.
        kind: type of the file system, ``fuse.sshfs`` for example.
        source: what is mounted, as the one who mounted it named it.
        system_options: of the file system, the same for all its mounts.
    """

    number: int
    parent: int
    device: str
    root: str
    path: str
    options: tuple[str, ...]
    propagation: tuple[str, ...]
    kind: str
    source: str
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
    """Return the mounts of this process's mount namespace that it can reach.

    Raises:
        OSError: ``/proc`` is not mounted.
    """
    return parse_mount_table(Path("/proc/self/mountinfo").read_bytes())


def parse_mount_table(data: bytes) -> list[MountEntry]:
    """Return the mounts that a text in the format of ``/proc/PID/mountinfo`` lists, in its order.

    Raises:
        ValueError: a line has too few fields.
    """
    return [_parse_line(line) for line in data.split(b"\n") if line]


def _parse_line(line: bytes) -> MountEntry:
    first, separator, last = line.partition(b" - ")
    fields, described = first.split(b" "), last.split(b" ")
    if not separator or len(fields) < 6 or len(described) < 3:
        raise ValueError(f"a line of the mount table that cannot be read: {line!r}")
    return MountEntry(
        number=int(fields[0]),
        parent=int(fields[1]),
        device=fields[2].decode("ascii"),
        root=_unescape(fields[3]),
        path=_unescape(fields[4]),
        options=_options(fields[5]),
        propagation=tuple(_unescape(field) for field in fields[6:]),
        kind=_unescape(described[0]),
        source=_unescape(described[1]),
        system_options=_options(b" ".join(described[2:])),
    )


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


def parent_folder(path: str) -> str:
    """Return the folder of an absolute path."""
    return path.rpartition("/")[0] or "/"


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
