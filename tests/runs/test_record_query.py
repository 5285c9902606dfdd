from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from made_records import RAISED, make_record, write_statement

from twice.errors import UsageError
from twice.runs.catalogue import RecordCatalogue
from twice.runs.record_query import select_rows

SEEDS = (7, 2**63, 2**64, 2**128 - 1)


def make_rows(folder: Path) -> Any:
    return folder, RecordCatalogue(folder).update()[0]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Rows of four records; the last one raised and was verified."""
    folder = tmp_path_factory.mktemp("asked")
    for number, seed in enumerate(SEEDS):
        config = {
            "n": number,
            "lr": 10.0**-number,
            "net": {"width": 8 * number},
            "name": f"o'{number}",
        }
        exception = RAISED if number == 3 else None
        make_record(
            folder / f"{number}.twice", seed=seed, config=config, ticks=number, exception=exception
        )
    write_statement(folder / "3.twice", 1, "FAIL")
    return make_rows(folder)


def ask(rows: Any, where: str) -> str:
    """Return the numbers of the records of which it is true."""
    return "".join(Path(row["record"]).stem for row in select_rows([rows], where))


@pytest.mark.parametrize(
    ("where", "chosen"),
    [
        ("seed < 100", "0"),
        ("seed >= 9223372036854775808", "123"),
        ("seed = 18446744073709551616", "2"),
        ("seed = 340282366920938463463374607431768211455", "3"),
        ("seed % 2 = 1", "03"),
        ("result = 'FAIL'", "3"),
        ("result is null", "012"),
        ("config.lr <= 1e-2 and config.net.width < 20", "2"),
        ("config.n - 2 < 0", "01"),
        ("config.name = 'o''1'", "1"),
        ("error = 'ValueError' and place = 'train.py:7'", "3"),
        ("ticks = (select max(ticks) from records)", "3"),
        ("complete and not (damage is not null) -- all", "0123"),
        ("record like '%/1.twice' or run_id is null", "1"),
        ("false", ""),
    ],
)
def test_a_condition_chooses(rows: Any, where: str, chosen: str) -> None:
    assert ask(rows, where) == chosen


def test_rows_are_as_they_were_read(rows: Any) -> None:
    (row,) = select_rows([rows], "config.n = 3")

    assert (row["seed"], row["config"]["net"], row["complete"]) == (
        str(2**128 - 1),
        {"width": 24},
        True,
    )


def test_several_folders_are_one_question(rows: Any, tmp_path: Path) -> None:
    make_record(tmp_path / "9.twice", ticks=9)

    found = select_rows(
        [rows, make_rows(tmp_path)], "ticks = (select max(ticks) from records) or seed = 7"
    )

    assert [Path(row["record"]).stem for row in found] == ["0", "9"]


def test_seeds_of_256_bits_are_compared(tmp_path: Path) -> None:
    for number, seed in enumerate([5, 2**128, 2**256 - 1]):
        make_record(tmp_path / f"{number}.twice", seed=seed)
    rows = make_rows(tmp_path)

    assert ask(rows, "seed < 100") == "0"
    assert ask(rows, f"seed > {2**128 - 1}") == "12"
    assert ask(rows, f"seed = {2**256 - 1}") == "2"


@pytest.mark.parametrize("configs", [[{}], [{"A": 1, "a": 2}], [{}, {"a": 1}], []])
def test_any_configuration_can_be_asked_as_json(
    tmp_path: Path, configs: list[dict[str, Any]]
) -> None:
    for number, config in enumerate(configs):
        make_record(tmp_path / f"{number}.twice", config=config)

    rows = make_rows(tmp_path)

    assert len(select_rows([rows], "config->>'a' is null or true")) == len(configs)
    assert len(select_rows([rows], "ticks > 0")) == len(configs)


@pytest.mark.parametrize(
    "where",
    [
        "", "seed <", "seed < 100;", "true; drop view records", "true) or (true", "true order by seed", "true limit 1",
        "ticks, seed", "sed < 100", "config.rate = 1", "'x'", "seed = 'x'", "count(*) > 1", "ticks = ?",
    ],
)  # fmt: skip
def test_what_is_no_condition_is_one_error_that_names_the_columns(rows: Any, where: str) -> None:
    with pytest.raises(UsageError) as refused:
        select_rows([rows], where)

    assert refused.value.happened.startswith(f"--where {where!r} cannot be answered: ")
    assert "\n" not in refused.value.happened
    assert "verified_at, config.lr, config.n, config.name, config.net" in refused.value.expected


SECRET = "planted secret"
CLOSED = [
    "exists (from read_csv('{file}'))",
    "exists (from '{file}')",
    "(select content from read_text('{file}')) = 'x'",
    "exists (from read_blob('{file}'))",
    "exists (from read_parquet('{file}'))",
    "exists (from read_json('{file}'))",
    "exists (from sniff_csv('{file}'))",
    "exists (from glob('{folder}/*'))",
    "exists (from query('copy (select 1) to ''{folder}/out'''))",
    "exists (from query('attach ''{folder}/out'''))",
    "exists (copy (select 1) to '{folder}/out')",
    "exists (attach '{folder}/out')",
    "exists (install httpfs)",
    "exists (load '{file}')",
    "exists (pragma database_list)",
    "exists (set lock_configuration = false)",
    "exists (from sqlite_scan('{file}', 'x'))",
    "exists (from enable_logging(storage_path := '{folder}/out'))",
    "exists (from enable_profiling(save_location := '{folder}/out'))",
    "exists (from local_table)",
    "getenv('PATH') is not null",
]


@pytest.mark.parametrize("where", CLOSED)
def test_a_condition_reads_no_file_writes_none_and_changes_no_setting(
    rows: Any, where: str, tmp_path: Path
) -> None:
    local_table = rows
    file = tmp_path / "secret.csv"
    file.write_text(f"{SECRET},1\n")
    before = os.listdir()

    with pytest.raises(UsageError) as refused:
        select_rows([local_table], where.format(file=file, folder=tmp_path))

    assert SECRET not in str(refused.value)
    assert os.listdir(tmp_path) == [file.name]
    assert os.listdir() == before
