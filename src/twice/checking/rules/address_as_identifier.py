"""An object is given its address for a name.

``str(id(self))`` is another text in every process. Kept as an identifier it gets into records, messages,
prompts and orders by name, and an address is given again to another object once the first is gone.

Number the objects as they are made. Nothing is said of ``__repr__``, of logs and of looking an object up in memory.

Bad:
    class Node:
        def __init__(self, description, node_id=None):
            self.node_id = node_id if node_id is not None else str(id(self))
            self.description = description

or:
    import json

    def save(path, objects):
        with open(path, "w") as file:
            json.dump({"first": f"object-{id(objects[0])}"}, file)

Good:
    class Node:
        count = 0

        def __init__(self):
            type(self).count += 1
            self.node_id = str(type(self).count)

or:
    class Node:
        def __repr__(self):
            return f"<Node at {id(self):#x}>"

or:
    class Scope:
        def __init__(self, task):
            self.host_id = id(task)  # to know the task again, in memory

or:
    def unique(objects):
        return {id(each): each for each in objects}
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Outcome, Use
from twice.checking.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "address-as-identifier"
_TEXTS: Final = {"builtins.str", "builtins.repr", "builtins.hex", "builtins.format"}
_IDENTIFIERS: Final = frozenset({"id", "ids", "uid", "guid", "uuid", "identifier", "handle"})


def look(site: Site) -> Iterator[Found]:
    """Look at a call of id()."""
    function = site.scope.method
    if function is not None and function.name.startswith("__") and function.name != "__init__":
        return
    parents = site.module.survey.parents
    parent = parents.get(site.node)
    is_text = isinstance(parent, ast.FormattedValue) or (
        isinstance(parent, ast.Call) and site.qualified(parent.func) in _TEXTS
    )
    own = any(isinstance(each, ast.Name) and each.id == "self" for each in site.call.args)
    for outcome in site.ends():
        kept = outcome.use is Use.STATE and _is_identifier(outcome)
        if (kept and (is_text or own)) or (is_text and outcome.use in {Use.STORED, Use.DIGEST}):
            yield site.found(
                NAME,
                f"{site.module.shown(site.node)}, an address, becomes an identifier.",
                "Another process puts the object at another address",
                outcome=outcome,
                confidence=0.9,
            )
            return


def _is_identifier(outcome: Outcome) -> bool:
    """Whether it is kept in an attribute that is called an identifier."""
    return isinstance(outcome.node, ast.Attribute) and about(outcome.node.attr, _IDENTIFIERS)


RULE = Rule(
    name=NAME,
    channel=Channel.ENCODING,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Number the objects in the order in which they are made.",
    calls=("address",),
    look=look,
)
