"""The file that makes a folder a hot store: what is public, and what every log there says.

Invariant: a store never lies inside a public tree.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import StoreRefused
from twice.errors import OutputExists
from twice.writing import make_folder, write

FILE: Final = "assets.toml"
FORMAT: Final = "twice.asset-store/1"


@dataclass(frozen=True, slots=True)
class Store:
    """A hot store: its folder, trees that players get, both absolute, and what is put into a log that lacks it."""

    root: Path
    public: tuple[Path, ...]
    defaults: Mapping[str, Any]

    def refuse_public(self) -> None:
        """Refuse a store that players would get.

        Raises:
            StoreRefused: E-ASSET-STORE-001.
        """
        for tree in self.public:
            if self.root == tree or tree in self.root.parents:
                raise StoreRefused(
                    f"The hot store {self.root} lies inside the public tree {tree}.",
                    "Expected logs apart from everything that is published.",
                    "Move the store out of it: twice asset init ELSEWHERE",
                )

    def named(self, path: Path) -> str:
        """Name a file by its way from the root of the store; raises ValueError if it is not in it."""
        return path.resolve().relative_to(self.root).as_posix()


def find_store(start: Path, public: tuple[Path, ...] = ()) -> Store | None:
    """Find the store that a path lies in, here or above; arguments and errors are those of ``open_store``."""
    resolved = start.resolve()
    for folder in (resolved, *resolved.parents):
        if (folder / FILE).is_file():
            return open_store(folder, public)
    return None


def open_store(root: Path, public: tuple[Path, ...] = ()) -> Store:
    """Open a folder that has the file; ``public`` names further trees that players get.

    Raises:
        StoreRefused: E-ASSET-STORE-001, its file cannot be read, or says something else.
    """
    path = root.resolve() / FILE
    if not path.is_file():
        raise StoreRefused(
            f"{root} is no hot store: there is no {FILE} in it.",
            "Expected a folder that is one.",
            f"Make it one: twice asset init {root} --public PUBLIC",
        )
    said, why = {}, ""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = str(error)
    trees, defaults = said.get("public", []), said.get("defaults", {})
    unknown = sorted(said.keys() - {"format", "public", "defaults"})
    if unknown:
        why = f"it has {unknown[0]!r}, which means nothing here"
    elif not why and said.get("format") != FORMAT:
        why = f"its format is {said.get('format')!r}"
    elif not isinstance(trees, list) or not all(isinstance(each, str) for each in trees):
        why = "public is no list of folders"
    elif not isinstance(defaults, dict):
        why = "defaults is no table"
    if why:
        raise StoreRefused(
            f"{path} cannot be read: {why}.",
            f'Expected TOML with format = "{FORMAT}", public as a list and defaults as a table.',
            "Mend it, or write it anew: twice asset init --force",
        )
    every = (*(path.parent / each for each in trees), *public)
    return Store(path.parent, tuple(each.resolve() for each in every), defaults)


def lay_store(root: Path, public: tuple[str, ...], *, force: bool = False) -> Store:
    """Make a folder a hot store; ``public`` names trees that players get, relative to it.

    Raises:
        OutputExists: E-OUTPUT-001, it is one already, unless ``force`` says to write the file anew.
        StoreRefused: E-ASSET-STORE-001, it lies inside a public tree.
    """
    path = root / FILE
    Store(root.resolve(), tuple((root / each).resolve() for each in public), {}).refuse_public()
    if path.exists() and not force:
        raise OutputExists(
            f"{path} is there already.",
            "Expected a folder that is no hot store yet.",
            "Edit the file, or write it anew: twice asset init --force",
        )
    make_folder(root)
    listed = json.dumps(list(public))  # TOML takes the texts of JSON.
    write(path, f'format = "{FORMAT}"\npublic = {listed}\n\n[defaults]\n'.encode())
    return open_store(root)
