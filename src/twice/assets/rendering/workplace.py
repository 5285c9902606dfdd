"""The private folder in which one command renders: its inputs are copies, and it goes afterwards.

It is no sandbox: a command can still read and write whatever its user can.

Invariant: no file of the store is in it, only copies.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from twice.assets.errors import InputChanged
from twice.assets.media.measure import digest_file


@dataclass(frozen=True, slots=True)
class Workplace:
    """Three folders of one rendering: where it works, its home, and what is kept about it."""

    folder: Path
    home: Path
    notes: Path
    placed: Mapping[str, str]

    def written(self) -> tuple[str, ...]:
        """Name the files that are new or others than were placed, in one order; links are none."""
        found = []
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if path.is_symlink() or not path.is_file() or "__pycache__" in path.parts:
                continue
            if name not in self.placed or digest_file(path) != self.placed[name]:
                found.append(name)
        return tuple(found)


@contextmanager
def workplace(inputs: Mapping[str, Path], output_folders: tuple[str, ...]) -> Iterator[Workplace]:
    """Lay one out, and remove it afterwards.

    Args:
        inputs: where each file lies, by its path in the folder.
        output_folders: folders that are there before the command begins.

    Raises:
        InputChanged: E-ASSET-RENDER-002: an input cannot be read.
    """
    root = Path(tempfile.mkdtemp(prefix="twice-render-"))
    try:
        folder, home, notes = root / "work", root / "home", root / "notes"
        for each in (folder, home, notes):
            each.mkdir(mode=0o700)
        placed = {name: _placed(folder / name, path) for name, path in inputs.items()}
        for name in output_folders:
            (folder / name).mkdir(parents=True, exist_ok=True)
        yield Workplace(folder, home, notes, placed)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _placed(target: Path, source: Path) -> str:
    """Copy one input; the sha256 of the copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copy(source, target)
    except OSError as error:
        raise InputChanged(
            f"The input {source} cannot be read: {error.strerror or error}.",
            "Expected every file that the command reads.",
            "Put it back, or name another one with --input.",
            path=str(source),
        ) from error
    return digest_file(target)
