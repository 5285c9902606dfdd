"""Registries that tests of several files import: tables, an example, and the shelf that the first lying set acts on."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path += [
    str(Path(__file__).parents[2] / "examples"),
    str(Path(__file__).parents[1] / "corpora" / "lying_tools"),
]
