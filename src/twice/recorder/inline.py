"""Record in this process: the code of a ``with`` block, or a function that no fresh process could find.

It writes the same record, but code that has no name cannot be started again, and the record says so.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twice.errors import TwiceError
from twice.foundation.seeds import Seed
from twice.recorder.cadence import default_cadence
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probes import (
    PROBES,
    KeptProbes,
    keep_probes,
    read_known_probes,
)
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.execution import describe_ending, describe_failure, finish, govern
from twice.recorder.identity import build_identity
from twice.recorder.kernel import confinement
from twice.recorder.kernel.confinement import Confinement
from twice.recorder.program import Program
from twice.recorder.record import RecordWriter
from twice.recorder.record_session import recording_session
from twice.recorder.recorder import choose_master_seed, refuse_existing, warn
from twice.recorder.redaction.redaction import Redaction, redact_identity
from twice.recorder.run import Run, require_no_session
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.setup import Setup
from twice.recorder.trust import digest_identity, remember_record

_COMPLETED = {"how": "completed", "exit_code": 0}


@contextmanager
def recording(
    out: str | os.PathLike[str],
    *,
    seed: int | Seed | None = None,
    config: Mapping[str, Any] | None = None,
    force: bool = False,
    **policies: Any,
) -> Iterator[Run]:
    """Record the code inside a ``with`` block: for notebooks and inline code.

    What is printed is not captured, names bound before the block (``from time import time``) are
    not governed, and the code cannot be started again: verifying such a record says UNKNOWN and
    names the form that could be.

    Args:
        out: path of the record.
        seed: master seed; the variable TWICE_SEED when None.
        config: plain values for ``run.config``.
        force: replace an existing output.
        **policies: fields of ``Setup``.

    Yields:
        The run.
    """
    policies.setdefault("cadence", default_cadence(policies.get("granularity", "tick")))
    setup = Setup(
        Program("inline", "inline code"), choose_master_seed(seed), dict(config or {}), **policies
    )
    refuse_existing(Path(out), force=force, is_record=True)
    session = _begin_session(setup, Path(out), force=force)
    with govern(session) as run:
        try:
            yield run
        except BaseException as error:
            how = "interrupted" if isinstance(error, KeyboardInterrupt) else "exception"
            _end_session(session, describe_failure(how, error, 1))
            raise
        _end_session(session, _COMPLETED)


def record_function(
    function: Callable[..., object], setup: Setup, out: Path, *, force: bool
) -> RunRecord:
    """Record a function that no fresh process could find."""
    session = _begin_session(setup, out, force=force)
    with govern(session) as run:
        ending = _COMPLETED
        try:
            function(run)
        except TwiceError as error:
            _end_session(session, describe_failure("refused", error, 2))
            raise
        except Exception as error:  # noqa: BLE001  (as in a process of its own: the record says so)
            traceback.print_exc()
            ending = describe_failure("exception", error, 1)
        _end_session(session, ending)
    return RunRecord.open(out)


def _begin_session(setup: Setup, out: Path, *, force: bool) -> Session:
    require_no_session()
    surroundings = Surroundings.from_environ(os.environ)
    setup.require_recordable()
    redaction = Redaction(setup.redaction, os.environ)
    kept = KeptProbes({PROBES: read_known_probes()})
    identity = redact_identity(
        build_identity(setup, surroundings, measure(kept=kept)), redaction, os.environ
    )
    keep_probes(kept.message())
    writer = RecordWriter.create(out, identity, algorithm=setup.algorithm, force=force)
    remember_record(digest_identity(identity))
    session = recording_session(setup, writer, identity, capture=False, redaction=redaction)
    session.wiring.inventory.tell = lambda row: warn(row.to_json())
    confinement.enter(Confinement(refused="code that runs where it is has no supervisor"))
    confinement.current().begin(
        own=[os.path.realpath(out)],
        roots=setup.program.roots(),
        algorithm=setup.algorithm,
        copy_limit=setup.copy_limit,
    )
    return session


def _end_session(session: Session, ending: dict[str, Any]) -> None:
    """Finish the session, and raise the error that occurred meanwhile."""
    _, problem = finish(session, ending, lambda: describe_ending(session))
    if problem is not None:
        raise problem
