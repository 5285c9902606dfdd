"""Where a replay writes when the kernel gives it a world of its own: the true paths.

Every folder that the program can reach is a copy, so files are made, changed and removed where the program
says, and code of any language sees one tree. This stands for ``Overlay`` there, and hides nothing.

Invariant: used only inside of a world; outside, the same calls would change the user's files.
"""

from __future__ import annotations

import errno
import os
import posixpath
import shutil
from collections.abc import Iterable
from contextlib import suppress

from twice.recorder.effects.actors import outside
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import current

_rename, _makedirs, _unlink, _truncate = os.replace, os.makedirs, os.unlink, os.truncate
_open, _close = os.open, os.close
_isdir, _islink, _lexists, _stat = os.path.isdir, os.path.islink, os.path.lexists, os.stat

_read, _write, _pread, _pwrite = os.read, os.write, os.pread, os.pwrite
_ACROSS_LAYERS = frozenset({errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})


class WorldTree:
    """The tree of files of a process in a world.

    Args:
        folder: for contents that the record carries, outside of what the program knows.
    """

    upper = ""

    def __init__(self, folder: str) -> None:
        self.kept = f"{folder}/kept"

    def at(self, place: str) -> str:
        """Return the path that a place leads to: itself."""
        return place

    def holds(self, place: str) -> bool:
        """Return whether a place may be changed where it is: always."""
        del place
        return True

    def make_file(self, place: str) -> str:
        """Return a path to write this place's file at; its folder is there."""
        _makedirs(posixpath.dirname(place), exist_ok=True)
        return place

    def make_beginning(self, place: str, size: int) -> bool:
        """Let a file that is only added to have its recorded size; return whether it had another one."""
        with suppress(OSError):
            if _stat(place).st_size == size:
                return False
        path = self.make_file(place)
        _close(_open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        _truncate(path, size)
        return True

    def make_folder(self, place: str) -> str:
        """Make an empty folder."""
        self.remove(place)
        _makedirs(place, exist_ok=True)
        return place

    def remove(self, place: str) -> None:
        """Remove a place, with everything below it."""
        if _isdir(place) and not _islink(place):
            outside(shutil.rmtree, place, ignore_errors=True)
        elif _lexists(place):
            _unlink(place)

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder."""
        _makedirs(posixpath.dirname(target), exist_ok=True)
        try:
            _rename(source, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # A folder of the real tree cannot be renamed in a world; its copy can be made anew.
            self.remove(target)
            outside(shutil.copytree, source, target, symlinks=True)
            self.remove(source)

    def fill(self, place: str, content: str) -> str:
        """Copy a file to a place."""
        if content != place:
            outside(shutil.copyfile, content, self.make_file(place))
        return place

    def names(self, place: str, real: Iterable[str]) -> list[str]:
        """Return the names in a folder."""
        del place
        return list(real)


def patches() -> list[Patch]:
    """Return the patches of functions that the layers of a world refuse."""
    real = getattr(os, "copy_file_range", None)
    if real is None or not current().is_world:
        return []

    def copy_file_range(
        src: int, dst: int, count: int, offset_src: int | None = None, offset_dst: int | None = None
    ) -> int:
        try:
            return int(real(src, dst, count, offset_src, offset_dst))
        except OSError as error:
            if error.errno not in _ACROSS_LAYERS:
                raise
        data = _read(src, count) if offset_src is None else _pread(src, count, offset_src)
        return _write(dst, data) if offset_dst is None else _pwrite(dst, data, offset_dst)

    return [Patch(os, "copy_file_range", copy_file_range)]
