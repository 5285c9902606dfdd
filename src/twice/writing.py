"""Writing a file whole or not at all: into a new one beside it, which then takes its place.

Invariant: whoever reads the path sees the old bytes or the new ones, and the mode stays.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from twice.errors import OutputUnwritable


def write(path: Path, data: bytes | Iterable[bytes | memoryview]) -> None:
    """Put bytes, or pieces that are not joined in memory, at a path; through a symbolic link, where it points.

    Raises:
        OutputUnwritable: E-OUTPUT-002: the folder or the disk does not take them.
    """
    target = Path(os.path.realpath(path))
    # A random part: a process id comes again in another container, and threads share it.
    aside = target.with_name(f".{target.name}.{os.urandom(8).hex()}.new")
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        with aside.open("xb") as file:
            try:
                file.writelines((data,) if isinstance(data, bytes) else data)
                file.flush()
                os.fsync(file.fileno())
                if mode is not None:
                    aside.chmod(mode)
                aside.replace(target)
            except OSError:
                # Only the file that was created here: one that was there already is another's.
                with suppress(OSError):
                    aside.unlink()
                raise
    except OSError as error:
        raise _unwritable(path, error) from error


def make_folder(path: Path) -> Path:
    """Make a folder, and those above it, where it is not there yet; the same path.

    Raises:
        OutputUnwritable: E-OUTPUT-002: it cannot be made, or a file has its name.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _unwritable(path: Path, error: OSError) -> OutputUnwritable:
    return OutputUnwritable(
        f"{path} cannot be written: {error.strerror or error}.",
        "Expected a folder that can be written, with room in it.",
        "Name another path, or make room; nothing was changed.",
    )
