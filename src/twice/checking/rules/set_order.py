"""The order of a set decides something.

A set of strings comes in an order that the hash seed of the process decides. Sorting, counting,
membership and loops whose body commutes do not mind; a list made of it, a first element, a number
given to each, a partner from ``zip`` or a draw by position do. ``list(set(names))`` to drop duplicates
is the usual form: ``list(dict.fromkeys(names))`` drops them and keeps the order.

Sets of numbers are left alone; sets of objects have a rule of their own.

Bad:
    def names(people):
        found = {str(person) for person in people}
        return list(found)

or:
    def pick(tags: set[str], rng):
        return rng.choice(list(tags))

or:
    def colours(names, palette):
        return dict(zip(set(names), palette))

or:
    def vocabulary(text: str):
        words = set(text.split())
        return {word: number for number, word in enumerate(words)}

or:
    class Plan:
        def left(self):
            wanted = set(self.config["names"])
            done = set(self.config.get("done", []))
            return list(wanted - done)

or:
    import json

    def dump(names, file):
        json.dump(list({name.lower() for name in names}), file)

Good:
    def names(people):
        found = {str(person) for person in people}
        return sorted(found)

or:
    def total(numbers):
        seen = set()
        for number in numbers:
            seen.add(int(number))
        return [number for number in seen]

or:
    def unknown(given, known: set[str]):
        extra = set(given) - known
        if extra:
            raise ValueError(f"unknown: {', '.join(extra)}")
        return {name: len(name) for name in known}

or:
    def only(keys):
        found = set(keys)
        if len(found) == 1:
            return next(iter(found))
        return None
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.sets import has_sets, sorting, taken
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "set-order"


def look(site: Site) -> Iterator[Found]:
    """Look at a whole file."""
    for each in taken(site.module):
        if each.kind.element != "object":
            yield each.site.found(
                NAME,
                f"{site.module.shown(each.node)} is a set, {each.words}.",
                _why(each.kind.element),
                node=each.node,
                outcome=each.outcome,
                fix=sorting(each),
            )


def _why(element: str) -> str:
    if element in {"str", "bytes"}:
        return "The order of a set of strings follows the hash seed of the process."
    return "The order of a set follows the hash seed, or addresses in memory."


RULE = Rule(
    name=NAME,
    channel=Channel.CONCURRENCY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Sort it, or build a dict in its place: dict.fromkeys(items) keeps the order of insertion.",
    nodes=(ast.Module,),
    look=look,
    applies=has_sets,
)
