"""Which recipes this account has run itself.

A recipe is yours when ``twice asset record`` ran that very command here, with those inputs, variables and that seed,
under your account. Sealing, copying or receiving a log does not make its recipe yours.

Invariant: nothing of a store, and nothing in a log, can make a recipe yours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from twice.assets.log.io import canonical_document
from twice.foundation.digests import Algorithm, digest_bytes
from twice.recorder.trust import is_own as is_marked
from twice.recorder.trust import mark_own

_DECIDING: Final = ("argv", "env", "inputs")
_KIND: Final = "recipes"


def own(recipe: Mapping[str, Any], seed: str) -> bool:
    """Remember a recipe that was just recorded; whether that could be written down.

    Args:
        recipe: the block, as a document.
        seed: that was used, in decimal digits; "" without one.
    """
    return mark_own(_KIND, _name(recipe, seed))


def is_own(recipe: Mapping[str, Any], seed: str) -> bool:
    """Whether this account recorded a recipe with that seed."""
    return is_marked(_KIND, _name(recipe, seed))


def _name(recipe: Mapping[str, Any], seed: str) -> str:
    deciding = {name: recipe[name] for name in _DECIDING if name in recipe} | {"seed": seed}
    return digest_bytes(canonical_document(deciding), Algorithm.SHA256).hex
