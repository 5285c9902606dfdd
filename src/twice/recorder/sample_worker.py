"""Run one member of a sample, in a process of its own.

It executes the program like a recording does, and keeps nothing but the declared summary.

Invariant: it writes no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.foundation.encoding import decode
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probes import KeptProbes
from twice.recorder.execution import execute
from twice.recorder.inputs import Inputs
from twice.recorder.record_form import SUMMARY
from twice.recorder.session import Session
from twice.recorder.session_parts import Wiring
from twice.recorder.setup import Setup
from twice.recorder.sinks import Sink
from twice.recorder.streams import Streams
from twice.worker.channel import Channel


class SummarySink(Sink):
    """Keeps the last value of one summary, and nothing else."""

    def __init__(self, name: str) -> None:
        self.last: float | None = None
        self._name = name

    def frame(self, kind: str, payload: bytes, tick: int, actor: int = 0) -> None:
        """Take the value, when it is the declared summary's."""
        del tick, actor
        if kind == SUMMARY:
            fields: Any = decode(payload)
            name, value = fields
            if name == self._name:
                self.last = value


def sample_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Run one member and send its summary."""
    setup = Setup.from_json(job["setup"])
    kept = KeptProbes(job)
    environment = measure(kept=kept).to_json() if job["measured"] else None
    sink = SummarySink(job["summary"])
    layer = EffectLayer(
        LiveSource(), None, opted_in=setup.strict_packages, algorithm=setup.algorithm
    )
    streams = Streams(setup.seed, rule=setup.rule)
    session = Session(setup, Wiring(streams=streams, layer=layer, inputs=Inputs(), sink=sink))
    ending = execute(session, dict)
    # What an unfinished run had reported by then is not its summary.
    value = sink.last if ending["how"] in {"completed", "exit"} else None
    message = {"how": ending["how"], "value": value, "environment": environment}
    channel.send({"kind": "ended", **message, **kept.message()})
