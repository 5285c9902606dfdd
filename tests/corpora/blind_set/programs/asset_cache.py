"""A game packs textures: each file gets a version, and atlases are laid out by what the versions say."""

import os
import pathlib
import random
import tempfile
import zlib

NAMES = ("grass", "stone", "water", "sand", "lava", "snow", "brick", "cloud")
FOLDER = pathlib.Path(tempfile.gettempdir()) / "blind16-asset-cache"


class Library:
    """Files in a folder, and what is known about them."""

    def __init__(self, folder):
        self.folder = folder
        self.versions = {}

    def write(self, name, size, rng):
        data = bytes(rng.randrange(256) for _ in range(size))
        (self.folder / f"{name}.tex").write_bytes(data)
        return len(data)

    def scan(self):
        for path in sorted(self.folder.glob("*.tex")):  # innocent
            info = path.stat()  # guilty
            self.versions[path.stem] = (info.st_size, info.st_mtime_ns)

    def clean(self):
        for path in sorted(self.folder.glob("*.tex")):
            path.unlink()


class Atlas:
    """Squares of textures in rows; what has a similar version goes to one row."""

    def __init__(self, rows):
        self.rows = [[] for _ in range(rows)]

    def place(self, name, version):
        size, stamp = version
        row = zlib.crc32(f"{name}/{size}/{stamp}".encode()) % len(self.rows)  # innocent
        self.rows[row].append((name, size))

    def waste(self):
        widths = [sum(size for _, size in row) for row in self.rows]
        return max(widths) * len(widths) - sum(widths)


def main():
    FOLDER.mkdir(exist_ok=True)
    rng, frames = random.Random(40), random.Random(41)
    library = Library(FOLDER)
    total = sum(library.write(name, 40 + 13 * k, rng) for k, name in enumerate(NAMES))
    print("wrote", len(NAMES), "textures,", total, "bytes")
    library.scan()
    print("known", ", ".join(sorted(library.versions)))
    print("largest", max(library.versions, key=lambda name: library.versions[name][0]))
    for frame in range(12):
        print(f"frame {frame}: {frames.uniform(11, 17):.2f} ms")
    atlas = Atlas(rows=3)
    for name in NAMES:  # innocent
        atlas.place(name, library.versions[name])
    library.clean()
    print("left in the folder", len(os.listdir(FOLDER)))
    FOLDER.rmdir()
    for k, row in enumerate(atlas.rows):
        print("row", k, [name for name, _ in row], sum(size for _, size in row))
    print("waste", atlas.waste())


if __name__ == "__main__":
    main()
