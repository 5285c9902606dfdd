"""An object that JSON does not know is written as its ``repr``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "repr-in-json"
_DEFAULT: Final = frozenset({"default"})
_ENCODERS: Final = {"JSONEncoder"}
_WRITES: Final = {"json.dump", "json.dumps"}


def look(site: Site) -> Iterator[Violation]:
    """Look at an encoder's ``default``, and at what is given for one."""
    node = site.node
    if isinstance(node, ast.keyword):
        call = site.module.survey.parents.get(node)
        if (
            node.arg == "default"
            and isinstance(call, ast.Call)
            and site.qualified(node.value) == "builtins.repr"
            and site.qualified(call.func) in _WRITES
        ):
            yield _found(site, node.value)
        return
    owner = site.scope.node
    if (
        not isinstance(node, ast.FunctionDef)
        or not about(node.name, _DEFAULT)
        or not isinstance(owner, ast.ClassDef)
        or _ENCODERS.isdisjoint(last_name(each) for each in owner.bases)
        or len(node.args.args) != 2
    ):
        return
    given = node.args.args[1].arg
    for each in ast.walk(node):
        if (
            isinstance(each, ast.Return)
            and isinstance(each.value, ast.Call)
            and isinstance(each.value.func, ast.Name)
            and each.value.func.id == "repr"
            and each.value.args
            and isinstance(each.value.args[0], ast.Name)
            and each.value.args[0].id == given
            and not _is_of_known_kind(site, each, node)
        ):
            yield _found(site, each)
            return


def _is_of_known_kind(site: Site, statement: ast.AST, function: ast.AST) -> bool:
    """Whether it is said of which kind the object is, other than one that is shown by its address."""
    below = statement
    for above in site.module.survey.above(statement):
        if above is function:
            return False
        if isinstance(above, ast.If) and below in above.body:
            return any(
                isinstance(each, ast.Call)
                and last_name(each) == "isinstance"
                and len(each.args) == 2
                and not (site.qualified(each.args[1]) or "").startswith("weakref.")
                for each in ast.walk(above.test)
            )
        below = above
    return False


def _found(site: Site, node: ast.AST) -> Violation:
    return site.found(
        NAME,
        "What JSON does not know is written as its repr.",
        "An object without a text of its own is shown by its address, which is another in every process.",
        node=node,
        confidence=0.8,
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Write the fields of what is to be kept, and raise TypeError for the rest.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef, ast.keyword),
    look=look,
    applies=mentions("JSONEncoder", "default=repr"),
)
