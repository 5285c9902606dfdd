"""Refuses, by name, every change of a file in a replay that has no world: where no namespace is to be had.

Python's own writes go to a private folder there, which stays allowed. What C code and other processes want
to write is answered with EROFS, as on a medium that takes no writes, and named.

Invariant: no call that could change a file outside of the allowed folders is let through.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence

from twice.recorder.kernel.call_decoder import CallDecoder
from twice.recorder.kernel.notification import Listener, Notification
from twice.recorder.kernel.remote_memory import RemoteMemory
from twice.recorder.kernel.system_calls import (
    ATTRIBUTE_CHANGES,
    CHANGES,
    NUMBERS,
    OPENS,
    UNNAMED,
    WRITE_FLAGS,
    path_calls,
)

_ALWAYS_ALLOWED = ("/dev/", "/proc/")
_NOBODYS = ("/var/lib/libuuid/",)
"""Where libraries of the system keep what they do without as well: refused, and not told."""
_NO_FOLLOW = frozenset(
    {"lchown", "lsetxattr", "lremovexattr", "unlink", "unlinkat", "rmdir", "rename", "renameat",
     "renameat2", "link", "linkat", "symlink", "symlinkat"}
)  # fmt: skip
_UNREADABLE = "a path that cannot be read"


class RefusingSupervisor:
    """The supervising side of a replay without a world.

    Args:
        descriptor: of the filter's listener.
        allowed: folders in which everything may be changed.

    Attributes:
        refused: the files that were to be changed, and by which call first.
    """

    def __init__(self, descriptor: int, allowed: Sequence[str]) -> None:
        self._listener = Listener(descriptor)
        self._decoder = CallDecoder(RemoteMemory())
        self._calls = path_calls(OPENS, CHANGES, ATTRIBUTE_CHANGES)
        self._opens = frozenset(path_calls(OPENS))
        self._unnamed = {NUMBERS[name]: name for name in UNNAMED if name in NUMBERS}
        self._allowed = (*(f"{folder.rstrip('/')}/" for folder in allowed), *_ALWAYS_ALLOWED)
        self.refused: dict[str, str] = {}

    @property
    def descriptor(self) -> int:
        """Return the listener's descriptor, to wait on."""
        return self._listener.descriptor

    def answer_one(self) -> None:
        """Receive one call, and let it proceed or refuse it."""
        notification = self._listener.receive()
        if notification is None:
            return
        if self._is_allowed(notification):
            self._listener.proceed(notification)
        else:
            self._listener.refuse(notification, errno.EROFS)

    def _is_allowed(self, notification: Notification) -> bool:
        name = self._unnamed.get(notification.number)
        if name is not None:
            self.refused.setdefault(name, name)
            return False
        call = self._calls[notification.number]
        try:
            if notification.number in self._opens:
                flags = self._decoder.read_flags(notification, call)
                if not flags & WRITE_FLAGS:
                    return True
            given = self._decoder.read_path(notification, call)
            follows = call.name not in _NO_FOLLOW
            paths = [self._decoder.resolve(notification, call, given, follows_last=follows).path]
            other = self._decoder.resolve_second(notification, call)
            if other is not None:
                paths.append(other.path)
            self._decoder.note_made(call)
        except OSError as error:
            if error.errno != errno.EFAULT:  # such a call fails by itself
                self.refused.setdefault(_UNREADABLE, call.name)
            return False
        if all(f"{path}/".startswith(self._allowed) for path in paths):
            return True
        for path in paths:
            if not path.startswith((*self._allowed, *_NOBODYS)):
                self.refused.setdefault(path, call.name)
        return False
