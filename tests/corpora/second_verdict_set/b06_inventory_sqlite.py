"""An inventory in SQLite: schema upgrade, a transaction that is rolled back, a backup copy."""
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

with closing(sqlite3.connect("stock.db")) as db:
    db.row_factory = sqlite3.Row
    print("found", db.execute("select count(*) from item").fetchone()[0], "items")
    columns = [row["name"] for row in db.execute("pragma table_info(item)")]
    if "seen" not in columns:
        db.execute("alter table item add column seen text")
    with db:
        db.executemany(
            "insert into item (name, amount, seen) values (?, ?, ?)",
            [(name, amount, datetime.now().isoformat()) for name, amount in (("nut", 12), ("bolt", 7))],
        )
    try:
        with db:
            db.execute("update item set amount = amount - 100 where name = 'bolt'")
            if db.execute("select min(amount) from item").fetchone()[0] < 0:
                raise ValueError("would be below zero")
    except ValueError as error:
        print("rolled back:", error)
    db.create_function("shout", 1, str.upper, deterministic=True)
    for row in db.execute("select shout(name) as name, amount, seen from item order by name"):
        print(row["name"], row["amount"], row["seen"])
    with closing(sqlite3.connect("backup.db")) as copy:
        db.backup(copy)
        print(copy.execute("select sum(amount) from item").fetchone()[0])
print(sorted(p.name for p in Path.cwd().glob("*.db*")))
