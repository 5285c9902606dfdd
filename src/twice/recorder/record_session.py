"""Record one run inside its process, or run one member of a sample: put the session together and execute it.

The process writes the record itself, so that nothing stands between a tick and the file; its parent gets a few messages
of plain data. Code that runs where it is has no parent and no supervisor, and no name by which it could be started
again; its record says so.

Invariant: the program's module is imported after the record's identity was written. A member of a sample writes no
file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twice.errors import TwiceError
from twice.foundation.encoding import decode
from twice.foundation.environment import Fingerprint
from twice.recorder.effects.sources import LiveSource
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probes import (
    PROBES,
    KeptProbes,
    keep_probes,
    read_known_probes,
)
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.execution import (
    conclude,
    describe_ending,
    describe_failure,
    execute,
    finish,
    govern,
)
from twice.recorder.identity import build_identity
from twice.recorder.inputs import Inputs
from twice.recorder.kernel import confinement
from twice.recorder.output import list_folders
from twice.recorder.record import RecordWriter, hidden_beside
from twice.recorder.record_form import SUMMARY
from twice.recorder.redaction.redaction import Redaction, redact_identity
from twice.recorder.run import Run, require_no_session
from twice.recorder.session import Session
from twice.recorder.session_job import GO_ON, SAMPLE, WORLD
from twice.recorder.session_parts import Control, InForce, RecordingSink, Sink, Wiring
from twice.recorder.setup import Setup
from twice.recorder.trust import digest_identity, remember_record
from twice.worker.channel import Channel
from twice.worker.process import NESTED


def begin_record(
    setup: Setup,
    surroundings: Surroundings,
    fingerprint: Fingerprint,
    out: Path,
    *,
    parent: Mapping[str, Any] | None = None,
    force: bool = False,
    hold: bool = False,
    captures: bool = True,
    in_force: InForce | None = None,
) -> tuple[Session, RecordWriter, dict[str, Any]]:
    """Begin a record, and build a session that asks the world and writes everything into it; also return both parts.

    With ``hold``, the new record is kept from its path until it is published. Text that is printed is part of the run
    where the session ``captures`` it. What it does of its work is ``in_force``; None for all.
    """
    redaction = Redaction(setup.redaction, os.environ)
    plain = build_identity(setup, surroundings, fingerprint, parent=parent)
    identity = redact_identity(plain, redaction, os.environ)
    writer = RecordWriter.create(out, identity, algorithm=setup.algorithm, force=force, hold=hold)
    wiring = Wiring(
        source=LiveSource(),
        inputs=Inputs(),
        sink=RecordingSink(writer, setup.strategy),
        writes=True,
        redaction=redaction,
        # Code that runs where it is prints to a terminal or a notebook, which are not files of this process.
        folders=list_folders(setup.program) if captures else None,
        marks=snapshot_marks(identity),
        in_force=in_force or InForce(),
    )
    return Session(setup, wiring), writer, identity


def snapshot_marks(identity: Mapping[str, Any]) -> dict[str, object]:
    """Return the facts about the run for every snapshot's envelope."""
    return {
        "code": identity["code"],
        "config_hash": identity["config_hash"],
        "seed": identity["setup"]["seed"],
        "seed_rule": identity["setup"]["seed_rule"],
    }


class _PublishingControl(Control):
    """Lets a new record replace an old one when its first tick begins."""

    def __init__(self, writer: RecordWriter) -> None:
        self._writer = writer

    def before_tick(self, session: Session, tick: int) -> None:
        del session, tick
        self._writer.publish()


def record_here(
    job: Mapping[str, Any], channel: Channel, *, measured: Fingerprint | None = None
) -> None:
    """Record the run that a job of ``build_record_job`` describes; ``measured`` is an environment measured before."""
    setup, out, goes_on = Setup.from_json(job["setup"]), Path(job["out"]), job["on_full"] == GO_ON
    surroundings, kept = Surroundings.from_json(job["surroundings"]), KeptProbes(job)
    fingerprint = measured or measure(kept=kept)
    session, writer, identity = begin_record(
        setup, surroundings, fingerprint, out, parent=job["parent"], force=job["force"], hold=True
    )
    session.wiring.control = _PublishingControl(writer)
    session.wiring.inventory.tell = lambda row: channel.send({"kind": "noticed", **row.to_json()})
    if goes_on:
        writer.on_failure = lambda error: channel.send({"kind": "full", "why": str(error)})

    def report(ending: Mapping[str, Any]) -> None:
        writer.publish()
        if writer.failure is not None and not goes_on:
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
                "printed_until": session.wiring.output.ends(),
            }
        )

    try:
        if job[SAMPLE]:
            for payload in job[SAMPLE]:
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
        hidden = hidden_beside(out, os.getpid())
        _confine(setup, os.path.realpath(out), str(hidden), os.environ[NESTED])
        # A script has no tick to wait for.
        begin = writer.publish if setup.program.whole else None
        ending = execute(session, lambda: describe_ending(session), begin=begin, leave=report)
    except TwiceError:
        if session.tick < 0:
            writer.withdraw()  # Nothing of the run came to pass.
        raise
    report(ending)


def _confine(setup: Setup, *own: str) -> None:
    """Let this process's keeper, if it has one, begin to watch the files; its ``own`` are no part of the run."""
    confinement.current().begin(
        own=own,
        roots=setup.program.roots(),
        algorithm=setup.algorithm,
        copy_limit=setup.copy_limit,
    )


@contextmanager
def record_block(
    setup: Setup,
    out: Path,
    *,
    force: bool,
    warn: Callable[[Mapping[str, object]], None],
    is_function: bool = False,
) -> Iterator[Run]:
    """Record the code of a ``with`` block in this process; ``warn`` is called with rows of its inventory.

    A block of which ``is_function`` is true calls one function: an error in that ends the run as in a process of its
    own, and is not the caller's.
    """
    require_no_session()
    surroundings = Surroundings.from_environ(os.environ)
    setup.require_recordable()
    kept = KeptProbes({PROBES: read_known_probes()})
    fingerprint = measure(kept=kept)
    session, _, identity = begin_record(
        setup, surroundings, fingerprint, out, force=force, captures=False
    )
    keep_probes(kept.message())
    remember_record(digest_identity(identity))
    session.wiring.inventory.tell = lambda row: warn(row.to_json())
    refused = "code that runs where it is has no supervisor"
    confinement.enter(confinement.Confinement(refused=refused))
    _confine(setup, os.path.realpath(out))
    with govern(session) as run:
        ending: dict[str, Any] = {"how": "completed", "exit_code": 0}
        raised: BaseException | None = None
        try:
            yield run
        except BaseException as error:  # noqa: BLE001  (the program may raise anything)
            raised = error
            if is_function:
                ending = conclude(session, error)
                raised = None if ending["how"] == "exception" else error
            else:
                how = "interrupted" if isinstance(error, KeyboardInterrupt) else "exception"
                ending = describe_failure(how, error, 1)
        _, problem = finish(session, ending, lambda: describe_ending(session))
        failure = raised or problem
        if failure is not None:
            raise failure


class _SummarySink(Sink):
    """Keeps the last value of one summary, and nothing else."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.last: float | None = None

    def frame(self, kind: str, payload: bytes, tick: int, actor: int = 0) -> None:
        del tick, actor
        if kind == SUMMARY:
            fields: Any = decode(payload)
            name, value = fields
            if name == self._name:
                self.last = value


def sample_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Run one member of a sample as a recording does, and send its summary."""
    setup, kept = Setup.from_json(job["setup"]), KeptProbes(job)
    environment = measure(kept=kept).to_json() if job["measured"] else None
    sink = _SummarySink(job["summary"])
    session = Session(setup, Wiring(LiveSource(), Inputs(), sink, writes=False))
    ending = execute(session, dict)
    # What an unfinished run had reported by then is not its summary.
    value = sink.last if ending["how"] in {"completed", "exit"} else None
    message = {"how": ending["how"], "value": value, "environment": environment}
    channel.send({"kind": "ended", **message, **kept.message()})
