"""What every session's process does first and last: take one job, report a refusal as data, leave.

Invariant: a refusal reaches the parent as the error it was; anything else ends the process with its
traceback, because it is a fault of ours or of the program.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from twice.errors import TwiceError
from twice.recording.kernel.confinement import current
from twice.recording.kernel.keeper import supervise_from_here
from twice.recording.kernel.tiers import SUPERVISOR, tiers_left_out
from twice.recording.launch import NESTED, SUPERVISED, WORLD, error_message
from twice.recording.surroundings.handed import take_handed
from twice.recording.surroundings.thread_counts import load_numpy
from twice.recording.wire import Channel, inherited

Handler = Callable[[Mapping[str, Any], Channel], None]


def serve(handle: Handler) -> None:
    """Receive one job, handle it below its keeper, report a refusal as data, and leave."""
    gc.freeze()  # What was loaded for this stays: no collection of the program's goes through it.
    channel = inherited(int(sys.argv[1]))
    try:
        take_handed(os.environ)  # first: it may begin this process anew
        channel.make_room()
        job = channel.receive()
        assert job is not None, "a session's process is started with a job"
        left_out = tiers_left_out(os.environ)
        if WORLD in job:
            from twice.recording.kernel.world_keeper import run_in_world
            from twice.recording.world_request import request_of

            folder = f"{os.environ[NESTED]}/{os.getpid()}"
            request = request_of(job[WORLD], folder)
            run_in_world(request, channel, lambda: _handle(handle, job, channel))
        elif job.get(SUPERVISED) and SUPERVISOR not in left_out:
            supervise_from_here(f"{os.environ[NESTED]}/preimages")
    except TwiceError as error:
        channel.send(error_message(error))
        channel.close()
        sys.exit(2)
    _handle(handle, job, channel)


def _handle(handle: Handler, job: Mapping[str, Any], channel: Channel) -> NoReturn:
    """Handle one job in the program's process, and end it."""
    code = 0
    load_numpy()
    try:
        handle(job, channel)
    except TwiceError as error:
        channel.send(error_message(error))
        code = 2
    channel.close()
    current().close()
    sys.exit(code)
