"""Berth dues: stays are booked in sqlite, the monthly bill is made up by calendar day."""
import sqlite3
from contextlib import closing

SCHEMA = """
create table stay (ship text, arrived integer, hours integer, day text);
create table bill (day text primary key, dues real);
"""
BOOK = "insert into stay select ?1, ?2, ?3, date(?2, 'unixepoch', 'localtime')"
TALLY = "select day, sum(hours), count(*) from stay group by day order by day"
START = 1_711_000_800
SHIPS = ["Petrel", "Puffin", "Razorbill", "Shearwater", "Skua"]


class Office:
    def __init__(self, db):
        self.db = db
        self.db.executescript(SCHEMA)
        self.stays = 0

    def book(self, ship, arrived, hours):
        self.db.execute(BOOK, (ship, arrived, hours))
        self.stays += 1

    def make_up(self, rate):
        """More than two stays on one day go at the busy rate."""
        for day, hours, ships in self.db.execute(TALLY).fetchall():
            dues = hours * rate * (1.5 if ships > 2 else 1.0)
            self.db.execute("insert or replace into bill values (?, ?)", (day, round(dues, 2)))

    def total(self):
        dues, days = self.db.execute("select coalesce(sum(dues), 0), count(*) from bill").fetchone()
        return round(dues, 2), days


def arrivals(rnd, clock):
    for _ in range(rnd.randint(0, 2)):
        yield rnd.choice(SHIPS), clock + rnd.randrange(0, 3 * 3600), rnd.randint(2, 30)


def main(run):
    rnd = run.streams.python("arrivals")
    books = run.track("books", {"stays": 0, "billed": 0.0, "days": 0})
    with closing(sqlite3.connect(":memory:")) as db:
        office = Office(db)
        for tick in run.ticks(24):
            for ship, arrived, hours in arrivals(rnd, START + tick * 4 * 3600):
                office.book(ship, arrived, hours)
            books["stays"] = office.stays
            if tick % 8 == 7:
                office.make_up(rate=3.25)
                books["billed"], books["days"] = office.total()
    return office.stays
