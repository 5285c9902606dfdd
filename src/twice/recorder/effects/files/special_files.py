"""Files that no disk holds: ``/proc`` and ``/sys``, recorded as whole texts, and devices that give entropy.

Covered: ``open`` for reading. The kernel's text is taken when its file is opened, and again whenever it is read from
its start, as the kernel makes it anew then. Reads by the program are strict; those of libraries are answered by name.
``/dev/urandom`` and ``/dev/random`` opened for bytes by the program's own code are entropy like ``os.urandom``'s:
every read is one question, and no byte is read ahead.

Not covered: the same opened by ``os.open``, which is named for a text and refused for a device, where the program does
it; texts longer than 1 MiB, and files that wait for something to say; what C code reads by itself; a library's look at
its process's memory. Libraries read the real devices.

Invariant: what is served is one whole text, never pieces of two.
"""

from __future__ import annotations

import io
import os
import posixpath
import stat
from collections.abc import Callable
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.places import Caller

DEVICES = frozenset({"/dev/urandom", "/dev/random"})
_TEXT_BYTES_MAX = 1 << 20
_FOLDERS = ("/proc/", "/sys/")
_LINKS = ("fd", "map_files", "cwd", "exe", "root", "mem", "pagemap")
_MEMORY = ("maps", "smaps", "smaps_rollup", "numa_maps", "auxv")
_SAID, _RAISED, _LEFT = "said", "raised", "left"
_open, _close, _read, _fstat = os.open, os.close, os.read, os.fstat


def name_kernel_file(given: Any, caller: Caller) -> str | None:
    """Return the name of a kernel's file that can be recorded; None for any other path."""
    try:
        name = posixpath.normpath(os.fsdecode(given))
    except TypeError:
        return None
    if not name.startswith(_FOLDERS) or "\0" in name:
        return None
    hidden = _LINKS if caller is Caller.PROGRAM else (*_LINKS, *_MEMORY)
    return None if any(part in hidden for part in name.split("/")[3:]) else name


def open_kernel_file(
    files: Files, name: str, given: Any, caller: Caller, mode: str, rest: tuple[Any, ...]
) -> io.IOBase | None:
    """Open a kernel's file as ``open`` does; return None for a file that is left to the world.

    ``given`` is the name as the program gave it; ``rest`` is buffering, encoding, errors, newline and closefd.
    """
    layer = files.layer

    def ask() -> bytes | None:
        actor = layer.actor()
        if caller is Caller.PROGRAM and actor is not None:
            answer: Any = layer.read(actor, ops.KERNEL_FILE, lambda: _look(name), name)
        else:
            answer = layer.fact(ops.KERNEL_FILE, name, lambda: _look(name), needed=False)
        how, message, number, text = answer
        if how == _RAISED:
            raise OSError(number, message, given)
        return bytes(text) if how == _SAID else None

    first = ask()
    if first is None:
        return None
    raw = KernelFile(given, first, lambda: ask() or b"")
    buffering, encoding, errors, newline, _ = rest
    if buffering == 0:
        return raw
    made: Any = io.BufferedReader(raw, buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE)
    if "b" not in mode:
        made = io.TextIOWrapper(made, encoding, errors, newline, buffering == 1)
        made.mode = mode
    return made  # type: ignore[no-any-return]  # one of io's


def _look(name: str) -> tuple[str, str, int, bytes]:
    try:
        # Without O_NONBLOCK, a file that waits for something to say would hold the program.
        descriptor = _open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return (_RAISED, error.strerror or "", error.errno or 0, b"")
    try:
        if not stat.S_ISREG(_fstat(descriptor).st_mode):
            return (_LEFT, "", 0, b"")
        text = bytearray()
        while len(text) <= _TEXT_BYTES_MAX and (piece := _read(descriptor, 1 << 16)):
            text += piece
    except OSError:
        return (_LEFT, "", 0, b"")
    finally:
        _close(descriptor)
    return (_SAID, "", 0, bytes(text)) if len(text) <= _TEXT_BYTES_MAX else (_LEFT, "", 0, b"")


class _SpecialFile(io.RawIOBase):
    """The lowest layer of a file that is read, under the name that the program gave."""

    mode = "rb"

    def __init__(self, name: Any) -> None:
        self.name = name

    def readable(self) -> bool:
        """Return True: the content can be read."""
        return True


class KernelFile(_SpecialFile):
    """A file that the kernel answers: with ``text`` now, and anew when it is read from its start again."""

    def __init__(self, name: Any, text: bytes, ask: Callable[[], bytes]) -> None:
        super().__init__(name)
        self._text, self._at, self._ask, self._is_new = text, 0, ask, True

    def seekable(self) -> bool:
        """Return True: the content is in memory."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer."""
        if self._at == 0 and not self._is_new:
            self._text = self._ask()
        self._is_new = False
        view = memoryview(buffer).cast("B")
        piece = self._text[self._at : self._at + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place in the text."""
        start = (0, self._at, len(self._text))[whence]
        if start + offset < 0:
            raise OSError(22, "Invalid argument")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the position in the text."""
        return self._at


class RandomFile(_SpecialFile):
    """A file of entropy."""

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer."""
        view = memoryview(buffer).cast("B")
        view[:] = os.urandom(len(view))
        return len(view)

    def read1(self, size: int = -1, /) -> Any:
        """Read as a buffered file does."""
        return self.read(size)
