"""Which hot store a command works in, and which logs a path means.

Invariant: a command never makes a store by the way, and a path that means no log is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from twice.assets.errors import StoreRefused
from twice.assets.gate.gathering import gather as gather_facts
from twice.assets.model.log import SUFFIX
from twice.assets.store.index import sidecars
from twice.assets.store.project import FILE, Store, find_store, open_store
from twice.assets.store.sealing import SUPERSEDED
from twice.cli.options import PATH, gather, several
from twice.errors import UsageError


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """The hot store that is named, else the one that a path lies in."""

    store: Path | None
    public: tuple[Path, ...]

    def open(self, path: Path) -> Store:
        """Open the store that is meant.

        Raises:
            StoreRefused: E-ASSET-STORE-001: there is none, or its file cannot be read.
        """
        if self.store is not None:
            return open_store(self.store, self.public)
        found = find_store(path, self.public)
        if found is None:
            raise StoreRefused(
                f"{path} lies in no hot store: there is no {FILE} beside it, nor above.",
                "Expected a folder that is one.",
                "Make one: twice asset init FOLDER --public PUBLIC",
            )
        return found


store_options: Final = gather(
    "store",
    StoreOptions,
    click.option(
        "--store", type=PATH, metavar="FOLDER",
        help="the hot store; by default the folder with assets.toml, here or above",
    ),
    several(
        "--public", "public", type=PATH, metavar="FOLDER", help="a further tree that players get"
    ),
)  # fmt: skip


def find_logs(path: Path) -> list[Path]:
    """Find the logs that a path means: a sidecar, those about an asset, or all in a folder.

    Raises:
        UsageError: E-USE-001: there is none.
    """
    if path.name.endswith(SUFFIX):
        return [path]
    if path.is_dir():
        found = [each for each in sidecars(path) if SUPERSEDED not in each.parts]
    else:
        found = [path.parent / each.log_path for each in gather_facts(path) if each.log_path]
    if not found:
        raise UsageError(
            f"There is no determinism log about {path}.",
            "Expected a sealed asset, its log, or a folder of them.",
            "Record one: twice asset record … -- COMMAND",
        )
    return found


def read_clock() -> str:
    """Give this instant as logs write it, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
