"""Which rows of a catalogue a condition in SQL is true of.

DuckDB parses and answers it, as one expression: no second statement, no order and no limit. It runs in a database
that has nothing but the rows. Files, extensions and settings are closed to it.

Invariant: whatever the condition is, the answer is rows of the catalogue or one refusal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from twice.errors import UsageError
from twice.runs.catalogue import import_duckdb
from twice.runs.record_row import COLUMNS

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

EXAMPLE: Final = "seed < 100 and result = 'FAIL'"
_MEMBERS_SHOWN_MAX: Final = 20


def select_rows(tables: Sequence[tuple[Path, pa.Table]], where: str) -> list[dict[str, Any]]:
    """Return the rows of records that a condition is true of, in the order of the folders and the names.

    Args:
        tables: of `RecordCatalogue.update`, each with the folder.
        where: a condition of DuckDB's SQL over `COLUMNS`; ``seed`` is a number there, ``config`` a struct.

    Returns:
        Rows as `read_row` reads them.

    Raises:
        UsageError: E-USE-001, when it cannot be parsed or answered; it names the columns.
    """
    duckdb = import_duckdb()
    settings = {
        "enable_external_access": "false",
        "python_enable_replacements": "false",
        "temp_directory": "",
    }
    with duckdb.connect(":memory:", config=settings) as database:
        members = _create_view(database, tables)
        database.execute("SET lock_configuration = true")
        raw = ", ".join(
            {"record": '"#"', "seed": '"#seed"', "config": '"#config"'}.get(each, each)
            for each in COLUMNS
        )
        try:
            found = database.view("records").filter(where).project(f'"#folder", {raw}').fetchall()
        except duckdb.Error as error:
            shown = [
                *COLUMNS,
                *members[:_MEMBERS_SHOWN_MAX],
                *["..."] * (len(members) > _MEMBERS_SHOWN_MAX),
            ]
            raise UsageError(
                f"--where {where!r} cannot be answered: {' '.join(str(error).partition('LINE ')[0].split())}",
                f"Expected a condition in SQL over the columns {', '.join(shown)}.",
                f'For example: --where "{EXAMPLE}"',
                where=where,
            ) from error
    rows = []
    for number, stamp, *others in found:
        name = os.fsdecode(stamp.rpartition(b"/")[2])
        row = dict(zip(COLUMNS, [str(tables[number][0] / name), *others], strict=True))
        row["config"] = row["config"] and json.loads(row["config"])
        rows.append((number, name, row))
    return [row for *_, row in sorted(rows, key=itemgetter(0, 1))]


def _create_view(
    database: duckdb.DuckDBPyConnection, tables: Sequence[tuple[Path, pa.Table]]
) -> list[str]:
    """Create the view ``records``; return the names of what its configurations have.

    Names that begin with ``#`` hold what is printed of a column that has another type in questions.
    """
    parts = []
    for number, (folder, rows) in enumerate(tables):
        database.register(f"rows_{number}", rows)
        prefix = (
            str(folder / "-")[:-1].encode("utf-8", "backslashreplace").decode().replace("'", "''")
        )
        parts.append(
            f"SELECT *, '{prefix}' || name AS record, {number} AS \"#folder\" FROM rows_{number}"
        )
    database.execute(f"CREATE VIEW rows AS {' UNION ALL '.join(parts)}")
    seed, config, members = _type_seed(database), *_type_config(database)
    others = ", ".join(name for name in COLUMNS if name not in {"seed", "config"})
    database.execute(
        f'CREATE VIEW records AS SELECT {others}, {seed} AS seed, {config} AS config, seed AS "#seed", '
        'config AS "#config", stamp AS "#", "#folder" FROM rows'
    )
    return members


def _type_seed(database: duckdb.DuckDBPyConnection) -> str:
    """Return the number that the seeds are: a seed has up to 256 bits, and only 128 have whole remainders."""
    fits = "bool_and(TRY_CAST(seed AS UHUGEINT) IS NOT NULL)"
    found = database.execute(f"SELECT {fits} FROM rows WHERE seed IS NOT NULL").fetchone()
    return f"CAST(seed AS {'BIGNUM' if found == (False,) else 'UHUGEINT'})"


def _type_config(database: duckdb.DuckDBPyConnection) -> tuple[str, list[str]]:
    """Return the configurations as one struct, and its members; JSON where their names or values do not make one."""
    found = database.execute("SELECT json_group_structure(config::JSON) FROM rows").fetchone()
    # Of a signed type, so that a difference of two may be below zero.
    structure = str(found[0] if found else "").replace(':"UBIGINT"', ':"HUGEINT"')
    try:
        names = json.loads(structure)
        literal = structure.replace("'", "''")
        typed = f"from_json(config::JSON, '{literal}')"
        database.execute(f"SELECT {typed} FROM rows LIMIT 0")
    except (ValueError, import_duckdb().Error):
        return "config::JSON", []
    return typed, [f"config.{name}" for name in names]
