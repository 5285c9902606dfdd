"""Galley rations: the cook keeps stores in days since sailing; a diary in ship's local time is written on the side."""
import os
import tempfile
import time
from datetime import datetime, timedelta, timezone

SAILED = datetime(2024, 3, 30, 22, 0, tzinfo=timezone.utc)
MEALS = {"biscuit": 1.2, "pork": 0.7, "peas": 0.4, "rum": 0.1}


class Diary:
    """Nobody but the captain reads it."""

    def __init__(self, path):
        self.fh = open(path, "a", encoding="utf-8")

    def note(self, moment, text):
        local = moment.astimezone()
        self.fh.write(f"{local:%Y-%m-%d %H:%M %Z} [{time.tzname[0]}] {text}\n")
        self.fh.flush()

    def close(self):
        self.fh.close()


class Galley:
    def __init__(self, crew, diary):
        self.crew = crew
        self.diary = diary
        self.stores = {"biscuit": 900.0, "pork": 420.0, "peas": 260.0, "rum": 60.0}
        self.short = 0

    def meal(self, moment, appetite):
        eaten = {}
        for food, each in MEALS.items():
            want = round(each * self.crew * appetite, 2)
            got = min(want, self.stores[food])
            self.stores[food] = round(self.stores[food] - got, 2)
            self.short += got < want
            eaten[food] = got
        self.diary.note(moment, ", ".join(f"{k} {v}" for k, v in eaten.items()))

    def state(self):
        return {"stores": dict(self.stores), "short": self.short}

    def restore(self, state):
        self.stores, self.short = dict(state["stores"]), state["short"]


def ship_day(moment):
    """Days begin at noon, counted in universal time."""
    return (moment - SAILED + timedelta(hours=12)).days


def main(run):
    rng = run.rng("appetite")
    handle, path = tempfile.mkstemp(suffix=".diary")
    os.close(handle)
    diary = Diary(path)
    galley = run.track("galley", Galley(23, diary))
    calendar = run.track("calendar", {"day": 0, "sunday": False})
    try:
        for tick in run.ticks(28):
            moment = SAILED + timedelta(hours=12 * tick)
            calendar["day"] = ship_day(moment)
            calendar["sunday"] = moment.weekday() == 6
            galley.meal(moment, (1.2 if calendar["sunday"] else 1.0) * float(rng.uniform(0.8, 1.1)))
    finally:
        diary.close()
        os.unlink(path)
    return galley.stores
