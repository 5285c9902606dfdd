"""Posters from noise and gradients: layers are blended, exposed, toned and written to a contact sheet."""

import math
import zlib

import torch

SIZE = 600
POSTERS = 6


def octave(cells, generator=None):
    """Value noise at one scale."""
    grid = torch.rand(1, 1, cells, cells, generator=generator)
    return torch.nn.functional.interpolate(grid, size=(SIZE, SIZE), mode="bilinear", align_corners=True)[0, 0]


def clouds(depth):
    layer = torch.zeros(SIZE, SIZE)
    for level in range(depth):
        layer += octave(3 * 2 ** level) / 2 ** level
    return layer


def rings(frequency):
    axis = torch.linspace(-1, 1, SIZE)
    radius = torch.sqrt(axis[:, None] ** 2 + axis[None, :] ** 2)
    return 0.5 + 0.5 * torch.cos(frequency * radius)


class Exposure:
    """As a camera does: the middle counts more, and what follows is judged by what was seen before."""

    def __init__(self):
        window = torch.hann_window(SIZE, periodic=False)
        self.weights = torch.outer(window, window).flatten()
        self.whole = float((SIZE - 1) ** 2) / 4
        self.memory = None
        self.history = []

    def measure(self, layer):
        light = torch.dot(layer.flatten(), self.weights) / self.whole
        self.memory = light if self.memory is None else 0.7 * self.memory + 0.3 * light
        self.history.append(self.memory.item())
        return self.memory

    def correct(self, layer):
        return layer * (0.5 / self.measure(layer))


class Palette:
    NAMES = ["ochre", "slate", "moss", "brick"]

    def __init__(self):
        self.generator = torch.Generator().manual_seed(zlib.crc32(b"palette"))
        self.used = set()

    def tone(self, layer):
        index = int(torch.randint(len(self.NAMES), (1,), generator=self.generator))
        self.used.add(self.NAMES[index])
        gamma = 0.8 + 0.2 * index
        return self.NAMES[index], layer.clamp(0, 1) ** gamma


class Sheet:
    """Thumbnails: each poster as one row of 12 greys."""

    def __init__(self):
        self.rows = []

    def add(self, name, layer):
        edge = SIZE // 12
        strip = layer[:edge * 12, :edge * 12].reshape(12, edge, 12, edge)[0, :, :, :].amax(dim=(0, 2))
        self.rows.append((name, [int(v) for v in (strip * 255).round().tolist()]))

    def show(self):
        for name, greys in self.rows:
            print(f"{name:<6}", " ".join(f"{g:3d}" for g in greys))


def main():
    exposure, palette, sheet = Exposure(), Palette(), Sheet()
    for number in range(POSTERS):
        layer = clouds(4)
        layer = layer * (0.6 + 0.4 * rings(6 + 3 * number))
        corrected = exposure.correct(layer)
        name, toned = palette.tone(corrected)
        sheet.add(name, toned)
    sheet.show()
    names = sorted(palette.used)
    print(f"{POSTERS} posters in {', '.join(names)}; area {int(math.pow(SIZE, 2))}")
    print("exposures", " ".join(f"{value:.9f}" for value in exposure.history))


main()
