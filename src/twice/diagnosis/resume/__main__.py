"""The process that executes one trial: ``python -m twice.diagnosis.resume``.

The program runs as in a recording, with its surroundings and seeds decided, and nothing of it is written down but its
moments.

Invariant: it sends one answer, how the program ended, unless it is killed.
"""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()  # until ``serve``: what is imported stays

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twice.diagnosis.resume.moments import Moments
from twice.recorder.child import serve
from twice.recorder.effects.sources import LiveSource
from twice.recorder.execution import execute
from twice.recorder.inputs import Inputs
from twice.recorder.session import Session
from twice.recorder.session_parts import InForce, Sink, Wiring
from twice.recorder.setup import Setup
from twice.worker.channel import Channel


def train_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute the program of a job of ``run_trial``."""
    setup = Setup.from_json(job["setup"])
    in_force = InForce(reads=False, watch=False, points=False)
    wiring = Wiring(LiveSource(), Inputs(), Sink(), writes=False, in_force=in_force)
    moments = Moments(
        Path(job["folder"]),
        job["wanted"],
        puts=job["puts"],
        states=job["states"],
        keeps=job["keeps"],
    )
    channel.send({"kind": "started", "pid": os.getpid()})
    ending = execute(Session(setup, wiring), dict, begin=moments.begin)
    moments.end()
    channel.send(
        {
            "kind": "ended",
            "exit_code": ending["exit_code"],
            "exception": ending.get("exception"),
            "counts": moments.counts,
            "put_back": moments.put_back,
        }
    )


if __name__ == "__main__":
    serve(train_here)
