"""A network namespace of its own for a process that replays, where the system gives one.

In it there is no network: no interface but a loopback that is down. What C code tries then fails, whatever
it goes through. With privileges that takes one system call; without, a user namespace is made around
it, in which the process keeps its numbers. Containers and hardened systems refuse both, and then
nothing is changed.

Not for: sockets in the file system (``AF_UNIX`` by path), which a network namespace does not hide.

Invariant: the process is as it was, or cut off from the network; never half of it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from twice.recorder.kernel.confinement import current
from twice.recorder.kernel.tiers import NETWORK, tiers_left_out

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_SELF = Path("/proc/self")


def cut_off() -> bool:
    """Leave the network for good, if that is possible; whether it was done.

    Called before the process has started any thread: those that exist would stay in the network.
    """
    if current().is_cut_off:
        return True
    is_left_out = NETWORK in tiers_left_out(os.environ)
    if is_left_out or not sys.platform.startswith("linux") or not _alone():
        return False
    with suppress(OSError):
        _unshare(_NEW_NET)
        return True
    if not _possible_for_a_user():
        return False
    _as_user()
    return True


def _alone() -> bool:
    try:
        return sum(1 for _ in (_SELF / "task").iterdir()) == 1
    except OSError:
        return False


def _possible_for_a_user() -> bool:
    """Try it in a process that is thrown away: one that fails half-way is nobody any more."""
    child = os.fork()
    if not child:
        code = 1
        with suppress(BaseException):
            _as_user()
            code = 0
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _as_user() -> None:
    user, group = os.getuid(), os.getgid()
    _unshare(_NEW_USER | _NEW_NET)
    (_SELF / "setgroups").write_text("deny", encoding="ascii")
    (_SELF / "uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    (_SELF / "gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _unshare(flags: int) -> None:
    if sys.version_info >= (3, 12):
        os.unshare(flags)
        return
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
