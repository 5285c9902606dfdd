"""Files whose names the C library drew: the same file under another name, in another run.

``mkstemp`` and ``mkdtemp`` fill the last six letters of a name from entropy that no record can serve to C
code. Such a file lies in a folder for temporary files, and another run's file stands there under a name
that differs in those letters alone.

Not for: names that Python draws, which the record serves, and names in any other folder.

Invariant: two files are taken for one only where they hold the same.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence

from twice.recording.kernel.file_history import FileState

DifferingFile = tuple[str, FileState, FileState, str]

_DRAWN = re.compile(r"(?P<before>.+/[^/]+?)[A-Za-z0-9]{6}")
_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  (where they are looked for, not made)


def match_drawn_names(
    differing: Sequence[DifferingFile],
) -> tuple[list[DifferingFile], list[tuple[str, str]]]:
    """Return which files differ in more than a drawn name, and pairs that do not.

    A pair is a path that only the recording left and one that only the replay did.

    Args:
        differing: path, state in the recording, state in the replay, and where they differ.
    """
    parents = {*_FOLDERS, tempfile.gettempdir()}
    replayed: dict[str, list[str]] = {}
    for path, was, _, _ in differing:
        if was.kind == "absent" and (stem := _stem(path, parents)):
            replayed.setdefault(stem, []).append(path)
    rest = list(differing)
    pairs = []
    for path, _, is_now, _ in differing:
        if is_now.kind != "absent":
            continue
        for other in replayed.get(_stem(path, parents), ()):
            left, right = _below(rest, path), _below(rest, other)
            if _hold_the_same(left, right, path, other):
                rest = [row for row in rest if row not in left and row not in right]
                replayed[_stem(path, parents)].remove(other)
                pairs.append((path, other))
                break
    return rest, pairs


def _stem(path: str, parents: set[str]) -> str:
    """Return a path without its drawn letters; empty where none were drawn."""
    found = _DRAWN.fullmatch(path)
    return found["before"] if found and path.rpartition("/")[0] in parents else ""


def _below(differing: Sequence[DifferingFile], path: str) -> list[DifferingFile]:
    return [row for row in differing if row[0] == path or row[0].startswith(f"{path}/")]


def _hold_the_same(
    recorded: Sequence[DifferingFile], replayed: Sequence[DifferingFile], path: str, other: str
) -> bool:
    left = {row[0].removeprefix(path): row[1] for row in recorded}
    right = {row[0].removeprefix(other): row[2] for row in replayed}
    return left.keys() == right.keys() and all(
        state.has_same_content(right[name]) for name, state in left.items()
    )
