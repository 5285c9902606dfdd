"""What a replay wrote, and how it differs from what the recorded run left behind.

The kernel copies a file into the top layer as soon as it is opened for writing. A copy that holds what the
original held is no change.

Not for: owners, permissions, times and attributes of files.

Invariant: every path in a top layer is ignored by name, is as it was, or is a ``ReplayedFile``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from twice.foundation.digests import DEFAULT, Algorithm
from twice.recorder.kernel.content_store import WRITE_NEW, copy_content
from twice.recorder.kernel.file_state import (
    UNSETTLED,
    FileHistory,
    FileState,
    FileUnsettled,
    closing_descriptor,
    locate_difference,
    observe_state,
    open_for_reading,
)
from twice.recorder.kernel.paths import is_folder, parent_folder

_lstat, _listdir, _makedirs = os.lstat, os.listdir, os.makedirs
_readlink, _symlink = os.readlink, os.symlink
_PIECE = 1 << 20
_OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
_REDIRECT = ("trusted.overlay.redirect", "user.overlay.redirect")
ONLY_IN_REPLAY = "written only in the replay"
REMOVED_ONLY_IN_REPLAY = "removed only in the replay"


class FileDifference(NamedTuple):
    """A file that a replay left otherwise than the recorded run did, with both states at the end.

    ``where`` names the first bytes that differ, or what else does.
    """

    path: str
    recorded: FileState
    replayed: FileState
    where: str


class ReplayedFile(NamedTuple):
    """A file that a replay wrote, made or removed.

    ``kind`` is what it is now. It can be read at ``source`` after the replay, empty when it was removed. ``start`` is
    a path that shows what stood there at the start.
    """

    path: str
    kind: Literal["file", "folder", "link", "other", "removed"]
    source: str
    start: str


def find_written(
    root: str,
    upper: str,
    start: str,
    is_ignored: Callable[[str], bool],
    known: Collection[str] = (),
) -> Iterator[ReplayedFile]:
    """Yield the files in the top layer of an overlay over ``root`` that are not as they were.

    ``start`` is a path that shows the folder as it was at the start. A path that ``is_ignored`` is no part of the run,
    nor is what lies below it; ``known`` paths are left out, because they are compared anyway.
    """
    waiting = [("", upper)]
    while waiting:
        folder, layer = waiting.pop()
        with os.scandir(f"{layer}{folder}") as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
        for entry in inside:
            below = f"{folder}/{entry.name}"
            path, before = f"{root}{below}", f"{start}{below}"
            if is_ignored(path) or (path in known and not entry.is_dir(follow_symlinks=False)):
                continue
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                is_new = not is_folder(before)
                if is_new:
                    yield ReplayedFile(path, "folder", entry.path, before)
                elif layer == upper and _has_attribute(entry.path, _OPAQUE):
                    # The former content of a folder that the replay removed and made again.
                    for name in sorted(set(_listdir(before)) - set(_listdir(entry.path))):
                        if not is_ignored(f"{path}/{name}"):
                            yield ReplayedFile(f"{path}/{name}", "removed", "", f"{before}/{name}")
                # A folder that was renamed stands in the layer without what is in it.
                is_renamed = layer == upper and _has_attribute(entry.path, _REDIRECT)
                waiting.append((below, root if is_renamed else layer))
            elif stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
                if os.path.lexists(before):
                    yield ReplayedFile(path, "removed", "", before)
            elif stat.S_ISLNK(status.st_mode):
                if not (os.path.islink(before) and _readlink(before) == _readlink(entry.path)):
                    yield ReplayedFile(path, "link", entry.path, before)
            elif not stat.S_ISREG(status.st_mode):
                yield ReplayedFile(path, "other", entry.path, before)
            elif not has_equal_content(entry.path, before):
                yield ReplayedFile(path, "file", entry.path, before)


def find_differences(
    histories: Sequence[FileHistory],
    written: Sequence[ReplayedFile],
    is_ignored: Callable[[str], bool],
) -> list[FileDifference]:
    """Return where a replay's files differ from those at the end of the recording, sorted by path.

    ``histories`` are of every file that the recorded run changed, and ``written`` of what the replay wrote besides.
    """
    found = [_compare(history) for history in histories if not is_ignored(history.path)]
    known = {history.path for history in histories}
    found += [_describe_extra(file) for file in written if file.path not in known]
    return sorted(filter(None, found), key=lambda difference: difference.path)


def copy_differing(
    differences: Sequence[FileDifference], folder: str, count_max: int, size_max: int
) -> dict[str, str]:
    """Copy files that a replay left otherwise into a real folder; return their names there, by path.

    They still stand at their paths. At most ``count_max`` are copied, and none of more than ``size_max`` bytes, as
    recorded or as replayed.
    """
    copied: dict[str, str] = {}
    for difference in differences:
        states = difference.recorded, difference.replayed
        if any(each.kind != "file" or not 0 < each.size <= size_max for each in states):
            continue
        if len(copied) == count_max:
            break
        name = str(len(copied))
        with suppress(OSError):
            with closing_descriptor(os.open(f"{folder}/{name}", WRITE_NEW, 0o600)) as writing:
                copy_content(difference.path, writing, difference.replayed.size)
            copied[difference.path] = name
    return copied


def copy_written(written: Sequence[ReplayedFile], folder: str) -> list[str]:
    """Copy the files that a replay wrote into a folder, each at its path from ``/`` on; return the removed paths.

    An ``OSError`` says that the folder takes no more, or has such a file already.
    """
    removed = []
    for file in written:
        target = f"{folder}{file.path}"
        if file.kind == "removed":
            removed.append(file.path)
            continue
        _makedirs(target if file.kind == "folder" else parent_folder(target), exist_ok=True)
        if file.kind == "link":
            _symlink(_readlink(file.source), target)
        elif file.kind == "file":
            status = _lstat(file.source)
            with closing_descriptor(os.open(target, WRITE_NEW, 0o600)) as writing:
                copy_content(file.source, writing, status.st_size)
                os.fchmod(writing, stat.S_IMODE(status.st_mode))
                os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
    return removed


def has_equal_content(one: str, other: str) -> bool:
    """Return whether two paths are regular files with the same bytes."""
    try:
        states = _lstat(one), _lstat(other)
        if not all(stat.S_ISREG(state.st_mode) for state in states):
            return False
        if states[0].st_size != states[1].st_size:
            return False
        with (
            open(open_for_reading(one), "rb") as first,
            open(open_for_reading(other), "rb") as second,
        ):
            while data := first.read(_PIECE):
                if data != second.read(_PIECE):
                    return False
    except OSError:
        return False
    return True


def _compare(history: FileHistory) -> FileDifference | None:
    after, start = history.after, history.appended_from
    is_content_known = after.kind != "file" or bool(after.digest)
    algorithm = Algorithm(after.digest.partition(":")[0]) if after.digest else DEFAULT
    try:
        now = observe_state(
            history.path, algorithm, with_content=is_content_known, appended_from=start
        )
    except FileUnsettled:
        return FileDifference(history.path, after, FileState("file"), UNSETTLED)
    except OSError as error:
        return FileDifference(
            history.path, after, FileState("other"), error.strerror or "unreadable"
        )
    if after.has_same_content(now) and (after.kind != "file" or after.size == now.size):
        return None
    if not is_content_known and after.kind == now.kind:
        return None  # the recording says of this file that it does not know what it held
    return FileDifference(history.path, after, now, locate_difference(after, now, start))


def _describe_extra(file: ReplayedFile) -> FileDifference | None:
    where = REMOVED_ONLY_IN_REPLAY if file.kind == "removed" else ONLY_IN_REPLAY
    states = []
    for path in (file.start, file.source):
        state = FileState("absent")
        if path:
            try:
                state = observe_state(path, DEFAULT, with_content=True)
            except OSError:
                state = FileState("file")
        states.append(state)
    if states[1].kind == "other" and stat.S_ISSOCK(_lstat(file.source).st_mode):
        return None  # a socket's name holds nothing
    return FileDifference(file.path, states[0], states[1], where)


def _has_attribute(path: str, names: tuple[str, ...]) -> bool:
    for name in names:
        with suppress(OSError):
            if os.getxattr(path, name, follow_symlinks=False):
                return True
    return False
