"""An object is given its address for a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "address-as-identifier"
_TEXTS: Final = {"builtins.str", "builtins.repr", "builtins.hex", "builtins.format"}
_IDENTIFIERS: Final = frozenset({"id", "ids", "uid", "guid", "uuid", "identifier", "handle"})


def look(site: Site) -> Iterator[Violation]:
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
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Number the objects in the order in which they are made.",
        __doc__ or "",
    ),
    calls=("address",),
    look=look,
)
