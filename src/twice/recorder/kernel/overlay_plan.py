"""The plan by which a replay covers every real file of the machine.

The kernel refuses an overlay over a folder with a mount of the host below it. Such a folder is split: each
folder in it gets an overlay of its own, and the mount that it belongs to becomes read-only, so that
nothing new appears in the folder itself.

Not for: mounting (``world``). Overlays of one file system that is mounted twice do not see each other.

Invariant: a real file lies below an overlay of the plan, below a mount that the plan makes read-only, or
where it could not be changed anyway.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from twice.foundation.dataclass import dataclass
from twice.recorder.kernel import libc
from twice.recorder.kernel.mount_table import (
    DELETED,
    DEVICES,
    LEFT_ALONE,
    SHARED_MEMORY,
    MountEntry,
    is_below,
    parent_folder,
    visible_mounts,
)

_isdir, _islink = os.path.isdir, os.path.islink
_SPLIT_MAX = 64


@dataclass(frozen=True, slots=True)
class PlannedMount:
    """A path at which a replay mounts an overlay, or makes a mount read-only.

    Attributes:
        path: of a folder; of a mount to be made read-only, of a file too.
        flags: to mount with.
        is_required: whether real files are open to changes when it fails.
    """

    path: str
    flags: int = 0
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class OverlayPlan:
    """What covers the real files of this machine.

    Attributes:
        overlays: folders, none within another.
        read_only: mounts that become read-only.
        split: folders in which nothing new can be made, because a mount stands below them.
    """

    overlays: tuple[PlannedMount, ...]
    read_only: tuple[PlannedMount, ...]
    split: tuple[str, ...]


def plan_overlays(
    mounts: Sequence[MountEntry],
    *,
    needed: Iterable[str] = (),
    likely: Iterable[str] = (),
    list_folders: Callable[[str], list[str]] | None = None,
    can_enter: Callable[[str], bool] | None = None,
) -> OverlayPlan:
    """Return which overlays and read-only mounts keep a replay away from every real file.

    Args:
        mounts: the table of this process.
        needed: paths that the replay writes, or that must show other files than the real ones. A mount
            that is read-only gets overlays for these alone.
        likely: paths that the replay may write. In a folder with more folders than could each get an
            overlay, those with a needed or a likely path get one.
        list_folders: returns the names of the folders in a folder, links left out.
        can_enter: returns whether a path is a folder in which this user can reach anything.
    """
    planner = _Planner(
        visible_mounts(mounts),
        needed,
        likely,
        list_folders or _list_folders,
        can_enter or _can_enter,
    )
    return planner.plan()


class _Planner:
    """Covers one mount after the other."""

    def __init__(
        self,
        mounts: list[MountEntry],
        needed: Iterable[str],
        likely: Iterable[str],
        list_folders: Callable[[str], list[str]],
        can_enter: Callable[[str], bool],
    ) -> None:
        self._mounts, self._list_folders, self._can_enter = mounts, list_folders, can_enter
        self._needed = _with_folders(needed)
        self._likely = self._needed | _with_folders(likely)
        self._mount_paths = frozenset(mount.path for mount in mounts)
        self._above_mounts = _with_folders(
            parent_folder(mount.path) for mount in mounts if mount.path != "/"
        )
        self._overlays: list[PlannedMount] = []
        self._split: list[str] = []

    def plan(self) -> OverlayPlan:
        """Return the plan for all mounts."""
        read_only = []
        for mount in self._mounts:
            if mount.has_real_files:
                if not mount.is_read_only:
                    self._cover(mount.path, mount.flags, self._likely, _SPLIT_MAX)
                elif mount.path in self._needed:
                    self._cover(mount.path, mount.flags, self._needed, 0)
                is_covered = bool(self._overlays) and self._overlays[-1].path == mount.path
            else:
                is_covered = mount.kind in LEFT_ALONE or self._is_device_node(mount)
            if not is_covered and not mount.is_read_only and not mount.path.endswith(DELETED):
                flags = mount.flags | libc.MS_RDONLY
                read_only.append(PlannedMount(mount.path, flags, mount.has_real_files))
        return OverlayPlan(tuple(self._overlays), tuple(read_only), tuple(self._split))

    def _cover(self, folder: str, flags: int, wanted: frozenset[str], split_max: int) -> None:
        """Plan an overlay on a folder, or on its subfolders if a mount is below."""
        if folder not in self._above_mounts and folder != "/":
            if self._can_enter(folder):
                self._overlays.append(PlannedMount(folder, flags))
            return
        self._split.append(folder)
        inside = [f"{folder.rstrip('/')}/{name}" for name in self._list_folders(folder)]
        inside = [path for path in inside if path not in self._mount_paths and path != DEVICES]
        if folder == "/" and not {DEVICES, SHARED_MEMORY} & self._mount_paths:
            inside.append(SHARED_MEMORY)
        everyone = len(inside) <= split_max
        for path in inside:
            if everyone or path in wanted or path in self._above_mounts:
                self._cover(path, flags, wanted, split_max)

    def _is_device_node(self, mount: MountEntry) -> bool:
        """Return whether a mount is a single device, as containers without rights get them."""
        is_inside = is_below(mount.path, DEVICES) and mount.path != DEVICES
        return is_inside and not self._can_enter(mount.path)


def _can_enter(folder: str) -> bool:
    """Return whether a folder leads anywhere for this user: if not, nothing below it can be changed."""
    return not _islink(folder) and _isdir(folder) and os.access(folder, os.X_OK)


def _list_folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _with_folders(paths: Iterable[str]) -> frozenset[str]:
    """Return paths and all folders that they lie in."""
    found: set[str] = set()
    for path in paths:
        here = path
        while here not in found:
            found.add(here)
            here = parent_folder(here)
    return frozenset(found)
