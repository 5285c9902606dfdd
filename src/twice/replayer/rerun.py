"""Run a record's program afresh: same seed, configuration and surroundings, fresh effects.

A re-run is not a replay. A replay serves what was read; a re-run reads the world again, and may
differ for that reason alone. Its record names the run it was made after.

Invariant: a re-run never reads the recorded effects.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from twice.errors import RedactionNeeded
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.recorder import record_program, refuse_existing
from twice.recorder.runrecord import RunRecord
from twice.replayer.preconditions import require_rerunnable, require_same_code
from twice.replayer.replay_job import surroundings_of


def rerun(
    path: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    force: bool = False,
    informational: bool = False,
    show: bool = False,
    surroundings: Surroundings | None = None,
    in_copy: bool = False,
) -> RunRecord:
    """Run a record's program afresh into a new record.

    Args:
        path: the record to run after.
        out: path of the new record.
        force: replace an existing output.
        informational: go on although the code differs.
        show: pass the program's output on.
        surroundings: instead of the recorded ones, for experiments.
        in_copy: let the program change a copy of the files, and none of the user's.

    Raises:
        ProgramChanged: E-PROGRAM-004. OutputExists: E-OUTPUT-001.
        RedactionNeeded: E-REDACT-002, when arguments or configuration were blanked in the record.
    """
    with RunRecord.open(path) as record:
        require_rerunnable(record)
        require_same_code(record, informational=informational)
        blanked = sorted({one.where for one in record.redactions() if one.point < 0})
        if blanked:  # a service would be asked with stars for arguments
            raise RedactionNeeded(
                f"{record.path} holds stars in place of secrets in its {' and '.join(blanked)}.",
                "Expected a run whose arguments and configuration stand in its record: a re-run reads the"
                " world with them.",
                "Record it again with the real ones: twice record …",
            )
        refuse_existing(Path(out), force=force, is_record=True)
        pinned = surroundings or surroundings_of(record)
        parent: Mapping[str, object] = {"run_id": record.run_id, "rerun_of": record.path.name}
        record_program(
            record.setup, pinned, Path(out), force=force, show=show, parent=parent, in_copy=in_copy
        )
    return RunRecord.open(out)
