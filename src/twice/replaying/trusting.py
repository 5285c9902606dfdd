"""Trust a record by its path: for whoever executes what others recorded.

Invariant: trust ends with the block that gave it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from twice.recording.runrecord import RunRecord
from twice.recording.trust import GRANT, grant, grant_for_block


def open_job_record(job: Mapping[str, Any]) -> RunRecord:
    """Open the record of a job, in a process that was started to execute it."""
    digest, allow = job[GRANT]
    grant(digest, allow)
    return RunRecord.open(job["record"])


@contextmanager
def trusting(path: str | os.PathLike[str], *, allow: Sequence[str] = ()) -> Iterator[None]:
    """Trust a record for as long as the block runs, whoever made it: it may be executed.

    Args:
        path: of the record.
        allow: sources of the world that it may use although they are not recorded, as ``record`` takes them;
            those that it was recorded with count only for a record that this account made.

    Raises:
        RecordForeign, RecordVersion, RecordUnreadable, RecordCorrupt: E-RECORD-001 to 005.
    """
    with RunRecord.open(path) as record:
        digest = record.digest
    with grant_for_block([digest], allow):
        yield
