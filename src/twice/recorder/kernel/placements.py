"""What a replay must be shown otherwise than it is now: recorded files that are others, and files of others.

Not for: making them (``layers``). A file that the run never read is not compared by its content. A file of another
owner is not looked at where the recorded run did not touch it, away from the working folder and the temporary ones.

An ordinary user's namespace knows one user and one group. The kernel refuses to copy a file of any other into
the top layer (``EOVERFLOW``), and every folder above it as well: without help, a replay could write neither
below ``/var/tmp`` nor in a folder that a team shares. Folders that it may write in are therefore made in the
top layer, and files that it may write are copied below that.

Invariant: no file is changed, and none is read whose size differs from the recorded one. A user may do in a folder
of someone else's what it might do in the real one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from twice.foundation.digests import DEFAULT, Algorithm
from twice.recorder.kernel.file_state import FileHistory, FileState, observe_state, walk_tree
from twice.recorder.kernel.paths import parent_folder

_lstat, _listdir = os.lstat, os.listdir
_COPIED_MAX = 1 << 20
"""Bytes of a file that is copied for nothing but its times or owner, or for what nobody is known to read."""
_WALKED_MAX = 20_000
"""Files of the working folder among which folders of others are searched for."""


class ChangedInput(NamedTuple):
    """A file that the run used, or a folder whose listing lacks names, that a replay cannot show as it was."""

    path: str
    recorded: FileState
    now: FileState


class Placement(NamedTuple):
    """A file that the layer must hold: a whiteout where its state is ``absent``.

    ``source`` is a file with the content; None for one that is all zeros.
    """

    path: str
    state: FileState
    source: str | None = None

    @property
    def size_bytes(self) -> int:
        """Return how much the placement takes."""
        return self.state.size if self.source else 0


def find_placements(
    histories: Sequence[FileHistory],
    content: Callable[[str], str | None],
    is_ignored: Callable[[str], bool],
) -> tuple[list[Placement], list[ChangedInput]]:
    """Return the placements in the layer, sorted by path, and the inputs that cannot be placed.

    ``content`` returns a file with the content of a digest that the record carries, or None. A path that
    ``is_ignored`` is no part of the run, so that a listing may have it or not.
    """
    placements: dict[str, Placement] = {}
    changed = []
    known = {history.path for history in histories}
    for history in histories:
        found = _compare(history, content)
        if isinstance(found, ChangedInput):
            changed.append(found)
        elif found is not None:
            placements[history.path] = found
        if history.before.names is not None:
            extra, is_complete = _compare_names(history, known, is_ignored)
            placements |= {path: Placement(path, FileState("absent")) for path in extra}
            if not is_complete:
                now = _observe(history.path, with_content=False, with_names=True)
                changed.append(ChangedInput(history.path, history.before, now))
    for history in histories:
        if history.was_changed:  # folders that the run found, and that are gone, are made again
            folder = parent_folder(history.path)
            while folder not in known and folder != "/" and not os.path.lexists(folder):
                placements[folder] = Placement(folder, FileState("folder"))
                folder = parent_folder(folder)
    return [placements[path] for path in sorted(placements)], changed


def _compare(
    history: FileHistory, content: Callable[[str], str | None]
) -> Placement | ChangedInput | None:
    """Return the placement for one history; None if the real file is as it was."""
    path, before = history.path, history.before
    if before.kind == "file" and before.digest and history.appended_from is None:
        return _compare_content(history, content)
    now = _observe(path, with_content=False)
    if before.kind == "absent":
        return None if now.kind == "absent" else Placement(path, before)
    if before.kind == "other":  # a device, a socket or a FIFO
        if now.kind == "other":
            return None
        is_only_removed = history.after.kind == "absent" and not history.was_read
        return Placement(path, before) if is_only_removed else ChangedInput(path, before, now)
    if _has_same_status(before, now):
        return None
    if before.kind != "file":
        return Placement(path, before)
    if history.problem and history.appended_from is None:
        return ChangedInput(path, before, now)  # it was read, but nobody knows what stood there
    if not history.was_changed:
        return None if now.kind == "file" else ChangedInput(path, before, now)
    is_beginning_there = history.appended_from is not None and now.size >= before.size
    source = path if is_beginning_there and before.size <= _COPIED_MAX else None
    return Placement(path, before, source)


def _compare_content(
    history: FileHistory, content: Callable[[str], str | None]
) -> Placement | ChangedInput | None:
    path, before = history.path, history.before
    now = _observe(path, with_content=False)
    if now.kind == "file" and now.size == before.size:
        algorithm = Algorithm(before.digest.partition(":")[0])
        now = _observe(path, with_content=True, algorithm=algorithm)
        if now.digest == before.digest:
            if _has_same_status(before, now) or before.size > _COPIED_MAX:
                return None
            return Placement(path, before, path)
    source = content(before.digest)
    return ChangedInput(path, before, now) if source is None else Placement(path, before, source)


def _compare_names(
    history: FileHistory, known: set[str], is_ignored: Callable[[str], bool]
) -> tuple[list[str], bool]:
    """Return paths that the folder did not have, and whether it has all the others."""
    recorded = set(history.before.names or ())
    try:
        now = set(_listdir(history.path))
    except OSError:
        now = set()

    def is_unexplained(name: str) -> bool:
        path = f"{history.path.rstrip('/')}/{name}"
        return path not in known and not is_ignored(path)

    extra = [
        f"{history.path.rstrip('/')}/{name}"
        for name in sorted(now - recorded)
        if is_unexplained(name)
    ]
    return extra, not any(is_unexplained(name) for name in sorted(recorded - now))


def _has_same_status(before: FileState, now: FileState) -> bool:
    if (before.kind, before.size, before.target) != (now.kind, now.size, now.target):
        return False
    return before.kind == "link" or (before.mode, before.mtime_ns) == (now.mode, now.mtime_ns)


def _observe(
    path: str, *, with_content: bool, with_names: bool = False, algorithm: Algorithm = DEFAULT
) -> FileState:
    """Return the state at a path; without a digest if it cannot be read."""
    try:
        return observe_state(path, algorithm, with_content=with_content, with_names=with_names)
    except OSError:
        with suppress(OSError):
            return observe_state(path, algorithm, with_content=False)
        return FileState("other")


class OwnIds(NamedTuple):
    """Ranges of the users and the groups that this process's user namespace knows, as this process sees them."""

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

    Paths that are ``placed`` have a placement anyway.
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

    Looked at are the folders of every file of the run, those in which the replay is ``likely`` to write, and the
    working folder, with what lies below it where it is foreign itself.
    """
    found: set[str] = set()
    seen = {"/"}

    def look_at(folder: str) -> bool:
        """Look at a folder and those above it; return whether it is foreign itself."""
        if folder not in seen:
            seen.add(folder)
            look_at(parent_folder(folder))
            try:
                status = _lstat(folder)
            except OSError:
                return False
            if stat.S_ISDIR(status.st_mode) and own.is_foreign(status):
                here = folder
                while here not in found and here != "/":
                    found.add(here)
                    here = parent_folder(here)
        return folder in found

    for history in histories:
        look_at(parent_folder(history.path))
    for folder in likely:
        look_at(os.path.realpath(folder))
    if look_at(os.path.realpath(working)):
        for entry in islice(walk_tree([os.path.realpath(working)]), _WALKED_MAX):
            if entry.is_dir(follow_symlinks=False):
                look_at(entry.path)
    return sorted(found)


def _read_own_ids(kind: str) -> tuple[range, ...]:
    """Return the known ids, without the one that means all unknown ones."""
    stranger = int(Path(f"/proc/sys/kernel/overflow{kind}").read_text(encoding="ascii"))
    found = []
    for line in Path(f"/proc/self/{kind}_map").read_text(encoding="ascii").splitlines():
        first, _, count = map(int, line.split())
        stop = first + count
        if first <= stranger < stop:
            found += [range(first, stranger), range(stranger + 1, stop)]
        else:
            found.append(range(first, stop))
    return tuple(ids for ids in found if ids)
