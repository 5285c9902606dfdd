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
_PRINTED: Final = {"record": '"#stamp"', "seed": '"#seed"', "config": '"#config"'}


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
        parts = []
        for number, (folder, rows) in enumerate(tables):
            database.register(f"rows_{number}", rows)
            prefix = str(folder / "-")[:-1].encode("utf-8", "backslashreplace").decode()
            record = "'" + prefix.replace("'", "''") + "' || name"
            parts.append(f'SELECT *, {record} AS record, {number} AS "#folder" FROM rows_{number}')
        database.execute(f"CREATE VIEW rows AS {' UNION ALL '.join(parts)}")
        seed, config, members = _type_columns(database)
        others = ", ".join(name for name in COLUMNS if name not in _PRINTED)
        # Names that begin with # hold what is printed of a column that has another type in a condition.
        database.execute(
            f'CREATE VIEW records AS SELECT {others}, record, {seed} AS seed, {config} AS config, "#folder", '
            'stamp AS "#stamp", seed AS "#seed", config AS "#config" FROM rows'
        )
        database.execute("SET lock_configuration = true")
        printed = ", ".join(_PRINTED.get(name, name) for name in COLUMNS)
        try:
            found = (
                database.view("records").filter(where).project(f'"#folder", {printed}').fetchall()
            )
        except duckdb.Error as error:
            more = ["..."] * (len(members) > _MEMBERS_SHOWN_MAX)
            shown = ", ".join([*COLUMNS, *members[:_MEMBERS_SHOWN_MAX], *more])
            raise UsageError(
                f"--where {where!r} cannot be answered: {' '.join(str(error).partition('LINE ')[0].split())}",
                f"Expected a condition in SQL over the columns {shown}.",
                f'For example: --where "{EXAMPLE}"',
                where=where,
            ) from error
    chosen = []
    for number, stamp, *values in found:
        name = os.fsdecode(stamp.rpartition(b"/")[2])
        row = dict(zip(COLUMNS, [str(tables[number][0] / name), *values], strict=True))
        row["config"] = row["config"] and json.loads(row["config"])
        chosen.append((number, name, row))
    return [row for *_, row in sorted(chosen, key=itemgetter(0, 1))]


def _type_columns(database: duckdb.DuckDBPyConnection) -> tuple[str, str, list[str]]:
    """Return seed and configuration as a condition sees them, and the names in configurations.

    The configurations are one struct; JSON where their names do not make one.
    """
    fits = "bool_and(TRY_CAST(seed AS UHUGEINT) IS NOT NULL OR seed IS NULL)"
    found = database.execute(
        f"SELECT {fits}, json_group_structure(config::JSON) FROM rows"
    ).fetchone()
    assert found is not None, "an aggregate has a row"
    # A seed has up to 256 bits, but only integers of 128 have whole remainders.
    seed = f"CAST(seed AS {'BIGNUM' if found[0] is False else 'UHUGEINT'})"
    # Of a signed type, so that a difference of two may be below zero.
    structure = (found[1] or "").replace(':"UBIGINT"', ':"HUGEINT"')
    if not structure.startswith("{"):
        return seed, "config::JSON", []
    literal = structure.replace("'", "''")
    typed = f"from_json(config::JSON, '{literal}')"
    try:
        database.execute(f"SELECT {typed} FROM rows LIMIT 0")
    except import_duckdb().Error:
        return seed, "config::JSON", []
    return seed, typed, [f"config.{name}" for name in json.loads(structure)]
