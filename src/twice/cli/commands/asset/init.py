"""Make a folder a hot store, apart from what is published.

  twice asset init hot --public public

It writes assets.toml into the folder. public names the trees that players get, relative to the store: a log is
never sealed inside one of them. What stands under [defaults] is put into every log that does not say it.

Exit code 0 it is one now, 2 it is one already, or lies in a public tree.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from twice.assets.store.project import FILE, lay_store
from twice.cli.group import make_command
from twice.cli.options import PATH, several
from twice.cli.output import print_lines
from twice.foundation.printable import printable


@make_command(
    click.argument("folder", type=PATH, default=Path()),
    several("--public", "public", type=PATH, metavar="FOLDER", help="a tree that players get"),
    click.option("--force", is_flag=True, help="write assets.toml anew"),
)
def command(folder: Path, public: tuple[Path, ...], force: bool) -> int:
    """Lay it down."""
    trees = tuple(os.path.relpath(each.resolve(), folder.resolve()) for each in public)
    store = lay_store(folder, trees, force=force)
    lines = [f"hot store: {folder / FILE}", *(f"public: {each}" for each in store.public)]
    print_lines(map(printable, [*lines, "next: twice asset seal ASSET --log DRAFT"]))
    return 0
