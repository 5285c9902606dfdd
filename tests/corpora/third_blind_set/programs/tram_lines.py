"""A tram line from the early morning on: the timetable is laid out as a table, then the day is driven."""

from collections import deque
from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd

FIRST = 1_710_378_000  # the first car leaves the depot
STOPS = ["Depot", "Works", "Market", "Minster", "Station", "Park"]
SEATS = {"calm": 60, "rush": 180}


def band(moment):
    return "rush" if 7 <= moment.hour < 9 else "calm"


def timetable(trips):
    """One row a departure, with the cars it is run with."""
    rows = []
    for number in range(trips):
        leaves = datetime.fromtimestamp(FIRST + 600 * number)
        rows.append({"trip": number, "leaves": leaves.strftime("%H:%M"), "band": band(leaves)})
    table = pd.DataFrame(rows)
    table["seats"] = table["band"].map(SEATS)
    table["crew"] = np.where(table["band"] == "rush", 2, 1)
    return table


class Stop:
    def __init__(self, name):
        self.name = name
        self.crowd = deque()

    def board(self, room):
        taken = min(room, len(self.crowd))
        return [self.crowd.popleft() for _ in range(taken)]


class Line:
    def __init__(self, table, guests):
        self.trips = {row.trip: row for row in table.itertuples()}
        self.guests = guests
        self.stops = [Stop(name) for name in STOPS]
        self.carried = {name: 0 for name in STOPS}
        self.left_behind = 0
        self.wages = 0
        self.opened = datetime.fromtimestamp(FIRST, tz=timezone.utc)
        self.until = self.opened

    def arrive(self, tick):
        crest = 1.0 + 3.0 * np.exp(-(((tick - 30) / 8.0) ** 2))
        for stop in self.stops:
            for _ in range(int(self.guests.poisson(6 * crest))):
                stop.crowd.append(tick)

    def drive(self, tick):
        trip = self.trips[tick]
        room = trip.seats
        for stop in self.stops:
            aboard = stop.board(room)
            room -= len(aboard)
            self.carried[stop.name] += len(aboard)
            self.left_behind += sum(1 for since in stop.crowd if tick - since > 2)
        self.wages += 40 * trip.crew
        self.until = self.opened + timedelta(seconds=600 * tick)

    def state(self):
        return {"carried": dict(self.carried), "crowds": [len(stop.crowd) for stop in self.stops],
                "left_behind": self.left_behind, "wages": self.wages, "until": self.until.isoformat()}

    def restore(self, state):
        self.carried, self.left_behind = dict(state["carried"]), state["left_behind"]
        self.wages, self.until = state["wages"], datetime.fromisoformat(state["until"])
        for stop, count in zip(self.stops, state["crowds"]):
            stop.crowd = deque([0] * count)


def main(run):
    line = run.track("line", Line(timetable(60), run.rng("guests")))
    for tick in run.ticks(45):
        line.arrive(tick)
        line.drive(tick)
