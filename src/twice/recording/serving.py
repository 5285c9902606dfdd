"""What every session's process does first and last: take one job, report a refusal as data, leave.

Invariant: a refusal reaches the parent as the error it was; anything else ends the process with its
traceback, because it is a fault of ours or of the program.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from twice.errors import TwiceError
from twice.recording.launch import error_message
from twice.recording.surroundings.handed import take_handed
from twice.recording.wire import Channel, inherited

Handler = Callable[[Mapping[str, Any], Channel], None]


def serve(handle: Handler) -> None:
    """Receive one job, handle it, report a refusal as data, and leave."""
    gc.freeze()  # What was loaded for this stays: no collection of the program's goes through it.
    channel = inherited(int(sys.argv[1]))
    code = 0
    try:
        take_handed(os.environ)  # first: it may begin this process anew
        job = channel.receive()
        assert job is not None, "a session's process is started with a job"
        handle(job, channel)
    except TwiceError as error:
        channel.send(error_message(error))
        code = 2
    channel.close()
    sys.exit(code)
