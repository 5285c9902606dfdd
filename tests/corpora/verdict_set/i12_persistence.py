"""Data classes with random keys stored through sqlite3, shelve, pickle, csv, json and configparser, and loaded again."""
import configparser
import copy
import csv
import dataclasses
import datetime
import dbm.dumb
import enum
import hashlib
import json
import pickle
import shelve
import sqlite3
import uuid


class Kind(enum.Enum):
    ONE = enum.auto()
    TWO = enum.auto()


@dataclasses.dataclass(order=True)
class Row:
    key: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)
    made: datetime.datetime = dataclasses.field(default_factory=datetime.datetime.now)
    kind: Kind = dataclasses.field(default=Kind.ONE, compare=False)
    tags: set = dataclasses.field(default_factory=set, compare=False)


rows = [Row(kind=Kind(n % 2 + 1), tags={f"tag{n}", f"tag{n + 1}", "all"}) for n in range(15)]
base = sqlite3.connect("rows.db")
base.create_function("digest", 1, lambda text: hashlib.md5(text.encode()).hexdigest())
base.execute("create table rows(key text primary key, made text, kind int)")
with base:
    base.executemany("insert into rows values(?, ?, ?)", [(r.key, r.made.isoformat(), r.kind.value) for r in rows])
base.execute("create index by_kind on rows(kind, made)")
for found in base.execute("select kind, count(*), min(made), max(digest(key)) from rows group by kind"):
    print(found)
try:
    base.execute("insert into rows values(?, 1, 1)", (rows[0].key,))
except sqlite3.IntegrityError as error:
    print(error)
base.commit()
print(hashlib.sha256("\n".join(base.iterdump()).encode()).hexdigest())
base.close()
with shelve.Shelf(dbm.dumb.open("shelf", "c"), writeback=True) as shelf:
    for row in rows:
        shelf[row.key] = row
    shelf[rows[3].key].tags.add("late")
with open("rows.pickle", "wb") as file:
    pickle.dump((rows, frozenset("some words in a frozen set".split())), file, protocol=5)
with open("rows.pickle", "rb") as file:
    loaded, words = pickle.load(file)
print(loaded == rows, list(words), copy.deepcopy(rows[2]) == rows[2])
with open("rows.csv", "w", newline="") as file:
    csv.writer(file).writerows([r.key, r.made, r.kind, list(r.tags)] for r in sorted(rows))
with open("rows.json", "w") as file:
    json.dump([dataclasses.asdict(r) for r in rows], file, default=str, indent=1)
settings = configparser.ConfigParser()
settings["made"] = {"at": rows[0].made.isoformat().replace("%", ""), "count": str(len(rows))}
with open("rows.ini", "w") as file:
    settings.write(file)
print(open("rows.csv").read(), open("rows.ini").read())
