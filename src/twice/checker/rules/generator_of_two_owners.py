"""One generator is kept by two objects, or drawn from through the object that owns it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, ProjectFacts, Rule, RuleFacts
from twice.checker.rules.generator_owners import HOLDERS, Facts
from twice.checker.rules.project_names import ProjectNames
from twice.checker.rules.seed_sources import gather
from twice.checker.rules.seed_ways import found_at
from twice.checker.rules.seeding import is_generator
from twice.checker.syntax.module import Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.uses.words import last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "generator-of-two-owners"
_WHY: Final = "One draw more of the one moves all numbers of the other."
_DEPTH: Final = 6
_MODULES: Final = frozenset(
    ["np", "numpy", "xp", "jnp", "jax", "cp", "cupy", "torch", "tf", "mod", "module", "lib"]
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a draw: through another object's generator?"""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    drawn: ast.AST = func.value
    if isinstance(drawn, ast.Name):
        bindings = site.module.names.bindings(drawn.id, site.scope)
        if len(bindings) != 1 or bindings[0].kind != "assign":
            return
        drawn = bindings[0].node
    if not isinstance(drawn, ast.Attribute) or not _is_anothers(site, drawn):
        return
    yield site.found(
        NAME,
        f"{site.module.shown(func)}() draws from the generator of {site.module.shown(drawn.value)}.",
        _WHY,
        confidence=0.8,
    )


def _is_anothers(site: Site, drawn: ast.Attribute) -> bool:
    owner = drawn.value
    if not isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)) or not is_generator(
        site, drawn
    ):
        return False
    method = site.scope.method
    arguments = getattr(method.node, "args", None) if method is not None and method.owner else None
    places = (
        [*arguments.posonlyargs, *arguments.args] if isinstance(arguments, ast.arguments) else []
    )
    own = {"self", "cls", *(each.arg for each in places[:1])}
    if isinstance(owner, ast.Name) and owner.id in own:
        return False
    words = parts(last_name(owner))
    return (
        words.isdisjoint(HOLDERS) and words.isdisjoint(_MODULES) and site.qualified(drawn) is None
    )


def conclude(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report every generator that two objects keep, at the second of them, or where a loop makes them."""
    facts = facts.outside_tests()
    owners = Owners(facts)
    accessors = {each for one in facts.values() for each in one["accessors"]}
    for path, one in facts.items():
        for method, owner, at in one["taken"]:
            if method in accessors:
                yield (
                    path,
                    _report(at, f"{owner} hands out its generator, and this object keeps it too."),
                )
    shared = {each for one in facts.values() for each in one["shared"]}
    for path, one in facts.items():
        for group in one["handed"]:
            if group["stream"] in shared:
                continue
            kept = [(each, owners.count_kept(path, each)) for each in group["to"]]
            sure = [(each, count) for each, count in kept if count > 0]
            named = [each for each, count in kept if count]
            if not sure and len(named) < 2:
                continue
            apart = _apart(named)
            several = [each for each, count in sure if each["many"] or count > 1]
            if several:
                place, message = several[0], f"Several objects keep {group['name']}, one generator."
            elif len(apart) > 1:
                place = apart[1]
                message = f"{group['name']} is kept by a second object; line {apart[0]['at'][0]} gave it to the first."
            elif group["owned"] and any(each["lasting"] for each, _ in sure):
                place = next(each for each, _ in sure if each["lasting"])
                message = f"{group['name']} is kept by another object too, which draws from it."
            else:
                continue
            yield path, _report(place["at"], message)


def _report(at: list[Any], message: str) -> Violation:
    return replace(found_at(at), rule=NAME, message=message, why=_WHY, confidence=0.8)


class Owners:
    """Counts in a project who keeps a generator that is handed over.

    Args:
        facts: what ``seed_sources.gather`` gave, by path.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts
        self._names = ProjectNames(facts)

    def count_kept(self, path: str, given: Facts) -> int:
        """Give how many objects keep what a call hands over; -1 for one that only the argument's name speaks of."""
        if not given["to"]:
            return 1
        return self._count(
            path,
            given["to"],
            given["slot"],
            is_super=given.get("super", False),
            says=given["says"],
            depth=_DEPTH,
        )

    def _count(
        self, path: str, name: str, slot: str, *, is_super: bool, says: bool, depth: int
    ) -> int:
        found = self._names.find(path, name) if depth else None
        if found is None:
            last = name.rpartition(".")[2]
            return -1 if says and last[:1].isupper() and not name.startswith(LOCAL) else 0
        keeper = self._keeper(*found, is_super=is_super)
        if keeper is None:
            return 0
        where, one = keeper
        if slot.isdigit():
            at = int(slot)
            if at >= len(one["places"]):
                return 0
            slot = one["places"][at]
        passed = one["passed"].get(slot, ())
        counts: dict[int, int] = {}
        for to, into, of_base, line in passed:
            count = self._count(where, to, into, is_super=of_base, says=False, depth=depth - 1)
            counts[line] = counts.get(line, 0) + max(count, 0)
        inner = counts.pop(0, 0) + max(counts.values(), default=0)  # One return of several.
        return max(inner, 1) if slot in one["kept"] else inner

    def _keeper(self, path: str, name: str, *, is_super: bool) -> tuple[str, Facts] | None:
        """Find the function, method or constructor that a name refers to."""
        own = self._facts[path]["keepers"].get(name)
        if own is not None and not is_super:
            return path, own
        owner, _, method = name.rpartition(".")
        for kind, word in ((name, "__init__"), (owner, method)):
            for at, (where, base) in enumerate(self._names.lineage(path, kind)):
                one = self._facts[where]
                found = one["keepers"].get(f"{base}.{word}")
                if found is not None and not (is_super and at == 0):
                    return where, found
                if (
                    one["classes"].get(base, {}).get("init")
                    and word == "__init__"
                    and not (is_super and at == 0)
                ):
                    return None
        return None


def _apart(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of some objects that are there at once: not in two branches, nor one in the place of another."""
    found: list[dict[str, Any]] = []
    for each in given:
        if not any(_excludes(each, other) for other in found):
            found.append(each)
    return found


def _excludes(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if (one["own"] and other["own"]) or (
        one["to"] and one["target"] and one["target"] == other["target"]
    ):
        return True
    if one["returned"] and one["returned"] == other["returned"] and one["at"][0] != other["at"][0]:
        return True
    branches = {(line, column): branch for line, column, branch in one["branches"]}
    return any(
        branches.get((line, column), branch) is not branch
        for line, column, branch in other["branches"]
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Give each owner a generator of its own: rng.spawn(2), a sub-seed by name, or run.rng(name).",
        __doc__ or "",
    ),
    methods=("drawing",),
    look=look,
    gather=gather,
    conclude=conclude,
)
