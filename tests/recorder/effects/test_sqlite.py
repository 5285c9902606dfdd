"""SQLite's own clock and entropy are served in a replay, and its functions stay what they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from programs import recorded
from twice.recorder.effects.ops import SQLITE_SEED
from twice.recorder.effects.sqlite import seed_generator
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

ASKED = [
    "select current_timestamp, current_date, current_time",
    "select datetime('now', '+1 day'), julianday('now'), strftime('%s', 'now'), unixepoch()",
    "select random(), hex(randomblob(8)), typeof(random())",
]
"""What no two executions answer alike."""
PLAIN = [
    "select date('2020-02-29', '+1 year'), datetime(0, 'unixepoch'), strftime('%Y', '1999-01-01')",
    "select typeof(current_timestamp), length(current_timestamp), length(randomblob(5))",
    "select date(null), strftime('%d', 'nonsense'), julianday('2000-01-01 12:00')",
]
"""What SQLite answers alike without a session."""


def source(*asked: str) -> str:
    return f"""
    import sqlite3

    def main(run):
        table = sqlite3.connect(":memory:")
        table.execute("create table t (a, at text default current_timestamp)")
        table.execute("insert into t (a) values (random())")
        run.compare("row", table.execute("select * from t").fetchone())
        for asked in {list(asked)!r}:
            run.compare(asked, table.execute(asked).fetchone())
            print(table.execute(asked).fetchone())
    """


def test_clock_and_entropy_of_sqlite_are_served(tmp_path: Path) -> None:
    with recorded(tmp_path, source(*ASKED)) as record:
        assert verify(record.path).result == "PASS"


@pytest.mark.parametrize("asked", PLAIN)
def test_what_does_not_ask_for_now_is_sqlite_s_own(tmp_path: Path, asked: str) -> None:
    with recorded(tmp_path, source(asked)) as record:
        printed = record.printed()[0].decode().strip()

    assert printed == str(sqlite3.connect(":memory:").execute(asked).fetchone())


def test_an_index_on_a_date_can_be_made(tmp_path: Path) -> None:
    body = """
    import sqlite3

    def main(run):
        table = sqlite3.connect(":memory:")
        table.execute("create table t (at text)")
        table.execute("create index days on t (date(at))")
        table.execute("insert into t values ('2020-01-01 10:00')")
        run.compare("found", table.execute("select * from t where date(at) = '2020-01-01'").fetchall())
    """
    with recorded(tmp_path, body) as record:
        assert record.ending is not None
        assert record.ending["how"] == "completed", record.ending
        assert verify(record.path).result == "PASS"


def test_the_own_generator_of_sqlite_is_seeded_from_the_record(tmp_path: Path) -> None:
    with recorded(tmp_path, source()) as record:
        assert [number for number, *_ in record.lenient_reads()].count(SQLITE_SEED.number) == 1
        assert verify(record.path).result == "PASS"


def test_a_seeded_generator_repeats_itself() -> None:
    drawn = []
    for seed in (7, 8, 7):
        seed_generator(seed)
        with closing(sqlite3.connect(":memory:")) as table:
            drawn.append(table.execute("select randomblob(16)").fetchone())
    assert drawn[0] == drawn[2] != drawn[1]
