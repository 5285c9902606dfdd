"""The sea chart on the first page: soundings drawn from one seed, a coast, a title in one font."""

import argparse
import random

from PIL import Image, ImageDraw, ImageFont

parser = argparse.ArgumentParser()
parser.add_argument("output")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--font", required=True)
parser.add_argument("--width", type=int, default=320)
parser.add_argument("--height", type=int, default=200)
options = parser.parse_args()

rng = random.Random(options.seed)
size = (options.width, options.height)
chart = Image.new("RGB", size, (226, 217, 190))
pen = ImageDraw.Draw(chart)
coast = [(0, 150)]
while coast[-1][0] < size[0]:
    x, y = coast[-1]
    coast.append((x + rng.randint(6, 18), min(190, max(120, y + rng.randint(-12, 12)))))
pen.polygon([*coast, (size[0], size[1]), (0, size[1])], (168, 158, 120), (90, 78, 50))
small = ImageFont.truetype(options.font, 10)
for _ in range(30):
    at = (rng.randint(4, size[0] - 16), rng.randint(40, 110))
    pen.text(at, str(rng.randint(2, 40)), (96, 104, 120), small)
pen.text((14, 8), "The Skerry Lamp", (60, 40, 30), ImageFont.truetype(options.font, 24))
chart.save(options.output)
