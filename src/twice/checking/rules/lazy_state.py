"""State is made on its first use, in a class that captures its state.

A snapshot that was taken before the first use lacks the attribute, one after has it, and neither the getter nor
the constructor says so: restoring the earlier one leaves the later value in place.

Make it in the constructor. Nothing is said of caches, nor of what the snapshot names.

Bad:
    class Agent:
        def __init__(self):
            self.position = 0

        def step(self):
            if not hasattr(self, "visited"):
                self.visited = []
            self.visited.append(self.position)

        def get_state(self):
            return {"position": self.position}

        def set_state(self, state):
            self.position = state["position"]

or:
    class Agent:
        def __init__(self):
            self.position = 0

        def act(self):
            self.count = getattr(self, "count", 0) + 1

        def snapshot(self):
            return self.position

        def restore(self, position):
            self.position = position

Good:
    class Agent:
        def __init__(self):
            self.position = 0
            self.visited = []

        def step(self):
            self.visited.append(self.position)

        def get_state(self):
            return {"position": self.position, "visited": list(self.visited)}

        def set_state(self, state):
            self.position, self.visited = state["position"], list(state["visited"])

or:
    class Viewer:
        def show(self):
            if not hasattr(self, "window"):
                self.window = open_window()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.roles import captures, mentioned, methods, restores
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import TELEMETRY, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "lazy-state"
_QUIET: Final = TELEMETRY | {"cache", "cached", "viewer", "window", "lock", "memo"}


def look(site: Site) -> Iterator[Found]:
    """Look at a question for an attribute of the object itself."""
    call, owner, function = site.call, site.scope.owner, site.scope.method
    if owner is None or function is None or len(call.args) < 2 or function.name == "__init__":
        return
    subject, given = call.args[:2]
    if not (isinstance(subject, ast.Name) and subject.id == "self"):
        return
    if not (isinstance(given, ast.Constant) and isinstance(given.value, str)):
        return
    name = given.value
    every = list(methods(owner))
    getters = [each for each in every if captures(each.name)]
    if not getters or captures(function.name) or restores(function.name) or about(name, _QUIET):
        return
    if not any(restores(each.name) for each in every):
        return
    bindings = site.module.attributes.of(owner).get(name, [])
    made_in = {scope.method.name for _, scope, _ in bindings if scope.method is not None}
    kept = {each for one in getters for each in mentioned(one)}
    if any(_is_setter(each.node) for each in every if each.name == function.name):
        return  # Whoever restores it sets it by that.
    if made_in != {function.name} or name in kept or "__dict__" in kept:
        return
    yield site.found(
        NAME,
        f"self.{name} is made on its first use, in {function.name}(), and is in no snapshot.",
        "A snapshot from before the first use leaves the later value in place.",
        confidence=0.85,
    )


def _is_setter(node: ast.AST) -> bool:
    """Whether a method is the setter of a property."""
    return any(
        isinstance(each, ast.Attribute) and each.attr == "setter"
        for each in getattr(node, "decorator_list", ())
    )


RULE = Rule(
    name=NAME,
    channel=Channel.SNAPSHOT,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Make it in the constructor, capture it and put it back.",
    calls=("asking",),
    look=look,
)
