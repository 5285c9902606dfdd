"""A folder with files as they were when a recording began, which an overlay puts on top of the real one.

A whiteout, a character device 0:0, stands for a file that did not exist yet. A folder of the layer shows
what the real one holds as well, and has its owner, permissions and time.

Not for: who owned a file. A file in the layer belongs to the owner of the real one, where there is one and
this process may say so, and to this process elsewhere.

Invariant: no real file is changed.
Source: the kernel's documentation of overlayfs.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from twice.recorder.kernel.file_history import FileState
from twice.recorder.kernel.file_observation import open_for_reading
from twice.recorder.kernel.mount_table import parent_folder
from twice.recorder.kernel.placements import Placement

_lstat, _mkdir, _symlink, _chmod = os.lstat, os.mkdir, os.symlink, os.chmod
_PIECE, _SMALL = 1 << 24, 1 << 20
_WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class StartLayer:
    """A folder with what was there at the start, for one overlay.

    Args:
        layer: an empty folder of this process's own.
        real: the folder that the layer is laid over.
        root: the same folder's path, as placements name it.
    """

    def __init__(self, layer: str, real: str, root: str) -> None:
        self._layer, self._real, self._root = layer, real, root
        self._own = (os.geteuid(), os.getegid())
        self._folders: dict[str, FileState | None] = {}
        self._hidden: set[str] = set()

    def make(self, placements: Iterable[Placement]) -> None:
        """Make the files of some placements, which are sorted by path, each below ``root``.

        Raises:
            OSError: the layer's file system takes no more, or a source cannot be read.
        """
        for placement in placements:
            inside = placement.path[len(self._root.rstrip("/")) :]
            if placement.state.kind == "folder":
                self._make_folders(inside, placement.state)
            elif inside and self._make_folders(parent_folder(inside), None):
                self._hidden.add(inside)
                self._make_file(inside, placement)
        # Last, and from the innermost outwards: each change within a folder sets its time.
        for inside in sorted(self._folders, reverse=True):
            status = copy_folder_status(f"{self._real}{inside}", f"{self._layer}{inside}")
            state = self._folders[inside]
            if state is not None and (state.mode or state.mtime_ns):
                made = f"{self._layer}{inside}"
                if status is None or _lstat(made).st_uid == status.st_uid:
                    _chmod(made, state.mode)
                os.utime(made, ns=(state.mtime_ns, state.mtime_ns))

    def _make_folders(self, inside: str, state: FileState | None) -> bool:
        """Make a folder and those above it; return False where one of them did not exist yet."""
        inside = inside.rstrip("/")
        if inside in self._folders:
            if state is not None:
                self._folders[inside] = state
            return True
        if inside in self._hidden:
            return False
        if inside:
            if not self._make_folders(parent_folder(inside), None):
                return False
            _mkdir(f"{self._layer}{inside}", 0o700)
        self._folders[inside] = state
        return True

    def _make_file(self, inside: str, placement: Placement) -> None:
        target, state = f"{self._layer}{inside}", placement.state
        if state.kind == "absent":
            os.mknod(target, stat.S_IFCHR, 0)
            return
        if state.kind == "other":  # whatever it was, the run removes it
            os.mkfifo(target, 0o600)
            return
        try:
            real = _lstat(f"{self._real}{inside}")
        except OSError:
            real = None
        if state.kind == "link":
            _symlink(state.target, target)
            if real is not None:
                with suppress(PermissionError):
                    os.chown(target, real.st_uid, real.st_gid, follow_symlinks=False)
            return
        writing = os.open(target, _WRITE_NEW, 0o600)
        try:
            if placement.source is None:
                os.ftruncate(writing, state.size)
            else:
                copy_content(placement.source, writing, state.size)
            if real is not None and (real.st_uid, real.st_gid) != self._own:
                with suppress(OSError):
                    os.fchown(writing, real.st_uid, real.st_gid)
            os.fchmod(writing, state.mode)
            os.utime(writing, ns=(state.mtime_ns, state.mtime_ns))
        finally:
            os.close(writing)


def copy_folder_status(real: str, copy: str) -> os.stat_result | None:
    """Copy owner, permissions and time of a real folder to a layer's folder; return its status.

    A folder of someone else cannot be copied with its owner: it gets what this process may do in the real
    one as the permissions of its owner.
    """
    try:
        status = _lstat(real)
    except OSError:
        status = None
    if status is None or not stat.S_ISDIR(status.st_mode):
        _chmod(copy, 0o755)
        return None
    mode = stat.S_IMODE(status.st_mode)
    try:
        os.chown(copy, status.st_uid, status.st_gid)
    except OSError:
        if status.st_uid != os.geteuid():
            granted = sum(bit for bit in (os.R_OK, os.W_OK, os.X_OK) if os.access(real, bit))
            mode = mode & 0o7077 | granted << 6
    _chmod(copy, mode)
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    return status


def copy_content(source: str, writing: int, size: int) -> None:
    """Copy the first bytes of a file into an open, empty one, sharing blocks where the file system can.

    Raises:
        OSError: the source cannot be opened or is shorter, or the target takes no more.
    """
    reading = open_for_reading(source)
    try:
        at = 0
        while at < size:
            copied = _copy_piece(reading, writing, size - at, at)
            if not copied:
                raise OSError(errno.EIO, "the file became shorter while it was copied", source)
            at += copied
    finally:
        os.close(reading)


def _copy_piece(reading: int, writing: int, count: int, at: int) -> int:
    if count > _SMALL:
        try:
            return os.copy_file_range(reading, writing, min(count, _PIECE), at, at)
        except OSError as error:
            if error.errno not in {errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS}:
                raise
    return os.pwrite(writing, os.pread(reading, min(count, _SMALL), at), at)
