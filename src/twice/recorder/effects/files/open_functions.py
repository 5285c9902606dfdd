"""``open``, ``io.open`` and ``os.open``: where files are opened, and the file objects for writing.

Covered: the three names, and through them ``pathlib``, ``os.fdopen``, ``codecs``, ``logging``, ``json``, ``pickle``,
``shutil``, ``tempfile``, ``zipfile``, numpy, pandas and whatever else is written in Python.

Names that the standard library and packages bound to ``open`` before a session (``bz2``, ``tarfile``, numpy's
``loadtxt``) are replaced too; those of the user's own modules are named in a caveat.

Not covered: ``io.FileIO`` by itself, ``open`` kept in an object before a session, source code that Python reads
(imports, tracebacks), C code that opens files by itself (``sqlite3``, HDF5).

Invariant: a file object is of the types that ``open`` gives; only the lowest layer of one that writes is
a subclass, to see it closed.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from sys import _getframe
from types import ModuleType
from typing import Any

from twice.errors import EffectRefused
from twice.foundation.source_files import is_ours, is_user_file
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.places import Caller
from twice.recorder.effects.files.special_files import (
    DEVICES,
    RandomFile,
    name_kernel_file,
    open_kernel_file,
)
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import current

_HERE = Path(__file__).parent / "__init__.py"
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NAMELESS = getattr(os, "O_TMPFILE", -1)
_open, _read, _write, _pread, _pwrite = os.open, os.read, os.write, os.pread, os.pwrite
_ACROSS_LAYERS = frozenset({errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})
_SOURCES = frozenset({"builtins", "io", "_io", "os", "posix", "tokenize", "linecache"})
"""Modules that have the names themselves, or open source code with them."""
_LETTERS = frozenset("rwaxbt+")


def patches(files: Files) -> list[Patch]:
    """Return the patches of the functions that open files, for a session."""
    real_open, real_os_open, real_close = builtins.open, os.open, os.close

    def governed_os_open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: Any = None) -> int:
        caller = files.caller(_getframe(1))
        place = None if caller is None else files.places.of(path, dir_fd)
        if place in DEVICES and caller is Caller.PROGRAM:
            raise _refuse_device(place)
        if caller is None or place is None or not files.governs(place):
            return real_os_open(path, flags, mode, dir_fd=dir_fd)
        return _open_place(files, place, path, flags, mode, caller)

    def governed_open(
        file: Any,
        mode: Any = "r",
        buffering: int = -1,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        rest = (buffering, encoding, errors, newline, closefd)
        writes = _writes(mode, *rest[:4])
        caller = None if writes is None else files.caller(_getframe(1))
        if caller is None:
            return real_open(file, mode, *rest, opener)
        if isinstance(file, int):
            if writes and files.writes.is_writing(file):
                return _build(files, file, mode, rest, None)
            return real_open(file, mode, *rest, opener)
        if opener is None:
            place = files.places.of(file)
            if place in DEVICES and caller is Caller.PROGRAM and set(mode) == {"r", "b"}:
                return RandomFile(file)
            kernels = None if writes or files.is_left_out() else name_kernel_file(file, caller)
            if kernels is not None:
                made = open_kernel_file(files, kernels, file, caller, mode, rest)
                if made is not None:
                    return made
            if place is None or not files.governs(place):
                return real_open(file, mode, *rest, None)

            def opener(name: Any, flags: int) -> int:
                return _open_place(files, place, name, flags, 0o666, caller)

        if not writes:
            return real_open(file, mode, *rest, opener)
        return _build(files, file, mode, rest, opener)

    def governed_close(fd: int) -> None:
        if files.writes.is_writing(fd):
            files.writes.finish(fd)
        real_close(fd)

    def probe(read: Callable[[Any], Any]) -> None:
        read(_HERE).close()

    return [
        Patch(builtins, "open", governed_open, probe),
        Patch(io, "open", governed_open, probe),
        Patch(os, "open", governed_os_open, lambda read: real_close(read(_HERE, os.O_RDONLY))),
        Patch(os, "close", governed_close),
        *_early_names(real_open, governed_open),
        *_copy_patches(),
    ]


_looked_through: dict[str, tuple[ModuleType, tuple[str, ...]]] = {}
"""Modules that were looked through before this process was forked, and their names for ``open``."""


def look_through_modules() -> None:
    """Look now for names that were bound early, for the sessions of this process's forks.

    A fork that goes through every name of every module copies most of the memory that it shares.
    """
    for name, module in _modules():
        _looked_through[name] = (module, tuple(_names_of(module, builtins.open)))
        is_user_file(getattr(module, "__file__", None) or "<")  # it remembers the answer


def _modules() -> list[tuple[str, ModuleType]]:
    """Return the loaded modules by name; programs put other values into ``sys.modules``, too."""
    found: list[tuple[str, object]] = list(sys.modules.items())
    return [(name, each) for name, each in found if isinstance(each, ModuleType)]


def _names_of(module: ModuleType, real: Any) -> list[str]:
    return [name for name, value in list(vars(module).items()) if value is real]


def _early_names(real: Any, replacement: Any) -> list[Patch]:
    """Patch other modules' names for ``open`` that were bound before this session."""
    rows = []
    for place, module in _modules():
        looked, names = _looked_through.get(place, (None, ()))
        found = _names_of(module, real) if looked is not module else names
        path = getattr(module, "__file__", None)
        # Where a file lies takes long to say, and few modules have such a name.
        if found and not is_user_file(path or "<") and not is_ours(path or ""):
            rows += [
                Patch(module, name, replacement)
                for name in found
                if module.__name__ not in _SOURCES and vars(module).get(name) is real
            ]
    openers = getattr(sys.modules.get("numpy.lib._datasource"), "_file_openers", None)
    kept = getattr(openers, "_file_openers", None)
    if isinstance(kept, dict) and kept.get(None) is real:  # numpy's loadtxt and genfromtxt
        rows.append(_Entry(kept, "None", replacement))
    return rows


class _Entry(Patch):
    """The entry for plain files in a table of functions that open."""

    def install(self) -> Any:
        """Put the replacement in place; return the original."""
        original, self.holder[None] = self.holder[None], self.replacement
        return original

    def restore(self, original: Any) -> None:
        """Put the original back."""
        self.holder[None] = original


def _open_place(files: Files, place: str, given: Any, flags: int, mode: int, caller: Caller) -> int:
    """Open a place for reading or for writing, and return the descriptor."""
    try:
        if flags & _NAMELESS == _NAMELESS:
            return _open(files.at(place), flags, mode)
        if flags & _WRITES:
            return files.writes.to_write(place, given, flags, mode, caller)
        return _open(files.contents.to_read(place, given, caller), flags, mode)
    except OSError as error:
        if error.filename != given and error.errno is not None:
            raise OSError(error.errno, error.strerror, given) from None
        raise


def _refuse_device(place: str | None) -> EffectRefused:
    return EffectRefused(
        f"{place} was opened by os.open: what is read from its descriptor cannot be recorded.",
        "Expected entropy from os.urandom(n), secrets, or open('/dev/urandom', 'rb').",
        "Read it in one of these ways.",
        path=place,
    )


def _writes(mode: Any, buffering: int, encoding: Any, errors: Any, newline: Any) -> bool | None:
    """Return whether a mode writes; None for arguments that ``open`` itself refuses."""
    if not isinstance(mode, str) or len(set(mode)) != len(mode) or not _LETTERS.issuperset(mode):
        return None
    letters = set(mode)
    if len(letters & set("rwax")) != 1 or letters >= {"b", "t"}:
        return None
    if "b" in letters:
        if encoding is not None or errors is not None or newline is not None:
            return None
    elif buffering == 0:
        raise ValueError("can't have unbuffered text I/O")
    return bool(letters & set("wax+"))


class GovernedFile(io.FileIO):
    """The lowest layer of a file that is written: tells when it is about to be closed."""

    _files: Files | None = None

    def close(self) -> None:
        """Close it after its content was noted."""
        files, self._files = self._files, None
        try:
            if files is not None and not self.closed:
                files.writes.finish(self.fileno())
        finally:
            super().close()


def _build(files: Files, file: Any, mode: str, rest: tuple[Any, ...], opener: Any) -> Any:
    """Build the file object that ``open`` gives for writing, over a layer that reports its close.

    Source: ``_pyio.open`` of the standard library.
    """
    buffering, encoding, errors, newline, closefd = rest
    letters = set(mode)
    raw_mode = "".join(letter for letter in mode if letter in "rwax+")
    raw: Any = GovernedFile(file, raw_mode, closefd, opener)
    made: Any = raw
    try:
        if closefd:
            raw._files = files
        lines = buffering == 1 and "b" not in letters
        if buffering == 1 or (buffering < 0 and raw.isatty()):
            buffering, lines = -1, "b" not in letters
        if buffering != 0:
            size = raw._blksize if buffering < 0 else buffering
            kind = io.BufferedRandom if "+" in letters else io.BufferedWriter
            made = kind(raw, size if size > 1 else io.DEFAULT_BUFFER_SIZE)
        if "b" not in letters:
            made = io.TextIOWrapper(made, encoding, errors, newline, lines)
            made.mode = mode
        if files.writes.is_writing(raw.fileno()):
            files.writes.set_flush(raw.fileno(), _make_flush(made))
    except BaseException:
        made.close()
        raise
    return made


def _make_flush(made: Any) -> Callable[[], object]:
    """Return a function that flushes a file object and does not keep it alive."""
    held = weakref.ref(made)

    def flush() -> object:
        file = held()
        return None if file is None else file.flush()

    return flush


def _copy_patches() -> list[Patch]:
    """Return the patch of a function that the layers of a world refuse."""
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
