"""The sets of files that the scanner is measured on, and how one is written: those that leak, and those that do not.

A set is a module ``NAME_leaks`` with ``build(folder)``, which writes ``leaking/`` and ``clean/``, and gives the files. A
``known.txt`` beside them has values that the scan is told.

Invariant: the same files give the same bytes, wherever and whenever they are written.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

SETS = (
    "hidden",
    "later",
    "shipped",
    "public",
    "further",
    "blind",
    "third_blind",
    "fourth_blind",
    "fifth_blind",
)
"""In the order of their first look."""


def build_set(name: str, folder: Path) -> list[Path]:
    """Write a set below a folder and return the files."""
    made: list[Path] = importlib.import_module(f"programs.{name}_leaks").build(folder)
    return made


def write_set(folder: Path, leaking: Mapping[str, bytes], clean: Mapping[str, bytes]) -> list[Path]:
    """Write both kinds below a folder and return the files."""
    paths = []
    for kind, files in (("leaking", leaking), ("clean", clean)):
        for name, body in files.items():
            path = folder / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
            paths.append(path)
    return paths
