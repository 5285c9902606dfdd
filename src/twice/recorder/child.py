"""The worker's side of every session: take one job, report a refusal as data, leave.

Invariant: a refusal reaches the parent as the error it was; anything else ends the process with its
traceback, because it is a fault of ours or of the program.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from twice.errors import TwiceError
from twice.foundation.with_blocks import gc_paused
from twice.recorder.audit.native_sockets import cut_off
from twice.recorder.environment.libraries import load_numpy, load_numpy_for_forks
from twice.recorder.environment.process_start import apply_child_settings
from twice.recorder.interrupts import ignore
from twice.recorder.kernel.confinement import SUPERVISOR, current, tiers_left_out
from twice.recorder.kernel.keeper import supervise_from_here
from twice.recorder.redaction.shapes import compile_stems
from twice.recorder.session_job import SUPERVISED, WORLD, parse_world
from twice.worker import fork_server
from twice.worker.channel import Channel, inherited, tell_error
from twice.worker.process import NESTED

Handler = Callable[[Mapping[str, Any], Channel], None]
_LOADED = (
    "blake3",
    "encodings.utf_16_be",
    "twice.recorder.effects.network.resolver",
    "twice.recorder.effects.network.sockets",
    "twice.recorder.kernel.mounts",
    "twice.recorder.kernel.paths",
    "twice.recorder.kernel.world_keeper",
    "twice.recorder.streams.numpy_streams",
    "xxhash",
    "zstandard",
)
"""What every session loads when it begins or writes."""


def serve(handle: Handler) -> NoReturn:
    """Receive one job, handle it below its keeper, report a refusal as data, and leave."""
    gc.freeze()  # What was loaded for this stays: no collection of the program's goes through it.
    gc.enable()  # as a process begins; its ``__main__`` switched it off
    channel = inherited(int(sys.argv[1]))
    try:
        apply_child_settings(os.environ)  # first: it may begin this process anew
        channel.make_room()
        job = channel.receive()
        assert job is not None, "a session's process is started with a job"
        left_out = tiers_left_out(os.environ)
        if WORLD in job:
            from twice.recorder.kernel.world_keeper import run_in_world

            request = parse_world(job[WORLD], f"{os.environ[NESTED]}/{os.getpid()}")
            run_in_world(request, channel, lambda: _handle(handle, job, channel))
        elif job.get(SUPERVISED) and SUPERVISOR not in left_out:
            supervise_from_here(f"{os.environ[NESTED]}/preimages")
    except TwiceError as error:
        channel.send(tell_error(error))
        channel.close()
        sys.exit(2)
    _handle(handle, job, channel)


def _handle(handle: Handler, job: Mapping[str, Any], channel: Channel) -> NoReturn:
    """Handle one job in the program's process, and end it."""
    code = 0
    if job.get("action") != fork_server.ACTION:  # whose forks load it each with its own threads
        with gc_paused():
            load_numpy()
            gc.freeze()
    try:
        handle(job, channel)
    except TwiceError as error:
        channel.send(tell_error(error))
        code = 2
    channel.close()
    current().close()
    sys.exit(code)


def serve_actions(
    actions: Mapping[str, Handler], prepare: Callable[[], object] = lambda: None
) -> NoReturn:
    """Execute a job's action, in a network namespace of its own if the job asks for one; or fork for jobs.

    Interrupts are the parent's to act on: this process dies with the line to it, not in the middle of an answer.

    Args:
        actions: by name.
        prepare: called before a server forks.
    """

    def handle(job: Mapping[str, Any], channel: Channel) -> None:
        if job["action"] == fork_server.ACTION:
            prepare()
            serve_forks(channel, handle)
            return
        held = bool(job.get("cut_off")) and cut_off()
        actions[job["action"]]({**job, "held": held}, channel)

    ignore()
    serve(handle)


def serve_forks(channel: Channel, handle: Handler) -> None:
    """Load the modules of every session, then fork for every job that follows."""
    fork_server.serve_forks(channel, load_for_sessions, lambda: serve(handle))


def load_for_sessions() -> None:
    """Load the modules of every session; a library that starts threads makes this process unfit."""
    from twice.recorder.effects.files.open_functions import look_through_modules

    load_numpy_for_forks()
    for name in _LOADED:
        importlib.import_module(name)
    compile_stems()
    look_through_modules()
