"""Rules on seeds: the one that was used is the one that was asked for, and the one in the recipe.

A number among the arguments that nothing calls a seed is not taken for one.

Invariant: a log whose recipe names another seed than its seed block is never green here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from twice.assets.gate.facts import Facts, faulty, value_of
from twice.assets.gate.row import Row
from twice.assets.gate.rules.evidence import nearest
from twice.assets.log.models import EvidenceLevel, Recipe, Seeds

CHECKS: Final = {
    "seed-used": "The seed that was used is the one that was asked for, or its place in the batch.",
    "seed-recipe": "The recipe's arguments and variables name no other seed than the log.",
}

_NAME: Final = r"[-+/]{0,2}[A-Za-z_.-]*seed[A-Za-z_.-]*"
_CALLED: Final = re.compile(_NAME, re.IGNORECASE)
_TOGETHER: Final = re.compile(rf"{_NAME}[=:]([0-9]+)", re.IGNORECASE)
_HASHING: Final = "PYTHONHASHSEED"
"""It orders Python's sets, and seeds no rendering."""


def judge(facts: Facts) -> Iterator[Row]:
    """Judge one log."""
    seed, recipe = value_of(facts.log.seed), value_of(facts.log.recipe)
    if not facts.log.deterministic or not isinstance(seed, Seeds):
        return
    yield from _used(facts, seed)
    if isinstance(recipe, Recipe) and not faulty(facts, "/recipe"):
        yield from _named(facts, seed, recipe)


def _used(facts: Facts, seed: Seeds) -> Iterator[Row]:
    asked, used = value_of(seed.requested), value_of(seed.effective)
    if asked is None or used is None:
        return
    at = value_of(facts.log.art.batch_index) if facts.log.art is not None else None
    if int(used) in {int(asked), int(asked) + (at or 0)}:
        yield facts.green("seed-used", f"seed {used}")
        return
    fix = f"ask for seed {used}, or say why in seed.requested"
    yield facts.yellow("seed-used", f"seed {asked} was asked for and {used} was used", fix)


def _named(facts: Facts, seed: Seeds, recipe: Recipe) -> Iterator[Row]:
    """Hold the log's seeds against those that the recipe calls so, or has anywhere."""
    logged = {value_of(seed.requested), value_of(seed.effective)}
    for each in seed.each or ():
        logged |= {value_of(each.requested), each.effective}
    logged.discard(None)
    if not logged:
        return
    named = list(_seeds(recipe))
    if named and not logged & set(named):
        said = " and ".join(sorted(map(str, logged)))
        seen = f"the recipe names seed {', '.join(named[:4])}, the log seed {said}"
        yield facts.red("seed-recipe", seen, "log the seed of the recipe, or record it anew")
        return
    if named:
        yield facts.green("seed-recipe", f"seed {', '.join(named[:4])}")
        return
    numbers = [each for each in recipe.argv or () if _is_digits(each)]
    if numbers and _is_recorded(facts) and not _reaches(recipe, logged):
        used = value_of(seed.effective)
        seen = f"seed {used} was recorded and is no argument; {', '.join(numbers[:4])} is"
        fix = "log the seed that was used, or record it anew: twice asset record --seed N … {seed}"
        yield facts.yellow("seed-recipe", seen, fix)


def _seeds(recipe: Recipe) -> Iterator[str]:
    """Give the numbers that arguments and variables call a seed, as plain digits."""
    argv = recipe.argv or ()
    for part in argv:
        together = _TOGETHER.fullmatch(part)
        if together is not None:
            yield _plain(together[1])
    for name, number in pairwise(argv):
        if _CALLED.fullmatch(name) and _is_digits(number):
            yield _plain(number)
    for name, number in (recipe.env or {}).items():
        if "SEED" in name.upper() and name != _HASHING and _is_digits(number):
            yield _plain(number)


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _is_recorded(facts: Facts) -> bool:
    evidence = facts.log.evidence or {}
    at = nearest(evidence, "/seed/effective")
    return at is not None and evidence[at].level is EvidenceLevel.RECORDED


def _reaches(recipe: Recipe, logged: set[str | None]) -> bool:
    """Whether a seed stands among arguments and variables; a Python program may have the recorder's."""
    argv = recipe.argv or ()
    if argv and argv[0].rpartition("/")[2].startswith("python"):
        return True
    found = {
        _plain(each)
        for text in (*argv, *(recipe.env or {}).values())
        for each in re.findall("[0-9]+", text)
    }
    return bool(logged & found)
