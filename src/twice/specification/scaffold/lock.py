"""The lock of generated files, ``scaffold.lock``, and how far the project is from it.

A JSON document with sorted keys, one value a line, so that version control merges it.

Invariant: writing what was read gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from twice.foundation.digests import Digest, digest_bytes
from twice.specification.errors import SheetRefused
from twice.specification.lock import read_document
from twice.specification.scaffold.reader import digest_fact
from twice.specification.workspace import Workspace

NAME: Final = "scaffold.lock"
FORMAT: Final = "twice.scaffold-lock/2"


class Layer(StrEnum):
    """What can be generated, each from sheets of its own."""

    BASE = "base"
    SEEDS = "seeds"
    EFFECTS = "effects"
    SNAPSHOT = "snapshot"
    COMPARE = "compare"
    REPLAY = "replay"
    POLICIES = "policies"
    PROPERTIES = "properties"
    CI = "ci"


@dataclass(frozen=True, slots=True)
class LockEntry:
    """A generated file: ``once`` if it is the user's as soon as it is there; the facts it was made of, with digests."""

    layer: Layer
    once: bool
    facts: Mapping[str, str]
    digest: str


@dataclass(frozen=True, slots=True)
class ScaffoldLock:
    """All of it: the component, the folder of the package, the files, and paths that are the user's own."""

    component: str = ""
    package: str = ""
    files: Mapping[str, LockEntry] = field(default_factory=dict)
    ejected: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """Return the document."""
        document = {"format": FORMAT, **asdict(self)}
        text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
        return f"{text}\n".encode()


def digest_content(data: bytes) -> str:
    """Return the digest of a file's content; CRLF counts as LF, as version control may convert it."""
    return str(digest_bytes(data.replace(b"\r\n", b"\n")))


def read_lock(folder: Path) -> ScaffoldLock:
    """Read the lock of a workspace, in its folder; an empty one if there is none.

    Raises:
        SheetRefused: E-SPEC-001: it is no lock. SheetVersion: E-SPEC-003: another version wrote it.
    """
    path = folder / NAME

    def refuse(why: str) -> SheetRefused:
        expected = f"Expected the JSON document that twice wrote, format {FORMAT!r}."
        what = f"{path} is no lock of a scaffold: {why}."
        return SheetRefused(what, expected, "Take it from version control.", path=str(path))

    return read_document(path, FORMAT, _from_document, refuse) or ScaffoldLock()


def _from_document(document: Mapping[str, Any]) -> ScaffoldLock:
    package = document["package"]
    for path in (*document["files"], *document["ejected"], package):
        if path.startswith("/") or "\\" in path or ".." in path.split("/"):
            raise ValueError(
                f"the path {path!r} leaves the project"
            )  # It may come from a stranger.
    files = {}
    for path, each in document["files"].items():
        facts = {str(key): str(value) for key, value in each["facts"].items()}
        digest = str(Digest.parse(each["digest"]))
        files[path] = LockEntry(Layer(each["layer"]), bool(each["once"]), facts, digest)
    return ScaffoldLock(str(document["component"]), package, files, tuple(document["ejected"]))


@dataclass(frozen=True, slots=True)
class DriftStatus:
    """How one generated file stands: ``as-laid``, ``edited`` or ``gone``; the facts that moved since; whether both are fine.

    A file that belongs to the user always holds.
    """

    path: str
    state: str
    moved: tuple[str, ...]
    holds: bool


def measure_drift(workspace: Workspace) -> tuple[DriftStatus, ...]:
    """Compare every file of a project's lock with the project; () if nothing was generated.

    Raises:
        SheetRefused: E-SPEC-001: the lock cannot be read. SheetVersion: E-SPEC-003.
    """
    found = []
    for path, each in read_lock(workspace.folder).files.items():
        file = workspace.project / path
        state = "gone"
        if file.is_file():
            same = digest_content(file.read_bytes()) == each.digest
            state = "as-laid" if same else "edited"
        moved = tuple(
            fact
            for fact, digest in each.facts.items()
            if digest_fact(workspace.get(fact[:2]), fact[3:]) != digest
        )
        holds = each.once or (state == "as-laid" and not moved)
        found.append(DriftStatus(path, state, moved, holds))
    return tuple(found)
