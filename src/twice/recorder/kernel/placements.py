"""Which recorded files are others now, and how a replay can show them as they were.

Not for: making them (``start_layer``). A file that the run never read is not compared by its content.

Invariant: no file is changed, and none is read whose size differs from the recorded one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from twice.foundation.dataclass import dataclass
from twice.foundation.digests import DEFAULT, Algorithm
from twice.recorder.kernel.file_history import FileHistory, FileState
from twice.recorder.kernel.file_observation import observe_state
from twice.recorder.kernel.mount_table import parent_folder

_listdir = os.listdir
_COPIED_MAX = 1 << 20
"""Bytes of a file that is copied for nothing but its times, or for what nobody is known to read."""


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """A file that the run used and that a replay cannot show as it was.

    Attributes:
        path: of the file, or of a folder whose listing lacks names.
        recorded: its state when the run first touched it.
        now: its state now.
    """

    path: str
    recorded: FileState
    now: FileState


@dataclass(frozen=True, slots=True)
class Placement:
    """A file that the layer must hold.

    Attributes:
        path: of the real file.
        state: what stands there; ``absent`` is a whiteout.
        source: file with the content; None for one that is all zeros.
    """

    path: str
    state: FileState
    source: str | None = None

    @property
    def size_bytes(self) -> int:
        """Return how much the placement takes."""
        return self.state.size if self.source else 0


def find_placements(
    histories: Sequence[FileHistory],
    content: Callable[[str], str | None],
    is_ignored: Callable[[str], bool],
) -> tuple[list[Placement], list[ChangedInput]]:
    """Return the placements in the layer, sorted by path, and the inputs that cannot be placed.

    Args:
        histories: every file of the run.
        content: returns a file with the content of a digest that the record carries, or None.
        is_ignored: returns whether a path is no part of the run, so that a listing may have it or not.
    """
    placements: dict[str, Placement] = {}
    changed = []
    known = {history.path for history in histories}
    for history in histories:
        found = _compare(history, content)
        if isinstance(found, ChangedInput):
            changed.append(found)
        elif found is not None:
            placements[history.path] = found
        if history.before.names is not None:
            extra, is_complete = _compare_names(history, known, is_ignored)
            placements |= {path: Placement(path, FileState("absent")) for path in extra}
            if not is_complete:
                now = _observe(history.path, with_content=False, with_names=True)
                changed.append(ChangedInput(history.path, history.before, now))
    for history in histories:
        if history.was_changed:
            for folder in _missing_folders(history.path, known):
                placements[folder] = Placement(folder, FileState("folder"))
    return [placements[path] for path in sorted(placements)], changed


def _missing_folders(path: str, known: set[str]) -> Iterator[str]:
    """Yield folders above a path that the run found, and that are gone."""
    folder = parent_folder(path)
    while folder not in known and folder != "/" and not os.path.lexists(folder):
        yield folder
        folder = parent_folder(folder)


def _compare(
    history: FileHistory, content: Callable[[str], str | None]
) -> Placement | ChangedInput | None:
    """Return the placement for one history; None if the real file is as it was."""
    path, before = history.path, history.before
    if before.kind == "file" and before.digest and history.appended_from is None:
        return _compare_content(history, content)
    now = _observe(path, with_content=False)
    if before.kind == "absent":
        return None if now.kind == "absent" else Placement(path, before)
    if before.kind == "other":  # a device, a socket or a FIFO
        if now.kind == "other":
            return None
        is_only_removed = history.after.kind == "absent" and not history.was_read
        return Placement(path, before) if is_only_removed else ChangedInput(path, before, now)
    if _has_same_status(before, now):
        return None
    if before.kind != "file":
        return Placement(path, before)
    if history.problem and history.appended_from is None:
        return ChangedInput(path, before, now)  # it was read, but nobody knows what stood there
    if not history.was_changed:
        return None if now.kind == "file" else ChangedInput(path, before, now)
    is_beginning_there = history.appended_from is not None and now.size >= before.size
    source = path if is_beginning_there and before.size <= _COPIED_MAX else None
    return Placement(path, before, source)


def _compare_content(
    history: FileHistory, content: Callable[[str], str | None]
) -> Placement | ChangedInput | None:
    path, before = history.path, history.before
    now = _observe(path, with_content=False)
    if now.kind == "file" and now.size == before.size:
        now = _observe(path, with_content=True, algorithm=_algorithm_of(before))
        if now.digest == before.digest:
            if _has_same_status(before, now) or before.size > _COPIED_MAX:
                return None
            return Placement(path, before, path)
    source = content(before.digest)
    return ChangedInput(path, before, now) if source is None else Placement(path, before, source)


def _compare_names(
    history: FileHistory, known: set[str], is_ignored: Callable[[str], bool]
) -> tuple[list[str], bool]:
    """Return paths that the folder did not have, and whether it has all the others."""
    recorded = set(history.before.names or ())
    try:
        now = set(_listdir(history.path))
    except OSError:
        now = set()

    def is_unexplained(name: str) -> bool:
        path = f"{history.path.rstrip('/')}/{name}"
        return path not in known and not is_ignored(path)

    extra = [
        f"{history.path.rstrip('/')}/{name}"
        for name in sorted(now - recorded)
        if is_unexplained(name)
    ]
    return extra, not any(is_unexplained(name) for name in sorted(recorded - now))


def _has_same_status(before: FileState, now: FileState) -> bool:
    if (before.kind, before.size, before.target) != (now.kind, now.size, now.target):
        return False
    return before.kind == "link" or (before.mode, before.mtime_ns) == (now.mode, now.mtime_ns)


def _observe(
    path: str, *, with_content: bool, with_names: bool = False, algorithm: Algorithm = DEFAULT
) -> FileState:
    """Return the state at a path; without a digest if it cannot be read."""
    try:
        return observe_state(path, algorithm, with_content=with_content, with_names=with_names)
    except OSError:
        with suppress(OSError):
            return observe_state(path, algorithm, with_content=False)
        return FileState("other")


def _algorithm_of(state: FileState) -> Algorithm:
    return Algorithm(state.digest.partition(":")[0])
