"""The order of a set of objects decides something.

Objects without a hash of their own are ordered by their addresses, which differ from run to run even
under a fixed PYTHONHASHSEED. The same holds for a set of classes or functions. Keep such objects in a
list or a dict, or sort them by something of their own.

Bad:
    class Agent:
        pass

    class World:
        def __init__(self, count):
            self.agents = set()
            for _ in range(count):
                self.agents.add(Agent())

        def step(self, rng):
            return [rng.random() for agent in self.agents]

or:
    def methods(agents):
        found = {}
        for kind in {type(agent) for agent in agents}:
            for name in vars(kind):
                found[name] = getattr(kind, name)
        return found

Good:
    class Agent:
        def __init__(self, number):
            self.number = number

    class World:
        def __init__(self, count):
            self.agents = {Agent(number) for number in range(count)}

        def numbers(self):
            return sorted(agent.number for agent in self.agents)

or:
    class Token:
        pass

    def known(tokens):
        seen: set[Token] = set()
        for token in tokens:
            seen.add(token)
        return len(seen), Token in seen
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.sets import Taken, has_sets, taken
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "object-set-order"
_WHY = "The order of a set of objects follows their addresses in memory."


def look(site: Site) -> Iterator[Found]:
    """Look at a whole file."""
    for each in taken(site.module):
        if each.kind.element == "object":
            made = _made(each)
            line = getattr(each.node, "lineno", 0)
            words = each.words if made is each.node else f"{each.words} in line {line}"
            yield each.site.found(
                NAME,
                f"{site.module.shown(each.node)} is a set of objects, {words}.",
                _WHY,
                node=made,
                outcome=each.outcome,
            )


def _made(each: Taken) -> ast.expr:
    """Where the set is made, which is where it is mended: objects have no order to be sorted by."""
    if isinstance(each.node, ast.Name):
        assigned = each.site.module.names.bindings(each.node.id, each.site.scope)
        if len(assigned) == 1 and assigned[0].kind == "assign":
            value = assigned[0].node
            if isinstance(value, ast.expr) and not isinstance(value, ast.Name):
                return value
    return each.node


RULE = Rule(
    name=NAME,
    channel=Channel.CONCURRENCY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Keep the objects in a list or a dict, or sort them by a number or name of their own.",
    nodes=(ast.Module,),
    look=look,
    applies=has_sets,
)
