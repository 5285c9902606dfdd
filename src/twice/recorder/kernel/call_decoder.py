"""The arguments of an intercepted system call: the paths behind its pointers, its flags, the files it means.

Memory is read through ``process_vm_readv`` each time. A ``/proc/PID/mem`` that is kept open shows the old memory
after ``exec``, and the parent's after ``vfork``: paths in children would be lost.

A path's folders are followed through their links, and so is the last part where the call follows it.

Invariant: nothing is guessed; what cannot be read is an error. Nothing is written to the other process.
"""

from __future__ import annotations

import ctypes
import os
import posixpath

from twice.recorder.kernel.libc import library
from twice.recorder.kernel.paths import ResolvedPath, follow_links, is_link
from twice.recorder.kernel.seccomp import Notification
from twice.recorder.kernel.system_calls import PathCall

_readlink = os.readlink  # the real one: bound before anything is patched
_CREATES = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_HOW_FLAGS_BYTES = 8
_RENAMES = ("rename", "symlink", "rmdir", "link")
_PAGE = 4096
_PATH_BYTES_MAX = 4096
_FIRST_LOOK = 256
_WORKING_FOLDER = -100 & 0xFFFFFFFF
_DESCRIPTORS = ("/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/")
_CACHED_FOLDERS_MAX = 50_000


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
        """Return the text up to its final NUL; an ``OSError`` for a process that is gone or memory that cannot be read."""
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
        """Return up to ``size`` bytes, at most a page; errors as of ``read_path``."""
        self._here.length = self._there.length = size
        self._there.base = address
        here, there = self._spans
        count = self._read(pid, here, 1, there, 1, 0)
        if count <= 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return self._page.raw[:count]


class CallDecoder:
    """Reads the arguments of calls, one after the other.

    Every method raises ``OSError`` where the process is gone, or what it means cannot be read.
    """

    def __init__(self, memory: RemoteMemory) -> None:
        self._memory = memory
        self._folders: dict[str, ResolvedPath] = {}
        """Where folders lead, until a link or name changes."""

    def read_path(self, notification: Notification, call: PathCall) -> str:
        """Return the call's path as the process gave it."""
        return self._read_path(notification, call.path)

    def read_flags(self, notification: Notification, call: PathCall) -> int:
        """Return the flags of an open."""
        if call.flags is not None:
            return notification.arguments[call.flags]
        if call.name == "creat":
            return _CREATES
        how = self._memory.read(notification.pid, notification.arguments[2], _HOW_FLAGS_BYTES)
        return int.from_bytes(how, "little")

    def resolve(
        self, notification: Notification, call: PathCall, given: str, *, follows_last: bool
    ) -> ResolvedPath:
        """Return the file that the call means."""
        folder = None if call.folder is None else notification.arguments[call.folder]
        return self._resolve(notification.pid, folder, given, follows_last=follows_last)

    def resolve_second(self, notification: Notification, call: PathCall) -> ResolvedPath | None:
        """Return the other file of a call with two paths."""
        if call.second_path is None:
            return None
        given = self._read_path(notification, call.second_path)
        at = call.second_folder
        folder = None if at is None else notification.arguments[at]
        return self._resolve(notification.pid, folder, given, follows_last=False)

    def note_made(self, call: PathCall) -> None:
        """Forget which folders lead where, when this call may change it."""
        if call.name.startswith(_RENAMES):
            self._folders.clear()

    def _read_path(self, notification: Notification, position: int) -> str:
        address = notification.arguments[position]
        return os.fsdecode(self._memory.read_path(notification.pid, address))

    def _resolve(
        self, pid: int, folder: int | None, path: str, *, follows_last: bool
    ) -> ResolvedPath:
        """Return the file that a process means by a path, empty for a descriptor itself.

        ``folder`` is the register with the descriptor that a relative path starts from; None for the working folder.
        """
        if path.startswith(_DESCRIPTORS):
            return ResolvedPath(_readlink(f"/proc/{pid}/fd/{posixpath.basename(path)}"))
        if not path.startswith("/"):
            # A register has 64 bits, a descriptor is its lower half.
            descriptor = _WORKING_FOLDER if folder is None else folder & 0xFFFFFFFF
            is_working = descriptor == _WORKING_FOLDER
            start = _readlink(f"/proc/{pid}/{'cwd' if is_working else f'fd/{descriptor}'}")
            path = f"{start}/{path}" if path else start
        head, tail = posixpath.split(path.rstrip("/") or "/")
        if tail in {"", ".", ".."}:
            return follow_links(path)
        parent = self._folders.get(head)
        if parent is None:
            if len(self._folders) >= _CACHED_FOLDERS_MAX:
                self._folders.clear()
            parent = self._folders[head] = follow_links(head)
        whole = f"{parent.path.rstrip('/')}/{tail}"
        if not follows_last or not is_link(whole):
            return ResolvedPath(whole, parent.links)
        target, more = follow_links(whole)
        return ResolvedPath(target, (*parent.links, *more))
