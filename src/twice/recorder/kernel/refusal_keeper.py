"""The process around a replay that has no world: every change of a file by other code is refused and named.

Python's own writes go to a private folder, as ever. Landlock is the belt: it also holds where the listener
cannot read a path, or is gone.

Invariant: without a listener nothing is refused, and the report says so.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from twice.recorder.effects.filenames import kept
from twice.recorder.kernel import confinement
from twice.recorder.kernel.confinement import Confinement
from twice.recorder.kernel.keeper import end_like, pass_signals_on
from twice.recorder.kernel.landlock import restrict_writes
from twice.recorder.kernel.libc import end_with_parent
from twice.recorder.kernel.process_number import be_program
from twice.recorder.kernel.supervisor import StopServing, serve_until
from twice.recorder.kernel.system_call_filter import (
    install_filter,
    is_supported,
    refusing_filter,
)
from twice.recorder.kernel.write_refusal import RefusingSupervisor
from twice.worker.channel import KEPT, Channel


def run_refusing(
    allowed: list[str], without: Confinement, channel: Channel, program: Callable[[], object]
) -> None:
    """Run a program that may change files in some folders alone; end this process as it ended.

    Args:
        allowed: folders of the product's own.
        without: what this process is confined by without a listener, and why there is no world.
        channel: to the parent; the last message on it says what was refused.
        program: what runs; it does not return.

    Returns:
        None, with nothing executed, where this system gives no listener; ``confinement.current()`` says why.
        Landlock holds this process then, where there is one, and tells nobody what it refuses.
    """
    if not is_supported():
        confinement.enter(without)
        return
    ours, theirs = socket.socketpair()
    keeper = os.getpid()
    child = os.fork()
    if not child:
        ours.close()
        end_with_parent(keeper)
        be_program(lambda: _run_filtered(theirs, allowed, without, program))
    theirs.close()
    data, handed, _, _ = socket.recv_fds(ours, 256, 1)
    if not handed:
        os.waitpid(child, 0)
        ours.close()
        why = data.decode(errors="replace") or "the process for it ended early"
        confinement.enter(replace(without, refused=f"{without.refused}; {why}"))
        _restrict(allowed)
        return
    pass_signals_on(child)
    supervisor = RefusingSupervisor(handed[0], allowed)
    serve_until(supervisor, {os.pidfd_open(child): _stop})
    status = os.waitpid(child, 0)[1]
    report: dict[str, Any] = {
        "kind": KEPT,
        "tier": "refusal",
        "refused": without.refused,
        "refused_writes": [[kept(path), call] for path, call in supervisor.refused.items()],
    }
    channel.send(report)
    channel.close()
    end_like(status)


def _run_filtered(
    line: socket.socket, allowed: list[str], without: Confinement, program: Callable[[], object]
) -> None:
    code = refusing_filter()
    _restrict(allowed)
    try:
        listener = install_filter(code)
    except OSError as error:
        line.send(f"no listener for system calls: {error.strerror}".encode())
        return
    confinement.enter(replace(without, tier="refusal"))
    socket.send_fds(line, [b"L"], [listener])
    os.close(listener)
    line.close()
    program()


def _restrict(allowed: list[str]) -> None:
    """Restrict this process and its children to changes in some folders, where Landlock exists."""
    tempfile.gettempdir()  # it looks for a folder that takes files, by writing to it, and remembers
    restrict_writes([*allowed, "/dev", "/proc"])


def _stop() -> bool:
    raise StopServing
