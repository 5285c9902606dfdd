"""Record a run by a job: what is decided about it goes out, its record comes back.

Where workers see the same files, the job writes the record itself. From elsewhere its bytes come back, and are put in
place as a whole.

Invariant: a record that is at its path is whole, as far as the program came.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.record.block_writer import hidden_beside, unwritable
from twice.recorder.recorder import record_program, refuse_existing
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.recorder.trust import remember_record
from twice.worker.executor import Executor, Job


def build_record_job(
    setup: Setup,
    surroundings: Surroundings,
    out: Path,
    executor: Executor,
    *,
    key: Any = None,
    parent: Mapping[str, object] | None = None,
    in_copy: bool = False,
) -> Job:
    """Build the job that records one run.

    Args:
        setup: everything decided about the run.
        surroundings: of its process.
        out: path of the record; it must be free.
        executor: that the job is for.
        key: of the job.
        parent: of a run that follows another one: that one.
        in_copy: let the program change a copy of the files.
    """
    arguments = {
        "setup": setup.to_json(),
        "surroundings": surroundings.to_json(),
        "out": str(out.absolute()) if executor.is_here else None,
        "name": out.name,
        "parent": None if parent is None else dict(parent),
        "in_copy": in_copy,
    }
    return Job("twice.recorder.record_jobs:record_here", arguments, key)


def record_here(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Do the job in a worker; return how the run ended, the digest of its record, and its bytes if they must travel."""
    setup, surroundings = (
        Setup.from_json(arguments["setup"]),
        Surroundings.from_json(arguments["surroundings"]),
    )
    with tempfile.TemporaryDirectory(prefix="twice-record-") as folder:
        out = Path(arguments["out"] or Path(folder, arguments["name"]))
        refuse_existing(out, force=False, is_record=True)
        ended = record_program(
            setup, surroundings, out, parent=arguments["parent"], in_copy=arguments["in_copy"]
        )
        with RunRecord.open(out) as record:
            digest = record.digest
        content = None if arguments["out"] else out.read_bytes()
    return {
        "how": ended["how"],
        "complete": ended["complete"],
        "digest": digest,
        "content": content,
    }


def receive_record(answer: Mapping[str, Any], out: Path) -> None:
    """Put the record of an answer in its place, and remember that this account made it.

    Raises:
        OutputUnwritable: E-OUTPUT-002. OutputExists: E-OUTPUT-001.
    """
    remember_record(answer["digest"])
    if answer["content"] is None:
        return
    refuse_existing(out, force=False, is_record=True)
    hidden = hidden_beside(out, os.getpid())
    try:
        hidden.write_bytes(answer["content"])
        hidden.chmod(0o600)
        hidden.replace(out)
    except OSError as error:
        hidden.unlink(missing_ok=True)
        raise unwritable(out, error) from error
