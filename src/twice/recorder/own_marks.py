"""What this account made itself: one empty file for each thing, by kind and digest, in its state folder.

A thing is yours when a command of twice made it here, under your account. Copying or receiving it does not make it
yours, and nothing that stands in it does.

Not for: what another account of this machine may do; the folder is private to yours.

Invariant: only this module writes the marks, and a mark is never read for more than that it is there.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def mark_own(kind: str, name: str) -> bool:
    """Remember a thing that was just made; whether that could be written down.

    Args:
        kind: what it is, one word in the plural: ``recipes``, ``records``.
        name: its digest, in hexadecimal digits.
    """
    for folder in _folders():
        path = folder / kind / name
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if _is_private(folder):
                path.touch(mode=0o600)
                return True
    return False


def is_own(kind: str, name: str) -> bool:
    """Return whether this account made a thing."""
    for folder in _folders():
        with suppress(OSError):
            if (folder / kind / name).is_file() and _is_private(folder):
                return True
    return False


def _folders() -> tuple[Path, Path]:
    """Return the folders of marks: the state folder, and one below /tmp for an account without a home."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "twice", Path("/tmp") / f"twice-{os.geteuid()}"  # noqa: S108


def _is_private(folder: Path) -> bool:
    """Return whether a folder is this account's, and not everybody may write into it."""
    found = folder.lstat()
    return (
        stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o002
    )
