"""A fifth blind set: 59 files that leak, 35 that do not, as their author built them, in one archive.

Run from benchmarks/:  python -m programs.fifth_blind_leaks FOLDER

The author knew the guides, ``--help`` and one earlier set, whose containers and programs this one avoids, and had not seen the
scanner. Each file has one trace. ``labels.json`` in the archive says what each hides, and names 15 more hiding places that
the guide does not claim. Left out are these 15, a film of 20 MB, eight clean files that were copies of a machine's own, and
a foe of a game that is called "Reaper 2.0", which the guide says is accused.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path


def build(folder: Path) -> list[Path]:
    """Write both kinds below a folder and return the files."""
    with tarfile.open(Path(__file__).with_suffix(".tar.xz")) as archive:
        archive.extractall(folder, filter="data")
        names = [each.name for each in archive.getmembers() if each.isfile() and "/" in each.name]
    return [folder / name for name in names]


if __name__ == "__main__":
    build(Path(sys.argv[1]))
