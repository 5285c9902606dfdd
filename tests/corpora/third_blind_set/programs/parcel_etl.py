"""Nightly parcel ETL: scans arrive at depots, are staged, booked in DuckDB and settled with carriers."""

import duckdb

DEPOTS = ["Aalen", "Bochum", "Cuxhaven", "Dessau", "Emden", "Fulda", "Gera", "Hof", "Ilmenau", "Jena", "Kleve", "Lahr"]
CARRIERS = {"northline": 5200, "bluevan": 4100, "pedalpost": 1700}
SETTLE_EVERY = 9

SCHEMA = """
CREATE SEQUENCE booking_no START 1;
CREATE TABLE bookings (
    no INTEGER DEFAULT nextval('booking_no'),
    tick INTEGER, depot VARCHAR, parcels INTEGER, grams BIGINT, settled BOOLEAN DEFAULT FALSE);
CREATE TABLE audits (depot VARCHAR PRIMARY KEY, scans INTEGER);
"""


class Staging:
    """Scans of one tick, per depot, before they are booked."""

    def __init__(self):
        self.grams = {}
        self.counts = {}
        self.dirty = set()
        self.visited = set()

    def scan(self, depot, grams):
        self.grams[depot] = self.grams.get(depot, 0) + grams
        self.counts[depot] = self.counts.get(depot, 0) + 1
        self.dirty.add(depot)
        self.visited.add(depot)

    def coverage(self):
        longest = 0
        for depot in self.visited:
            longest = max(longest, len(depot))
        return len(self.visited), longest

    def drain(self):
        for depot in self.dirty:
            yield depot, self.counts.pop(depot), self.grams.pop(depot)
        self.dirty.clear()


class Warehouse:
    def __init__(self):
        self.db = duckdb.connect(":memory:")
        self.db.execute(SCHEMA)

    def book(self, tick, rows):
        for depot, parcels, grams in rows:
            self.db.execute(
                "INSERT INTO bookings (tick, depot, parcels, grams) VALUES (?, ?, ?, ?)", [tick, depot, parcels, grams])
            self.db.execute(
                "INSERT INTO audits VALUES (?, ?) ON CONFLICT (depot) DO UPDATE SET scans = scans + excluded.scans",
                [depot, parcels])

    def open_bookings(self):
        return self.db.execute(
            "SELECT no, depot, parcels, grams FROM bookings WHERE NOT settled ORDER BY no").fetchall()

    def close(self, numbers):
        self.db.executemany("UPDATE bookings SET settled = TRUE WHERE no = ?", [[n] for n in numbers])

    def audited(self):
        return self.db.execute("SELECT count(*), sum(scans) FROM audits").fetchone()


class Settlement:
    """What was paid to whom. Bookings are given to carriers in the order of their numbers."""

    def __init__(self):
        self.paid = {name: 0 for name in CARRIERS}
        self.refused = 0
        self.rounds = 0
        self.coverage = (0, 0)
        self.audited = (0, 0)

    def settle(self, warehouse):
        room = {name: 20 * size for name, size in CARRIERS.items()}
        done = []
        for number, depot, parcels, grams in warehouse.open_bookings():
            carrier = next((c for c, left in room.items() if left >= grams), None)
            if carrier is None:
                self.refused += parcels
            else:
                room[carrier] -= grams
                self.paid[carrier] += 35 * parcels + grams // (120 if len(depot) > 4 else 90)
            done.append(number)
        warehouse.close(done)
        self.rounds += 1
        self.audited = tuple(int(v) for v in warehouse.audited())

    def state(self):
        return {"paid": dict(self.paid), "refused": self.refused, "rounds": self.rounds,
                "coverage": self.coverage, "audited": self.audited}

    def restore(self, state):
        self.paid = dict(state["paid"])
        self.refused, self.rounds = state["refused"], state["rounds"]
        self.coverage, self.audited = state["coverage"], state["audited"]


def main(run):
    scans = run.rng("scans")
    weights = run.rng("weights")
    warehouse, staging = Warehouse(), Staging()
    settlement = run.track("settlement", Settlement())
    for tick in run.ticks(30):
        for _ in range(int(scans.integers(10, 22))):
            depot = DEPOTS[int(scans.integers(len(DEPOTS)))]
            staging.scan(depot, int(weights.gamma(2.0, 900.0)) + 50)
        settlement.coverage = staging.coverage()
        warehouse.book(tick, staging.drain())
        if tick % SETTLE_EVERY == SETTLE_EVERY - 1:
            settlement.settle(warehouse)
