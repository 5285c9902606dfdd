"""Parcel depot at a station: manifests are dropped in a tray as files and loaded on trains of fixed size."""
import csv
import os
import tempfile

TOWNS = ["Alnwick", "Berwick", "Carlisle", "Durham", "Elgin", "Forres", "Glasgow", "Hexham", "Inverness", "Keith"]


class Tray:
    def __init__(self, folder):
        self.folder = folder
        self.seen = set()

    def drop(self, town, parcels):
        path = os.path.join(self.folder, f"{town.lower()}.csv")
        with open(path, "a", newline="") as out:
            csv.writer(out).writerows(parcels)

    def collect(self, limit):
        taken = []
        for name in os.listdir(self.folder):
            if len(taken) == limit:
                break
            path = os.path.join(self.folder, name)
            with open(path, newline="") as source:
                taken.append((name[:-4], [int(row[1]) for row in csv.reader(source)]))
            os.remove(path)
        return taken


class Train:
    capacity = 60

    def __init__(self):
        self.load = 0
        self.trips = 0
        self.delivered = {}

    def add(self, town, weights):
        for weight in weights:
            if self.load + weight > self.capacity:
                self.trips += 1
                self.load = 0
            self.load += weight
        self.delivered[town] = self.delivered.get(town, 0) + len(weights)

    def state(self):
        return {"load": self.load, "trips": self.trips, "delivered": dict(self.delivered)}

    def restore(self, state):
        self.load = state["load"]
        self.trips = state["trips"]
        self.delivered = dict(state["delivered"])


def main(run):
    rng = run.rng("parcels")
    train = run.track("train", Train())
    with tempfile.TemporaryDirectory(prefix="depot-") as folder:
        tray = Tray(folder)
        for tick in run.ticks(16):
            chosen = rng.choice(len(TOWNS), size=4, replace=False)
            for town in chosen:
                parcels = [[k, int(rng.integers(2, 25))] for k in range(int(rng.integers(1, 4)))]
                tray.drop(TOWNS[int(town)], parcels)
            for town, weights in tray.collect(limit=2 if tick < 10 else 8):
                train.add(town, weights)
    return train.trips
