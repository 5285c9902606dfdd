"""The specification beside the code, as far as a review needs it: the artifacts that exist, and the promise.

An artifact is a file ``NN-name.md`` in a folder ``determinism-and-replay``. Of its text, lines
``class: …``, ``scope: …`` and ``tier: …`` near the top are read, nothing else.

Invariant: what cannot be read counts as not there; nothing in an artifact is ever executed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

FOLDER: Final = "determinism-and-replay"
_NAMED: Final = re.compile(r"(\d\d)-[\w.-]+\.md")
_SAID: Final = re.compile(r"^(class|scope|tier):\s*[\"']?([\w-]+)[\"']?\s*$")
_BYTES_MAX: Final = 1024 * 1024
_LINES_READ: Final = 40


@dataclass(frozen=True, slots=True)
class Workspace:
    """What is there.

    Args:
        artifacts: for each number of two digits the file's name, in order.
        said: ``class``, ``scope`` and ``tier``, where an artifact says them.
    """

    artifacts: Mapping[str, str]
    said: Mapping[str, str] = field(default_factory=dict)

    @property
    def numbers(self) -> frozenset[str]:
        """The numbers of the artifacts that are there."""
        return frozenset(self.artifacts)


def find_workspace(folders: tuple[Path, ...]) -> Workspace | None:
    """Give the workspace in the first of some folders that has one; None when none has."""
    for folder in folders:
        place = folder if folder.name == FOLDER else folder / FOLDER
        if place.is_dir():
            return _read_workspace(place)
    return None


def _read_workspace(place: Path) -> Workspace:
    """Read a workspace."""
    artifacts: dict[str, str] = {}
    said: dict[str, str] = {}
    try:
        names = sorted(each.name for each in place.iterdir() if each.is_file())
    except OSError:
        names = []
    for name in names:
        match = _NAMED.fullmatch(name)
        if match is None:
            continue
        artifacts.setdefault(match[1], name)
        if match[1] in {"00", "01"}:
            for key, value in _read_promise(place / name):
                said.setdefault(key, value)
    return Workspace(artifacts, said)


def _read_promise(path: Path) -> list[tuple[str, str]]:
    try:
        with path.open("rb") as file:
            text = file.read(_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return []
    found = [_SAID.match(line.strip()) for line in text.splitlines()[:_LINES_READ]]
    return [(each[1], each[2]) for each in found if each is not None]
