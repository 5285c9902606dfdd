"""What a specification says, and which facts a generated file was made of.

A source reads sheets through a ``SheetReader``, so that the facts in the lock are those it was made of.

Invariant: a fact that was not read has no part in the generated file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

import rfc8785

from twice.foundation.digests import Algorithm, digest_bytes
from twice.recorder.environment.surroundings import THREAD_CAPS
from twice.specification.sheet import Sheet
from twice.specification.workspace import Workspace

VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")


class SheetReader:
    """Read values of sheets, and remember which were read, with their digests; "" for what no sheet says."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._read: dict[str, str] = {}

    def value(self, sheet: str, key: str) -> object:
        """Return a value; None if the sheet or the key is absent or unknown."""
        self._read[f"{sheet}.{key}"] = digest_fact(self._workspace.get(sheet), key)
        return self._workspace.value(sheet, key)

    def text(self, sheet: str, key: str) -> str:
        """Return a text; "" if there is none."""
        value = self.value(sheet, key)
        return value if isinstance(value, str) else ""

    def number(self, sheet: str, key: str) -> int | None:
        """Return a whole number; None if there is none."""
        value = self.value(sheet, key)
        return value if type(value) is int else None

    def texts(self, sheet: str, key: str) -> tuple[str, ...]:
        """Return the texts of a list."""
        self.value(sheet, key)
        return tuple(self._workspace.strings(sheet, key))

    def rows(self, sheet: str, key: str) -> tuple[dict[str, Any], ...]:
        """Return the maps of a list."""
        self.value(sheet, key)
        return tuple(self._workspace.rows(sheet, key))

    def pairs(self, sheet: str, key: str, first: str, second: str) -> dict[str, str]:
        """Return a map from one column of a list to another."""
        return {str(row.get(first)): str(row.get(second)) for row in self.rows(sheet, key)}

    def column(self, sheet: str, key: str, name: str) -> tuple[str, ...]:
        """Return one column of a list."""
        return tuple(str(row.get(name)) for row in self.rows(sheet, key))

    def facts(self) -> Mapping[str, str]:
        """Return what was read, ``02.names`` to its digest."""
        return dict(sorted(self._read.items()))


def digest_fact(artifact: Sheet | None, key: str) -> str:
    """Return the digest of what a sheet says of a key; "" if it says nothing."""
    value = None if artifact is None else artifact.get(key)
    return "" if value is None else str(digest_bytes(rfc8785.dumps(cast("Any", value))))


def record_arguments(reader: SheetReader) -> tuple[str, ...]:
    """Return the arguments of ``twice`` that record the run of a specification, ``record`` first."""
    promised, digest = reader.text("01", "class"), reader.text("05", "hash")
    told: tuple[str, ...] = ()
    if promised == "logical" and reader.text("01", "measure") not in {"", "exact"}:
        told = ("measure", "epsilon")
    subsystems = reader.pairs("01", "subsystems", "name", "class")
    sampled = [name for name, own in subsystems.items() if own == "statistical"]
    if promised == "statistical" or sampled:
        told = ("summary", "test", "epsilon", "seeds", "power", "alpha")
    part = f":{sampled[0]}" if sampled and promised != "statistical" else ""
    options = [
        ("--seed", str(reader.number("00", "seed"))),
        *(("--set", each) for each in reader.texts("00", "config")),
        ("--class", promised),
        *(("--class", f"{name}={each}") for name, each in subsystems.items()),
        ("--scope", reader.text("01", "scope")),
        *(
            ("--n" if key == "seeds" else f"--{key}", f"{value}{part if key == 'summary' else ''}")
            for key in told
            if (value := reader.value("01", key)) is not None
        ),
        ("--compare", reader.text("05", "granularity")),
        ("--snapshots", reader.text("04", "cadence")),
        ("--strategy", reader.text("04", "strategy")),
        ("--digest", digest if digest in tuple(Algorithm) else ""),
        ("--float-profile", reader.text("08", "profile")),
        *(("--env", f"{name}={value}") for name, value in pinned_variables(reader).items()),
    ]
    given = [each for option in options if option[1] for each in option]
    return ("record", reader.text("00", "program"), *given)


def pinned_variables(reader: SheetReader) -> dict[str, str]:
    """Return the environment variables that 08 and 09 pin, by name."""
    threads = reader.number("08", "threads")
    pinned = {} if threads is None else dict.fromkeys(THREAD_CAPS, str(threads))
    knobs = reader.pairs("09", "knobs", "name", "value")
    pinned |= {name: value for name, value in knobs.items() if VARIABLE.fullmatch(name)}
    return dict(sorted(pinned.items()))
