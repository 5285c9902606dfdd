"""A fourth blind set: 104 files that leak, 34 that do not, as their author built them, in one archive.

Run from benchmarks/:  python -m programs.fourth_blind_leaks FOLDER

The author knew the guides and ``--help``, and had seen neither the scanner, its tests nor the earlier sets. The first 77
files each hide a trace as a pipeline of a game, a book or a site leaves it; 27 harder ones carry one faint trace each.
``labels.json`` in the archive says what each hides. Three models are of a real Blender (4.5.15, bpy). ``known.txt`` has the
values that a project would look for as its own. The author's twelve files beyond what the guide claims, and ten clean ones
that were copies of a machine's own files, are left out.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path


def build(folder: Path) -> list[Path]:
    """Write both kinds below a folder and return the files."""
    with tarfile.open(Path(__file__).with_suffix(".tar.xz")) as archive:
        archive.extractall(folder, filter="data")
        names = [name for name in archive.getnames() if "/" in name]
    return [folder / name for name in names]


if __name__ == "__main__":
    build(Path(sys.argv[1]))
