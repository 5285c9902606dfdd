"""Counterexamples that are kept: a folder to check in, and replay first on every later run.

``counterexamples.jsonl`` holds one example a line, sorted, in the words of the user: configuration and
seed. It says the same under every version of Hypothesis and stays until somebody deletes the line.
Rejected: Hypothesis' own database beside it. Its keys mean nothing to a reader, and to another version.

Invariant: the file is written whole or not at all, and read whole or refused.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.errors import ExamplesDamaged, OutputUnwritable
from twice.foundation.properties import PROPERTIES
from twice.writing import write

FOLDER: Final = Path("determinism-and-replay", "examples")
FILE: Final = "counterexamples.jsonl"
FORMAT: Final = "twice.counterexample/1"
_TYPES: Final = {"property": str, "subject": str, "seed": str, "config": dict, "choices": dict}

replayed: defaultdict[Path, set[int]] = defaultdict(set)
"""Numbers of the lines that this process replayed, by folder: the gate asks for them."""


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a property."""

    config: Mapping[str, Any]
    seed: int
    choices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def at(self) -> int:
        """A number that picks one of several: a snapshot, a stream, an input."""
        return int(self.choices.get("at", 0))

    def key(self) -> str:
        """Return the same text for equal examples."""
        return json.dumps([self.config, self.seed, self.choices], sort_keys=True)


@dataclass(frozen=True, slots=True)
class KeptExample:
    """A counterexample as the file has it."""

    property: str
    subject: str
    example: Example

    def line(self) -> str:
        """Return its line, without an end."""
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
    """Name a program as lines of a folder do: a file by its way from that folder, so that every checkout agrees."""
    place, colon, function = label.rpartition(":") if ":" in label else (label, "", "")
    if not place.endswith(".py"):
        return label
    way = os.path.relpath(Path(place).resolve(), folder.resolve())
    return f"{Path(way).as_posix()}{colon}{function}"


def read(folder: Path) -> list[KeptExample]:
    """Return all counterexamples of a folder, in the order of the file; none when there is no file."""
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
    kept = []
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
        try:
            kept.append(_parse_line(line, folder))
        except (ValueError, KeyError, TypeError) as error:
            what = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
            raise ExamplesDamaged(
                f"Line {number} of {path} is no counterexample: {what}.",
                f'Expected one JSON object with format "{FORMAT}", property, subject, seed, config and '
                "choices.",
                f"Correct or delete that line, or bring the file back: git checkout -- {path}",
                path=str(path),
                line=number,
                found=line[:80],
            ) from error
    return kept


def keep(folder: Path, found: KeptExample) -> bool:
    """Add a counterexample; return whether it was not there yet."""
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
            lines = {each.line() for each in read(folder)}
            if found.line() in lines:
                return False
            write(path, "".join(f"{line}\n" for line in sorted({*lines, found.line()})).encode())
        finally:
            os.close(lock)
    except OSError as error:
        raise OutputUnwritable(
            f"{path} cannot be written: {error.strerror or error}.",
            "Expected a folder that takes files, where counterexamples are kept.",
            "Choose another: examples_in=...; or None to keep none.",
            path=str(path),
        ) from error
    return True


def _parse_line(line: str, folder: Path) -> KeptExample:
    """Read a line; what is wrong with it is a ``ValueError``, a ``KeyError`` or a ``TypeError``."""
    if not line.endswith("\n"):
        raise ValueError("the last line has no end")
    found = json.loads(line)
    if found["format"] != FORMAT:
        raise ValueError(f"its format is {found['format']!r}")
    for name, kind in _TYPES.items():
        if not isinstance(found.get(name), kind):
            raise ValueError(f"{name} is {found.get(name)!r:.40}")  # noqa: TRY004  (of the file, not of a call)
    seed = int(found["seed"])
    if not 0 <= seed < 2**256:
        raise ValueError(f"the seed {seed:.3g} is out of range")
    # A line that no test can ask for would be passed over for ever.
    if found["property"].replace("_", "-") not in PROPERTIES:
        raise ValueError(f"{found['property']!r} is no property")
    place = found["subject"].rpartition(":")[0]
    if place.endswith(".py") and not (folder / place).is_file():
        raise ValueError(f"its subject {found['subject']!r} is not there, as seen from {folder}")
    example = Example(found["config"], seed, found["choices"])
    return KeptExample(found["property"], found["subject"], example)
