"""Merges star catalogues and computes totals with a correctly rounded sum."""
import json
import math
import os
import tempfile

SOURCES = {
    "hip": {"Vega": 0.03, "Deneb": 1.25, "Altair": 0.76, "Rigel": 0.13, "Spica": 0.97},
    "tyc": {"Vega": 0.031, "Mizar": 2.23, "Alcor": 3.99, "Rigel": 0.12, "Antares": 1.06},
    "gaia": {"Alcor": 3.98, "Regulus": 1.36, "Castor": 1.58, "Pollux": 1.14, "Bellatrix": 1.64},
}


def luminosity(magnitude):
    return 10 ** (-0.4 * magnitude)


class Catalogue:
    """Each star with the mean of what the sources say."""

    def __init__(self):
        self.seen = {}

    def ingest(self, source):
        for name, magnitude in source.items():
            self.seen.setdefault(name, []).append(magnitude)

    def magnitude(self, name):
        values = self.seen[name]
        return math.fsum(values) / len(values)

    def names(self, limit=None):
        return {name for name in self.seen if limit is None or self.magnitude(name) < limit}

    def light(self, names):
        """The order does not matter: fsum rounds once."""
        return math.fsum(luminosity(self.magnitude(name)) for name in names)


def write_sources(folder):
    for label, stars in SOURCES.items():
        with open(os.path.join(folder, label + ".json"), "w", encoding="utf-8") as out:
            json.dump(stars, out)


def read_sources(folder, labels):
    for label in labels:
        with open(os.path.join(folder, label + ".json"), encoding="utf-8") as text:
            yield json.load(text)


def main():
    catalogue = Catalogue()
    with tempfile.TemporaryDirectory() as folder:
        write_sources(folder)
        for source in read_sources(folder, set(SOURCES)):
            catalogue.ingest(source)
    bright = catalogue.names(limit=1.5)
    everything = catalogue.names()
    print(f"{len(everything)} stars, {len(bright)} brighter than 1.5")
    print(f"light of all:    {catalogue.light(everything)!r}")
    print(f"light of bright: {catalogue.light(bright)!r}")
    share = catalogue.light(bright) / catalogue.light(everything)
    print(f"share: {share!r}")
    print("brightest:", min(everything, key=lambda name: (catalogue.magnitude(name), name)))
    print("means:", [round(catalogue.magnitude(name), 4) for name in sorted(bright)])


if __name__ == "__main__":
    main()
