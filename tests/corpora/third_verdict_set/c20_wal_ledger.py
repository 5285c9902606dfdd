"""SQLite in WAL mode: a writer thread, a reader with a snapshot of its own, triggers, a backup and a dump."""
import hashlib
import sqlite3
import threading
import uuid

path = "ledger.db"
with sqlite3.connect(path) as setup:
    setup.execute("pragma journal_mode=wal")
    setup.executescript(
        "create table entry (id text primary key, amount int, at text default current_timestamp);"
        "create table audit (n integer primary key, what text);"
        "create trigger kept after insert on entry begin"
        " insert into audit (what) values (new.id || ' ' || new.amount); end;"
    )
written, seen = threading.Event(), threading.Event()


def write():
    database = sqlite3.connect(path, isolation_level=None)
    for round_ in range(2):
        database.execute("begin immediate")
        for amount in range(3):
            database.execute(
                "insert into entry (id, amount) values (?, ?)", (str(uuid.uuid4()), amount)
            )
        database.execute("commit")
        written.set()
        seen.wait()
    database.close()


reader = sqlite3.connect(path, isolation_level=None)
thread = threading.Thread(target=write)
thread.start()
written.wait()
reader.execute("begin")
print("first look", reader.execute("select count(*), sum(amount) from entry").fetchone())
seen.set()
thread.join()
print("same snapshot", reader.execute("select count(*) from entry").fetchone())
reader.execute("commit")
print("later", reader.execute("select count(*) from entry").fetchone())
copy = sqlite3.connect("copy.db")
reader.backup(copy)
dump = "\n".join(copy.iterdump())
print(len(dump), hashlib.sha256(dump.encode()).hexdigest()[:16])
print(*copy.execute("select what from audit order by n"), sep="\n")
reader.create_aggregate("longest", 1, type("L", (), {
    "__init__": lambda self: setattr(self, "n", 0),
    "step": lambda self, value: setattr(self, "n", max(self.n, len(value))),
    "finalize": lambda self: self.n}))
print(reader.execute("select longest(id), max(at) from entry").fetchone())
copy.close()
reader.close()
