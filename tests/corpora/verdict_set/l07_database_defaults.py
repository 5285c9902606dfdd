"""Fills a database whose columns default to SQLite's own clock and random blobs; prints how many rows there are."""
import sqlite3

base = sqlite3.connect("events.db")
base.execute("create table events(name text, at text default (strftime('%Y-%m-%d %H:%M:%f', 'now')), tag blob default (randomblob(12)))")
with base:
    base.executemany("insert into events(name) values(?)", [(f"event {n}",) for n in range(10)])
print(base.execute("select count(*) from events").fetchone()[0], "rows")
base.close()
