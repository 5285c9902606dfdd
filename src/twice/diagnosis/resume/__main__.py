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
from dataclasses import replace
from pathlib import Path
from typing import Any

from twice.diagnosis.resume.file_log import FileLog
from twice.diagnosis.resume.loops import Loop
from twice.diagnosis.resume.moments import Moments
from twice.recorder.child import serve
from twice.recorder.effects.sources import LiveSource
from twice.recorder.execution import execute
from twice.recorder.inputs import Inputs
from twice.recorder.kernel.confinement import current
from twice.recorder.session import Session
from twice.recorder.session_parts import InForce, Sink, Wiring
from twice.recorder.setup import Setup
from twice.worker.channel import Channel


def train_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute the program of a job of ``run_trial``."""
    setup = Setup.from_json(job["setup"])
    if current().tier != "world":
        setup = replace(setup, program=replace(setup.program, root=job["copy"]))
    # Where this process was started is now below the mount of the same name.
    os.chdir(setup.program.root)
    in_force = InForce(reads=False, watch=False, points=False)
    wiring = Wiring(LiveSource(), Inputs(), Sink(), writes=False, in_force=in_force)
    moments = Moments(
        Path(job["folder"]),
        Path(setup.program.root),
        job["wanted"],
        loop=Loop(**job["loop"]) if job["loop"] else None,
        puts=job["puts"],
        states=job["states"],
        keeps=job["keeps"],
    )
    aim = (str(job["aim"][0]), int(job["aim"][1])) if job["aim"] else None
    files = FileLog(
        Path(setup.program.root),
        Path(job["folder"]),
        aim,
        moments.count_steps,
        moments.counts_here,
        moments.begin_write,
    )
    moments.files = files
    ending = execute(Session(setup, wiring), dict, begin=moments.begin)
    files.end()
    moments.end()
    channel.send(
        {
            "kind": "ended",
            "exit_code": ending["exit_code"],
            "exception": ending.get("exception"),
            "counts": moments.counts,
        }
    )


if __name__ == "__main__":
    serve(train_here)
