"""Which recipes this account has run itself, and whether another one may run at all.

A recipe is this account's when ``twice asset record`` ran that very command here, with those inputs, variables and that
seed. It is no sandbox: a program that is allowed can do whatever its arguments make it do, and allowing an interpreter
(python, sh, blender) allows whatever the script among the inputs says.

Invariant: nothing of a store, and no word of a log about itself, makes a recipe trusted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from twice.assets.errors import RecipeUntrusted
from twice.assets.log.io import canonical_document, to_document
from twice.assets.log.models import DeterminismLog, Seeds
from twice.foundation.digests import Algorithm, digest_bytes
from twice.recorder.environment.surroundings import loads_code
from twice.recorder.trust import is_own, mark_own

_DECIDING: Final = ("argv", "env", "inputs")
_KIND: Final = "recipes"


def remember_recipe(recipe: Mapping[str, Any], seed: str) -> bool:
    """Remember a recipe that was just recorded; return whether that could be written down.

    Args:
        recipe: the block, as a document.
        seed: that was used, in decimal digits; "" without one.
    """
    return mark_own(_KIND, _digest_recipe(recipe, seed))


def is_remembered(recipe: Mapping[str, Any], seed: str) -> bool:
    """Whether this account recorded a recipe with that seed."""
    return is_own(_KIND, _digest_recipe(recipe, seed))


def _digest_recipe(recipe: Mapping[str, Any], seed: str) -> str:
    deciding = {name: recipe[name] for name in _DECIDING if name in recipe} | {"seed": seed}
    return digest_bytes(canonical_document(deciding), Algorithm.SHA256).hex


def require_trusted(
    log: DeterminismLog, where: str, *, trust: bool, allow: Collection[str]
) -> None:
    """Refuse a recipe of a stranger's.

    Args:
        log: with its recipe.
        where: the log, for messages.
        trust: whether recipes of others may run.
        allow: the programs that they may run, as their recipes name them.

    Raises:
        RecipeUntrusted: E-ASSET-RENDER-004.
    """
    recipe = to_document(log.recipe)
    used = log.seed.effective if isinstance(log.seed, Seeds) else None
    if is_remembered(recipe, used if isinstance(used, str) else ""):
        return
    program = recipe["argv"][0]
    loading = sorted(name for name in recipe.get("env", {}) if loads_code(name))
    if not trust:
        why = f"was not recorded by this account: it would run {program}"
        expected = "Expected a recipe of twice asset record here, with the same inputs and seed."
        remedy = f"Read the recipe; then: twice asset rerender {where} --trust --allow {program}"
    elif program not in allow:
        why = f"runs {program}, which is not allowed"
        expected = f"Allowed: {', '.join(sorted(allow)) or 'nothing'}."
        remedy = f"Allow it by name: --allow {program}"
    elif loading:
        why = f"sets {loading[0]}, which chooses what is loaded"
        expected = "Expected a stranger's recipe to set no such variable."
        remedy = "Record the render here instead: twice asset record"
    else:
        return
    raise RecipeUntrusted(f"{where}: its recipe {why}.", expected, remedy, program=program)
