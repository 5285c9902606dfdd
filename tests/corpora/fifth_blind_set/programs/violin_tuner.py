"""Tuner display: paint one overlapping bar per string and sum up the picture."""
import zlib

from PIL import Image, ImageDraw

COLOURS = {"G3": (200, 40, 40), "D4": (40, 200, 40), "A4": (40, 40, 200),
           "E5": (200, 200, 40), "C3": (90, 20, 160)}
VISIBLE = frozenset(COLOURS)


class Dial:
    def __init__(self, width=64, height=32):
        self.size = (width, height)
        self.checksum = 0
        self.centre = (0, 0, 0)
        self.cents = dict.fromkeys(COLOURS, 0.0)

    def listen(self, name, error):
        self.cents[name] = round(0.7 * self.cents[name] + error, 3)

    def bar(self, name):
        middle = self.size[0] // 2 + int(self.cents[name])
        return (middle - 9, 4, middle + 9, self.size[1] - 4)

    def paint(self, names):
        image = Image.new("RGB", self.size, (255, 255, 255))
        pen = ImageDraw.Draw(image)
        for name in names:
            pen.rectangle(self.bar(name), fill=COLOURS[name])
        self.checksum = zlib.crc32(image.tobytes())
        self.centre = image.getpixel((self.size[0] // 2, self.size[1] // 2))

    def state(self):
        return {"checksum": self.checksum, "centre": list(self.centre),
                "cents": dict(self.cents)}

    def restore(self, state):
        self.checksum, self.centre = state["checksum"], tuple(state["centre"])
        self.cents = dict(state["cents"])


def main(run):
    rng = run.rng("bow")
    dial = run.track("dial", Dial())
    for tick in run.ticks(12):
        for name in COLOURS:
            dial.listen(name, float(rng.normal(0, 2)))
        if tick >= 2:
            dial.paint(VISIBLE if tick % 2 else ["A4"])
    return dial.checksum
