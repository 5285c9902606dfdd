"""List the run records in folders.

  twice ls
  twice ls runs archive -v
  twice ls s3://bucket/runs
  twice ls runs --where "seed < 100 and result = 'FAIL'"
  twice ls --json

Torn and damaged records are listed as such; other files are named with -v only.

The condition of --where is SQL over what --json prints of each record. It needs twice[catalogue], which keeps what it
read in the folder, under .twice-catalogue, so that the next question opens new and changed records only. Where the folder
takes no files, or is in an object store, it keeps that in the cache of the account.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from twice.cli.console import show_progress
from twice.cli.options import RECORD, AsJson, Limit, argument, build_command, option
from twice.cli.output import align, limit_rows, print_beside, tell
from twice.errors import RecordForeign
from twice.foundation.printable import printable
from twice.runs.record_row import list_files, read_row

_HEAD: Final[tuple[str, ...]] = (
    "RECORD",
    "PROGRAM",
    "SEED",
    "TICKS",
    "ENDING",
    "BYTES",
    "RESULT",
    "PARENT",
)


@build_command
def command(
    folders: Annotated[tuple[Path, ...], argument(metavar="[FOLDER]...", type=RECORD)],
    where: Annotated[str | None, option("--where SQL", "those that a condition is true of")],
    verbose: Annotated[bool, option("-v, --verbose", "name the files skipped")],
    limit: Limit,
    as_json: AsJson,
) -> int:
    """List, in the order of names."""
    folders = folders or (Path(),)
    listed: list[dict[str, Any]] = []
    skipped: list[str] = []
    if where is not None:
        listed, skipped = _ask(folders, where)
    for folder in folders if where is None else ():
        for file in list_files(folder):
            try:
                listed.append(read_row(folder, file))
            except RecordForeign:
                skipped.append(str(folder / file.name))
    document: dict[str, Any] = {"format": "twice.records/1", "records": listed, "skipped": skipped}
    document = limit_rows(document, "records", limit)
    if not as_json and not listed:
        fitting = "" if where is None else "of which that is true "
        print_beside(f"no run record {fitting}in {', '.join(map(printable, folders))}")
    rows = [_HEAD] if listed else []
    for row in document["records"]:
        cells = ["-" if row[name.lower()] is None else row[name.lower()] for name in _HEAD[:-1]]
        cells.append(row["damage"] or row["parent"] or "")
        rows.append(tuple(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells))
    code = tell(document, align(rows, indent=""), as_json=as_json)
    for name in skipped if verbose and not as_json else ():
        print_beside(f"skipped, not a run record: {printable(name)}")
    return code


def _ask(folders: Sequence[Path], where: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of which a condition is true, by the catalogues of folders, and the files passed over."""
    # The extra is for questions alone.
    from twice.runs.catalogue import RecordCatalogue, import_duckdb
    from twice.runs.record_query import select_rows

    import_duckdb()
    tables, skipped = [], []
    for catalogue in map(RecordCatalogue, folders):
        with show_progress("catalogued") as progress:
            rows, others = catalogue.update(progress)
        tables.append((catalogue.folder, rows))
        skipped += others
        if catalogue.failure is not None:
            print_beside(f"nothing is kept for the next question: {catalogue.failure.happened}")
        elif catalogue.opened and catalogue.place.parent != catalogue.folder:
            print_beside(f"the catalogue of {catalogue.folder} is kept in {catalogue.place}")
    return select_rows(tables, where), skipped
