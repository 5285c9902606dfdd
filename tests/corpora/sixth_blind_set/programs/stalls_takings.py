"""Box office: ticket sales in SQLite, with a nightly report that sets tomorrow's matinee price."""
import sqlite3
from contextlib import closing

DOORS = 1_710_028_800
HOUSES = ("stalls", "circle", "gallery")

SCHEMA = """
create table sale(id integer primary key, at integer not null, house text not null, pence integer not null);
create index sale_at on sale(at);
"""
BY_SESSION = """
select case when cast(strftime('%H', at, 'unixepoch', 'localtime') as integer) < 17
            then 'matinee' else 'evening' end as session,
       count(*) as seats, sum(pence) as pence
  from sale
 where at >= ?
 group by session
 order by session
"""


class BoxOffice:
    def __init__(self, db):
        self.db = db
        db.executescript(SCHEMA)
        self.price = {"matinee": 1200, "evening": 1800}
        self.report = {}
        self.sold = 0

    def sell(self, at, house, pence):
        with self.db:
            self.db.execute("insert into sale(at, house, pence) values (?, ?, ?)", (at, house, pence))
        self.sold += 1

    def sessions(self, since):
        rows = self.db.execute(
            BY_SESSION,
            (since,),
        ).fetchall()
        return {session: (seats, pence) for session, seats, pence in rows}

    def nightly(self, since):
        self.report = self.sessions(since)
        seats = {session: row[0] for session, row in self.report.items()}
        if (early := seats.get("matinee", 0)) < 40:
            self.price["matinee"] = max(600, self.price["matinee"] - 50)
        elif early > 60:
            self.price["matinee"] += 75

    def state(self):
        return {"price": dict(self.price), "sold": self.sold,
                "report": {k: list(v) for k, v in self.report.items()}}

    def restore(self, state):
        self.price, self.sold, self.report = dict(state["price"]), state["sold"], dict(state["report"])


def rush(rng, office, tick):
    """Sales in one four-hour block; busier after dark."""
    start = DOORS + tick * 4 * 3600
    busy = 4 if tick % 6 < 3 else 22
    for offset in sorted(rng.integers(0, 4 * 3600, size=busy)):
        house = HOUSES[int(rng.integers(len(HOUSES)))]
        office.sell(int(start + offset), house, 900 + 300 * HOUSES.index(house))


def main(run):
    rng = run.rng("public")
    with closing(sqlite3.connect(":memory:")) as db:
        office = BoxOffice(db)
        run.track("office", office)
        for tick in run.ticks(24):
            rush(rng, office, tick)
            if tick % 6 == 5:
                office.nightly(DOORS + (tick - 5) * 4 * 3600)
        return office.price
