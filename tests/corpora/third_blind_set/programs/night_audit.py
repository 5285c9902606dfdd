"""A hotel's night audit: charges of the day are booked in SQLite, then closed business day by business day."""

import random
import sqlite3
import time
from datetime import datetime, timezone

OPENING = 1_700_000_000
HOUR = 3600
ROOMS = list(range(101, 113))
SERVICES = {"bar": (6, 40), "spa": (25, 90), "laundry": (4, 20), "room": (80, 160)}

SCHEMA = """
CREATE TABLE charges (id INTEGER PRIMARY KEY, room INTEGER, service TEXT, euros INTEGER, at INTEGER);
CREATE TABLE closings (day TEXT PRIMARY KEY, charges INTEGER, euros INTEGER);
CREATE TABLE journal (line TEXT, written REAL);
CREATE INDEX charges_at ON charges (at);
"""


class Hotel:
    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.executescript(SCHEMA)
        self.guests = {}
        self.services = set()

    def note(self, line):
        self.db.execute("INSERT INTO journal VALUES (?, ?)", (line, time.time()))

    def check_in(self, room, name):
        self.guests[room] = name
        self.note(f"{name} into {room}")

    def charge(self, room, service, at):
        low, high = SERVICES[service]
        self.services.add(service)
        self.db.execute("INSERT INTO charges (room, service, euros, at) VALUES (?, ?, ?, ?)",
                        (room, service, random.randrange(low, high), at))

    def close_days(self):
        rows = self.db.execute(
            "SELECT date(at, 'unixepoch', 'localtime') AS day, count(*), sum(euros)"
            " FROM charges GROUP BY day ORDER BY day").fetchall()
        self.db.executemany("INSERT INTO closings VALUES (?, ?, ?)", rows)
        self.note(f"{len(rows)} days closed")

    def best_room(self):
        return self.db.execute(
            "SELECT room, sum(euros) AS total FROM charges GROUP BY room ORDER BY total DESC, room LIMIT 1").fetchone()

    def levy(self):
        """City tax: two per cent of what a day took, rounded down day by day, nothing on quiet days."""
        total = 0
        for _, charges, euros in self.db.execute("SELECT * FROM closings ORDER BY day"):
            if charges >= 10:
                total += euros * 2 // 100
        return total


def stay(hotel, hours):
    names = ["Abel", "Berg", "Cohn", "Dahl", "Eide", "Falk"]
    for hour in range(hours):
        at = OPENING + hour * HOUR
        if random.random() < 0.3:
            hotel.check_in(random.choice(ROOMS), random.choice(names))
        for _ in range(random.randrange(3)):
            room = random.choice(sorted(hotel.guests) or ROOMS)
            hotel.charge(room, random.choice(list(SERVICES)), at + random.randrange(HOUR))


def main():
    hotel = Hotel()
    stay(hotel, 24 * 6)
    opened = datetime.fromtimestamp(OPENING, tz=timezone.utc)
    print(f"opened {opened:%Y-%m-%d %H:%M} UTC, {len(hotel.guests)} rooms taken")
    print("services:", ", ".join(sorted(hotel.services)))
    print("best room: %d with %d euros" % hotel.best_room())
    hotel.close_days()
    lines, = hotel.db.execute("SELECT count(*) FROM journal").fetchone()
    print(f"{lines} lines in the journal")
    print(f"city tax {hotel.levy()} euros")


main()
