"""The source around a line, when it is here as it was recorded.

Invariant: lines are shown only from a file whose digest is the recorded one; a file that the record
does not name is never opened, so a record cannot make a page show some other file.
"""

from __future__ import annotations

from pathlib import Path

from twice.diagnosis.divergence import OperationFound
from twice.recording.program import source_digests
from twice.recording.runrecord import RunRecord
from twice.report.page import escape, paragraphs
from twice.report.values import mapping

_AROUND = 5


def excerpt(operation: OperationFound, record: RunRecord) -> str:
    """The operation's line with some before and after it, as markup."""
    path = _recorded_source(operation.file, record)
    if path is None:
        return (
            f'<pre><span class="row lit"><span class="number">{operation.line}</span>'
            f"{escape(operation.code)}</span></pre>"
            + paragraphs(["The file is not here as it was recorded."], "soft")
        )
    rows = path.read_text(encoding="utf-8", errors="backslashreplace").splitlines()
    first = max(operation.line - 1 - _AROUND, 0)
    shown = "".join(
        f'<span class="row{" lit" if number == operation.line else ""}">'
        f'<span class="number">{number}</span>{escape(text.expandtabs())}</span>'
        for number, text in enumerate(rows[first : operation.line + _AROUND], start=first + 1)
    )
    return f"<pre>{shown}</pre>"


def _recorded_source(name: str, record: RunRecord) -> Path | None:
    """The file of that name, if the record names it and its digest still stands."""
    recorded = {
        **mapping(mapping(record.identity.get("code")).get("files")),
        **mapping(mapping(record.ending).get("files")),
    }
    root = record.setup.program.folder()
    wanted = (root / name).resolve()
    for listed, digest in sorted(recorded.items()):
        path = (root / listed).resolve()
        if path == wanted and source_digests([root / listed], root).get(listed) == digest:
            return path
    return None
