"""Thumbnails by a pool of threads: pictures are drawn, scaled, and put on a contact sheet."""

import random
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import Queue

from PIL import Image, ImageDraw

NAMES = ["alps", "bazaar", "canal", "desert", "estuary", "fjord", "glacier", "heath", "isthmus", "jungle", "karst",
         "lagoon"]
SIDE = 96
THUMB = 24


class Recipe:
    """What to draw, decided before anything is handed out."""

    def __init__(self, name):
        self.name = name
        self.background = tuple(random.randrange(256) for _ in range(3))
        self.shapes = []
        for _ in range(random.randrange(3, 8)):
            x, y = random.randrange(SIDE), random.randrange(SIDE)
            self.shapes.append(((x, y, x + random.randrange(8, 40), y + random.randrange(8, 40)),
                                tuple(random.randrange(256) for _ in range(3)), random.random() < 0.5))
        self.weight = random.randrange(1, 5)


class Farm:
    def __init__(self):
        self.lock = threading.Lock()
        self.pixels = 0
        self.workers = set()
        self.finished = Queue()

    def draw(self, recipe):
        picture = Image.new("RGB", (SIDE, SIDE), recipe.background)
        pen = ImageDraw.Draw(picture)
        for box, colour, round_ in recipe.shapes:
            (pen.ellipse if round_ else pen.rectangle)(box, fill=colour)
        time.sleep(0.002 * recipe.weight)
        return picture

    def work(self, recipe):
        thumb = self.draw(recipe).resize((THUMB, THUMB), Image.Resampling.BOX)
        with self.lock:
            self.pixels += THUMB * THUMB
            self.workers.add(threading.get_ident())
        self.finished.put(recipe.name)
        return recipe.name, thumb


def sheet(thumbs):
    across = 4
    page = Image.new("L", (across * THUMB, -(-len(thumbs) // across) * THUMB))
    for place, name in enumerate(sorted(thumbs)):
        page.paste(thumbs[name].convert("L"), ((place % across) * THUMB, (place // across) * THUMB))
    return page


def main():
    farm = Farm()
    recipes = [Recipe(name) for name in NAMES]
    random.shuffle(recipes)
    thumbs, order = {}, []
    with ThreadPoolExecutor(max_workers=4) as pool:
        futures = [pool.submit(farm.work, recipe) for recipe in recipes]
        for future in as_completed(futures):
            name, thumb = future.result()
            thumbs[name] = thumb
            order.append(name)
    drained = set()
    while not farm.finished.empty():
        drained.add(farm.finished.get())
    page = sheet(thumbs)
    print(f"{len(order)} thumbnails, {farm.pixels} pixels, all reported: {drained == set(order)}")
    print(f"several hands: {1 <= len(farm.workers) <= 4}")
    for name in sorted(thumbs):
        print(f"{name:<8} {zlib.crc32(thumbs[name].tobytes()):08x}")
    print(f"sheet {page.width}x{page.height}, grey {sum(page.histogram()[128:])} light, {zlib.crc32(page.tobytes()):08x}")


main()
