"""One command of ``twice`` that ends with the server that asked for it, and takes its program with it.

A command that is killed leaves a program that it records to go on. Nobody would end that one, so a second process
watches: when the server is gone, it asks the command's process group to end, and kills what has not ended then.

The second argument is the open end of a pipe: the server reads at its other end when the process that watches is gone.

Invariant: nothing in the group outlives the process whose id is the first argument by more than the grace.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress

from twice.cli import main

_GRACE_MS = 3000


def _end_group_with(server: int, held: int) -> None:
    """Fork the process that watches, which alone keeps a descriptor open."""
    group = os.getpid()
    ends = select.poll()
    ends.register(serving := os.pidfd_open(server), select.POLLIN)
    ends.register(running := os.pidfd_open(group), select.POLLIN)
    if os.getppid() != server:
        sys.exit(1)  # it ended in between, and nobody waits for this process
    if os.fork():
        for descriptor in (serving, running, held):
            os.close(descriptor)
        return
    os.setsid()  # out of the group
    if running not in [descriptor for descriptor, _ in ends.poll()]:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGTERM)
            ends.unregister(serving)
            ends.poll(_GRACE_MS)
            os.killpg(group, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    _end_group_with(int(sys.argv.pop(1)), int(sys.argv.pop(1)))
    sys.argv[0] = "twice"
    main()
