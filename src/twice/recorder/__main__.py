"""The process that records one run, runs a member of a sample or measures itself: ``python -m twice.recorder``."""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()  # until ``serve``: what is imported stays

from collections.abc import Mapping
from typing import Any

from twice.recorder.child import Handler, serve
from twice.recorder.record_session import record_here, sample_here
from twice.worker.channel import Channel


def _measure(job: Mapping[str, Any], channel: Channel) -> None:
    from twice.recorder.environment.fingerprint import measure_here

    measure_here(job, channel)


# What few processes do is loaded when they are asked to.
ACTIONS: dict[str, Handler] = {"measure": _measure, "record": record_here, "sample": sample_here}

if __name__ == "__main__":
    serve(lambda job, channel: ACTIONS[job["action"]](job, channel))
