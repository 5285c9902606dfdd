"""What a run asks about files without opening them: ``stat``, ``access``, links.

Covered: ``os.stat``, ``lstat``, ``access``, ``readlink``, ``os.path.realpath`` and through them ``os.path.exists``, ``isfile``,
``isdir``, ``islink``, ``getsize``, ``getmtime``, ``samefile`` and ``pathlib``. The program's own questions are answered as they
were, with sizes, times and rights. A library's question about whether a file is there, and since when, is answered as it was
(an archive holds the times of what went into it); its size and numbers are those of the file that is there now, if it is.

Elsewhere: ``statvfs``, ``getxattr`` (``attributes.py``).
Not covered: ``fstat`` (it is the open file's), ``os.path.realpath`` by a name bound before a
session. Reading changes a file's access time, which is recorded as it was found.

Invariant: what is served has every field that the system gave, to the nanosecond.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import partial
from sys import _getframe
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.filenames import kept, told
from twice.recorder.effects.files.askers import By, asked_by
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.places import real_path
from twice.recorder.effects.patches import Patch

_stat, _lstat = os.stat, os.lstat
_WHOLE = ("st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid", "st_size")
_TIMES = ("st_atime", "st_mtime", "st_ctime")
_BLOCKS = ("st_blksize", "st_blocks", "st_rdev")
_NS = 1_000_000_000
Status = tuple[int, ...]
Answer = tuple[str, Any]
_THERE, _RAISED = "there", "raised"


def patches(files: Files) -> list[Patch]:
    """Return the patches of the functions that ask about files, for a session."""

    def governed_stat(path: Any, *, dir_fd: Any = None, follow_symlinks: bool = True) -> Any:
        real = partial(real_stat, path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        by = None if isinstance(path, int) else asked_by(files, _getframe(1))
        return status(files, by, path, real, dir_fd=dir_fd, follow=follow_symlinks)

    def governed_lstat(path: Any, *, dir_fd: Any = None) -> Any:
        by = asked_by(files, _getframe(1))
        real = partial(real_lstat, path, dir_fd=dir_fd)
        return status(files, by, path, real, dir_fd=dir_fd, follow=False)

    real_stat, real_lstat = os.stat, os.lstat
    rows = [
        Patch(os, "stat", governed_stat, _probed),
        Patch(os, "lstat", governed_lstat, _probed),
        Patch(os, "access", _access(files), lambda read: read(__file__, os.R_OK)),
        Patch(os, "readlink", _readlink(files)),
        Patch(os.path, "realpath", _realpath(files)),
    ]
    for row in rows:
        real = getattr(row.holder, row.name)
        for supported in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if real in supported:
                supported.add(row.replacement)
    return rows


def status(
    files: Files,
    by: By | None,
    path: Any,
    real: Callable[[], Any],
    *,
    dir_fd: int | None = None,
    follow: bool = True,
) -> Any:
    """Return the status of a path, as this asker sees it.

    Raises:
        OSError: as the world or the record says.
    """
    place = None if by is None else files.places.of(path, dir_fd)
    if by is None or place is None or (by is not By.PROGRAM and not files.governs(place)):
        return real()
    at = files.at(place)
    world = real if at == place else partial(_stat if follow else _lstat, at)
    if files.silent(by):
        return _renamed(world, path)
    how = "stat" if follow else "lstat"
    ended, answer = ask(files, by, (how, files.places.named(place)), lambda: in_plain_values(world))
    if ended == _RAISED:
        raise OSError(*answer, path)
    if by is By.LIBRARY and files.overlay is not None:
        if stat.S_ISDIR(answer[0]):
            files.contents.folder(files.overlay, place)
            world = partial(_stat if follow else _lstat, files.at(place))
        try:
            now = world()
        except OSError:
            return _made(answer)
        if stat.S_IFMT(now.st_mode) != stat.S_IFMT(answer[0]):
            return _made(answer)
        return _made((*(getattr(now, name) for name in _WHOLE), *answer[7:10], *_blocks(now)))
    return _made(answer)


def ask(files: Files, by: By, arguments: Any, live: Callable[[], Answer]) -> Answer:
    """Answer a question about a file: strictly for the program, by its arguments for a library."""
    layer = files.layer
    if by is By.PROGRAM:
        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(ops.FILE_STATUS)
        return layer.read(actor, ops.FILE_STATUS, live, arguments)  # type: ignore[return-value]
    answer: Answer = layer.fact(ops.FILE_STATUS, arguments, live, needed=False)
    return answer


def in_plain_values(world: Callable[[], Any]) -> Answer:
    """Call the function, and return its answer in plain values."""
    try:
        found = world()
    except OSError as error:
        return (_RAISED, (error.errno or 0, error.strerror or ""))
    if not isinstance(found, os.stat_result):
        return (_THERE, found)
    names = (*_WHOLE, *(f"{name}_ns" for name in _TIMES))
    return (_THERE, (*(getattr(found, name) for name in names), *_blocks(found)))


def _blocks(found: os.stat_result) -> Status:
    return tuple(getattr(found, name, 0) for name in _BLOCKS)


def _made(answer: Status) -> os.stat_result:
    """Build the value that ``os.stat`` gave, from plain values."""
    whole, times, blocks = answer[:7], answer[7:10], answer[10:]
    rest: dict[str, float | int] = dict(zip(_BLOCKS, blocks, strict=True))
    for name, nanoseconds in zip(_TIMES, times, strict=True):
        seconds, part = divmod(nanoseconds, _NS)
        rest[name] = seconds + 1e-9 * part  # as posixmodule.c adds them
        rest[f"{name}_ns"] = nanoseconds
    return os.stat_result((*whole, *(time // _NS for time in times)), rest)


def _renamed(world: Callable[[], Any], path: Any) -> Any:
    try:
        return world()
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _access(files: Files) -> Callable[..., Any]:
    real = os.access

    def access(path: Any, mode: int, **options: Any) -> bool:
        by = asked_by(files, _getframe(1))
        place = None if by is None else files.places.of(path, options.get("dir_fd"))
        if by is None or place is None or (by is not By.PROGRAM and not files.governs(place)):
            return real(path, mode, **options)
        at = files.at(place)
        world = partial(real, path, mode, **options) if at == place else partial(real, at, mode)
        if files.silent(by):
            return world()
        how = ("access", files.places.named(place), int(mode))
        return bool(ask(files, by, how, lambda: in_plain_values(world))[1])

    _like(real, access)
    return access


def _readlink(files: Files) -> Callable[..., Any]:
    real = os.readlink

    def readlink(path: Any, *, dir_fd: Any = None) -> Any:
        by = asked_by(files, _getframe(1))
        place = None if by is None else files.places.of(path, dir_fd)
        if by is None or place is None or (by is not By.PROGRAM and not files.governs(place)):
            return real(path, dir_fd=dir_fd)
        at = files.at(place)
        world = partial(real, path, dir_fd=dir_fd) if at == place else partial(real, at)
        if files.silent(by):
            return world()
        how = ("readlink", files.places.named(place))
        ended, answer = ask(
            files, by, how, lambda: in_plain_values(lambda: kept(os.fsdecode(world())))
        )
        if ended == _RAISED:
            raise OSError(*answer, path)
        target = told(answer)
        return os.fsencode(target) if isinstance(path, bytes) else target

    _like(real, readlink)
    return readlink


def _realpath(files: Files) -> Callable[..., Any]:
    real = os.path.realpath

    def realpath(filename: Any, **options: Any) -> Any:
        by = asked_by(files, _getframe(1))
        place = None if by is not By.PROGRAM else files.places.of(filename)
        if by is not By.PROGRAM or place is None or files.silent(by):
            return real(filename, **options)

        def world() -> str:
            found = real(files.at(place), **options) if options else real_path(files.at(place))
            return files.places.named(files.places.logical(os.fsdecode(found)))

        how = ("realpath", files.places.named(place))
        ended, answer = ask(files, by, how, lambda: in_plain_values(world))
        if ended == _RAISED:
            raise OSError(*answer, filename)
        found = files.places.found(answer)
        return os.fsencode(found) if isinstance(filename, bytes) else found

    _like(real, realpath)
    return realpath


def _like(real: Any, replacement: Any) -> None:
    replacement.__name__ = replacement.__qualname__ = real.__name__


def _probed(read: Callable[[Any], object]) -> None:
    read(__file__)
