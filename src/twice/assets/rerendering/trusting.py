"""Whether a recipe may run at all.

It is no sandbox: a program that is allowed can do whatever its arguments make it do. Allowing an
interpreter (python, sh, blender) allows whatever the script among the inputs says.

Invariant: what is decided here depends on no word of the log about itself.
"""

from __future__ import annotations

from collections.abc import Collection

from twice.assets.errors import RecipeUntrusted
from twice.assets.log.io import to_document
from twice.assets.log.models import DeterminismLog, Seeds
from twice.assets.rendering.owning import is_own
from twice.recorder.environment.surroundings import loads_code


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
    if is_own(recipe, used if isinstance(used, str) else ""):
        return
    program = recipe["argv"][0]
    if not trust:
        raise RecipeUntrusted(
            f"{where}: its recipe was not recorded by this account: it would run {program}.",
            "Expected a recipe of twice asset record here, with the same inputs and seed.",
            f"Read the recipe; then: twice asset rerender {where} --trust --allow {program}",
            program=program,
        )
    if program not in allow:
        raise RecipeUntrusted(
            f"{where}: its recipe runs {program}, which is not allowed.",
            f"Allowed: {', '.join(sorted(allow)) or 'nothing'}.",
            f"Allow it by name: --allow {program}",
            program=program,
        )
    loading = sorted(name for name in recipe.get("env", {}) if loads_code(name))
    if loading:
        raise RecipeUntrusted(
            f"{where}: its recipe sets {loading[0]}, which chooses what is loaded.",
            "Expected a stranger's recipe to set no such variable.",
            "Record the render here instead: twice asset record",
            variable=loading[0],
        )
