"""Libraries whose defaults are not deterministic, as their own documentation says; the rows are data.

Invariant: every row names the page that says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path


def find_defaults(packages: Collection[str]) -> Iterator[dict[str, str]]:
    """Yield rows of imported packages: ``library``, its ``default``, what to ``set``, the ``source`` that says so."""
    known = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for library, row in known.items():
        if row.pop("package", library) in packages:
            yield {"library": library, **row}
