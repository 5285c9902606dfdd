"""Memory of a supervised process: the paths that its system calls point to.

Read through ``process_vm_readv`` each time. A ``/proc/PID/mem`` that is kept open shows the old memory after
``exec``, and the parent's after ``vfork``: paths in children would be lost.

Invariant: nothing is written to the other process.
"""

from __future__ import annotations

import ctypes
import os

from twice.recorder.kernel.libc import library

_PAGE = 4096
_PATH_BYTES_MAX = 4096
_FIRST_LOOK = 256


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class RemoteMemory:
    """Reads memory of other processes, one call after the other."""

    def __init__(self) -> None:
        self._read = library().process_vm_readv
        self._page = ctypes.create_string_buffer(_PAGE)
        self._here = _Span(ctypes.addressof(self._page), 0)
        self._there = _Span(0, 0)
        self._spans = ctypes.byref(self._here), ctypes.byref(self._there)

    def read_path(self, pid: int, address: int) -> bytes:
        """Return the text up to its final NUL.

        Raises:
            OSError: when the memory cannot be read: the process is gone or protects itself, or the
                address leads nowhere.
        """
        text = b""
        size = min(_PAGE - address % _PAGE, _FIRST_LOOK)
        while len(text) < _PATH_BYTES_MAX:
            piece = self.read(pid, address, size)
            end = piece.find(b"\0")
            if 0 <= end < _PATH_BYTES_MAX - len(text):
                return text + piece[:end]
            text += piece
            address += len(piece)
            size = _PAGE - address % _PAGE  # what lies behind a page may not be there
        raise OSError(36, "a path of more than 4096 bytes")

    def read(self, pid: int, address: int, size: int) -> bytes:
        """Return up to ``size`` bytes, at most a page.

        Raises:
            OSError: as ``read_path`` does.
        """
        self._here.length = self._there.length = size
        self._there.base = address
        here, there = self._spans
        count = self._read(pid, here, 1, there, 1, 0)
        if count <= 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return self._page.raw[:count]
