"""A parcel depot: labels are spooled to disc in the evening, and vans take the spool in lots from the next morning on."""

import json
import os
import tempfile
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Parcel:
    number: int
    street: str
    grams: int
    express: bool


STREETS = ["Quay", "Mill Lane", "Church Row", "Station Road", "Castle Hill", "Fish Market", "Orchard"]


class Spool:
    """One file a parcel, so that half-written ones can be told from whole ones."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def put(self, parcel):
        rank = 0 if parcel.express else 1
        path = self.folder / f"{rank}-{uuid.uuid4().hex[:12]}.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(parcel)), encoding="utf-8")
        os.replace(part, path)

    def take(self, count):
        names = sorted(name for name in os.listdir(self.folder) if name.endswith(".json"))
        lot = []
        for name in names[:count]:
            path = self.folder / name
            lot.append(Parcel(**json.loads(path.read_text(encoding="utf-8"))))
            path.unlink()
        return lot


class Depot:
    def __init__(self, spool, trade, roads):
        self.spool, self.trade, self.roads = spool, trade, roads
        self.number = 0
        self.accepted = 0
        self.delivered = []
        self.load = []
        self.kilos = 0.0
        self.visited = set()
        self.kilometres = 0.0

    def accept(self):
        for _ in range(int(self.trade.integers(3, 7))):
            self.number += 1
            street = STREETS[int(self.trade.integers(len(STREETS)))]
            parcel = Parcel(self.number, street, int(self.trade.integers(200, 9000)), self.trade.random() < 0.2)
            self.spool.put(parcel)
            self.accepted += 1

    def dispatch(self):
        lot = self.spool.take(5)
        self.load.append([parcel.number for parcel in lot])
        self.kilos += sum(parcel.grams for parcel in lot) / 1000
        streets = {parcel.street for parcel in lot}
        self.visited |= streets
        for _ in sorted(streets):
            self.kilometres += 1.5 + float(self.roads.random())
        if len(self.load) > 2:
            self.delivered.extend(self.load.pop(0))

    def state(self):
        return {"accepted": self.accepted, "delivered": list(self.delivered), "kilos": self.kilos,
                "kilometres": self.kilometres, "visited": set(self.visited),
                "load": [list(lot) for lot in self.load]}

    def restore(self, state):
        self.accepted, self.delivered = state["accepted"], list(state["delivered"])
        self.load = [list(lot) for lot in state["load"]]
        self.kilos, self.kilometres, self.visited = state["kilos"], state["kilometres"], set(state["visited"])


def main(run):
    with tempfile.TemporaryDirectory(prefix="spool-") as folder:
        depot = run.track("depot", Depot(Spool(folder), run.rng("trade"), run.rng("roads")))
        for hour in run.ticks(24):
            if hour < 8:
                depot.accept()
            if hour >= 14:
                depot.dispatch()
