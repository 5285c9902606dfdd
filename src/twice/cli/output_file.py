"""Files that a command makes out of a record: whole, or not there at all.

Invariant: what stands at the path is complete; a command that fails leaves nothing of its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from twice.errors import OutputUnwritable, UsageError
from twice.recording.recorder import refuse_existing


def refuse_own_source(out: Path, *sources: Path) -> None:
    """Refuse to write over what is being read, with or without ``--force``.

    Raises:
        UsageError: E-USE-001.
    """
    for source in sources:
        if _is_same(out, source):
            raise UsageError(
                f"{out} is the file that is read.",
                "Expected another path for the output: what was recorded is never replaced by it.",
                "Choose one with -o.",
                path=str(out),
            )


def _is_same(out: Path, source: Path) -> bool:
    """Whether both are one file; a path that cannot be looked at is another one."""
    try:
        return out.samefile(source)
    except OSError:
        return False


@contextmanager
def write_output(out: Path, *sources: Path, force: bool) -> Iterator[Path]:
    """A path to write to, which takes its real name when everything went well.

    Args:
        out: where the output shall stand in the end.
        *sources: what it is made from; never replaced.
        force: replace what stands at ``out``.

    Yields:
        A path beside ``out``, for a file or a folder of files.

    Raises:
        OutputExists: E-OUTPUT-001. OutputUnwritable: E-OUTPUT-002. UsageError: E-USE-001.
    """
    refuse_own_source(out, *sources)
    refuse_existing(out, force=force)
    partial = out.absolute().with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        yield partial
        if partial.is_file():
            partial.chmod(0o600)  # like the record that it is made from
        _move(partial, out)
    except OSError as error:
        raise OutputUnwritable(
            f"{out} cannot be written: {error.strerror or error}.",
            "Expected a folder that is there and writable, and room on the disk.",
            "Choose another path with -o, or make room.",
            path=str(out),
        ) from error
    finally:
        with suppress(OSError):  # A place that takes no files gives none up either.
            if partial.is_dir():
                shutil.rmtree(partial, ignore_errors=True)
            else:
                partial.unlink()


def _move(partial: Path, out: Path) -> None:
    """Give a file or a folder its name; into a folder that is there, file by file."""
    if partial.is_dir() and out.is_dir():
        for file in sorted(partial.iterdir()):
            file.replace(out / file.name)
    else:
        partial.replace(out)
