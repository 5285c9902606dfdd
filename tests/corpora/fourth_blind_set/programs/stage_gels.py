"""Stage lighting plot: gels are painted over each other with PIL, the desk keeps the average colour of the floor."""
import hashlib

from PIL import Image, ImageDraw

GELS = {
    "amber": (255, 176, 32), "bastard amber": (255, 201, 160), "congo": (48, 16, 122), "steel": (150, 190, 225),
    "lavender": (190, 160, 230), "moss": (60, 130, 70), "rose": (235, 90, 130), "straw": (250, 230, 140),
}
SIZE = (64, 48)


class Lantern:
    """A lantern throws one gel on a part of the floor."""

    def __init__(self, gel, box):
        self.gel, self.box = gel, box

    def paint(self, picture):
        ImageDraw.Draw(picture).ellipse(self.box, fill=GELS[self.gel])


class Floor:
    def __init__(self):
        self.picture = Image.new("RGB", SIZE, (12, 12, 16))
        self.level = 0

    def blackout(self):
        self.picture.paste((12, 12, 16), (0, 0, *SIZE))

    def state(self):
        small = self.picture.resize((2, 1), Image.Resampling.BOX)
        return {
            "floor": hashlib.sha1(self.picture.tobytes()).hexdigest()[:12],
            "left": list(small.getpixel((0, 0))),
            "right": list(small.getpixel((1, 0))),
            "level": self.level,
        }

    def restore(self, state):
        self.level = state["level"]


def cue_list(rng, n):
    """Which gels are struck in each cue, and where."""
    names = sorted(GELS)
    for i in range(n):
        struck = {names[int(k)] for k in rng.choice(len(names), 3, replace=False)} if i >= 4 else set()
        yield i, struck, int(rng.integers(4, 30))


def light(floor, struck, left):
    """All gels but the struck ones, spread over the floor; broad ones overlap."""
    for k, gel in enumerate(GELS.keys() - struck):
        Lantern(gel, (left + 3 * k, 4, left + 3 * k + 20, 40)).paint(floor.picture)


def preset(floor, tick):
    floor.picture.paste(GELS["steel"], (tick * 4, 0, tick * 4 + 8, 10))
    floor.level = 20 + tick


def main(run):
    floor = run.track("floor", Floor())
    cues = cue_list(run.rng("cues"), 18)
    for tick in run.ticks(18):
        number, struck, left = next(cues)
        if not struck:
            preset(floor, tick)
            continue
        if number % 5 == 0:
            floor.blackout()
        light(floor, struck, left)
        floor.level = min(100, floor.level + 5)
    run.compare("level", floor.level)
    return floor.level
