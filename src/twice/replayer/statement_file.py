"""The files of a verification beside its record: JSON for scripts, Markdown for people.

Invariant: an earlier statement is never overwritten, and half of one never stays.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from twice.errors import OutputUnwritable, RecordUnreadable
from twice.foundation.record_url import RecordUrl
from twice.recorder.record.object_store import ObjectBytes, write_object


def write_statement(record: Path, document: Mapping[str, Any], markdown: str) -> Path:
    """Write a verification next to its record, under the first free number.

    Returns:
        Path of the JSON file.

    Raises:
        OutputUnwritable: E-OUTPUT-002, when the folder takes no files.
    """
    for number in range(1, 1_000_000):
        # Created exclusively: two processes that verify the same record at once take two numbers.
        target = record.with_name(f"{record.name}.verification-{number}.json")
        try:
            _write_private(target, f"{json.dumps(document, indent=2, ensure_ascii=False)}\n", "x")
            _write_private(target.with_suffix(".md"), markdown, "w")
        except FileExistsError:
            continue
        except OSError as error:
            # Half a report would be read as a whole one.
            for half in (target, target.with_suffix(".md")):
                with suppress(OSError):
                    half.unlink()
            raise OutputUnwritable(
                f"The statement {target} cannot be written: {error.strerror}.",
                "Expected a folder that takes files.",
                "Copy the record to such a folder, or ask for --json and keep that.",
                path=str(target),
            ) from error
        return target
    raise AssertionError("a million statements stand next to one record")


def read_statement(path: Path, run_id: str) -> dict[str, Any] | None:
    """Read a statement; None where it is being written, is none, or is about another run than this."""
    try:
        content = bytes(ObjectBytes(path)[:]) if isinstance(path, RecordUrl) else path.read_bytes()
        told = json.loads(content)
    except (OSError, ValueError, RecordUnreadable):
        return None
    fits = isinstance(told, dict) and told.get("run_id") == run_id
    return told if fits and isinstance(told.get("result"), str) else None


def _write_private(path: Path, text: str, mode: str) -> None:
    """Write a file that only its owner reads, like the record that it is about; an object beside an object."""
    if isinstance(path, RecordUrl):
        write_object(path, text.encode("utf-8"), replace=mode == "w")
        return
    with open(path, mode, encoding="utf-8", opener=_open_private) as file:
        file.write(text)


def _open_private(path: str, flags: int) -> int:
    """Open a file that only its owner reads, like the record that it is about."""
    return os.open(path, flags, 0o600)
