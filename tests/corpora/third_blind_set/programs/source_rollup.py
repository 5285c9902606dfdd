"""Orders from several sources are loaded into DuckDB, cleaned, deduplicated and rolled up."""

import random
import time

import duckdb

SOURCES = {
    "shop": {"currency": "eur", "lag": 0},
    "phone": {"currency": "eur", "lag": 2},
    "partner_north": {"currency": "usd", "lag": 1},
    "partner_south": {"currency": "usd", "lag": 1},
    "kiosk": {"currency": "gbp", "lag": 3},
}
RATES = {"eur": 100, "usd": 92, "gbp": 117}
CUSTOMERS = 60


def connect():
    db = duckdb.connect()
    db.execute("SET threads TO 1")
    db.execute("SET preserve_insertion_order TO true")
    return db


def invent(name, rng, number):
    for place in range(number):
        yield (
            f"{name[:2]}-{place:04d}",
            rng.randrange(CUSTOMERS),
            rng.randrange(1, 29),
            rng.randrange(500, 20000),
            rng.choice(["open", "paid", "paid", "returned"]),
        )


def load(db, rng):
    sizes = {}
    for name in SOURCES:
        db.execute(f"CREATE TABLE raw_{name} (id TEXT, customer INT, day INT, cents INT, status TEXT)")
        rows = list(invent(name, rng, rng.randrange(60, 90)))
        db.executemany(f"INSERT INTO raw_{name} VALUES (?, ?, ?, ?, ?)", rows)
        sizes[name] = len(rows)
    return sizes


class Catalogue:
    """Which sources take part, by what they have."""

    def __init__(self, db):
        self.db = db
        self.active = set()

    def scan(self):
        found = self.db.execute("SELECT table_name FROM information_schema.tables").fetchall()
        for (table,) in found:
            name = table.removeprefix("raw_")
            if SOURCES[name]["lag"] < 3 or name == "kiosk":
                self.active.add(name)
        return len(self.active)

    def staging(self):
        parts = []
        for name in self.active:
            rate = RATES[SOURCES[name]["currency"]]
            lag = SOURCES[name]["lag"]
            parts.append(
                f"SELECT '{name}' AS source, id, customer, day + {lag} AS day, "
                f"cents * {rate} // 100 AS cents, status FROM raw_{name}"
            )
        return " UNION ALL ".join(parts)


def refine(db, catalogue):
    db.execute(f"CREATE TABLE staged AS {catalogue.staging()}")
    db.execute("CREATE TABLE clean AS SELECT *, rowid AS line FROM staged WHERE status <> 'open'")
    db.execute(
        "CREATE TABLE firsts AS SELECT customer, day, min(line) AS line FROM clean GROUP BY customer, day"
    )
    db.execute("CREATE TABLE unique_orders AS SELECT c.* FROM clean c JOIN firsts f USING (customer, day, line)")


def totals(db):
    return db.execute("SELECT status, count(*), sum(cents) FROM staged GROUP BY status ORDER BY status").fetchall()


def best_customers(db, number):
    return db.execute(
        "SELECT customer, count(*) AS n, sum(cents) AS cents FROM unique_orders WHERE status = 'paid' "
        "GROUP BY customer ORDER BY cents DESC, customer LIMIT ?", [number]
    ).fetchall()


def main():
    rng = random.Random(77)
    began = time.monotonic()
    db = connect()
    for name, size in load(db, rng).items():
        print(f"loaded {name}: {size}")
    catalogue = Catalogue(db)
    print(f"{catalogue.scan()} sources take part")
    refine(db, catalogue)
    for status, number, cents in totals(db):
        print(f"{status:9s} {number:4d} {cents:9d}")
    days = {day for (day,) in db.execute("SELECT day FROM clean").fetchall()}
    print(f"{len(days)} days, last {max(days)}")
    for customer, number, cents in best_customers(db, 6):
        print(f"customer {customer:2d}: {number} orders, {cents / 100:.2f}")
    if time.monotonic() - began > 900:
        print("took too long")


if __name__ == "__main__":
    main()
