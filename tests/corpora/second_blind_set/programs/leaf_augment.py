"""Classifies leaves by shape: pictures are made, augmented, and compared with prototypes.

LEAF_PREVIEW=3 shows how the augmentation looks for some of the pictures (as text, to a log).
"""
import io
import os

import numpy as np
from PIL import Image

SIDE = 20
KINDS = {"round": (1.0, 1.0), "long": (0.45, 1.0), "wide": (1.0, 0.5)}


def leaf(kind):
    x, y = np.meshgrid(np.linspace(-1, 1, SIDE), np.linspace(-1, 1, SIDE))
    a, b = KINDS[kind]
    return ((x / a) ** 2 + (y / b) ** 2 < 0.7).astype(np.float64)


def rotate(picture, degrees):
    image = Image.fromarray((picture * 255).astype(np.uint8))
    return np.asarray(image.rotate(degrees), dtype=np.float64) / 255


class Augment:
    """Turns, shifts and speckles a picture."""

    def __init__(self, strength):
        self.strength = strength

    def __call__(self, picture):
        turned = rotate(picture, float(np.random.uniform(-30, 30)) * self.strength)
        shifted = np.roll(turned, np.random.randint(-2, 3, size=2), axis=(0, 1))
        return np.clip(shifted + np.random.normal(0, 0.15, size=shifted.shape), 0, 1)


class Dataset:
    def __init__(self, per_kind, transform):
        self.items = [(kind, leaf(kind)) for kind in KINDS for _ in range(per_kind)]
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        kind, picture = self.items[place]
        return kind, self.transform(picture)


def preview(dataset, count, log):
    for place in range(count):
        kind, picture = dataset[place]
        log.write(kind + "\n")
        for row in picture[::4]:
            log.write("".join(" .:#"[int(value * 3.99)] for value in row[::2]) + "\n")


def prototypes(dataset):
    sums = {kind: np.zeros((SIDE, SIDE)) for kind in KINDS}
    for place in range(len(dataset)):
        kind, picture = dataset[place]
        sums[kind] += picture
    return {kind: total / np.linalg.norm(total) for kind, total in sums.items()}


def main():
    np.random.seed(8)
    train = Dataset(12, Augment(1.0))
    test = Dataset(10, Augment(1.5))
    log = io.StringIO()
    preview(train, int(os.environ.get("LEAF_PREVIEW", "0")), log)
    known = prototypes(train)
    hits, margin = 0, 0.0
    for place in range(len(test)):
        kind, picture = test[place]
        scores = {name: float((proto * picture).sum()) for name, proto in known.items()}
        hits += max(scores, key=scores.get) == kind
        margin += scores[kind]
    print(f"trained on {len(train)} leaves, {hits} of {len(test)} right")
    print(f"mean score {margin / len(test):.6f}")


if __name__ == "__main__":
    main()
