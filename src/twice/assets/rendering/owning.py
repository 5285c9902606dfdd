"""Which recipes this account has run itself: one empty file for each, by digest, in its state folder.

A recipe is yours when ``twice asset record`` ran that very command here, with those inputs, variables and that seed,
under your account. Sealing, copying or receiving a log does not make its recipe yours.

Invariant: nothing of a store, and nothing in a log, can make a recipe yours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from twice.assets.model.text import canonical_document
from twice.foundation.digests import Algorithm, digest_bytes

_DECIDING: Final = ("argv", "env", "inputs")


def own(recipe: Mapping[str, Any], seed: str) -> bool:
    """Remember a recipe that was just recorded; whether that could be written down.

    Args:
        recipe: the block, as a document.
        seed: that was used, in decimal digits; "" without one.
    """
    path = _place(recipe, seed)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        return True
    return False


def is_own(recipe: Mapping[str, Any], seed: str) -> bool:
    """Whether this account recorded a recipe with that seed."""
    return _place(recipe, seed).is_file()


def _place(recipe: Mapping[str, Any], seed: str) -> Path:
    deciding = {name: recipe[name] for name in _DECIDING if name in recipe} | {"seed": seed}
    digest = digest_bytes(canonical_document(deciding), Algorithm.SHA256)
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "twice" / "recipes" / digest.hex
