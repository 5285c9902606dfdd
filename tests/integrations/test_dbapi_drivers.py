"""Databases asked through their driver in C: recorded once, replayed without the database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from programs import recorded, write
from twice.errors import EffectRefused
from twice.integrations import dbapi
from twice.integrations.dbapi.proxy import parameter, result
from twice.replayer.verify import verify

SHOP = """
    import sqlite3
    from twice.integrations import dbapi

    def main(run):
        connection = dbapi.connect(sqlite3.connect, "shop.db", name="shop")
        connection.executescript("create table if not exists sold (name text, n int, bin blob)")
        with connection:
            for tick in run.ticks(3):
                row = ("apple", tick, b"\\0\\xff") if tick else ("pear", None, None)
                cursor = connection.execute("insert into sold values (?, ?, ?)", row)
                run.compare("row", (cursor.rowcount, cursor.lastrowid))
        cursor = connection.cursor()
        cursor.executemany("insert into sold values (:a, :b, null)", ({"a": c, "b": 9} for c in "xy"))
        connection.commit()
        cursor.execute("select * from sold order by rowid desc limit 5")
        print([column[0] for column in cursor.description], cursor.fetchone(), cursor.fetchmany(1))
        print(list(cursor), cursor.fetchall(), connection.in_transaction)
        try:
            connection.execute("select * from nowhere")
        except sqlite3.OperationalError as error:
            print(error)
        try:
            with connection:
                connection.execute("delete from sold")
                raise KeyError("no")
        except KeyError:
            print(connection.execute("select count(*) from sold").fetchone())
        connection.close()
    """


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sold(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        count: int = connection.execute("select count(*) from sold").fetchone()[0]
    connection.close()
    return count


@pytest.mark.integration
def test_a_replay_gives_the_rows_and_does_not_insert_again(tmp_path: Path) -> None:
    with recorded(tmp_path, SHOP) as record:
        assert record.ending is not None
        assert record.ending["how"] == "completed", record.ending
        printed = record.printed()[0].decode()

    assert printed.splitlines() == [
        "['name', 'n', 'bin'] ('y', 9, None) [('x', 9, None)]",
        "[('apple', 2, b'\\x00\\xff'), ('apple', 1, b'\\x00\\xff'), ('pear', None, None)] [] False",
        "no such table: nowhere",
        "(5,)",
    ]
    assert sold(tmp_path / "shop.db") == 5
    for _ in range(3):
        assert verify(tmp_path / "a.twice").result == "PASS"
    assert sold(tmp_path / "shop.db") == 5
    (tmp_path / "shop.db").unlink()
    assert verify(tmp_path / "a.twice").result == "PASS"
    assert not (tmp_path / "shop.db").exists()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("limit 5", "limit 4"),
        ('"b": 9', '"b": 8'),
        ("connection.commit()", "connection.rollback()"),
    ],
)
def test_another_statement_parameter_or_call_is_a_divergence(
    before: str, after: str, tmp_path: Path
) -> None:
    recorded(tmp_path, SHOP).close()
    assert before in SHOP
    write(tmp_path, SHOP.replace(before, after))

    assert verify(tmp_path / "a.twice", informational=True).result == "FAIL"
    assert sold(tmp_path / "shop.db") == 5


@pytest.mark.integration
@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("connection.row_factory = sqlite3.Row; connection.execute('select 1').fetchone()", "sqlite3.Row"),
        ("connection.execute('select ?', (object(),))", "builtins.object"),
        ("connection.create_function('f', 0, int)", "create_function"),
        ("connection.cursor().row_factory", "row_factory"),
        ("connection.text_factory = bytes", "text_factory"),
    ],
)  # fmt: skip
def test_what_cannot_be_recorded_is_refused_by_name(
    statement: str, named: str, tmp_path: Path
) -> None:
    program = f"""
    import sqlite3
    from twice.integrations import dbapi

    def main(run):
        connection = dbapi.connect(sqlite3.connect, ":memory:")
        {statement}
    """
    with pytest.raises(EffectRefused) as refused:
        recorded(tmp_path, program)

    assert named in str(refused.value)


def test_outside_of_a_run_the_driver_itself_connects() -> None:
    connection = dbapi.connect(sqlite3.connect, ":memory:")

    assert type(connection) is sqlite3.Connection
    connection.close()


def test_views_of_bytes_are_bytes_and_functions_go_by_name() -> None:
    assert result((memoryview(b"a"), [bytearray(b"b")], {"c": None}), "db") == (
        b"a",
        [b"b"],
        {"c": None},
    )
    assert parameter(("x", sqlite3.Row), "db") == ("x", ("named", "sqlite3.Row"))
    with pytest.raises(EffectRefused, match=r"of type builtins\.complex"):
        result([1j], "db")
