"""Tram operations in SQLite: vehicles are registered, trips are dealt out, wear is booked."""
import sqlite3
from contextlib import closing

DEPOTS = {
    "west": {"T101", "T102", "T103", "T104", "T105"},
    "east": {"T201", "T202", "T203", "T204"},
}
LINES = [(1, 14), (2, 9), (3, 22), (4, 17), (5, 11), (6, 26)]

SCHEMA = """
create table tram (id integer primary key, name text unique, depot text, km integer default 0);
create table trip (id integer primary key, line integer, tram integer references tram(id), km integer);
create table repair (tram integer, at_trip integer);
"""


class Depot:
    def __init__(self, db):
        self.db = db

    def register(self):
        for depot, trams in sorted(DEPOTS.items()):
            self.db.executemany("insert into tram (name, depot) values (?, ?)", ((name, depot) for name in trams))

    def least_used(self, depot):
        row = self.db.execute("select id from tram where depot = ? order by km limit 1", (depot,)).fetchone()
        return row[0]

    def run_trip(self, number, line, km, depot):
        tram = self.least_used(depot)
        self.db.execute("insert into trip (line, tram, km) values (?, ?, ?)", (line, tram, km))
        self.db.execute("update tram set km = km + ? where id = ?", (km, tram))
        (total,) = self.db.execute("select km from tram where id = ?", (tram,)).fetchone()
        if total // 60 != (total - km) // 60:
            self.db.execute("insert into repair values (?, ?)", (tram, number))


def timetable(days):
    """Lines alternate between the depots."""
    number = 0
    for day in range(days):
        for line, km in LINES:
            number += 1
            yield number, line, km + day % 3, "west" if (line + day) % 2 else "east"


def summary(db):
    trips, km = db.execute("select count(*), sum(km) from trip").fetchone()
    print(f"{trips} trips, {km} km")
    repairs = db.execute("select count(*) from repair").fetchone()[0]
    print(f"{repairs} repairs")
    query = "select tram.name, count(*), sum(trip.km) from trip join tram on tram.id = trip.tram group by tram.name order by tram.name"
    for name, count, driven in db.execute(query):
        print(f"  {name}: {count} trips, {driven} km")


with closing(sqlite3.connect(":memory:")) as connection:
    connection.executescript(SCHEMA)
    operations = Depot(connection)
    operations.register()
    for trip in timetable(11):
        operations.run_trip(*trip)
    summary(connection)
