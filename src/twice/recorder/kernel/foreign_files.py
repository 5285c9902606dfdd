"""Files of users and groups that a user namespace does not know, made the replay's own before it begins.

An ordinary user's namespace knows one user and one group. The kernel refuses to copy a file of any other into
the top layer (``EOVERFLOW``), and every folder above it as well: without help, a replay could write neither
below ``/var/tmp`` nor in a folder that a team shares. Folders that it may write in are therefore made in the
top layer, and files that it may write are copied below that.

Not for: what the recorded run did not touch, away from the working folder and the temporary ones.

Invariant: a user may do in such a folder what it might do in the real one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from twice.foundation.dataclass import dataclass
from twice.recorder.kernel.file_history import FileHistory, FileState
from twice.recorder.kernel.mount_table import parent_folder
from twice.recorder.kernel.placements import Placement
from twice.recorder.kernel.start_layer import copy_folder_status

_lstat, _mkdir = os.lstat, os.mkdir
_COPIED_MAX = 1 << 20
"""Bytes of a file that is copied although the recorded run wrote nothing in it."""
_WALKED_MAX = 20_000
"""Files of the working folder among which folders of others are searched for."""


@dataclass(frozen=True, slots=True)
class OwnIds:
    """Users and groups that this process's user namespace knows.

    Attributes:
        users: ranges of ids, as this process sees them.
        groups: the same of groups.
    """

    users: tuple[range, ...]
    groups: tuple[range, ...]

    @classmethod
    def read(cls) -> OwnIds:
        """Return those of this process."""
        return cls(*map(_read_own_ids, ("uid", "gid")))

    def is_foreign(self, status: os.stat_result) -> bool:
        """Return whether a file belongs to a user or a group that is not known."""
        is_known = any(status.st_uid in ids for ids in self.users)
        return not is_known or not any(status.st_gid in ids for ids in self.groups)


def find_foreign_files(
    histories: Sequence[FileHistory], placed: Collection[str], own: OwnIds
) -> list[Placement]:
    """Return placements for files that are as they were, and that the replay could not write in.

    Args:
        histories: every file of the run.
        placed: paths that have a placement anyway.
        own: the ids of this process.
    """
    found = []
    for history in histories:
        if history.before.kind != "file" or history.path in placed:
            continue
        try:
            status = _lstat(history.path)
        except OSError:
            continue
        if not stat.S_ISREG(status.st_mode) or not own.is_foreign(status):
            continue
        is_small = status.st_size <= _COPIED_MAX
        if not history.was_changed and not (is_small and os.access(history.path, os.W_OK)):
            continue
        # Nobody read what a file held that was changed and has no digest.
        source = history.path if is_small or history.before.digest else None
        mode, mtime_ns = stat.S_IMODE(status.st_mode), status.st_mtime_ns
        state = FileState("file", size=status.st_size, mode=mode, mtime_ns=mtime_ns)
        found.append(Placement(history.path, state, source))
    return found


def find_foreign_folders(
    histories: Iterable[FileHistory], working: str, likely: Iterable[str], own: OwnIds
) -> list[str]:
    """Return folders that must be in a top layer, sorted: each comes after its parents.

    Args:
        histories: every file of the run; the folders that these lie in are looked at.
        working: the working folder; where it is foreign itself, folders below it are looked at.
        likely: other folders in which the replay may write.
        own: the ids of this process.
    """
    search = _FolderSearch(own)
    for history in histories:
        search.look_at(parent_folder(history.path))
    for folder in likely:
        search.look_at(os.path.realpath(folder))
    if search.look_at(os.path.realpath(working)):
        for folder in _walk(os.path.realpath(working)):
            search.look_at(folder)
    return sorted(search.found)


class _FolderSearch:
    """Collects foreign folders and all that they lie in."""

    def __init__(self, own: OwnIds) -> None:
        self._own, self._seen = own, {"/"}
        self.found: set[str] = set()

    def look_at(self, folder: str) -> bool:
        """Look at a folder and those above it; return whether it is foreign itself."""
        if folder not in self._seen:
            self._seen.add(folder)
            self.look_at(parent_folder(folder))
            try:
                status = _lstat(folder)
            except OSError:
                return False
            if stat.S_ISDIR(status.st_mode) and self._own.is_foreign(status):
                here = folder
                while here not in self.found and here != "/":
                    self.found.add(here)
                    here = parent_folder(here)
        return folder in self.found


def make_folders(upper: str, start: str, real: str, inside: Iterable[str]) -> None:
    """Make folders in a top layer as they are in the layers below it.

    Args:
        upper: the top layer.
        start: the layer with the files as they were; empty without one.
        real: the real folder.
        inside: paths of folders from the layers' root on, sorted.

    Raises:
        OSError: the layer's file system takes no more.
    """
    made: dict[str, str] = {"": ""}
    for folder in inside:
        shown = (
            f"{start}{folder}" if start and os.path.lexists(f"{start}{folder}") else real + folder
        )
        if folder.rpartition("/")[0] in made and _is_folder(shown):
            _mkdir(f"{upper}{folder}", 0o700)
            made[folder] = shown
    for folder in reversed(made):  # a folder's time changes as others are made in it
        if folder:
            copy_folder_status(made[folder], f"{upper}{folder}")


def _walk(folder: str) -> Iterator[str]:
    """Yield the folders below one, until too many files were seen."""
    waiting, count = [folder], 0
    while waiting and count < _WALKED_MAX:
        try:
            with os.scandir(waiting.pop()) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        count += len(inside)
        folders = [entry.path for entry in inside if entry.is_dir(follow_symlinks=False)]
        waiting += folders
        yield from folders


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(_lstat(path).st_mode)
    except OSError:
        return False


def _read_own_ids(kind: str) -> tuple[range, ...]:
    """Return the known ids, without the one that means all unknown ones."""
    stranger = int(Path(f"/proc/sys/kernel/overflow{kind}").read_text(encoding="ascii"))
    found = []
    for ids in _read_ranges(f"/proc/self/{kind}_map"):
        if stranger in ids:
            found += [range(ids.start, stranger), range(stranger + 1, ids.stop)]
        else:
            found.append(ids)
    return tuple(ids for ids in found if ids)


def _read_ranges(path: str) -> tuple[range, ...]:
    rows = [line.split() for line in Path(path).read_text(encoding="ascii").splitlines()]
    return tuple(range(int(first), int(first) + int(count)) for first, _, count in rows)
