"""Refuses, by name, every change of a file in a replay that has no world: where no namespace is to be had.

Python's own writes go to a private folder there, which stays allowed. What C code and other processes want
to write is answered with EROFS, as on a medium that takes no writes, and named.

Not for: a path that another thread exchanges between the look at it and the call. The kernel reads it once more,
and Landlock alone holds then: for writes and names from Linux 6.2 on, never for permissions, owners, times and
attributes. Without it nothing does, and the keeper says so. (To make the calls for the program instead would
not do: its folder, its rights and its mask for permissions are its own.)

Invariant: a call is let through only if the path that was read lies in an allowed folder.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence

from twice.recorder.kernel.seccomp import Notification
from twice.recorder.kernel.supervisor import Supervisor
from twice.recorder.kernel.system_calls import (
    ATTRIBUTE_CHANGES,
    CHANGES,
    OPENS,
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


class RefusingSupervisor(Supervisor):
    """The supervising side of a replay without a world, where everything may be changed in the ``allowed`` folders.

    ``refused`` has the files that were to be changed, and by which call first.
    """

    def __init__(self, descriptor: int, allowed: Sequence[str]) -> None:
        super().__init__(descriptor, path_calls(OPENS, CHANGES, ATTRIBUTE_CHANGES))
        self._allowed = (*(f"{folder.rstrip('/')}/" for folder in allowed), *_ALWAYS_ALLOWED)
        self.refused: dict[str, str] = {}

    def decide(self, notification: Notification) -> int:
        """Let a call proceed, or refuse it."""
        return 0 if self._is_allowed(notification) else errno.EROFS

    def _is_allowed(self, notification: Notification) -> bool:
        name = self.unnamed.get(notification.number)
        if name is not None:
            self.refused.setdefault(name, name)
            return False
        call = self.calls[notification.number]
        try:
            if notification.number in self.opens:
                flags = self.decoder.read_flags(notification, call)
                if not flags & WRITE_FLAGS:
                    return True
            given = self.decoder.read_path(notification, call)
            follows = call.name not in _NO_FOLLOW
            paths = [self.decoder.resolve(notification, call, given, follows_last=follows).path]
            other = self.decoder.resolve_second(notification, call)
            if other is not None:
                paths.append(other.path)
            self.decoder.note_made(call)
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
