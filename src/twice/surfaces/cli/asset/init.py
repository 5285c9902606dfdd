"""Make a folder a hot store, apart from what is published.

  twice asset init hot --public public

It writes assets.toml into the folder. public names the trees that players get, relative to the store: a log is
never sealed inside one of them. What stands under [defaults] is put into every log that does not say it.

Exit code 0 it is one now, 2 it is one already, or lies in a public tree.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from twice.assets.store.project import FILE, lay_store
from twice.foundation.printable import printable


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("store", nargs="?", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument(
        "--public", action="append", default=[], type=Path, metavar="FOLDER",
        help="a tree that players get; repeatable",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="write assets.toml anew")


def run(options: argparse.Namespace) -> int:
    """Lay it down."""
    root: Path = options.store
    public = tuple(os.path.relpath(each.resolve(), root.resolve()) for each in options.public)
    store = lay_store(root, public, force=options.force)
    print(printable(f"hot store: {root / FILE}"))
    for each in store.public:
        print(printable(f"public: {each}"))
    print("next: twice asset seal ASSET --log DRAFT")
    return 0
