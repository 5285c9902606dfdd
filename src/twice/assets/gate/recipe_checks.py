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
from twice.assets.gate.report import GateRow, RowStatus
from twice.assets.log.block import NotApplicable, value_of
from twice.assets.log.io import escape
from twice.assets.log.models import Recipe, RerenderOutcome
from twice.foundation.printable import pluralize

_LEADS_OUT: Final = re.compile(r"(?:^|[/\\=:,\s])\.\.(?:[/\\]|$)")
_NAME: Final = r"[-+/]{0,2}[A-Za-z_.-]*seed[A-Za-z_.-]*"
_CALLED: Final = re.compile(_NAME, re.IGNORECASE)
_TOGETHER: Final = re.compile(rf"{_NAME}[=:]([0-9]+)", re.IGNORECASE)
_HASHING: Final = "PYTHONHASHSEED"
"""It orders Python's sets, and seeds no rendering."""
_FLOATING: Final = re.compile(
    r"(?:^|[^a-z0-9])(?:latest|newest|current|recent|head|main|master|nightly|stable|rolling|edge|dev"
    r"|devel|snapshot|tip|trunk|or (?:later|newer|above)|and up|up to date)(?:$|[^a-z0-9])"
    r"|[*^<>≤≥]|^~|~=|[+]$|^[=]?[0-9.]*x$|^[^1-9a-z]*v?[0.]+(?:$|[^0-9.])|^[-\u2013\u2212]\s*[0-9]"
    r"|^[^0-9]*$",
    re.IGNORECASE,
)
"""A version that names whatever is newest, a range, or nothing, as zeros and bare words do."""


def check_recipe(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that there is a recipe, and what it reads."""
    recipe = facts.log.recipe
    if recipe is None or facts.is_faulty("/recipe"):
        return
    if isinstance(recipe, NotApplicable):
        if facts.log.deterministic:
            outcomes = {each.outcome for each in facts.log.verdicts or ()}
            right = f"none ({recipe.reason}), and it was reproduced"
            wrong = f"none: {recipe.reason}; and it was never reproduced"
            wrong = "" if RerenderOutcome.REPRODUCED in outcomes else wrong
            fix = "log the command in recipe, or mark the asset as non-deterministic"
            yield facts.judge("recipe", right, wrong, fix, RowStatus.YELLOW)
        return
    argv = recipe.argv or ("?",)
    yield facts.green("recipe", f"{argv[0]}, {pluralize(len(argv), 'argument')}")
    out = [each for each in (*argv, *(recipe.env or {}).values()) if _LEADS_OUT.search(each)]
    if out:
        fix = "name the file as an input, and record it anew: twice asset record --input FILE"
        wrong = f"{out[0]!r} leads outside of the folder that it runs in"
        yield facts.red("recipe-reads", wrong, fix)
    inputs = {str(each.path): each.sha256 for each in value_of(recipe.inputs) or ()}
    own = [path for path, said in inputs.items() if said == facts.log.get("/asset/file_sha256")]
    if own:
        fix = "record what makes it, or mark the asset: promise.mode non-deterministic"
        yield facts.red("recipe-reads", f"its input {own[0]} is the asset itself", fix)
    if facts.copies:
        fix = "log what made that file; this recipe only writes it into another one"
        wrong = f"its input {facts.copies[0]} has the asset's own pixels or samples"
        yield facts.yellow("recipe-reads", wrong, fix)
    gone = [path for path in inputs if facts.inputs.get(path) is None]
    changed = [path for path in inputs if facts.inputs.get(path) not in {None, inputs[path]}]
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
        is_next = int(used) == int(asked) + (facts.log.get("/art/batch_index") or 0)
        wrong = f"seed {asked} was asked for and {used} was used"
        wrong = "" if is_next or int(used) == int(asked) else wrong
        fix = f"ask for seed {used}, or say why in seed.requested"
        yield facts.judge("seed-used", f"seed {used}", wrong, fix, RowStatus.YELLOW)
    if recipe is None or facts.is_faulty("/recipe"):
        return
    each_seed: tuple[Any, ...] = (seeds, *(seeds.each or ()))
    logged = {value_of(each) for seed in each_seed for each in (seed.requested, seed.effective)}
    logged.discard(None)
    named = _list_named_seeds(recipe)
    if logged and named:
        right = f"seed {', '.join(named[:4])}"
        wrong = f"the recipe names {right}, the log seed {' and '.join(sorted(logged))}"
        fix = "log the seed of the recipe, or record it anew"
        yield facts.judge("seed-recipe", right, "" if logged & set(named) else wrong, fix)


def _list_named_seeds(recipe: Recipe) -> list[str]:
    """List the numbers that a recipe calls seeds."""
    argv, env = recipe.argv or (), recipe.env or {}
    said = [found[1] for found in map(_TOGETHER.fullmatch, argv) if found is not None]
    said += [number for name, number in pairwise(argv) if _CALLED.fullmatch(name)]
    said += [number for name, number in env.items() if "SEED" in name.upper() and name != _HASHING]
    return [each.lstrip("0") or "0" for each in said if each.isascii() and each.isdecimal()]


def check_versions(facts: AssetFacts) -> Iterator[GateRow]:
    """Check the versions of a promised asset; without a promise a floating version is no fault."""
    if not facts.log.deterministic:
        return
    named = dict(_list_versions(facts))
    loose = {at: version for at, version in named.items() if is_floating(version)}
    for at, version in loose.items():
        wrong = f"{at} is {version!r}, which names no single version"
        yield facts.red(f"version-pinned:{at}", wrong, f"set {at} to the version that rendered")
    if named and not loose:
        yield facts.green("version-pinned", pluralize(len(named), "version"))
    chain = facts.log.get("/audio/chain") or ()
    bare = [number for number, each in enumerate(chain) if each.version is None and not each.bypass]
    for number in bare:
        pointer = f"/audio/chain/{number}/version"
        fix = f"set {pointer} to the plugin's version, as the workstation shows it"
        yield facts.red(f"plugin-version:{pointer}", f"{chain[number].name} has no version", fix)
    if chain and not bare:
        yield facts.green("plugin-version", pluralize(len(chain), "plugin"))


def is_floating(version: str) -> bool:
    """Whether a version names whatever is newest, a range, or nothing, as zeros and bare words do."""
    return _FLOATING.search(version.strip()) is not None


def _list_versions(facts: AssetFacts) -> Iterator[tuple[str, str]]:
    log = facts.log
    blocks = {at: log.get(at) for at in ("/model", "/audio/source", "/audio/daw", "/audio/export")}
    for at in ("/model/adapters", "/art/post", "/audio/chain"):
        blocks |= {f"{at}/{number}": each for number, each in enumerate(log.get(at) or ())}
    for at, block in blocks.items():
        version = value_of(getattr(block, "version", None))
        if version is not None:
            yield f"{at}/version", version
    for name, version in (log.get("/environment/packages") or {}).items():
        yield f"/environment/packages/{escape(name)}", version
