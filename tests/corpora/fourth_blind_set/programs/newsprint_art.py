"""Halftone art for the weekend supplement: a picture is dithered plate by plate with a seeded screen."""
import os
import zlib

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

SIZE = 48


def screen_seed():
    """Artists keep a screen profile of their own; its place picks the grain."""
    profile = os.path.expanduser("~/.newsprint/screen.profile")
    return zlib.crc32(profile.encode())


class Press:
    def __init__(self, grain):
        self.grain = grain
        self.plates = []
        self.ink = 0

    def screen(self):
        noise = self.grain.integers(0, 256, size=(SIZE, SIZE), dtype=np.uint8)
        return Image.fromarray(noise).filter(ImageFilter.BoxBlur(1))

    def plate(self, picture, coarse):
        if coarse:
            plate = picture.point(lambda v: 255 if v > 127 else 0)
        else:
            plate = ImageChops.add(picture, self.screen(), scale=2.0).point(lambda v: 255 if v > 120 else 0)
        dark = plate.histogram()[0]
        self.plates.append(dark)
        self.ink += dark

    def state(self):
        return {"plates": list(self.plates), "ink": self.ink}

    def restore(self, state):
        self.plates = list(state["plates"])
        self.ink = state["ink"]


def sketch(rng):
    image = Image.new("L", (SIZE, SIZE), 200)
    draw = ImageDraw.Draw(image)
    for _ in range(5):
        x, y, r = (int(v) for v in rng.integers(4, SIZE - 4, size=3))
        draw.ellipse((x - r // 3, y - r // 3, x + r // 3, y + r // 3), fill=int(rng.integers(0, 160)))
    return image.filter(ImageFilter.GaussianBlur(2))


def main(run):
    press = run.track("press", Press(np.random.default_rng(screen_seed())))
    hand = run.rng("hand")
    for tick in run.ticks(12):
        press.plate(sketch(hand), coarse=tick < 3)
    return press.ink
