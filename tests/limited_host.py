"""Runs a command as a host that gives less would: a container, a hardened system, a supervised process.

``python limited_host.py namespaces,listener --user 54321 -- command`` refuses by the kernel, with filters of system
calls, dropped capabilities and settings of a user namespace of its own. Nothing of the host is changed.

Not for: what twice leaves out by itself (``TWICE_WITHOUT``).

Invariant: the command ends with its own exit code, and every limit is in force before its first instruction.
"""

from __future__ import annotations

import argparse
import errno
import os
import platform
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from ctypes import addressof, c_ulong, create_string_buffer
from pathlib import Path

from programs import HANGS_AFTER_S
from twice.recorder.kernel import libc
from twice.recorder.kernel.call_decoder import RemoteMemory
from twice.recorder.kernel.seccomp import Listener, install_filter
from twice.recorder.kernel.system_calls import ARCHITECTURE, NUMBERS

NAMESPACES = "namespaces"
"""``unshare``, ``setns``, mounts and ``clone`` of namespaces are EPERM, ``clone3`` ENOSYS: containers."""
MOUNTS = "mounts"
"""Namespaces are given, every mount in them is EACCES: AppArmor."""
OVERLAYS = "overlays"
"""An overlay is ENODEV, other mounts are made: kernels without overlayfs, gVisor."""
LISTENER = "listener"
"""A supervisor has its listener already, and lets every call proceed."""
SECCOMP = "seccomp"
"""``seccomp`` is EPERM: filters cannot be installed."""
LANDLOCK = "landlock"
"""The three calls of Landlock are ENOSYS."""
CAPABILITIES = "capabilities"
"""Root has what a container runtime leaves to it."""
USER_NAMESPACES = "user-namespaces"
"""``max_user_namespaces`` is 0: the next one is ENOSPC."""
LIMITS = (NAMESPACES, MOUNTS, OVERLAYS, LISTENER, SECCOMP, LANDLOCK, CAPABILITIES, USER_NAMESPACES)

_CALLS: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "clone": 56, "pivot_root": 155, "mount": 165, "umount2": 166, "unshare": 272, "setns": 308,
        "seccomp": 317,
    },
    "aarch64": {
        "umount2": 39, "mount": 40, "pivot_root": 41, "unshare": 97, "clone": 220, "setns": 268,
        "seccomp": 277,
    },
}  # fmt: skip
_CLONE3, _NEW_MOUNT_CALLS, _LANDLOCK_CALLS = 435, (428, 429, 430, 431, 432, 442), (444, 445, 446)
_NAMESPACE_FLAGS = 0x7E020000
_OF_CONTAINERS = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31})
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _MODE_FILTER = 4, 22, 24, 2
_LOAD, _IF_EQUAL, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO, _NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000


def run_limited(
    command: Sequence[object],
    *limits: str,
    user: int | None = None,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command on a limited host; its exit code and output.

    Args:
        command: with its arguments.
        limits: some of ``LIMITS``.
        user: id of the user and of its group; None for the caller's.
        cwd: the command's working folder.
        environ: the command's whole environment; None for the caller's.
    """
    own = [sys.executable, __file__, ",".join(limits) or "none"]
    own += [] if user is None else ["--user", str(user)]
    return subprocess.run(
        [*own, "--", *map(str, command)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environ,
        timeout=HANGS_AFTER_S,
        check=False,
    )


def can_limit() -> str:
    """Return why hosts cannot be limited here; empty where they can."""
    if not sys.platform.startswith("linux") or platform.machine() not in _CALLS:
        return "filters of system calls are written for Linux on x86_64 and aarch64"
    return ""


def main(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; return its exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("limits")
    parser.add_argument("--user", type=int)
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args(arguments)
    limits = frozenset(asked.limits.split(",")) - {"none"}
    assert limits <= {*LIMITS}, f"{limits - {*LIMITS}} limits nothing"
    if not limits & {LISTENER, OVERLAYS}:
        _limit(limits, asked.user)
        os.execvp(asked.command[0], asked.command)
    return _run_listened(limits, asked.user, asked.command)


def _run_listened(limits: frozenset[str], user: int | None, command: Sequence[str]) -> int:
    """Answer the calls of a command, as a supervisor or a container runtime does, until it ends."""
    import socket

    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asked = [NUMBERS["openat"], NUMBERS["execve"]] if LISTENER in limits else []
        code = _assemble(dict.fromkeys([*asked, NUMBERS["mount"]], _NOTIFY))
        installed = install_filter(code)
        socket.send_fds(theirs, [b"L"], [installed])
        os.close(installed)
        theirs.close()
        _limit(limits, user)
        os.execvp(command[0], list(command))
    theirs.close()
    _, handed, _, _ = socket.recv_fds(ours, 1, 1)
    ended = os.pidfd_open(child)
    listener, memory = Listener(handed[0]), RemoteMemory()
    poll = select.poll()
    for descriptor in (ended, listener.descriptor):
        poll.register(descriptor, select.POLLIN)
    while True:
        ready = dict(poll.poll())
        if ready.get(listener.descriptor, 0) & select.POLLIN:
            _answer(listener, memory, refuses=OVERLAYS in limits)
        elif ready.get(ended):
            return _exit_like(os.waitpid(child, 0)[1])
        else:
            poll.unregister(listener.descriptor)


def _answer(listener: Listener, memory: RemoteMemory, *, refuses: bool) -> None:
    call = listener.receive()
    if call is None:
        return
    if refuses and call.number == NUMBERS["mount"] and call.arguments[2]:
        try:
            kind = memory.read_path(call.pid, call.arguments[2])
        except OSError:
            kind = b""
        if kind == b"overlay":
            listener.answer(call, errno.ENODEV)
            return
    listener.answer(call)


def _exit_like(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _limit(limits: frozenset[str], user: int | None) -> None:
    """Put limits on this process and its descendants, and become another user."""
    if user is not None:
        _let_everyone_reach([sys.prefix, sys.base_prefix, Path(libc.__file__).parents[4]])
    if CAPABILITIES in limits:
        for number in range(int(Path("/proc/sys/kernel/cap_last_cap").read_text()) + 1):
            if number not in _OF_CONTAINERS:
                _prctl(_PR_CAPBSET_DROP, number)
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        _prctl(_PR_SET_DUMPABLE, 1)  # as after an exec: otherwise /proc/self is root's
    if USER_NAMESPACES in limits:
        _refuse_user_namespaces()
    refusals = _refusals(limits)
    if refusals:
        libc.set_no_new_privs()
        code = _assemble(refusals, clone=NAMESPACES in limits)
        held = create_string_buffer(code, len(code))
        program = struct.pack("=HxxxxxxQ", len(code) // 8, addressof(held))
        described = create_string_buffer(program, len(program))
        _prctl(_PR_SET_SECCOMP, _MODE_FILTER, addressof(described))


def _refusals(limits: frozenset[str]) -> dict[int, int]:
    """Return what to answer to which calls, by number."""
    calls = _CALLS[platform.machine()]
    found: dict[int, int] = {}
    if NAMESPACES in limits:
        for name in ("unshare", "setns", "mount", "umount2", "pivot_root"):
            found[calls[name]] = _ERRNO | errno.EPERM
        found |= dict.fromkeys(_NEW_MOUNT_CALLS, _ERRNO | errno.EPERM)
        found[_CLONE3] = _ERRNO | errno.ENOSYS
    if MOUNTS in limits:
        found |= dict.fromkeys((calls["mount"], *_NEW_MOUNT_CALLS), _ERRNO | errno.EACCES)
    if SECCOMP in limits:
        found[calls["seccomp"]] = _ERRNO | errno.EPERM
    if LANDLOCK in limits:
        found |= dict.fromkeys(_LANDLOCK_CALLS, _ERRNO | errno.ENOSYS)
    return found


def _assemble(answers: Mapping[int, int], *, clone: bool = False) -> bytes:
    """Return a filter that answers some calls, and lets the others proceed."""
    lines = [
        (_LOAD, 0, 0, 4),
        (_IF_EQUAL, 1, 0, ARCHITECTURE),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, 0),
    ]
    for number, answer in sorted(answers.items()):
        lines += [(_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]
    if clone:
        lines += [
            (_IF_EQUAL, 0, 3, _CALLS[platform.machine()]["clone"]),
            (_LOAD, 0, 0, 16),
            (_IF_ANY_BIT, 0, 1, _NAMESPACE_FLAGS),
            (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        ]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _refuse_user_namespaces() -> None:
    """Enter a user namespace in which no further one is given, with no right in it after ``exec``."""
    user, group = os.geteuid(), os.getegid()
    libc.unshare(libc.CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1"),
    ):  # fmt: skip
        _write_at_once(f"/proc/self/{name}", text)
    _write_at_once("/proc/sys/user/max_user_namespaces", "0")


def _write_at_once(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _let_everyone_reach(paths: Iterable[str | Path]) -> None:
    """Show folders that lie in somebody's private one to every user, in a mount namespace of this process."""
    by_closed: dict[Path, list[Path]] = {}
    wanted = {Path(path).resolve() for path in paths}
    for path in sorted(path for path in wanted if not wanted & {*path.parents}):
        closed = [folder for folder in reversed(path.parents) if not folder.stat().st_mode & 0o001]
        if closed:
            by_closed.setdefault(closed[0], []).append(path)
    if not by_closed:
        return
    libc.unshare(libc.CLONE_NEWNS)
    libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
    for closed_folder, hidden in by_closed.items():
        held = {path: os.open(path, os.O_PATH) for path in hidden}
        libc.mount("tmpfs", str(closed_folder), "tmpfs", 0, "mode=0755")
        for path, descriptor in held.items():
            path.mkdir(parents=True)
            libc.mount(f"/proc/self/fd/{descriptor}", str(path), None, libc.MS_BIND)
            os.close(descriptor)


def _prctl(option: int, *values: int) -> None:
    words = [c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if libc.library().prctl(option, *words):
        raise OSError(f"prctl {option} was refused")


def folder_for(user: int | None) -> Path:
    """Return a new folder that a user owns and reaches; the caller removes it."""
    made = Path(tempfile.mkdtemp(prefix="twice-tests-"))
    made.chmod(0o700)
    if user is not None:
        os.chown(made, user, user)
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
