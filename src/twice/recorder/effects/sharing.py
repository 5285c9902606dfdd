"""What a process prints on the run's own standard output and error.

A replay starts no process, and yet the run's output is compared. So a process that would share
descriptor 1 or 2 is given a file in its place; what the file holds when the process has ended is
part of what the program learned, and is printed then.

Not for: what a process that outlives its parent (a daemon) prints after that.

Invariant: bytes are taken once.
"""

from __future__ import annotations

import os
import subprocess
from itertools import count
from pathlib import Path
from typing import Any

from twice.worker.process import NESTED

_NUMBERS = count()


class Shared:
    """Files for the descriptors that a process would share.

    Args:
        options: what ``Popen`` was asked with, by name.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        out, err = options["stdout"], options["stderr"]
        self._wanted = {"stdout": _descriptor(out, 1), "stderr": _descriptor(err, 2)}
        if err == subprocess.STDOUT:
            self._wanted["stderr"] = None
        self._files: dict[int, int] = {}

    def connected(self, options: dict[str, Any]) -> dict[str, Any]:
        """Replace the streams that a process would share by files of twice."""
        changed = dict(options)
        for name, descriptor in self._wanted.items():
            if descriptor is not None:
                if descriptor not in self._files:
                    self._files[descriptor] = _file()
                changed[name] = self._files[descriptor]
        return changed

    def taken(self, *, ended: bool) -> tuple[bytes, bytes]:
        """Return its output on both streams once it has ended, and only once."""
        if not ended:
            return (b"", b"")
        files, self._files = self._files, {}
        return (_contents(files.get(1)), _contents(files.get(2)))

    def __del__(self) -> None:
        for file in self._files.values():
            os.close(file)


def _descriptor(target: Any, own: int) -> int | None:
    """Return which of the run's own descriptors is meant, or None for something else."""
    if target is None:
        return own
    if not isinstance(target, int):
        try:
            target = target.fileno()
        except (AttributeError, OSError, ValueError):
            return None
    return target if target in (1, 2) else None


def _file() -> int:
    """Open a file without a name that every writer appends to; draw no random name."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
    session = os.environ.get(NESTED)
    if session:
        Path(session).mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = session or os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  (it has no name a moment later)
    path = Path(folder, f"twice-{os.getpid()}-{next(_NUMBERS)}")
    file = os.open(path, flags, 0o600)
    path.unlink()
    return file


def _contents(file: int | None) -> bytes:
    if file is None:
        return b""
    try:
        return os.pread(file, os.fstat(file).st_size, 0)
    finally:
        os.close(file)
