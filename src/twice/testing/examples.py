"""Counterexamples that are kept: a folder to check in, and replay first on every later run.

``counterexamples.jsonl`` holds one example a line, sorted, in the words of the user: configuration and
seed. It says the same under every version of Hypothesis and stays until somebody deletes the line.
``found/`` beside it is Hypothesis' own database, whose keys here are the property and the system.

Invariant: the file is written whole or not at all, and read whole or refused.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twice.errors import ExamplesDamaged, OutputUnwritable
from twice.foundation.properties import PROPERTIES
from twice.writing import write

FOLDER = Path("determinism-and-replay", "examples")
FILE = "counterexamples.jsonl"
FOUND = "found"
FORMAT = "twice.counterexample/1"
_REPLAYED: dict[Path, set[int]] = {}
_TYPES = {"property": str, "subject": str, "seed": str, "config": dict, "choices": dict}


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a property.

    Attributes:
        config: configuration of the run, plain values.
        seed: master seed.
        choices: what else was drawn, by name: which tick, which stream, which order.
    """

    config: Mapping[str, Any]
    seed: int
    choices: Mapping[str, Any] = field(default_factory=dict)

    def key(self) -> str:
        """The same text for equal examples."""
        return json.dumps([self.config, self.seed, self.choices], sort_keys=True)


@dataclass(frozen=True, slots=True)
class Kept:
    """A counterexample as the file has it."""

    property: str
    subject: str
    example: Example

    def line(self) -> str:
        """Its line, without an end."""
        return json.dumps(
            {
                "format": FORMAT,
                "property": self.property,
                "subject": self.subject,
                "seed": str(self.example.seed),
                "config": self.example.config,
                "choices": self.example.choices,
            },
            sort_keys=True,
            ensure_ascii=False,
        )


def subject_in(folder: Path, label: str) -> str:
    """Name a program as lines of a folder do: a file by its way from that folder, so that every checkout agrees.

    Args:
        folder: where counterexamples are kept.
        label: the program as it was given, ``file.py:function`` or ``module:function``.
    """
    place, colon, function = label.rpartition(":") if ":" in label else (label, "", "")
    if not place.endswith(".py"):
        return label
    way = os.path.relpath(Path(place).resolve(), folder.resolve())
    return f"{Path(way).as_posix()}{colon}{function}"


def read(folder: Path) -> list[Kept]:
    """All counterexamples of a folder, in the order of the file; none when there is no file.

    Raises:
        ExamplesDamaged: E-TESTING-002, with the number of the line.
    """
    path = folder / FILE
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise ExamplesDamaged(
            f"{path} cannot be read: {error}.",
            "Expected JSON lines in UTF-8, as twice wrote them.",
            f"Bring it back: git checkout -- {path}",
            path=str(path),
        ) from error
    lines = text.split("\n")
    if lines.pop() != "":
        raise _damaged(path, len(lines) + 1, "the last line has no end", lines)
    return [_kept(path, number, line) for number, line in enumerate(lines, 1)]


def asked(folder: Path, replayed: int | None = None) -> None:
    """Note that this process asked a folder for counterexamples, and which line it replayed.

    Args:
        folder: where they are kept.
        replayed: the line's number, from 1; None while none was.
    """
    lines = _REPLAYED.setdefault(folder.resolve(), set())
    if replayed is not None:
        lines.add(replayed)


def replayed() -> dict[Path, set[int]]:
    """Give the lines that this process replayed, by the folders that it asked."""
    return {folder: set(lines) for folder, lines in _REPLAYED.items()}


def passed_over(*folders: Path) -> Iterator[tuple[Path, int, Kept]]:
    """Give the lines that were replayed by nobody in this process, with file and number.

    Args:
        folders: where they are kept; every folder that was asked, when none is named.

    Raises:
        ExamplesDamaged: E-TESTING-002.
    """
    done = replayed()
    for folder in sorted(each.resolve() for each in folders or done):
        for number, kept in enumerate(read(folder), 1):
            if number not in done.get(folder, ()):
                yield folder / FILE, number, kept


def require_askable(folder: Path, number: int, kept: Kept) -> None:
    """Refuse a line that no test could ever ask for: it would be passed over for ever.

    Raises:
        ExamplesDamaged: E-TESTING-002: its property is none, or the file of its subject is not there.
    """
    if kept.property.replace("_", "-") not in PROPERTIES:
        raise _damaged(folder / FILE, number, f"{kept.property!r} is no property", kept.line())
    place = kept.subject.rpartition(":")[0]
    if place.endswith(".py") and not (folder / place).is_file():
        what = f"its subject {kept.subject!r} is not there, as seen from {folder}"
        raise _damaged(folder / FILE, number, what, kept.line())


def keep(folder: Path, found: Kept) -> bool:
    """Add a counterexample; whether it was not there yet.

    Raises:
        ExamplesDamaged: E-TESTING-002. OutputUnwritable: E-OUTPUT-002.
    """
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            lines = [each.line() for each in read(folder)]
            if found.line() in lines:
                return False
            text = "".join(f"{line}\n" for line in sorted({*lines, found.line()}))
            write(path, text.encode())
    except OSError as error:
        raise OutputUnwritable(
            f"{path} cannot be written: {error.strerror or error}.",
            "Expected a folder that takes files, where counterexamples are kept.",
            "Choose another: examples_in=...; or None to keep none.",
            path=str(path),
        ) from error
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change the file: tests run side by side."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _kept(path: Path, number: int, line: str) -> Kept:
    try:
        found = json.loads(line)
        seed = int(found["seed"])
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, number, f"{type(error).__name__}: {error}", line) from error
    if found.get("format") != FORMAT:
        raise _damaged(path, number, f"its format is {found.get('format')!r}", line)
    for name, kind in _TYPES.items():
        if not isinstance(found.get(name), kind):
            raise _damaged(path, number, f"{name} is {found.get(name)!r:.40}", line)
    if not 0 <= seed < 2**256:
        raise _damaged(path, number, f"the seed {seed:.3g} is out of range", line)
    return Kept(
        found["property"], found["subject"], Example(found["config"], seed, found["choices"])
    )


def _damaged(path: Path, number: int, what: str, line: object) -> ExamplesDamaged:
    return ExamplesDamaged(
        f"Line {number} of {path} is no counterexample: {what}.",
        f'Expected one JSON object with format "{FORMAT}", property, subject, seed, config and '
        "choices.",
        f"Correct or delete that line, or bring the file back: git checkout -- {path}",
        path=str(path),
        line=number,
        found=str(line)[:80],
    )
