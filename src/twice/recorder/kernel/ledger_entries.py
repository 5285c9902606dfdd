"""What a ledger holds of one path, and how it looks at one.

Invariant: looking at a path changes nothing of it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress

from twice.foundation.dataclass import dataclass
from twice.recorder.kernel.file_history import FileState
from twice.recorder.kernel.file_observation import FileUnsettled


def signature_of(found: os.stat_result) -> tuple[int, ...]:
    """Return facts that show a change of a file; the first fields change only with its content."""
    return (
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode
    )  # fmt: skip


CONTENT_FIELDS = 4
"""How many fields of a signature change only with the file or its content."""


@dataclass(slots=True)
class LedgerEntry:
    """One path, from its first touch on."""

    before: FileState
    signature: tuple[int, ...] | None
    links: int = 1
    was_read: bool = False
    was_changed: bool = False
    is_kept: bool = False
    appended_from: int | None = None
    problem: str = ""
    branch: int = 0
    is_read_back: bool = False
    digest: Future[FileState] | None = None

    def settle(self) -> None:
        """Wait for a digest that is still being made."""
        waiting, self.digest = self.digest, None
        if waiting is None:
            return
        try:
            self.before = waiting.result()
        except FileUnsettled as error:
            self.problem = str(error)


def first_state(path: str, found: os.stat_result) -> FileState:
    """Return the state at a path, without its content."""
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISREG(found.st_mode):
        return FileState("file", size=found.st_size, mode=mode, mtime_ns=found.st_mtime_ns)
    if stat.S_ISDIR(found.st_mode):
        return FileState("folder", mode=mode, mtime_ns=found.st_mtime_ns)
    if stat.S_ISLNK(found.st_mode):
        with suppress(OSError):
            return FileState("link", target=os.readlink(path))
    return FileState("other", mode=mode)


def walk(folder: str) -> Iterator[str]:
    """Yield every path below a folder, each folder before its content."""
    waiting = [folder]
    while waiting:
        try:
            entries = sorted(os.scandir(waiting.pop()), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            yield entry.path
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
