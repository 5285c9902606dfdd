"""Rules on recipes: that there is one, and that what it reads is still what it was.

Invariant: an input that cannot be seen is never counted as unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.gate.facts import Facts, faulty, value_of
from twice.assets.gate.row import Row
from twice.assets.log.block import NotApplicable
from twice.assets.log.models import RerenderOutcome
from twice.foundation.printable import pluralize

CHECKS: Final = {
    "recipe": "A promised asset has a command that renders it again, or was rendered again at least once.",
    "recipe-reads": "The recipe makes the asset, and is not given it.",
    "stale": "What the recipe reads is what it was.",
}


def judge(facts: Facts) -> Iterator[Row]:
    """Judge one log."""
    recipe = facts.log.recipe
    if recipe is None or faulty(facts, "/recipe"):
        return
    if isinstance(recipe, NotApplicable):
        if not facts.log.deterministic:
            return
        outcomes = {each.outcome for each in facts.log.verdicts or ()}
        if RerenderOutcome.REPRODUCED in outcomes:
            yield facts.green("recipe", f"none ({recipe.reason}), and it was reproduced")
            return
        fix = "log the command in recipe, or mark the asset as non-deterministic"
        yield facts.yellow("recipe", f"none: {recipe.reason}; and it was never reproduced", fix)
        return
    yield facts.green(
        "recipe", f"{(recipe.argv or ('?',))[0]}, {pluralize(len(recipe.argv or ()), 'argument')}"
    )
    yield from _inputs(facts)


def _inputs(facts: Facts) -> Iterator[Row]:
    recipe = value_of(facts.log.recipe)
    inputs = value_of(recipe.inputs) or ()
    own = facts.log.asset.file_sha256 if facts.log.asset is not None else None
    given = next((each for each in inputs if own is not None and each.sha256 == own), None)
    if given is not None:
        fix = "record what makes it, or mark the asset: promise.mode non-deterministic"
        yield facts.red("recipe-reads", f"its input {given.path} is the asset itself", fix)
    changed = [
        each.path for each in inputs if facts.inputs.get(each.path) not in {None, each.sha256}
    ]
    gone = [each.path for each in inputs if facts.inputs.get(each.path) is None]
    if changed:
        fix = f"render it again and seal it, or restore {changed[0]}"
        yield facts.red("stale", f"changed since: {', '.join(map(str, changed))}", fix)
    if gone:
        fix = f"put {gone[0]} where the recipe reads it, or gate where it is"
        yield facts.yellow(
            "stale", f"not here, so it cannot be told: {', '.join(map(str, gone))}", fix
        )
    if inputs and not changed and not gone:
        yield facts.green("stale", f"{pluralize(len(inputs), 'input')} as recorded")
