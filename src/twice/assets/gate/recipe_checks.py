"""Checks on how an asset is made again: its recipe and inputs, the seeds that it names, and pinned versions.

A number among the arguments that nothing calls a seed is not taken for one. A bypassed plugin is not asked for its
version, since it changes nothing.

Invariant: an input that cannot be seen is never counted as unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from twice.assets.gate.facts import AssetFacts
from twice.assets.gate.report import GateRow
from twice.assets.log.block import NotApplicable, value_of
from twice.assets.log.io import escape
from twice.assets.log.models import Recipe, RerenderOutcome, Seeds
from twice.foundation.printable import pluralize

CHECKS: Final = {
    "recipe": "A promised asset has a command that renders it again, or was rendered again at least once.",
    "recipe-reads": "The recipe makes the asset, is not given it, and leads to nothing outside of its folder.",
    "stale": "What the recipe reads is what it was.",
    "seed-used": "The seed that was used is the one that was asked for, or its place in the batch.",
    "seed-recipe": "The recipe's arguments and variables name no other seed than the log.",
    "version-pinned": "No version can mean another thing tomorrow.",
    "plugin-version": "Every plugin of the chain that is not bypassed has its version.",
}
_LEADS_OUT: Final = re.compile(r"(?:^|[/\\=:,\s])\.\.(?:[/\\]|$)")
_NAME: Final = r"[-+/]{0,2}[A-Za-z_.-]*seed[A-Za-z_.-]*"
_CALLED: Final = re.compile(_NAME, re.IGNORECASE)
_TOGETHER: Final = re.compile(rf"{_NAME}[=:]([0-9]+)", re.IGNORECASE)
_HASHING: Final = "PYTHONHASHSEED"
"""It orders Python's sets, and seeds no rendering."""
_FLOATING: Final = re.compile(
    r"(?:^|[^a-z0-9])(?:latest|newest|current|recent|head|main|master|nightly|stable|rolling|edge|dev"
    r"|devel|snapshot|tip|trunk|or (?:later|newer|above)|and up|up to date)(?:$|[^a-z0-9])"
    r"|[*^<>≤≥]|^~|~=|[+]$|^[=]?[0-9.]*x$|^[^1-9a-z]*v?[0.]+(?:$|[^0-9.])|^[-\u2013\u2212]\s*[0-9]",
    re.IGNORECASE,
)


def check_recipe(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that there is a recipe, and what it reads."""
    recipe = facts.log.recipe
    if recipe is None or facts.is_faulty("/recipe"):
        return
    if isinstance(recipe, NotApplicable):
        outcomes = {each.outcome for each in facts.log.verdicts or ()}
        if facts.log.deterministic and RerenderOutcome.REPRODUCED in outcomes:
            yield facts.green("recipe", f"none ({recipe.reason}), and it was reproduced")
        elif facts.log.deterministic:
            fix = "log the command in recipe, or mark the asset as non-deterministic"
            seen = f"none: {recipe.reason}; and it was never reproduced"
            yield facts.yellow("recipe", seen, fix)
        return
    argv = recipe.argv or ("?",)
    yield facts.green("recipe", f"{argv[0]}, {pluralize(len(argv), 'argument')}")
    out = [each for each in (*argv, *(recipe.env or {}).values()) if _LEADS_OUT.search(each)]
    if out:
        fix = "name the file as an input, and record it anew: twice asset record --input FILE"
        yield facts.red(
            "recipe-reads", f"{out[0]!r} leads outside of the folder that it runs in", fix
        )
    yield from _check_inputs(facts, recipe)


def _check_inputs(facts: AssetFacts, recipe: Recipe) -> Iterator[GateRow]:
    inputs = value_of(recipe.inputs) or ()
    own = facts.log.asset.file_sha256 if facts.log.asset is not None else None
    for each in inputs:
        if own is not None and each.sha256 == own:
            fix = "record what makes it, or mark the asset: promise.mode non-deterministic"
            yield facts.red("recipe-reads", f"its input {each.path} is the asset itself", fix)
            break
    now = {str(each.path): (each.sha256, facts.inputs.get(each.path or "")) for each in inputs}
    gone = [path for path, (_, found) in now.items() if found is None]
    changed = [path for path, (said, found) in now.items() if found not in {None, said}]
    if changed:
        fix = f"render it again and seal it, or restore {changed[0]}"
        yield facts.red("stale", f"changed since: {', '.join(changed)}", fix)
    if gone:
        fix = f"put {gone[0]} where the recipe reads it, or gate where it is"
        yield facts.yellow("stale", f"not here, so it cannot be told: {', '.join(gone)}", fix)
    if inputs and not changed and not gone:
        yield facts.green("stale", f"{pluralize(len(inputs), 'input')} as recorded")


def check_seeds(facts: AssetFacts) -> Iterator[GateRow]:
    """Check the seeds of a promised asset."""
    seeds, recipe = value_of(facts.log.seed), value_of(facts.log.recipe)
    if not facts.log.deterministic or seeds is None:
        return
    asked, used = value_of(seeds.requested), value_of(seeds.effective)
    if asked is not None and used is not None:
        at = value_of(facts.log.art.batch_index) if facts.log.art is not None else None
        if int(used) in {int(asked), int(asked) + (at or 0)}:
            yield facts.green("seed-used", f"seed {used}")
        else:
            fix = f"ask for seed {used}, or say why in seed.requested"
            seen = f"seed {asked} was asked for and {used} was used"
            yield facts.yellow("seed-used", seen, fix)
    if recipe is not None and not facts.is_faulty("/recipe"):
        yield from _check_named(facts, seeds, recipe)


def _check_named(facts: AssetFacts, seeds: Seeds, recipe: Recipe) -> Iterator[GateRow]:
    """Hold the log's seeds against those that the recipe calls so."""
    said_of: tuple[Any, ...] = (seeds, *(seeds.each or ()))
    logged = {value_of(part) for each in said_of for part in (each.requested, each.effective)}
    logged.discard(None)
    argv = recipe.argv or ()
    numbers = [found[1] for found in map(_TOGETHER.fullmatch, argv) if found is not None]
    numbers += [number for name, number in pairwise(argv) if _CALLED.fullmatch(name)]
    env = (recipe.env or {}).items()
    numbers += [said for name, said in env if "SEED" in name.upper() and name != _HASHING]
    named = [each.lstrip("0") or "0" for each in numbers if each.isascii() and each.isdecimal()]
    if logged and named and not logged & set(named):
        said = " and ".join(sorted(map(str, logged)))
        seen = f"the recipe names seed {', '.join(named[:4])}, the log seed {said}"
        yield facts.red("seed-recipe", seen, "log the seed of the recipe, or record it anew")
    elif logged and named:
        yield facts.green("seed-recipe", f"seed {', '.join(named[:4])}")


def check_versions(facts: AssetFacts) -> Iterator[GateRow]:
    """Check the versions of a promised asset; without a promise a floating version is no fault."""
    if not facts.log.deterministic:
        return
    named = list(_list_versions(facts))
    loose = [(at, version) for at, version in named if is_floating(version)]
    for at, version in loose:
        seen = f"{at} is {version!r}, which names no single version"
        yield facts.red(f"version-pinned:{at}", seen, f"set {at} to the version that rendered")
    if named and not loose:
        yield facts.green("version-pinned", f"{pluralize(len(named), 'version')}")
    chain = (value_of(facts.log.audio.chain) if facts.log.audio is not None else None) or ()
    bare = [at for at, each in enumerate(chain) if each.version is None and not each.bypass]
    for number in bare:
        pointer = f"/audio/chain/{number}/version"
        fix = f"set {pointer} to the plugin's version, as the workstation shows it"
        seen = f"{chain[number].name} has no version"
        yield facts.red(f"plugin-version:{pointer}", seen, fix)
    if chain and not bare:
        yield facts.green("plugin-version", f"{pluralize(len(chain), 'plugin')}")


def is_floating(version: str) -> bool:
    """Whether a version names whatever is newest, a range, or nothing, as zeros and bare words do."""
    said = version.strip()
    return re.search("[0-9]", said) is None or _FLOATING.search(said) is not None


def _list_versions(facts: AssetFacts) -> Iterator[tuple[str, str]]:
    log = facts.log
    model, environment = value_of(log.model), value_of(log.environment)
    blocks: dict[str, Any] = {"/model": model}
    lists: dict[str, Any] = {"/model/adapters": model.adapters if model is not None else None}
    if log.art is not None:
        lists["/art/post"] = log.art.post
    if log.audio is not None:
        names = ("source", "daw", "export")
        blocks |= {f"/audio/{name}": value_of(getattr(log.audio, name)) for name in names}
        lists["/audio/chain"] = log.audio.chain
    for at, parts in lists.items():
        blocks |= {f"{at}/{number}": part for number, part in enumerate(value_of(parts) or ())}
    for at, block in blocks.items():
        version = value_of(getattr(block, "version", None))
        if version is not None:
            yield f"{at}/version", version
    packages = value_of(environment.packages) if environment is not None else None
    for name, version in (packages or {}).items():
        yield f"/environment/packages/{escape(name)}", version
