"""Painting a backcloth with PIL: layers of scumble and glaze over a base, checked by eye each hour."""
from collections import ChainMap

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

SIZE = (96, 64)
BASE = {"sky": (120, 150, 210), "hill": (60, 110, 60), "wall": (150, 140, 120)}
GLAZES = {"dusk": (190, 90, 60), "mist": (225, 225, 230), "moss": (40, 90, 40), "soot": (30, 28, 30)}


class Painter:
    """Keeps a palette by name; `mixed` holds the colours made up this morning."""

    def __init__(self, rng):
        self.rng = rng
        self.palette = ChainMap({}, GLAZES, BASE)
        self.mixed = set()
        self.cloth = Image.new("RGB", SIZE, (200, 195, 180))

    def mix(self, one, two):
        name = f"{one}-{two}"
        self.palette[name] = tuple((a + b) // 2 for a, b in zip(self.palette[one], self.palette[two]))
        self.mixed.add(name)

    def block_in(self):
        draw = ImageDraw.Draw(self.cloth)
        for row, (_, colour) in enumerate(sorted(BASE.items())):
            top = row * SIZE[1] // 3
            draw.rectangle([0, top, SIZE[0], top + SIZE[1] // 3], fill=colour)

    def stroke(self, name):
        """One dab in the colour's own column, as high and as broad as the hand happens to make it."""
        draw = ImageDraw.Draw(self.cloth)
        x = 4 + 23 * list(GLAZES).index(name.split("-")[0])
        y, broad = (int(n) for n in self.rng.integers(6, 20, size=2))
        draw.ellipse([x, y, x + broad, y + 24], fill=self.palette[name])

    def scumble(self):
        for name in self.mixed:
            self.stroke(name)
        self.mixed.clear()

    def soften(self):
        self.cloth = self.cloth.filter(ImageFilter.GaussianBlur(1))

    def spatter(self, count):
        draw = ImageDraw.Draw(self.cloth)
        for x, y in self.rng.integers(0, SIZE[1], size=(count, 2)):
            draw.point([int(x), int(y)], fill=GLAZES["soot"])

    def eye(self):
        return np.asarray(self.cloth, dtype=float).mean(axis=(0, 1))

    def state(self):
        red, green, blue = self.eye()
        return {"red": round(float(red), 4), "green": round(float(green), 4),
                "blue": round(float(blue), 4), "pots": len(self.palette)}

    def restore(self, state):
        pass


def main(run):
    painter = Painter(run.rng("spatter"))
    run.track("painter", painter)
    tints = sorted(GLAZES)
    for hour in run.ticks(14):
        match hour % 7:
            case 0:
                painter.block_in()
            case 1 | 2 | 3:
                painter.mix(tints[hour % 4], "sky" if hour < 7 else "wall")
            case 4:
                painter.scumble()
            case 5:
                painter.soften()
            case _:
                painter.spatter(15)
    return painter.state()["red"]
