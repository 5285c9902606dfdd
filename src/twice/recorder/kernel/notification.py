"""The listener of a system call filter: receive one intercepted call, then let it proceed or refuse it.

Source: seccomp_unotify(2).

Invariant: every notification that was received is answered once, or its process is gone.
"""

from __future__ import annotations

import errno
import fcntl
import struct

from twice.foundation.dataclass import dataclass

_RECEIVE, _RESPOND, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_SYNC_WAKE_UP = 1
_PROCEED = 1
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_RESPONSE = struct.Struct("=QqiI")


@dataclass(frozen=True, slots=True)
class Notification:
    """One intercepted system call; its thread waits until it is answered.

    Attributes:
        id: names the notification; the kernel gives each number once.
        pid: id of the thread, in the supervisor's process namespace.
        number: of the system call, for the supervisor's architecture.
        arguments: the six registers, as unsigned 64-bit numbers.
    """

    id: int
    pid: int
    number: int
    arguments: tuple[int, ...]


class Listener:
    """The supervisor's end of a filter.

    Args:
        descriptor: from installing the filter.

    Attributes:
        has_sync_wake: whether the kernel hands the processor over at once (Linux 6.6 and newer):
            10 µs for an intercepted call, not 80.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._buffer = bytearray(_NOTIFICATION.size)
        self._zeros = bytes(_NOTIFICATION.size)
        try:
            fcntl.ioctl(descriptor, _SET_FLAGS, _SYNC_WAKE_UP)
            self.has_sync_wake = True
        except OSError:
            self.has_sync_wake = False

    def receive(self) -> Notification | None:
        """Return the next notification, or None when its process died while it waited."""
        self._buffer[:] = self._zeros  # the kernel refuses a buffer that is not empty
        try:
            fcntl.ioctl(self.descriptor, _RECEIVE, self._buffer, True)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.EINTR}:
                return None
            raise
        number, pid, _, call, _, _, *arguments = _NOTIFICATION.unpack(self._buffer)
        return Notification(number, pid, call, tuple(arguments))

    def proceed(self, notification: Notification) -> None:
        """Let the kernel make the call as it was asked for."""
        self._respond(notification, 0, _PROCEED)

    def refuse(self, notification: Notification, number: int) -> None:
        """Answer the call with an error number, without making it."""
        self._respond(notification, -number, 0)

    def is_waiting(self, notification: Notification) -> bool:
        """Return whether the call still waits, so that its process id names nobody else by now."""
        try:
            fcntl.ioctl(self.descriptor, _IS_VALID, struct.pack("=Q", notification.id))
        except OSError:
            return False
        return True

    def _respond(self, notification: Notification, error: int, flags: int) -> None:
        try:
            fcntl.ioctl(self.descriptor, _RESPOND, _RESPONSE.pack(notification.id, 0, error, flags))
        except OSError as failure:
            if failure.errno != errno.ENOENT:  # the process died, or a signal took the call back
                raise
