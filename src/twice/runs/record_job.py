"""A record on its way to a worker, with the trust that it has in the process that sends it, and what is said where that fails.

Invariant: a worker executes of a record what its sender may execute, and nothing more.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twice.errors import TwiceError
from twice.foundation.record_url import RecordUrl, to_path
from twice.recorder.record_form import reading
from twice.recorder.runrecord import RunRecord
from twice.recorder.trust import choose_allowed, grant, is_made_here, is_trusted, remember_record


def send_record(path: Path, record: RunRecord, *, is_here: bool) -> dict[str, Any]:
    """Return a record as a job's arguments have it.

    Args:
        path: of the record, which is open.
        record: the record.
        is_here: whether the worker sees the files of this process. If not, the bytes of a file travel too.
    """
    allow = choose_allowed(record.digest, record.setup.allow)
    is_seen = is_here or isinstance(path, RecordUrl)
    return {
        "path": str(path),
        "digest": record.digest,
        "made_here": is_made_here(record.digest),
        "allow": list(allow) if is_trusted(record.digest) else None,
        "content": None if is_seen else path.read_bytes(),
    }


@contextmanager
def receive_record(sent: Mapping[str, Any]) -> Iterator[Path]:
    """Give the path of a record that was sent, or of a copy of it where this process does not see that path."""
    path = to_path(sent["path"])
    if sent["made_here"]:
        remember_record(sent["digest"], is_passing=True)
    elif sent["allow"] is not None:
        grant(sent["digest"], sent["allow"])
    with reading("something", path):
        if sent["content"] is None:
            yield path
            return
        with tempfile.TemporaryDirectory(prefix="twice-record-") as folder:
            copy = Path(folder, path.name)
            copy.write_bytes(sent["content"])
            yield copy


def describe_error(error: TwiceError) -> dict[str, Any]:
    """Return ``error``, and ``explained`` in a line, of the entry of a record with which nothing could be done."""
    facts = {name: getattr(error, name) for name in ("happened", "expected", "remedy")}
    return {"error": {"id": error.id, **facts}, "explained": f"{error.id} {error.happened}"}
