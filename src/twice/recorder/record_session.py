"""Record one run inside a process of its own: put the session together and execute it.

It writes the record itself, so that nothing stands between a tick and the file; what its parent
gets are a few messages of plain data.

Invariant: the program's module is imported after the record's identity was written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twice.errors import TwiceError
from twice.foundation.digests import Algorithm
from twice.foundation.environment import Fingerprint
from twice.recorder.compared_output import list_folders
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probes import KeptProbes
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.execution import describe_ending, execute
from twice.recorder.identity import build_identity
from twice.recorder.inputs import Inputs
from twice.recorder.kernel.confinement import current
from twice.recorder.output import OutputCapture
from twice.recorder.record import RecordWriter, hidden_beside
from twice.recorder.redaction.redaction import Redaction, redact_identity
from twice.recorder.samples import SAMPLE
from twice.recorder.session import Session
from twice.recorder.session_job import GO_ON, WORLD
from twice.recorder.session_parts import Control, InForce, Wiring
from twice.recorder.setup import Setup
from twice.recorder.sinks import RecordingSink
from twice.recorder.streams import Streams
from twice.recorder.trust import digest_identity
from twice.worker.channel import Channel
from twice.worker.process import NESTED


def recording_session(
    setup: Setup,
    writer: RecordWriter,
    identity: Mapping[str, Any],
    *,
    capture: bool,
    redaction: Redaction | None = None,
    in_force: InForce | None = None,
) -> Session:
    """Build a session that asks the world and writes everything into one record."""
    does = in_force or InForce()

    def journal(kind: str, payload: bytes, actor: int = 0) -> None:
        session.frame(kind, payload, actor)

    layer = EffectLayer(
        LiveSource(),
        journal if does.reads else None,
        opted_in=setup.strict_packages,
        algorithm=setup.algorithm,
        redaction=redaction,
    )
    wiring = Wiring(
        streams=Streams(setup.seed, rule=setup.rule),
        layer=layer,
        inputs=Inputs(),
        sink=RecordingSink(writer, setup.strategy),
        marks=snapshot_marks(identity),
        in_force=does,
    )
    if capture:
        wiring.output = OutputCapture(
            setup.algorithm,
            journal,
            compare_errors=setup.compare_errors,
            ignored=setup.ignored_output,
            folders=list_folders(setup.program),
            redaction=layer.redaction,
        )
    session = Session(setup, wiring)
    return session


class _PublishingControl(Control):
    """Lets a new record replace an old one when its first tick begins."""

    def __init__(self, writer: RecordWriter) -> None:
        self._writer = writer

    def before_tick(self, session: Session, tick: int) -> None:
        """Publish the record when the first tick begins."""
        del session, tick
        self._writer.publish()


def snapshot_marks(identity: Mapping[str, Any]) -> dict[str, object]:
    """Return the facts about the run for every snapshot's envelope."""
    return {
        "code": identity["code"],
        "config_hash": identity["config_hash"],
        "seed": identity["setup"]["seed"],
        "seed_rule": identity["setup"]["seed_rule"],
    }


def record_here(
    job: Mapping[str, Any], channel: Channel, *, measured: Fingerprint | None = None
) -> None:
    """Record the run that a job of ``build_record_job`` describes; ``measured`` is an environment measured before."""
    setup = Setup.from_json(job["setup"])
    surroundings = Surroundings.from_json(job["surroundings"])
    redaction = Redaction(setup.redaction, os.environ)
    kept = KeptProbes(job)
    fingerprint = measured or measure(kept=kept)
    identity = redact_identity(
        build_identity(setup, surroundings, fingerprint, parent=job["parent"]),
        redaction,
        os.environ,
    )
    writer = RecordWriter.create(
        Path(job["out"]),
        identity,
        algorithm=Algorithm(setup.algorithm),
        force=job["force"],
        hold=True,
    )
    out = os.path.realpath(job["out"])
    session = recording_session(setup, writer, identity, capture=True, redaction=redaction)
    session.wiring.control = _PublishingControl(writer)
    session.wiring.inventory.tell = lambda row: channel.send({"kind": "noticed", **row.to_json()})
    if job["on_full"] == GO_ON:
        writer.on_failure = lambda error: channel.send({"kind": "full", "why": str(error)})
    # A script has no tick to wait for.
    begin = writer.publish if setup.program.whole else None
    try:
        if job["sample"]:
            for payload in job["sample"]:
                writer.frame(SAMPLE, 0, payload, tick=-1)
            writer.flush()
        channel.send(
            {
                "kind": "started",
                "record": digest_identity(identity),
                "is_passing": WORLD in job,  # recorded in a copy of the files, for an experiment
                "pid": os.getpid(),
                **kept.message(),
            }
        )
        current().begin(
            own=[out, str(hidden_beside(Path(out), os.getpid())), os.environ[NESTED]],
            roots=setup.program.roots(),
            algorithm=setup.algorithm,
            copy_limit=setup.copy_limit,
        )
        ending = execute(
            session,
            lambda: describe_ending(session),
            begin=begin,
            leave=lambda ending: _report_ending(channel, session, writer, ending, job["on_full"]),
        )
    except TwiceError:
        if session.tick < 0:
            writer.withdraw()  # Nothing of the run came to pass.
        raise
    _report_ending(channel, session, writer, ending, job["on_full"])


def _report_ending(
    channel: Channel,
    session: Session,
    writer: RecordWriter,
    ending: Mapping[str, Any],
    on_full: str,
) -> None:
    """Publish the record at its path, and report the run's ending to the parent."""
    writer.publish()
    if writer.failure is not None and on_full != GO_ON:
        raise writer.failure  # The program caught it and went on; what followed is not recorded.
    channel.send(
        {
            "kind": "ended",
            "how": ending["how"],
            "exit_code": ending["exit_code"],
            "exception": ending.get("exception"),
            "points": session.point_count,
            "ticks": session.tick + 1,
            "unread": session.config.keys_unread,
            "complete": writer.failure is None,
        }
    )
