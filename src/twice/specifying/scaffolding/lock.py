"""The lock of what was laid down, ``scaffold.lock``, and the texts that were laid down beside it.

A JSON document with sorted keys, one value a line, so that it merges. Texts are kept under their digests
in ``scaffold-bases``: what a merge starts from does not hang on anybody's version control.

Invariant: writing what was read gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.errors import SheetRefused
from twice.foundation.digests import Digest
from twice.specifying.lock import read_document
from twice.specifying.scaffolding.regions import Layer, Mode, Region, digest_of
from twice.specifying.workspace import FOLDER

NAME: Final = "scaffold.lock"
BASES: Final = "scaffold-bases"
FORMAT: Final = "twice.scaffold-lock/1"
_HEX: Final = 32  # 128 bits tell the texts of one project apart.


@dataclass(frozen=True, slots=True)
class Laid:
    """A region as it was laid down.

    Args:
        path: the file.
        name: the region in it.
        layer: what it belongs to.
        mode: who may write in it.
        template: template and version.
        facts: what of the specification it was made from, with digests.
        digest: digest of what was laid down.
        pending: digest of what was merged in with conflicts that somebody has to settle; "" for none.
    """

    path: str
    name: str
    layer: Layer
    mode: Mode
    template: str
    facts: Mapping[str, str]
    digest: str
    pending: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.path, self.name


def laid(region: Region) -> Laid:
    """Give what the lock says of a region that is laid down."""
    return Laid(
        region.path,
        region.name,
        region.layer,
        region.mode,
        region.template,
        dict(region.facts),
        region.digest,
    )


@dataclass(frozen=True, slots=True)
class ScaffoldLock:
    """All of it.

    Args:
        component: the system that was scaffolded; "" before the first time.
        package: the folder of the wiring, relative to the project.
        commands: the folder of command files; "" where none were asked for.
        regions: by path and name.
        ejected: regions that are somebody's own now.
    """

    component: str = ""
    package: str = ""
    commands: str = ""
    regions: Mapping[tuple[str, str], Laid] = field(default_factory=dict)
    ejected: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """Write it."""
        document = {
            "format": FORMAT,
            "component": self.component,
            "package": self.package,
            "commands": self.commands,
            "regions": [
                {
                    "path": each.path,
                    "region": each.name,
                    "layer": each.layer.value,
                    "mode": each.mode.value,
                    "template": each.template,
                    "facts": dict(each.facts),
                    "digest": each.digest,
                    "pending": each.pending,
                }
                for _, each in sorted(self.regions.items())
            ],
            "ejected": [{"path": path, "region": name} for path, name in sorted(self.ejected)],
        }
        return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def base_path(digest: str) -> str:
    """Give where a text of a digest is kept, relative to the project."""
    return f"{FOLDER}/{BASES}/{Digest.parse(digest).hex[:_HEX]}.txt"


def read_base(project: Path, path: str, digest: str) -> str:
    """Read a text that was laid down at a path.

    Raises:
        SheetRefused: E-SPEC-001: it is not there, or is another.
    """
    kept = project / base_path(digest)
    try:
        text = kept.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _no_base(kept, path, str(error)) from error
    if digest_of(text) != digest:
        raise _no_base(kept, path, "its digest is another")
    return text


def read_lock(project: Path) -> ScaffoldLock:
    """Read a project's lock; an empty one where there is none.

    Raises:
        SheetRefused: E-SPEC-001: it is no lock. SheetVersion: E-SPEC-003: a later version wrote it.
    """
    path = project / FOLDER / NAME
    lock = read_document(path, FORMAT, _read, lambda why: _no_lock(path, why))
    return ScaffoldLock() if lock is None else lock


def _read(document: Mapping[str, Any]) -> ScaffoldLock:
    regions = [
        Laid(
            _inside(each["path"]),
            str(each["region"]),
            Layer(each["layer"]),
            Mode(each["mode"]),
            str(each["template"]),
            {str(key): str(value) for key, value in each["facts"].items()},
            _digest(each["digest"]),
            _digest(each["pending"]) if each["pending"] else "",
        )
        for each in document["regions"]
    ]
    return ScaffoldLock(
        str(document["component"]),
        _inside(document["package"]),
        _inside(document["commands"]),
        {each.key: each for each in regions},
        tuple((_inside(each["path"]), str(each["region"])) for each in document["ejected"]),
    )


def _digest(said: object) -> str:
    return str(Digest.parse(str(said)))


def _inside(said: object) -> str:
    """Take a path that stays within the project; a lock may come from a stranger."""
    path = str(said)
    if path.startswith("/") or "\\" in path or ".." in path.split("/"):
        raise ValueError(f"the path {path!r} leaves the project")
    return path


def _no_lock(path: Path, why: str) -> SheetRefused:
    return SheetRefused(
        f"{path} is no lock of a scaffold: {why}.",
        f"Expected the JSON document that twice wrote, format {FORMAT!r}.",
        "Take it from version control.",
        path=str(path),
    )


def _no_base(kept: Path, path: str, why: str) -> SheetRefused:
    return SheetRefused(
        f"{kept}, the text that was laid down in {path}, cannot be used: {why}.",
        f"Expected every text that {NAME} names in the folder {BASES}.",
        f"Take it from version control, or keep your file and: twice scaffold --eject {path}",
        path=str(kept),
    )
