"""Record in this process: the code of a ``with`` block, or a function that no fresh process could find.

It writes the same record, but code that has no name cannot be started again, and the record says so.

Invariant: what starts a fresh process does not import this, and so not what a process that is recorded needs.
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
from twice.recorder import active
from twice.recorder.cadence import default_cadence
from twice.recorder.describing import describe_ending
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probe_cache import (
    PROBES,
    KeptProbes,
    keep_probes,
    read_known_probes,
)
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.executing import failed, finish, governed
from twice.recorder.identity import build_identity
from twice.recorder.kernel import confinement
from twice.recorder.kernel.confinement import Confinement
from twice.recorder.native_files import roots_of
from twice.recorder.program import Program
from twice.recorder.record import RecordWriter
from twice.recorder.recorder import master_seed, refuse_existing, warn
from twice.recorder.redaction.redaction import Redaction, redact_identity
from twice.recorder.run import Run
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.setup import Setup
from twice.recorder.trust import digest_identity, remember_record
from twice.recorder.writing import recording_session


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
        Program("inline", "inline code"), master_seed(seed), dict(config or {}), **policies
    )
    refuse_existing(Path(out), force=force, is_record=True)
    session_ = _inline_session(setup, Path(out), force=force)
    with governed(session_) as run:
        try:
            yield run
        except BaseException as error:
            how = "interrupted" if isinstance(error, KeyboardInterrupt) else "exception"
            _finish_inline(session_, failed(how, error, 1))
            raise
        _finish_inline(session_, {"how": "completed", "exit_code": 0})


def _inline_session(setup: Setup, out: Path, *, force: bool) -> Session:
    active.require_none()
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
        roots=roots_of(setup.program),
        algorithm=setup.algorithm,
        copy_limit=setup.copy_limit,
    )
    return session


def record_function(
    function: Callable[..., object], setup: Setup, out: Path, *, force: bool
) -> RunRecord:
    """Record a function that no fresh process could find."""
    session_ = _inline_session(setup, out, force=force)
    with governed(session_) as run:
        try:
            function(run)
        except TwiceError as error:
            _finish_inline(session_, failed("refused", error, 2))
            raise
        except Exception as error:  # noqa: BLE001  (as in a process of its own: the record says so)
            traceback.print_exc()
            _finish_inline(session_, failed("exception", error, 1))
        else:
            _finish_inline(session_, {"how": "completed", "exit_code": 0})
    return RunRecord.open(out)


def _finish_inline(session: Session, ending: dict[str, Any]) -> None:
    """Finish a session in this process, and raise the error that occurred meanwhile."""
    _, problem = finish(session, ending, lambda: describe_ending(session))
    if problem is not None:
        raise problem
