"""What an attribute that other files read ends in: a time or an id that is kept, and perhaps looked at by nobody.

One file shows that ``self.began = time.time()`` is state; whether anybody reads it, and for what, the
others show. A file's facts are the attributes that it reads, with the gravest use of each.

Invariant: an attribute that is read by way of a text (``getattr``) counts as one that nobody reads.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from twice.checker.findings import Reach, Violation
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about, parts

_SHORTEST: Final = 2
"""So many words a name has to have: ``time`` and ``id`` alone are read everywhere, of anything."""


def attribute_of(outcome: Outcome, words: frozenset[str]) -> str:
    """Give the attribute of ``self`` that a value ends in, when it is about some words; else ""."""
    node = outcome.node
    if outcome.use is Use.STATE and isinstance(node, ast.Attribute) and _is_watched(node, words):
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return node.attr if own else ""
    return ""


def _is_watched(node: ast.Attribute, words: frozenset[str]) -> bool:
    return about(node.attr, words) and len(parts(node.attr)) >= _SHORTEST


def reads(module: Module, words: frozenset[str]) -> dict[str, int]:
    """Give the attributes about some words that a file reads, each with its gravest use."""
    found: dict[str, int] = {}
    if not module.follows or not any(map(module.speaks_of, sorted(words))):
        return found
    parents = module.survey.parents
    for node in parents:
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and _is_watched(node, words)
        ):
            above = parents[node]
            called = isinstance(above, ast.Call) and above.func is node
            if not called:
                use = _use(module, node, above)
                found[node.attr] = max(found.get(node.attr, 0), use)
    return dict(sorted(found.items()))


def _use(module: Module, node: ast.Attribute, above: ast.AST) -> Use:
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Sub) and above.right is node:
        return Use.TIMING  # What it is subtracted from is looked at by itself.
    ends = module.values.follow(node, module.loads.scope(node))
    return max((each.use for each in ends), default=Use.UNSEEN)


def gathered(
    module: Module,
    name: str,
    words: frozenset[str],
    reached: Callable[[Site], Outcome | None],
    found: Callable[[Site, Outcome], Violation],
) -> dict[str, Any] | None:
    """Give a file's facts: the calls that end in an attribute, and what it does with such attributes.

    Args:
        module: the file.
        name: the catalogue's name of the calls.
        words: what the attributes are about.
        reached: where a call's value ends; None where nothing is to be said of it.
        found: the finding.
    """
    kept = []
    for node, scope, called in module.calls:
        if module.catalogue.has(name, called):
            site = module.site(node, scope)
            outcome = reached(site)
            attribute = "" if outcome is None else attribute_of(outcome, words)
            if outcome is not None and attribute:
                kept.append({"attribute": attribute, "found": found(site, outcome).to_json()})
    read = reads(module, words)
    return {"kept": kept, "reads": read} if kept or read else None


def weighed(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Give the findings that rest on attributes, quieter where no file does anything with one."""
    uses: dict[str, int] = {}
    for one in facts.values():
        for name, use in one["reads"].items():
            uses[name] = max(uses.get(name, 0), use)
    for path, one in facts.items():
        for each in one["kept"]:
            found = Violation.from_json(each["found"])
            if uses.get(each["attribute"], 0) <= Use.TELEMETRY:
                found = replace(found, reach=Reach.UNSEEN)
            yield path, found
