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
from twice.recording import active
from twice.recording.cadence import default_cadence
from twice.recording.describing import describe_ending
from twice.recording.environment import measure
from twice.recording.executing import failed, finish, governed
from twice.recording.identity import build_identity
from twice.recording.kernel import confinement
from twice.recording.kernel.confinement import Confinement
from twice.recording.native_files import roots_of
from twice.recording.probes.kept import PROBES, KeptProbes, keep_probes, read_known_probes
from twice.recording.program import Program
from twice.recording.record import RecordWriter
from twice.recording.recorder import master_seed, refuse_existing, warn
from twice.recording.redaction.documents import redacted_identity
from twice.recording.redaction.redaction import Redaction
from twice.recording.run import Run
from twice.recording.runrecord import RunRecord
from twice.recording.session import Session
from twice.recording.setup import Setup
from twice.recording.surroundings import Surroundings
from twice.recording.trust import digest_identity, remember_record
from twice.recording.writing import recording_session


@contextmanager
def recording_here(
    out: str | os.PathLike[str],
    *,
    seed: int | Seed | None,
    config: Mapping[str, Any] | None,
    force: bool,
    **policies: Any,
) -> Iterator[Run]:
    """Record in this process; ``inline.recording`` documents it."""
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
    surroundings = Surroundings.found(os.environ)
    setup.require_recordable()
    redaction = Redaction(setup.redaction, os.environ)
    kept = KeptProbes({PROBES: read_known_probes()})
    identity = redacted_identity(
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
