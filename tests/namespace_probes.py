"""What this system gives the tests of replays: each part tried once, in a process that is thrown away.

A switch of the system tells only half: profiles of containers and security modules refuse calls that the
kernel was built with, and some give a namespace and take the rights in it.

Not for: the supervisor's filter, which asks its own questions.

Invariant: a probe leaves this process, its files and its namespaces as they were.
"""

from __future__ import annotations

import functools
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from twice.recorder.kernel import libc
from twice.recorder.kernel.kept_program import start_program
from twice.recorder.kernel.layers import layer_options
from twice.recorder.kernel.namespaces import NamespaceRefused, enter_namespaces

_mkdir, _readlink = os.mkdir, os.readlink
_NUMBER = 4_242


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Whether the system gives something.

    Attributes:
        available: whether it worked.
        reason: what was refused, and the system's answer; empty where it worked.
    """

    available: bool
    reason: str = ""


@functools.cache
def probe_world() -> ProbeResult:
    """Return whether a process can get a mount namespace and lay an overlay over files in it."""
    return _try_apart(_make_overlay)


@functools.cache
def probe_process_number() -> ProbeResult:
    """Return whether a program can be given a process id, with a ``/proc`` that agrees."""
    return _try_apart(_take_number)


@functools.cache
def probe_network() -> ProbeResult:
    """Return whether a process can get a network namespace of its own."""
    return _try_apart(_leave_network)


def _make_overlay() -> str:
    entered = enter_namespaces()
    # Memory over a folder that is surely there, for this process alone: no real file is touched.
    base = "/proc"
    libc.mount("tmpfs", base, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "mode=0700")
    for folder in ("real", "start", "upper", "work"):
        _mkdir(f"{base}/{folder}")
    for name in ("hidden", "changed"):
        with open(f"{base}/real/{name}", "w", encoding="utf-8") as file:
            file.write("real")
    os.mknod(f"{base}/start/hidden", stat.S_IFCHR, 0)
    layers = f"lowerdir={base}/start:{base}/real,upperdir={base}/upper,workdir={base}/work"
    libc.mount("overlay", f"{base}/real", "overlay", 0, f"{layers},{layer_options(entered)}")
    if os.path.lexists(f"{base}/real/hidden"):
        return "an overlay does not hide files"
    with open(f"{base}/real/changed", "a", encoding="utf-8") as file:
        file.write("replayed")
    return ""


def _leave_network() -> str:
    enter_namespaces(mounts=False, network=True)
    return ""


def _take_number() -> str:
    enter_namespaces(process_numbers=True)
    agrees = 0

    def program() -> None:
        os._exit(agrees if _readlink("/proc/self") == str(os.getpid()) else 1)

    end = start_program(_NUMBER, program).wait()
    if end.problem:
        return end.problem
    return "" if end.exit_code == agrees else "/proc shows other process ids"


def _try_apart(attempt: Callable[[], str]) -> ProbeResult:
    """Make an attempt in a child process; return what it says."""
    if not sys.platform.startswith("linux"):
        return ProbeResult(available=False, reason="namespaces are a feature of Linux")
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()  # the child would write what is left in its copy
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        reason = "the attempt ended early"
        with suppress(BaseException):
            os.close(reading)
            reason = _explain(attempt)
        with suppress(BaseException):
            os.write(writing, reason.encode(errors="replace"))
        os._exit(0 if not reason else 1)
    os.close(writing)
    with open(reading, "rb") as answer:
        reason = answer.read().decode()
    status = os.waitpid(child, 0)[1]
    if status and not reason:
        reason = "the attempt was killed"
    return ProbeResult(not reason, reason)


def list_missing() -> list[str]:
    """Return why this system cannot copy the world, give process numbers or cut off the network; nothing if it can."""
    probes = (probe_world(), probe_process_number(), probe_network())
    return [probed.reason for probed in probes if not probed.available]


def _explain(attempt: Callable[[], str]) -> str:
    try:
        return attempt()
    except NamespaceRefused as refused:
        return refused.reason
    except OSError as error:
        return f"{error.filename or 'probe'}: {error.strerror}"
