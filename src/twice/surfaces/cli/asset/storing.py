"""Which hot store a command works in: the one that is named, or the one that a path lies in.

Invariant: a command never makes a store by the way.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.assets.errors import StoreRefused
from twice.assets.store.project import FILE, Store, find_store, open_store


def add_store(parser: argparse.ArgumentParser) -> None:
    """``--store`` and ``--public``, the same for every command."""
    parser.add_argument(
        "--store", type=Path, metavar="FOLDER",
        help="the hot store; by default the folder with assets.toml, here or above",
    )  # fmt: skip
    parser.add_argument(
        "--public", action="append", default=[], type=Path, metavar="FOLDER",
        help="a further tree that players get; repeatable",
    )  # fmt: skip


def store_of(options: argparse.Namespace, path: Path) -> Store:
    """Open the store that is meant.

    Raises:
        StoreRefused: E-ASSET-STORE-001: there is none, or its file cannot be read.
    """
    public = tuple(options.public)
    store = open_store(options.store, public) if options.store else find_store(path, public)
    if store is None:
        raise StoreRefused(
            f"{path} lies in no hot store: there is no {FILE} beside it, nor above.",
            "Expected a folder that is one.",
            "Make one: twice asset init FOLDER --public PUBLIC",
        )
    return store
