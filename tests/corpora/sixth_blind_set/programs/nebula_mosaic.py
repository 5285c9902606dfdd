"""Nebula mosaic: filter frames are tinted and laid over each other on a canvas which drifts a little every exposure."""
import zlib
from itertools import chain

import numpy as np
from PIL import Image, ImageChops

SIZE = 48
FILTERS = {"Ha": (200, 40, 30), "OIII": (30, 160, 150), "SII": (150, 30, 60), "L": (120, 120, 120), "Hb": (40, 70, 190)}
REQUESTS = [("Ha", "OIII", "SII"), ("L", "Ha"), ("Hb", "OIII"), ("SII", "L")]


class Layer:
    def __init__(self, tint, rng):
        self.tint = tint
        self.where = (int(rng.integers(0, 8)), int(rng.integers(0, 8)))
        self.extent = 4

    def grow(self):
        self.extent = min(self.extent + 1, 30)

    def plate(self):
        return Image.new("RGB", (self.extent, self.extent), self.tint)


class Mosaic:
    def __init__(self, rng):
        names = list(chain.from_iterable(REQUESTS))
        made = {name: Layer(FILTERS[name], rng) for name in FILTERS}
        self.layers = dict.fromkeys(set(names))
        self.layers.update(made)
        self.canvas = Image.new("RGB", (SIZE, SIZE))
        self.dim = Image.new("RGB", (SIZE, SIZE), (250, 250, 250))

    def expose(self):
        self.canvas = ImageChops.multiply(self.canvas, self.dim)
        for place, layer in enumerate(self.layers.values()):
            layer.grow()
            x, y = layer.where
            self.canvas.paste(layer.plate(), (x, y))

    def checksum(self):
        return zlib.crc32(self.canvas.tobytes())

    def brightness(self):
        return [int(v) for v in np.asarray(self.canvas, dtype=np.int64).sum(axis=(0, 1))]


class Night:
    def __init__(self, mosaic):
        self.mosaic = mosaic
        self.frames = 0
        self.red = self.green = self.blue = 0

    def shutter(self, cloudy):
        if cloudy:
            return
        self.mosaic.expose()
        self.frames += 1
        self.red, self.green, self.blue = self.mosaic.brightness()

    def state(self):
        return {"frames": self.frames, "rgb": [self.red, self.green, self.blue]}

    def restore(self, state):
        self.frames = state["frames"]
        self.red, self.green, self.blue = state["rgb"]


def main(run):
    rng = run.rng("sky")
    night = run.track("night", Night(Mosaic(run.rng("pointing"))))
    weather = run.track("weather", {"cloud": 9.0})
    for tick in run.ticks(16):
        weather["cloud"] = round(weather["cloud"] - 0.6 - 0.1 * float(rng.random()), 3)
        night.shutter(weather["cloud"] > 5.0)
    return {"frames": night.frames, "sum": night.mosaic.checksum()}
