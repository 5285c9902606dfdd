"""Meteor counts: sightings go to sqlite; the survey draws a sample from the table for the hand check."""
import sqlite3
from statistics import fmean

SCHEMA = "create table sighting (id integer primary key, hour integer, mag real, shower text)"
SHOWERS = {"Perseids": 0.5, "Cygnids": 0.2, "sporadic": 0.3}
SAMPLE = "select id, mag from sighting order by random() limit ?"


class Survey:
    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute(SCHEMA)
        self.count = 0
        self.checked = []
        self.mean = 0.0

    def add(self, hour, mag, shower):
        with self.db:
            self.db.execute("insert into sighting (hour, mag, shower) values (?, ?, ?)", (hour, mag, shower))
        self.count += 1

    def hand_check(self, n=9):
        rows = self.db.execute(SAMPLE, (n,)).fetchall()
        self.checked = sorted(number for number, _ in rows)
        self.mean = round(fmean(mag for _, mag in rows), 4)

    def by_shower(self):
        query = "select shower, count(*) from sighting group by shower order by shower"
        return dict(self.db.execute(query))

    def close(self):
        self.db.close()

    def state(self):
        return {"count": self.count, "checked": list(self.checked), "mean": self.mean, "showers": self.by_shower()}

    def restore(self, state):
        self.count, self.checked, self.mean = state["count"], list(state["checked"]), state["mean"]


def watch(rng, hour):
    """More after midnight, as the earth turns into the stream."""
    names = list(SHOWERS)
    for _ in range(int(rng.poisson(3 + hour % 12 / 3))):
        yield round(float(rng.normal(2.4, 1.1)), 2), names[int(rng.choice(len(names), p=list(SHOWERS.values())))]


def main(run):
    rng = run.rng("sky")
    survey = run.track("survey", Survey())
    night = run.track("night", {"hours": 0, "bright": 0})
    for tick in run.ticks(20):
        night["hours"] += 1
        for mag, shower in watch(rng, tick):
            survey.add(tick, mag, shower)
            night["bright"] += mag < 1.0
        if tick % 6 == 5:
            survey.hand_check()
    total = survey.count
    return {"total": total}
