"""``/proc`` and ``/sys``: what the kernel says in files is read once at a time, and recorded whole.

Covered: ``open`` for reading. A file's text is taken when it is opened, and again whenever it is read from its
start, as the kernel makes it anew then. Reads by the program are strict; those of libraries are answered by name.

Not covered: the same opened by ``os.open``, which is named where the program does it; texts longer than 1 MiB, and
files that wait for something to say; what C code reads by itself; a library's look at its process's memory.

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
from twice.recorder.effects.files.askers import By
from twice.recorder.effects.files.filesystem import Files

_TEXT_BYTES_MAX = 1 << 20
_FOLDERS = ("/proc/", "/sys/")
_LINKS = ("fd", "map_files", "cwd", "exe", "root", "mem", "pagemap")
_MEMORY = ("maps", "smaps", "smaps_rollup", "numa_maps", "auxv")
_SAID, _RAISED, _LEFT = "said", "raised", "left"
_open, _close, _read, _fstat = os.open, os.close, os.read, os.fstat


def is_kernels(given: Any, by: By) -> str | None:
    """Return the name of a kernel's file that can be recorded; None for any other path."""
    try:
        name = posixpath.normpath(os.fsdecode(given))
    except TypeError:
        return None
    if not name.startswith(_FOLDERS) or "\0" in name:
        return None
    parts = name.split("/")
    hidden = _LINKS if by is By.PROGRAM else (*_LINKS, *_MEMORY)
    return None if any(part in hidden for part in parts[3:]) else name


def opened(
    files: Files, name: str, given: Any, by: By, mode: str, rest: tuple[Any, ...]
) -> io.IOBase | None:
    """Open a kernel's file as ``open`` does; return None for a file that is left to the world.

    Args:
        files: the session's files.
        name: of the kernel's file.
        given: the same, as the program gave it.
        by: who asks.
        mode: as given to ``open``: it reads.
        rest: buffering, encoding, errors, newline, closefd.

    Raises:
        OSError: as it was raised while recording.
    """

    def ask() -> bytes | None:
        how, told, number, text = _asked(files, name, by)
        if how == _RAISED:
            raise OSError(number, told, given)
        return text if how == _SAID else None

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


def _asked(files: Files, name: str, by: By) -> tuple[str, str, int, bytes]:
    layer = files.layer
    actor = layer.actor()
    if by is By.PROGRAM and actor is not None:
        answer: Any = layer.read(actor, ops.KERNEL_FILE, lambda: _look(name), name)
    else:
        answer = layer.fact(ops.KERNEL_FILE, name, lambda: _look(name), needed=False)
    how, told, number, text = answer
    return how, told, number, bytes(text)


def _look(name: str) -> tuple[str, str, int, bytes]:
    try:
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


class KernelFile(io.RawIOBase):
    """The lowest layer of a file that the kernel answers.

    Args:
        name: as the program gave it.
        text: what it says now.
        ask: what it says when it is read from its start again.
    """

    mode = "rb"

    def __init__(self, name: Any, text: bytes, ask: Callable[[], bytes]) -> None:
        self.name = name
        self._text, self._at, self._ask, self._is_new = text, 0, ask, True

    def readable(self) -> bool:
        """Return True: the content can be read."""
        return True

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
