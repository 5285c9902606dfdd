# Laid down by twice scaffold from sheets 02 and 03; owned by it: change the sheet, or eject the file.
"""Every stream of 02 and 03 by its name: a draw without an owner has no door here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import twice

STREAMS: Final[dict[str, str]] = {
    "checker": "numpy",
    "names": "numpy",
    "tree": "numpy",
    "values": "numpy",
}
"""Each stream and the kind of its generator."""

OWNERS: Final[dict[str, str]] = {
    "checker": "checker",
    "names": "names",
    "tree": "tree",
    "values": "values",
}
"""Each stream and the one component that draws from it."""


def rng(run: twice.Run, name: str) -> np.random.Generator:
    """Give the numpy stream of a name."""
    return run.rng(_named(name, "numpy"))


def _named(name: str, kind: str) -> str:
    if STREAMS.get(name) != kind:
        raise LookupError(f"sheets 02 and 03 have no {kind} stream {name!r}")
    return name
