"""A census of a source tree: sizes, kinds, copies of the same content, and what was touched last."""

import hashlib
import os
import random
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path

KINDS = [".py", ".txt", ".json", ".css"]


def plant(root):
    """A tree as it might be checked out; some files are copies of others."""
    contents = [bytes(random.randrange(97, 123) for _ in range(random.randrange(20, 400))) for _ in range(12)]
    for number in range(40):
        folder = root / f"part{number % 5}" / f"layer{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number:02d}{random.choice(KINDS)}").write_bytes(random.choice(contents))


class Entry:
    def __init__(self, root, path):
        status = os.stat(path)
        self.identity = uuid.uuid4()
        self.name = path.relative_to(root).as_posix()
        self.path = path
        self.size = status.st_size
        self.touched = status.st_mtime_ns
        self.inode = status.st_ino

    def digest(self):
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


class Census:
    def __init__(self, root):
        self.root = root
        self.entries = {}
        self.by_inode = {}
        self.began = time.time()

    def walk(self):
        for folder, _, names in os.walk(self.root):
            for name in names:
                entry = Entry(self.root, Path(folder) / name)
                self.entries[entry.identity] = entry
                self.by_inode[entry.inode] = entry.identity

    def copies(self):
        groups = {}
        for entry in self.entries.values():
            groups.setdefault(entry.digest(), set()).add(entry.name)
        return sorted((sorted(names) for names in groups.values() if len(names) > 1), key=lambda g: (-len(g), g))

    def kinds(self):
        counts = Counter()
        for entry in self.entries.values():
            counts[entry.path.suffix] += entry.size
        return sorted(counts.items())

    def recent(self):
        """All that was touched within the last day before the census."""
        limit = (self.began - 86400) * 1e9
        return sum(entry.touched > limit for entry in self.entries.values())


def main():
    with tempfile.TemporaryDirectory(prefix=f"census-{os.getpid()}-") as folder:
        root = Path(folder)
        plant(root)
        census = Census(root)
        census.walk()
        print(f"{len(census.entries)} files, {len(census.by_inode)} of them distinct")
        for suffix, size in census.kinds():
            print(f"{suffix:<6} {size:>6} bytes")
        groups = census.copies()
        print(f"{len(groups)} groups of copies")
        for group in groups[:4]:
            print(f"  {len(group)}x {group[0]} ... {group[-1]}")
        print(f"touched within a day: {census.recent()}")
        print(f"slow: {time.time() - census.began > 60}")


main()
