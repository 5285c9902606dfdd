"""Furrow settings: plough depth comes from a settings file, read once a season unless the cache is switched off."""
import json
import os
import tempfile
from pathlib import Path

SETTINGS = {"clay": {"depth": 22, "speed": 5.5}, "loam": {"depth": 18, "speed": 7.0}, "sand": {"depth": 14, "speed": 8.5}}
CACHED = os.environ.get("FURROW_CACHE", "on") != "off"


class Settings:
    def __init__(self, path):
        self.path = path
        self._kept = None

    def _read(self):
        with open(self.path, encoding="utf-8") as fh:
            return json.load(fh)

    def __getitem__(self, soil):
        if CACHED:
            self._kept = self._kept or self._read()
            return self._kept[soil]
        return self._read()[soil]


class Plough:
    def __init__(self, settings, rnd):
        self.settings = settings
        self.rnd = rnd
        self.metres = 0.0
        self.turned = 0.0
        self.stones = 0

    def furrow(self, soil, minutes):
        how = self.settings[soil]
        speed = how["speed"] * self.rnd.uniform(0.9, 1.05)
        run_length = speed * 1000 / 60 * minutes
        if self.rnd.random() < 0.2:
            self.stones += 1
            run_length *= 0.8
        self.metres = round(self.metres + run_length, 2)
        self.turned = round(self.turned + run_length * how["depth"] / 100 * 0.35, 3)

    def state(self):
        return {"metres": self.metres, "turned": self.turned, "stones": self.stones}

    def restore(self, state):
        self.metres, self.turned, self.stones = state["metres"], state["turned"], state["stones"]


class Field:
    def __init__(self, strips):
        self.strips = strips

    def __iter__(self):
        while True:
            yield from self.strips


def main(run):
    rnd = run.streams.python("stones")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "furrow.json"
        path.write_text(json.dumps(SETTINGS), encoding="utf-8")
        plough = run.track("plough", Plough(Settings(path), rnd))
        strips = iter(Field(["clay", "loam", "loam", "sand"]))
        for tick in run.ticks(18):
            for _ in range(2):
                plough.furrow(next(strips), minutes=6 + tick % 3)
    return plough.metres
