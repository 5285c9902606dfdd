"""What is to be rendered, and what came of it, as values.

Invariant: paths of a job are relative to the folder that it runs in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

TIMEOUT_S: Final = 600.0
OUTPUT_BYTES_MAX: Final = 4 * 2**30
"""Most bytes of one file that a rendering may write."""

OUTSIDE: Final = "outside"
"""The folder of a recipe in which inputs stand that lie outside of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command with everything that it is given.

    Args:
        argv: the program and its arguments.
        inputs: where each file that it reads lies, by the path that the command sees.
        env: variables that it gets beside the folders that are its own; no others.
        seed: of the recorder, for a Python program.
        timeout_s: when it is ended, in seconds.
        bytes_max: most bytes of one file that it may write.
    """

    argv: tuple[str, ...]
    inputs: Mapping[str, Path] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    timeout_s: float = TIMEOUT_S
    bytes_max: int = OUTPUT_BYTES_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A command that ended well.

    Args:
        folder: where it ran; private, and gone when the workplace is closed.
        written: files that were not there before, or are others now, by their path in the folder.
        record: the run record, for a Python program.
        said: the end of what it printed.
        took_s: how long it ran, in seconds.
        read: files outside of the folder that a Python program read; of others they are not known.
    """

    folder: Path
    written: tuple[str, ...]
    record: Path | None
    said: str
    took_s: float
    read: tuple[Path, ...] = ()
