"""A path that another thread exchanges after the look at it: Landlock holds it, and nothing else does.

The exchange is made by the supervising side, between its decision and its answer, so that it always comes in time.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import socket
import sys
from pathlib import Path

import pytest
from apart import run_apart

from twice.recorder.kernel.seccomp import (
    FIRST_WITH_TRUNCATE,
    install_filter,
    is_supported,
    refusing_filter,
    restrict_writes,
)
from twice.recorder.kernel.write_refusal import RefusingSupervisor

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not is_supported(),
    reason=f"filters are written for Linux, and not on {platform.machine()}",
)


def open_with_exchange(allowed: Path, outside: Path, *, restricts: bool) -> tuple[int, int]:
    """Open a file in an allowed folder for writing, and exchange its path; return Landlock's version and the error."""
    libc = ctypes.CDLL(None, use_errno=True)
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    shared.write(os.fsencode(allowed / "file") + b"\0")
    address = ctypes.addressof(ctypes.c_char.from_buffer(shared))
    ours, theirs = socket.socketpair()
    version = run_apart(lambda: restrict_writes([str(allowed)]))
    child = os.fork()
    if not child:
        if restricts:
            restrict_writes([str(allowed)])
        listener = install_filter(refusing_filter())
        socket.send_fds(theirs, [b"L"], [listener])
        os.close(listener)
        made = libc.open(ctypes.c_void_p(address), os.O_WRONLY | os.O_CREAT, 0o600)
        os._exit(ctypes.get_errno() if made < 0 else 0)
    _, (listener,), _, _ = socket.recv_fds(ours, 1, 1)
    supervisor = RefusingSupervisor(listener, [str(allowed)])
    call = supervisor.listener.receive()
    assert call is not None
    error = supervisor.decide(call)
    shared.seek(0)
    shared.write(os.fsencode(outside) + b"\0")
    supervisor.listener.answer(call, error)
    return version, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("restricts", [True, False], ids=["landlock", "alone"])
def test_an_exchanged_path_is_held_by_landlock_alone(tmp_path: Path, *, restricts: bool) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    allowed.mkdir()

    version, error = run_apart(lambda: open_with_exchange(allowed, outside, restricts=restricts))

    if version < FIRST_WITH_TRUNCATE:
        pytest.skip("this kernel has no Landlock that holds every write")
    assert bool(error) == restricts
    assert outside.exists() != restricts
    assert not (allowed / "file").exists()
