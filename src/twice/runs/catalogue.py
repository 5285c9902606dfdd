"""The rows of a folder's records, kept in Parquet files beside them, so that only changed records are opened.

A row is a function of a record and its newest statement, and is kept with the size and the times by which both are
known again. So the files are a cache: they may be deleted at any time, rows that no longer fit are passed over, and
two processes that read the same record keep the same row. Every update writes a file of its own and replaces none.
When there are many, one file with all rows is written first, and those that it covers are removed then.

Like ``make``, it does not see a change that leaves size and time of a file as they were. It believes the files of
whoever may write to the folder.

Invariant: at every moment each kept row is in a whole file, and rows that are lost cost time, never an answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from twice.errors import (
    ExtraMissing,
    OutputUnwritable,
    RecordForeign,
    RecordUnreadable,
    RecordVersion,
)
from twice.foundation.digests import digest_bytes
from twice.foundation.record_url import RecordUrl
from twice.recorder.record.prefix import Progress
from twice.runs.record_row import COLUMNS, ListedFile, list_files, read_row
from twice.writing import make_folder, write

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER: Final = ".twice-catalogue"
"""Beside the records. A file of it is named for the form of its rows, so that other versions leave it alone."""
_FORM: Final = "rows-1"
_PARTS: Final = f"{_FORM}-*.parquet"
_BATCH: Final = 1000
"""Records after which rows are kept; a kill costs at most as many."""
_PARTS_MAX: Final = 16
_ABANDONED_S: Final = 3600
_DUCKDB_MIN: Final = 2
_PASSING: Final = (RecordUnreadable.id, RecordVersion.id)
"""Of damages that end without a change of the record: by other rights, or by another version of twice."""


class RecordCatalogue:
    """The catalogue of one folder.

    Args:
        folder: of the records; not those below it.

    Attributes:
        folder: the same.
        place: of its files: beside the records, or in the cache of this account where that folder takes none.
        opened: how many records the last update read.
        failure: why rows could not be kept, so that the next update reads these records again.
    """

    def __init__(self, folder: Path) -> None:
        self.opened = 0
        self.failure: OutputUnwritable | None = None
        self.folder, self.place = folder, folder / FOLDER
        if isinstance(folder, RecordUrl) or not os.access(folder, os.W_OK):
            cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  (never raises)
            name = digest_bytes(os.fsencode(folder.absolute())).hex
            self.place = Path(cache) / "twice" / "catalogues" / name

    def update(self, progress: Progress | None = None) -> tuple[pa.Table, list[str]]:
        """Read the records that are new or changed, keep their rows, and return those of all.

        Args:
            progress: called with records done and records in all, while they are opened.

        Returns:
            A row for each record, in no order: ``name``, and all of `COLUMNS` but ``record``, of which ``config`` is
            JSON; ``stamp`` ends with a slash and the name as the system has it. Then the paths of the other files.

        Raises:
            UsageError: E-USE-001, when the folder cannot be listed. ExtraMissing: E-EXTRA-001.
        """
        import_duckdb()
        import pyarrow as pa

        files = {file.stamp: file for file in list_files(self.folder)}
        parts, kept = self._read_parts()
        known = {stamp: at for at, stamp in enumerate(kept["stamp"].to_pylist())}
        missing = [file for stamp, file in files.items() if stamp not in known]
        fitting = [known[stamp] for stamp in files if stamp in known]
        tables, self.opened, self.failure = [_take(kept, fitting)], len(missing), None
        for first in range(0, len(missing), _BATCH):
            entries = []
            for done, file in enumerate(missing[first : first + _BATCH], start=first + 1):
                entries.append(self._read(file))
                if progress is not None:
                    progress(done, len(missing))
            tables.append(_to_table(entries))
            parts += self._keep(tables[-1])
        rows = pa.concat_tables(tables)
        if len(parts) > _PARTS_MAX:
            self._compact(parts, rows)
        is_record = rows["is_record"].to_pylist()
        others = []
        if not all(is_record):
            stamps = zip(rows["stamp"].to_pylist(), is_record, strict=True)
            others = sorted(files[stamp].name for stamp, is_one in stamps if not is_one)
            rows = _take(rows, [at for at, is_one in enumerate(is_record) if is_one])
        return rows, [str(self.folder / name) for name in others]

    def _read(self, file: ListedFile) -> dict[str, Any]:
        """Read the row of a file, with what it is known by."""
        found = {"stamp": file.stamp, "name": file.name, "is_record": True}
        try:
            return read_row(self.folder, file) | found
        except RecordForeign:
            return found | {"is_record": False}

    def _read_parts(self) -> tuple[list[Path], pa.Table]:
        """Read the rows that were kept, and name the files of this catalogue that they are in, damaged ones too."""
        import pyarrow as pa
        from pyarrow import parquet

        parts, tables = sorted(self.place.glob(_PARTS)), []
        # Those of somebody who may write there are read, and left alone.
        beside = {*(self.folder / FOLDER).glob(_PARTS)} - {*parts}
        # A named pipe would be waited at for ever.
        for part in filter(Path.is_file, [*parts, *sorted(beside)]):
            # One that a merge of another process has removed meanwhile is missing, and its rows are read anew.
            with (
                suppress(OSError, pa.ArrowException),
                parquet.ParquetFile(part, page_checksum_verification=True) as file,
            ):
                tables += [file.read()] if file.schema_arrow.equals(_name_types()) else []
        return parts, pa.concat_tables(tables or [_name_types().empty_table()])

    def _keep(self, rows: pa.Table) -> list[Path]:
        """Write rows into a new file and name it; nothing once the folder has refused one."""
        import pyarrow as pa
        from pyarrow import parquet

        damages = enumerate(rows["damage"].to_pylist())
        rows = _take(rows, [at for at, each in damages if not str(each).startswith(_PASSING)])
        if self.failure is not None or not len(rows):
            return []
        target = self.place / f"{_FORM}-{os.urandom(8).hex()}.parquet"
        out = pa.BufferOutputStream()
        parquet.write_table(rows, out, compression="zstd", write_page_checksum=True)
        try:
            if self.place.is_symlink():
                raise OutputUnwritable(  # noqa: TRY301
                    f"{self.place} is a symbolic link.",
                    "Expected a folder that twice made.",
                    "Remove it, and ask again.",
                )
            if not self.place.exists():
                # Rows quote records, which only their owner reads.
                make_folder(self.place).chmod(0o700)
            write(target, [memoryview(out.getvalue())])
        except OutputUnwritable as error:
            self.failure = error
            return []
        return [target]

    def _compact(self, parts: Iterable[Path], rows: pa.Table) -> None:
        """Write all rows into one file, then remove those that it replaces, and what killed processes left."""
        merged = self._keep(rows)
        if not merged:
            return
        for part in parts:
            with suppress(OSError):
                part.unlink()
        # By the clock of the file system, which wrote both times.
        now_s = merged[0].stat().st_mtime
        for half in self.place.glob(f".{_FORM}-*.new"):
            with suppress(OSError):
                if now_s - half.stat().st_mtime > _ABANDONED_S:
                    half.unlink()


def import_duckdb() -> Any:
    """Import DuckDB, and see that pyarrow is there.

    Raises:
        ExtraMissing: E-EXTRA-001, when one of them is not installed, or is too old.
    """
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401

        # Before, a condition may end with a LIMIT that is passed over, and switch on logs although settings are locked.
        if int(duckdb.__version__.partition(".")[0]) < _DUCKDB_MIN:
            raise ImportError(f"duckdb {duckdb.__version__} is installed")  # noqa: TRY301
    except ImportError as error:
        raise ExtraMissing(
            f"Questions about records need duckdb {_DUCKDB_MIN} or later, and pyarrow: {error}.",
            "Expected the extra `catalogue`.",
            "pip install 'twice[catalogue]'",
            extra="catalogue",
        ) from error
    return duckdb


def _take(rows: pa.Table, positions: list[int]) -> pa.Table:
    """Return the rows at some positions; all of them, as they mostly are, without a copy."""
    import numpy as np
    import pyarrow as pa

    if len(positions) == len(rows):
        return rows
    # From a buffer: to make an array of a list would import pandas, which takes longer than all the rest.
    buffer = pa.py_buffer(np.array(positions, np.int64))
    return rows.take(pa.Array.from_buffers(pa.int64(), len(positions), [None, buffer]))


def _name_types() -> pa.Schema:
    """Return the columns of a file of the catalogue, with their types."""
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int64(), bool: pa.bool_(), dict: pa.string()}
    fields = {name: types[kind] for name, kind in COLUMNS.items() if name != "record"}
    return pa.schema({"stamp": pa.binary(), "name": pa.string(), "is_record": pa.bool_(), **fields})


def _to_table(entries: list[dict[str, Any]]) -> pa.Table:
    """Make rows of a file of the catalogue."""
    import pyarrow as pa

    types, columns = _name_types(), []
    for name, kind in zip(types.names, types.types, strict=True):
        values = [entry.get(name) for entry in entries]
        if name == "config":
            values = [None if each is None else json.dumps(each) for each in values]
        if kind == pa.string():  # which takes no halves of surrogates
            values = [each and each.encode("utf-8", "backslashreplace").decode() for each in values]
        columns.append(pa.array(values, kind))
    return pa.Table.from_arrays(columns, schema=types)
