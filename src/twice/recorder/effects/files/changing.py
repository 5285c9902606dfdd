"""Functions of ``os`` that change the tree of files: asked of the world once, of the record in replay.

Covered: ``mkdir``, ``rmdir``, ``unlink``, ``remove``, ``rename``, ``replace``, ``link``, ``symlink``, ``truncate``,
``chmod``, ``chown``, ``lchown``, ``utime``, ``mkfifo``, ``mknod``, ``setxattr``, ``removexattr``, ``chdir``, by descriptor
``fchmod``, ``fchown`` and those of the others that take one, and through them ``makedirs``, ``removedirs``, ``pathlib``,
``shutil`` and ``tempfile``. The program's own calls are compared in their order, with their outcome; those of
libraries are answered by what they ask with.

Not covered: changes through a descriptor that writes (they are changes to its file), ``fchdir``.

Invariant: in replay the real tree is not changed, whatever the record says.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from inspect import unwrap
from sys import _getframe
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.files.askers import By, asked_by
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import retry_interrupted

Failed = tuple[int, str] | None

# name in os -> what it does. Paths come first; a name that this system lacks is passed over.
_ONE_PATH = {
    "mkdir": "mkdir", "rmdir": "rmdir", "unlink": "unlink", "remove": "unlink", "truncate": "truncate",
    "chmod": "chmod", "chown": "chown", "lchown": "chown", "utime": "utime", "mkfifo": "mkfifo",
    "mknod": "mknod", "setxattr": "setxattr", "removexattr": "removexattr",
}  # fmt: skip
_BY_DESCRIPTOR = {"fchmod": "chmod", "fchown": "chown"}
_TWO_PATHS = {"rename": "rename", "replace": "rename", "link": "link"}
_IN_PLACE = frozenset({"truncate", "rename", "link"})
_NEW = frozenset({"mkdir", "chmod", "mkfifo", "mknod"})


def patches(files: Files) -> list[Patch]:
    """Return the patches of the functions that change the tree, for a session."""
    rows = [
        Patch(os, name, _one(files, name, kind))
        for name, kind in _ONE_PATH.items()
        if hasattr(os, name)
    ]
    rows += [Patch(os, name, _two(files, name, kind)) for name, kind in _TWO_PATHS.items()]
    rows += [
        Patch(os, name, _open_one(files, name, kind))
        for name, kind in _BY_DESCRIPTOR.items()
        if hasattr(os, name)
    ]
    return [*rows, Patch(os, "symlink", _symlink(files)), Patch(os, "chdir", _chdir(files))]


def _one(files: Files, name: str, kind: str) -> Callable[..., Any]:
    real = retry_interrupted(getattr(os, name))

    def changed(path: Any, *args: Any, dir_fd: Any = None, **options: Any) -> Any:
        whole = options if dir_fd is None else {**options, "dir_fd": dir_fd}
        by = asked_by(files, _getframe(1))
        place = None if by is None else _place(files, path, dir_fd)
        if by is None or place is None or not files.governs(place):
            return real(path, *args, **whole)
        said = _said(kind, args, options)
        return _change(
            files, by, kind, (place,), said,
            lambda: real(path, *args, **whole),
            lambda at: real(at, *args, **options), (path,),
        )  # fmt: skip

    _like(real, changed)
    return changed


def _place(files: Files, path: Any, folder: Any) -> str | None:
    """Return the changed place; None for a file open for writing, whose own layer sees the change."""
    if not isinstance(path, int):
        return files.places.of(path, folder)
    return None if files.writes.is_writing(path) else files.places.of_open(path)


def _open_one(files: Files, name: str, kind: str) -> Callable[..., Any]:
    real, by_path = retry_interrupted(getattr(os, name)), getattr(os, kind)

    def changed(fd: int, *args: int) -> Any:
        by = asked_by(files, _getframe(1))
        place = None if by is None else _place(files, fd, None)
        if by is None or place is None or not files.governs(place):
            return real(fd, *args)
        return _change(
            files, by, kind, (place,), _said(kind, args, {}),
            lambda: real(fd, *args),
            lambda at: by_path(at, *args), (fd,),
        )  # fmt: skip

    _like(real, changed)
    return changed


def _two(files: Files, name: str, kind: str) -> Callable[..., Any]:
    real = retry_interrupted(getattr(os, name))

    def changed(
        src: Any, dst: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None, **options: Any
    ) -> Any:
        folders = {"src_dir_fd": src_dir_fd, "dst_dir_fd": dst_dir_fd}
        by = asked_by(files, _getframe(1))
        one = None if by is None else files.places.of(src, src_dir_fd)
        two = None if by is None else files.places.of(dst, dst_dir_fd)
        live = partial(real, src, dst, **folders, **options)
        if by is None or one is None or two is None:
            return live()
        if not (files.governs(one) or files.governs(two)):
            return live()
        return _change(files, by, kind, (one, two), (), live, _nothing, (src, dst))

    _like(real, changed)
    return changed


def _symlink(files: Files) -> Callable[..., Any]:
    real = retry_interrupted(os.symlink)

    def symlink(
        src: Any, dst: Any, target_is_directory: bool = False, *, dir_fd: Any = None
    ) -> None:
        by = asked_by(files, _getframe(1))
        place = None if by is None else files.places.of(dst, dir_fd)
        live = partial(real, src, dst, target_is_directory, dir_fd=dir_fd)
        if by is None or place is None or not files.governs(place):
            live()
            return
        said = (files.places.named(os.fsdecode(src)),)
        _change(files, by, "symlink", (place,), said, live, partial(real, src), (src, dst))

    _like(real, symlink)
    return symlink


def _chdir(files: Files) -> Callable[..., Any]:
    real = retry_interrupted(os.chdir)

    def chdir(path: Any) -> None:
        by = asked_by(files, _getframe(1))
        place = None if by is None else files.places.of(path)
        if by is None or place is None:
            real(path)
            return
        if files.overlay is not None:
            path = files.at(place)
        real(path)  # the folder is this process's own: it is compared by what is asked in it

    _like(real, chdir)
    return chdir


def _change(
    files: Files,
    by: By,
    kind: str,
    places: tuple[str, ...],
    said: tuple[Any, ...],
    real: Callable[[], Any],
    in_overlay: Callable[[Any], Any],
    given: tuple[Any, ...],
) -> None:
    """Let one change happen: in the world, in the overlay, or as the record says.

    Raises:
        OSError: as the world or the record says.
        EffectMismatch: E-EFFECT-001, in replay, when the record holds another question.
    """
    _before(files, kind, places)
    happened = False

    def live() -> Failed:
        nonlocal happened
        happened = True
        try:
            if files.changes is None:
                real()
            else:
                files.changes.require(kind, places)
                files.changes.apply(kind, places, in_overlay)
        except OSError as error:
            return (error.errno or 0, error.strerror or "")
        return None

    failed = _answered(files, by, (kind, *map(files.places.named, places), *said), live)
    if failed is not None:
        number, text = failed
        raise OSError(number, text, given[0], *((None, given[1]) if len(given) > 1 else ()))
    if files.changes is not None and not happened:
        with suppress(OSError):  # it came to pass; what cannot be repeated shows when it is read
            files.changes.apply(kind, places, in_overlay)
    files.writes.after_change(kind, places)


def _before(files: Files, kind: str, places: tuple[str, ...]) -> None:
    """Keep the content that the change would remove."""
    if kind in _IN_PLACE:
        files.contents.old(places[0])
    for place in places:
        if kind not in _NEW:
            files.contents.before_change(place)


def _answered(files: Files, by: By, arguments: Any, live: Callable[[], Failed]) -> Failed:
    layer = files.layer
    if files.silent(by):
        return live()
    if by is By.PROGRAM:
        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(ops.FILE_CHANGED)
        return layer.read(actor, ops.FILE_CHANGED, live, arguments)  # type: ignore[return-value]
    found: Failed = layer.fact(ops.FILE_CHANGED, arguments, live, needed=False)
    return found


def _said(kind: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Return the plain arguments besides the paths, such as a length or a mode; times are left out."""
    if kind == "utime":
        return ()
    plain = (*args, *(options[name] for name in sorted(options)))
    return tuple(value for value in plain if isinstance(value, int | str | bytes | None))


def _nothing(_path: Any) -> None:
    """Do nothing: the overlay itself changes two paths."""


def _like(real: Any, replacement: Any) -> None:
    """Make functions that check ``os.supports_...`` see the abilities of the real one."""
    replacement.__name__ = replacement.__qualname__ = real.__name__
    for supported in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        if unwrap(real) in supported:
            supported.add(replacement)
