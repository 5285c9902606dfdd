"""Namespaces of a process's own: mounts, network and process ids that nobody outside shares.

With the right to, one system call makes them. Without, a user namespace is made around them, in which the
process keeps its user and group. Containers and hardened systems refuse one or both: that is found in a
process that is thrown away, because one that fails half-way has no identity any more.

Not for: what is mounted in them (``world``) and what runs in them (``kept_program``).

Invariant: after ``NamespaceRefused`` the process is as it was, unless the exception says otherwise.
"""

from __future__ import annotations

import fcntl
import functools
import os
import struct
import sys
from contextlib import suppress
from typing import NamedTuple

from twice.recorder.kernel import libc
from twice.recorder.kernel.file_state import closing_descriptor

_listdir, _stat = os.listdir, os.stat
_SELF = "/proc/self"
_USER_NAMESPACE_OF_HOST = 0xEFFFFFFD  # PROC_USER_INIT_INO of the kernel
_AF_INET, _SOCK_DGRAM, _SOCK_CLOEXEC = 2, 2, 0o2000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_INTERFACE = struct.Struct("16sH22x")


class NamespaceRefused(Exception):
    """The system gives this process no namespaces; ``reason`` is the refused step and the kernel's answer.

    A process that ``is_entered`` stands in some of them all the same, and must end.
    """

    def __init__(self, reason: str, *, is_entered: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.is_entered = reason, is_entered


class Namespaces(NamedTuple):
    """Which namespaces of its own a process has entered.

    Attributes:
        has_user: a user namespace was made around the others, in which this process has every right.
        is_of_host: the process has its rights from the machine's own user namespace, not from a
            container's or its own.
        has_mounts: mounts are seen by this process and its descendants alone.
        has_network: the only interface is a loopback of its own, down at first.
        has_process_numbers: the next child is process 1 of a numbering of its own.
    """

    has_user: bool
    is_of_host: bool
    has_mounts: bool
    has_network: bool
    has_process_numbers: bool


def enter_namespaces(
    *, mounts: bool = True, network: bool = False, process_numbers: bool = False
) -> Namespaces:
    """Move this process into namespaces of its own, all that are asked for or none.

    Called while the process has one thread: others would stay outside. ``NamespaceRefused`` where it has more, and
    where the system gives none.
    """
    flags = libc.CLONE_NEWNS if mounts else 0
    flags |= libc.CLONE_NEWNET if network else 0
    flags |= libc.CLONE_NEWPID if process_numbers else 0
    assert flags, "a namespace of some kind is asked for"
    _require_one_thread()
    has_user = not libc.has_capability(libc.CAP_SYS_ADMIN)
    reason = _try_in_child(flags, in_user_namespace=has_user)
    if reason:
        raise NamespaceRefused(reason)
    _unshare(flags, in_user_namespace=has_user)
    if mounts:
        try:
            # Otherwise what is mounted here appears outside, where the host shares its mounts.
            libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
        except OSError as error:
            raise NamespaceRefused(_describe("mount", error), is_entered=True) from error
    is_of_host = _stat(f"{_SELF}/ns/user").st_ino == _USER_NAMESPACE_OF_HOST
    return Namespaces(has_user, is_of_host, mounts, network, process_numbers)


def bring_loopback_up() -> None:
    """Let the processes of a new network namespace reach each other by 127.0.0.1.

    An ``OSError`` says that this process has no rights there.
    """
    # twice leaves Python's socket module to the layer that records it.
    library = libc.library()
    descriptor = library.socket(_AF_INET, _SOCK_DGRAM | _SOCK_CLOEXEC, 0)
    if descriptor < 0:
        raise OSError("no socket to ask for the loopback interface")
    try:
        asked = _INTERFACE.pack(b"lo", 0)
        name, flags = _INTERFACE.unpack(fcntl.ioctl(descriptor, _SIOCGIFFLAGS, asked))
        fcntl.ioctl(descriptor, _SIOCSIFFLAGS, _INTERFACE.pack(name, flags | _IFF_UP))
    finally:
        os.close(descriptor)


def give_up_rights(entered: Namespaces) -> None:
    """Take from this process the rights that entering a user namespace gave it.

    Called in the program's process: with them it could read its own files whatever their permissions say.
    """
    if entered.has_user and os.geteuid() != 0:
        libc.drop_capabilities()


def _require_one_thread() -> None:
    if not sys.platform.startswith("linux"):
        raise NamespaceRefused("namespaces are a feature of Linux")
    try:
        threads = len(_listdir(f"{_SELF}/task"))
    except OSError as error:
        raise NamespaceRefused(_describe("/proc", error)) from error
    if threads != 1:
        raise NamespaceRefused(f"the process has {threads} threads; expected one")


def _unshare(flags: int, *, in_user_namespace: bool) -> None:
    user, group = os.geteuid(), os.getegid()
    try:
        libc.unshare(flags | (libc.CLONE_NEWUSER if in_user_namespace else 0))
    except OSError as error:
        raise NamespaceRefused(_describe("unshare", error)) from error
    if not in_user_namespace:
        return
    # Without the denial the kernel takes no group map from an ordinary user.
    for name, text in (
        ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1"),
    ):  # fmt: skip
        try:
            write_at_once(f"{_SELF}/{name}", text)
        except OSError as error:
            raise NamespaceRefused(_describe(name, error), is_entered=True) from error


def write_at_once(path: str, text: str) -> None:
    """Write with one call, which the kernel refuses or takes whole; a buffered write hides a refusal."""
    with closing_descriptor(os.open(path, os.O_WRONLY | os.O_CLOEXEC)) as descriptor:
        os.write(descriptor, text.encode())


@functools.cache
def _try_in_child(flags: int, *, in_user_namespace: bool) -> str:
    """Return why namespaces are refused; empty when they are given."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        reason = "the attempt ended early"
        with suppress(BaseException):
            reason = _try(flags, in_user_namespace=in_user_namespace)
        os.write(writing, reason.encode(errors="replace"))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        reason = answer.read().decode()
    os.waitpid(child, 0)
    return reason


def _try(flags: int, *, in_user_namespace: bool) -> str:
    step = "mount"
    try:
        _unshare(flags, in_user_namespace=in_user_namespace)
        if flags & libc.CLONE_NEWNS:
            # Some systems give the namespace and take the rights in it: this is the first use of one.
            libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
            step = "overlay"
            libc.mount("none", "/", "overlay", libc.MS_RDONLY, "lowerdir=/usr:/etc")
    except NamespaceRefused as refused:
        return refused.reason
    except OSError as error:
        return _describe(step, error)
    return ""


def _describe(step: str, error: OSError) -> str:
    return f"{step}: {error.strerror or error}"
