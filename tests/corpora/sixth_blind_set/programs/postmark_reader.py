"""Postmark index: a ledger of post offices is read line by line and letters are counted under the office's key."""
import tempfile
from pathlib import Path

LEDGER = """Århus;DK;14
Łódź;PL;9
Zürich;CH;21
Málaga;ES;7
Oslo;NO;11
Genève;CH;17
"""


class Office:
    def __init__(self, name, land, boxes):
        self.name, self.land, self.boxes = name, land, int(boxes)
        self.letters = 0

    @property
    def slot(self):
        """Pigeon-hole from the length of the name, as on the old wooden rack."""
        return (len(self.name) * 3 + self.boxes) % 8


def read_ledger(path):
    with open(path, errors="replace") as fh:
        lines = fh.read().splitlines()
    return [Office(*line.split(";")) for line in lines if line]


class Rack:
    def __init__(self, offices):
        self.offices = offices
        self.holes = [0] * 8

    def deliver(self, office):
        office.letters += 1
        self.holes[office.slot] += 1

    def state(self):
        return {"holes": list(self.holes), "letters": [o.letters for o in self.offices]}

    def restore(self, state):
        self.holes = list(state["holes"])
        for office, n in zip(self.offices, state["letters"]):
            office.letters = n


def store(folder):
    path = Path(folder) / "offices.csv"
    path.write_bytes(LEDGER.encode("utf-8"))
    return path


def post(rnd, offices, tick):
    """Home mail first; abroad opens once the mail train is in."""
    home = [o for o in offices if o.land == "NO"]
    pool = home if tick < 6 else offices
    return [rnd.choice(pool) for _ in range(rnd.randint(1, 4))]


def main(run):
    rnd = run.streams.python("post")
    with tempfile.TemporaryDirectory() as folder:
        offices = read_ledger(store(folder))
    rack = run.track("rack", Rack(offices))
    day = run.track("day", {"letters": 0})
    for tick in run.ticks(14):
        for office in post(rnd, offices, tick):
            rack.deliver(office)
            day["letters"] += 1
    return day["letters"]
