"""Book jackets drawn with PIL: bands of colour are taken from a palette, then measured once they are printed."""
from PIL import Image, ImageDraw

PALETTE = {"ochre": (204, 119, 34), "teal": (0, 128, 128), "plum": (142, 69, 133), "ivory": (255, 255, 240)}


class Designer:
    def __init__(self, allowed):
        self.allowed = allowed
        self.proofs = []

    def background(self):
        return min(self.allowed, key=len)

    def draw(self, bands, rng):
        image = Image.new("RGB", (32, 48), PALETTE[self.background()])
        pen = ImageDraw.Draw(image)
        for _ in range(bands):
            top = int(rng.integers(0, 44))
            pen.rectangle((0, top, 31, top + 2), fill=(20, 20, 20))
        self.proofs.append(image.tobytes())


def printed(proof):
    image = Image.frombytes("RGB", (32, 48), proof)
    return image.resize((1, 1), Image.Resampling.BOX).getpixel((0, 0))


class Press:
    def __init__(self):
        self.ink = [0, 0, 0]
        self.copies = 0

    def run_off(self, pixel):
        self.ink = [have + int(p) for have, p in zip(self.ink, pixel)]
        self.copies += 1

    def state(self):
        return {"ink": list(self.ink), "copies": self.copies}

    def restore(self, state):
        self.ink, self.copies = list(state["ink"]), state["copies"]


def main(run):
    rng = run.rng("bands")
    designer = Designer(frozenset({"teal", "plum", "ochre", "ivory"}))
    press = run.track("press", Press())
    for tick in run.ticks(16):
        if tick < 8:
            designer.draw(3, rng)
        else:
            press.run_off(printed(designer.proofs.pop(0)))
    return press.ink
