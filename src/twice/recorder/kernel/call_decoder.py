"""The arguments of an intercepted system call: the paths behind its pointers, its flags, the files it means.

Invariant: nothing is guessed; what cannot be read is an error.
"""

from __future__ import annotations

import os

from twice.recorder.kernel.notification import Notification
from twice.recorder.kernel.path_resolution import PathResolver, ResolvedPath
from twice.recorder.kernel.remote_memory import RemoteMemory
from twice.recorder.kernel.system_calls import PathCall

_CREATES = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_HOW_FLAGS_BYTES = 8
_RENAMES = ("rename", "symlink", "rmdir", "link")


class CallDecoder:
    """Reads the arguments of calls, one after the other.

    Args:
        memory: of the processes that make them.
    """

    def __init__(self, memory: RemoteMemory) -> None:
        self._memory, self._resolver = memory, PathResolver()

    def read_path(self, notification: Notification, call: PathCall) -> str:
        """Return the call's path as the process gave it.

        Raises:
            OSError: when its memory cannot be read.
        """
        return os.fsdecode(
            self._memory.read_path(notification.pid, notification.arguments[call.path])
        )

    def read_flags(self, notification: Notification, call: PathCall) -> int:
        """Return the flags of an open.

        Raises:
            OSError: when they stand in memory that cannot be read.
        """
        if call.flags is not None:
            return notification.arguments[call.flags]
        if call.name == "creat":
            return _CREATES
        how = self._memory.read(notification.pid, notification.arguments[2], _HOW_FLAGS_BYTES)
        return int.from_bytes(how, "little")

    def resolve(
        self, notification: Notification, call: PathCall, given: str, *, follows_last: bool
    ) -> ResolvedPath:
        """Return the file that the call means.

        Raises:
            OSError: when the process is gone, or its folder has no path.
        """
        return self._resolve(notification, call.folder, given, follows_last=follows_last)

    def resolve_second(self, notification: Notification, call: PathCall) -> ResolvedPath | None:
        """Return the other file of a call with two paths.

        Raises:
            OSError: when its path cannot be read.
        """
        if call.second_path is None:
            return None
        address = notification.arguments[call.second_path]
        given = os.fsdecode(self._memory.read_path(notification.pid, address))
        return self._resolve(notification, call.second_folder, given, follows_last=False)

    def note_made(self, call: PathCall) -> None:
        """Forget which folders lead where, when this call may change it."""
        if call.name.startswith(_RENAMES):
            self._resolver.forget_folders()

    def _resolve(
        self, notification: Notification, folder: int | None, given: str, *, follows_last: bool
    ) -> ResolvedPath:
        register = None if folder is None else notification.arguments[folder]
        return self._resolver.resolve(notification.pid, register, given, follows_last=follows_last)
