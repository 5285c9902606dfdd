"""The process of a ``LocalExecutor``, which does one job after another: ``python -m twice.worker``.

Invariant: it ends when its parent does.
"""

from __future__ import annotations

import os
import sys

from twice.worker.channel import inherited
from twice.worker.executor import perform
from twice.worker.process import NESTED

if __name__ == "__main__":
    del os.environ[NESTED]  # it executes no program itself, and its jobs start sessions
    line = inherited(int(sys.argv[1]))
    while (job := line.receive()) is not None:
        line.send(perform(job))
