"""Telescope time: a catalogue sits in SQLite, each night a few stars are sampled and measured."""
import sqlite3

SCHEMA = """
CREATE TABLE star (id INTEGER PRIMARY KEY, name TEXT, mag REAL, kind TEXT);
CREATE TABLE measure (star INTEGER REFERENCES star(id), night INTEGER, mag REAL);
CREATE INDEX by_star ON measure(star);
"""
KINDS = ["cepheid", "mira", "eclipsing", "flare"]


def catalogue(rng):
    base = sqlite3.connect(":memory:")
    base.executescript(SCHEMA)
    rows = [
        (n, f"V{n:03d}", round(float(rng.uniform(4.0, 13.0)), 3), KINDS[int(rng.integers(0, len(KINDS)))])
        for n in range(1, 81)
    ]
    base.executemany("INSERT INTO star VALUES (?, ?, ?, ?)", rows)
    return base


class Observer:
    def __init__(self, base, rng):
        self.base = base
        self.rng = rng
        self.night = 0
        self.clouded = 0

    def sample(self, limit):
        query = "SELECT id, mag FROM star WHERE mag < ? ORDER BY random() LIMIT ?"
        return self.base.execute(query, (6.0 + self.night * 0.5, limit)).fetchall()

    def observe(self):
        self.night += 1
        if self.rng.random() < 0.25:
            self.clouded += 1
            return
        chosen = self.sample(5)
        self.base.executemany(
            "INSERT INTO measure VALUES (?, ?, ?)",
            [(star, self.night, round(mag + 0.1 * self.rng.normal(), 4)) for star, mag in chosen],
        )

    def state(self):
        (count, total), = self.base.execute("SELECT count(*), coalesce(sum(mag), 0) FROM measure")
        kinds = dict(self.base.execute(
            "SELECT kind, count(*) FROM measure JOIN star ON star.id = measure.star GROUP BY kind ORDER BY kind"
        ))
        return {"night": self.night, "clouded": self.clouded, "count": count, "total": round(total, 3),
                "kinds": kinds}

    def restore(self, state):
        self.night = state["night"]
        self.clouded = state["clouded"]


def main(run):
    base = catalogue(run.rng("catalogue"))
    observer = run.track("observer", Observer(base, run.rng("sky")))
    for _ in run.ticks(18):
        observer.observe()
    stars = base.execute("SELECT count(DISTINCT star) FROM measure").fetchone()[0]
    base.close()
    return stars
