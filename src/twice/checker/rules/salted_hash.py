"""The value of hash() leaves the process."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import captures
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "salted-hash"
_ENDING: Final = re.compile(r"\.[a-z][a-z0-9]{1,6}$")
_LEAVES: Final = {Use.DIGEST, Use.STORED}
_HASH: Final = frozenset({"hash", "hashed", "hashvalue", "hashable"})


def look(site: Site) -> Iterator[Violation]:
    """Look at a call of hash()."""
    call, function = site.call, site.scope.method
    if len(call.args) != 1 or _is_stable(site, call.args[0]):
        return
    name = "" if function is None else function.name
    if name in {"__hash__", "__eq__"}:
        return
    ends = [each for each in site.ends() if not _is_looked_up(each)]
    if any(each.use is Use.SEED for each in ends):
        return  # identity-subseed says it.
    file = _names_file(site)
    if file is not None:
        yield _found(site, Outcome(Use.STORED, file))
        return
    leaving = [each for each in ends if each.use in _LEAVES or _is_captured(site, each)]
    if not leaving and not _is_reduced(site):
        leaving = [each for each in ends if _is_given_out(site, each)]
        if not leaving or about(name, _HASH):
            return
        if isinstance(site.module.survey.parents.get(site.node), ast.Compare):
            return
        yield _found(site, Outcome(Use.UNSEEN, leaving[0].node, leaving[0].way))
        return
    outcome = gravest(leaving or ends, Outcome(Use.UNSEEN, site.node))
    yield _found(site, outcome)


def _found(site: Site, outcome: Outcome) -> Violation:
    shown = site.module.shown(site.call.args[0])
    subject = shown if len(shown) <= 40 and "\n" not in shown else "…"
    return site.found(
        NAME,
        f"hash({subject}) is salted or goes by an address.",
        "Another process gives another value",
        outcome=outcome,
        confidence=0.9,
    )


def _names_file(site: Site) -> ast.AST | None:
    """Give the formatted string with a file's ending that it stands in: a name that stays."""
    for each in site.above():
        if isinstance(each, ast.JoinedStr):
            last = each.values[-1]
            ends = isinstance(last, ast.Constant) and _ENDING.search(str(last.value))
            return each if ends else None
        if isinstance(each, ast.stmt):
            return None
    return None


def _is_stable(site: Site, node: ast.expr) -> bool:
    """Whether it is a number, or a tuple of numbers."""
    kind = site.kind(node)
    if kind is None:
        return False
    return kind.name in {"int", "float", "bool"} or (
        kind.name == "tuple" and kind.element in {"int", "float", "bool"}
    )


def _is_captured(site: Site, outcome: Outcome) -> bool:
    if outcome.use is not Use.RETURNED:
        return False
    function = site.module.loads.scope(outcome.node).method
    return function is not None and (
        captures(function.name) or function.name in {"to_dict", "as_dict", "to_json", "serialize"}
    )


def _is_given_out(site: Site, outcome: Outcome) -> bool:
    """Whether it is returned as it is, and not what was looked up by it."""
    if outcome.use is not Use.RETURNED:
        return False
    function = site.module.loads.scope(outcome.node).method
    if function is not None and about(function.name, _HASH):
        return False  # What a function that is called a hash returns is for __hash__.
    returned = getattr(outcome.node, "value", None)
    return returned is None or not any(
        isinstance(each, (ast.Subscript, ast.Compare)) for each in ast.walk(returned)
    )


def _is_looked_up(outcome: Outcome) -> bool:
    """Whether what goes on is what was found under the hash."""
    return any(
        isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load) for each in outcome.way
    )


def _is_reduced(site: Site) -> bool:
    """Whether it is taken modulo something: to choose by."""
    parent = site.module.survey.parents.get(site.node)
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Mod, ast.BitAnd))


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.HIGH,
        "Hash the bytes: hashlib.sha256(text.encode()).digest().",
        __doc__ or "",
    ),
    calls=("salted",),
    look=look,
)
