"""One execution of a recorded program in an order of its loop's steps: ``python -m twice.schedules.followed_run``.

The order is the record's own, or that of some keys with constraints on top. Reads are answered from the record where
they fit, else from the copy of the files that the program runs in.

Not for: inputs that a branch substituted.

Invariant: an order that cannot be followed is an outcome as any other; nothing is compared here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from twice.errors import SealBroken
from twice.recorder.child import serve_actions
from twice.recorder.compare_points import ComparePoint
from twice.recorder.effects.sources import RecordedSource
from twice.recorder.execution import describe_unheard, execute
from twice.recorder.inputs import Inputs
from twice.recorder.output import RESULTS
from twice.recorder.session_parts import Sink
from twice.replayer.rebuild import rebuilt_session
from twice.replayer.replay_job import open_job_record
from twice.simulation.faults import follow
from twice.simulation.strategies import FollowedOrder
from twice.simulation.trace import Schedule
from twice.worker.channel import Channel

FOLLOW: Final = "follow"
"""The action of a job with the record's ``keys`` in an order, or None for its own order; constraints ``after``; the
``point`` whose digests are asked for; whether the steps are (``keeps_steps``); and keys of the ``faults`` that happen, None for
its own."""


class _PointSink(Sink):
    """Keeps the digests of one compare-point, and those of the last."""

    def __init__(self, index: int) -> None:
        self._left = index
        self.digests: dict[str, bytes] = {}
        self.last: dict[str, bytes] = {}

    def point(self, taken: ComparePoint) -> None:
        self.last = {name: taken.column(name) for name in taken.columns}
        if self._left == 0:
            self.digests = self.last
        self._left -= 1


def follow_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute a record's program once, and send its outcome."""
    with open_job_record(job) as record:
        order, seed, keys = record.setup.order, record.setup.seed, job["keys"]
        assert order is not None, "the parent asks for simulated runs alone"
        if job["faults"] is not None:
            order = replace(order, faults=tuple(job["faults"]))
        if keys is None:
            schedule = Schedule.make(order, seed, keeps_steps=job["keeps_steps"])
        else:
            schedule = Schedule(
                FollowedOrder(keys),
                job["after"],
                keeps_steps=job["keeps_steps"],
                faults=follow(order.faults),
            )
        sink = _PointSink(job["point"])
        session = rebuilt_session(
            record,
            sink=sink,
            source=RecordedSource(record, leaves=True),
            inputs=Inputs(),
            refuse=_leaves_the_machine,
            schedule=schedule,
        )

        def report(ending: Mapping[str, Any]) -> None:
            shown = {name: ending.get(name) for name in ("how", "exit_code", "exception", RESULTS)}
            channel.send(
                {
                    "kind": FOLLOW,
                    "ending": shown,
                    "unheard": [*map(describe_unheard, schedule.unheard)],
                    "unmet": schedule.list_unmet(),
                    "struck": [each.pack() for each in schedule.struck],
                    "digests": sink.digests,
                    "chain": session.points.chain,
                    "last": sink.last,
                    "steps": [(*step[:-1], step.place and tuple(step.place)) for step in schedule.steps],
                }
            )  # fmt: skip

        report(execute(session, dict, leave=report))


def _leaves_the_machine(error: SealBroken) -> bool:
    """Side effects are not repeated."""
    return str(error.fields["source"]).startswith(("network.", "process.", "system."))


if __name__ == "__main__":
    serve_actions({FOLLOW: follow_here})
