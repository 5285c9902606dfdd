"""Entries of mount tables of machines that are not there."""

from __future__ import annotations

from twice.recorder.kernel.mounts import MountEntry, parse_mount_table


def entry(number: int, parent: int, path: str, kind: str = "ext4", **values: object) -> MountEntry:
    line = f"{number} {parent} 8:{number} / {path} rw - {kind} none rw".encode()
    (made,) = parse_mount_table(line)
    return made._replace(**values)
