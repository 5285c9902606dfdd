"""Bringing a record to the newest format, and closing one that was cut short.

Invariant: every block of the new record was proved in the old one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from twice.errors import UsageError
from twice.recorder.record.block_file import BlockFile
from twice.recorder.record.block_writer import BlockWriter
from twice.recorder.record.layout import Kind, Sealer
from twice.recorder.record.payloads import encode_json

_CHUNK_BYTES = 1 << 20
_TEAR_FIELDS = ("reason", "offset", "points", "damaged")


def migrate(
    path: str | os.PathLike[str], out: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write a closed record of the newest format with the content of another one.

    A record of the newest format is copied byte for byte, so its chain of checksums stays. A torn or
    damaged record keeps the blocks before the tear and gets the ending
    ``{"how": "torn", "reason": …, "offset": …, "points": …, "damaged": …}``. Where the run did end
    and only its index or trailer is missing or damaged, the ending stays its own.

    Args:
        path: the old record; it is only read.
        out: the new one.
        force: replace a file at ``out``.

    Raises:
        UsageError: E-USE-001, when both paths are one file.
        OutputExists: E-OUTPUT-001, when ``out`` exists and ``force`` is not given.
        OutputUnwritable: E-OUTPUT-002, when it cannot be written.
        RecordVersion: E-RECORD-001, when the record is newer than this version.
        RecordTorn: E-RECORD-003, when it ends before anything of the run.
    """
    file = BlockFile(path)
    try:
        if Path(out).exists() and Path(out).samefile(path):
            raise UsageError(
                f"{out} is the record that is read.",
                "Expected another path for the new record.",
                "Choose one with -o; the old record stays as it is.",
                path=str(out),
            )
        MIGRATIONS[file.header.format](file, out, force)
    finally:
        file.close()


def _close_prefix(file: BlockFile, out: str | os.PathLike[str], force: bool) -> None:
    prefix = file.scan()
    chunks = (
        file.copy_bytes(begin, min(begin + _CHUNK_BYTES, prefix.end))
        for begin in range(0, prefix.end, _CHUNK_BYTES)
    )
    sealer = Sealer(file.chain, prefix.checksum)
    blocks = BlockWriter(out, chunks, sealer, bytes(prefix.rows), force=force)
    try:
        if not prefix.ended:
            tear = prefix.tear
            assert tear is not None, "a prefix without an ending has a tear"
            known = {name: getattr(tear, name) for name in _TEAR_FIELDS}
            blocks.append(Kind.ENDING, b"", encode_json({"how": "torn", **known}))
        blocks.finish()
    finally:
        blocks.close()


# How a record of each readable format becomes one of the newest.
MIGRATIONS: dict[int, Callable[[BlockFile, str | os.PathLike[str], bool], None]] = {
    1: _close_prefix,
}
