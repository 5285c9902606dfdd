"""The rules about values that one process alone has: addresses, salted hashes, and texts with an address in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from twice.checker.analysis.roles import captures
from twice.checker.findings import Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Site
from twice.checker.syntax.nodes import own_attribute
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_TEXTS: Final = {"builtins.str", "builtins.repr", "builtins.hex", "builtins.format"}
_IDENTIFIERS: Final = frozenset({"id", "ids", "uid", "guid", "uuid", "identifier", "handle"})
_FILE_ENDING: Final = re.compile(r"\.[a-z][a-z0-9]{1,6}$")
_HASH: Final = frozenset({"hash", "hashed", "hashvalue", "hashable"})
_NUMBERS: Final = {"int", "float", "bool"}
_PICKLED: Final = {
    "__getnewargs__",
    "__getnewargs_ex__",
    "__getstate__",
    "__reduce__",
    "__reduce_ex__",
}
_ORDERS: Final = {"builtins.max", "builtins.min", "builtins.sorted"}
_SERIALIZERS: Final = {"to_dict", "as_dict", "to_json", "serialize"}


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Number the objects in the order in which they are made.",
    calls=("address",),
)
def address_as_identifier(site: Site) -> Iterator[Violation]:
    """An object is given its address for a name."""
    function = site.scope.method
    name = "" if function is None else function.name
    if name.startswith("__") and name not in {"__init__", *_PICKLED}:
        return
    parent = site.module.survey.parents.get(site.node)
    is_text = isinstance(parent, ast.FormattedValue) or (
        isinstance(parent, ast.Call) and site.qualified(parent.func) in _TEXTS
    )
    own = any(isinstance(each, ast.Name) and each.id == "self" for each in site.call.args)
    for outcome in site.ends():
        is_kept = (
            outcome.use is Use.STATE
            and isinstance(outcome.node, ast.Attribute)
            and about(outcome.node.attr, _IDENTIFIERS)
        )
        is_pickled = outcome.use is Use.RETURNED and (name in _PICKLED or captures(name))
        if (
            is_pickled
            or (is_kept and (is_text or own))
            or (is_text and outcome.use in {Use.STORED, Use.DIGEST})
        ):
            yield site.violation(
                f"{site.module.shown(site.node)}, an address, becomes an identifier.",
                "Another process puts the object at another address",
                outcome=outcome,
            )
            return


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.HIGH,
    "Hash the bytes: hashlib.sha256(text.encode()).digest().",
    calls=("salted",),
)
def salted_hash(site: Site) -> Iterator[Violation]:
    """The value of hash() leaves the process."""
    function = site.scope.method
    name = "" if function is None else function.name
    if len(site.call.args) != 1 or (name in {"__hash__", "__eq__"} and not _is_cached(site)):
        return
    kind = site.kind(site.call.args[0])
    if kind is not None and (kind.element if kind.name == "tuple" else kind.name) in _NUMBERS:
        return
    outcome = _find_way_out(site, name)
    if outcome is not None:
        shown = site.module.shown(site.call.args[0])
        yield site.violation(
            f"hash({shown if len(shown) <= 40 else '…'}) is salted or goes by an address.",
            "Another process gives another value",
            outcome=outcome,
        )


def _find_way_out(site: Site, function: str) -> Outcome | None:
    """Return how a hash leaves the process, or chooses something; None where it stays, or seeds."""
    ends = [each for each in site.ends() if not _is_looked_up(each)]
    if any(each.use is Use.SEED for each in ends):
        return None  # identity-subseed says it.
    text = next(
        (each for each in site.above() if isinstance(each, (ast.JoinedStr, ast.stmt))), None
    )
    if isinstance(text, ast.JoinedStr) and _FILE_ENDING.search(
        str(getattr(text.values[-1], "value", ""))
    ):
        return Outcome(Use.STORED, text)  # The name of a file, which stays.
    ordering = next(
        (
            each
            for each in site.above()
            if isinstance(each, ast.Call) and site.qualified(each.func) in _ORDERS
        ),
        None,
    )
    if ordering is not None:
        return Outcome(Use.KEY, ordering)
    leaving = [
        each
        for each in ends
        if each.use in {Use.DIGEST, Use.STORED} or _is_returned(site, each, captured=True)
    ]
    parent = site.module.survey.parents.get(site.node)
    chooses = isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Mod, ast.BitAnd))
    if leaving or chooses:
        return gravest(leaving or ends, Outcome(Use.UNSEEN, site.node))
    if _is_cached(site):
        return Outcome(Use.UNSEEN, site.module.survey.statement(site.node), (site.node,))
    given = [each for each in ends if _is_returned(site, each, captured=False)]
    if not given or about(function, _HASH) or isinstance(parent, ast.Compare):
        return None
    return replace(given[0], use=Use.UNSEEN)


def _is_cached(site: Site) -> bool:
    """Whether an object keeps a hash in an attribute, and does not leave it out when it is pickled."""
    statement, owner = site.module.survey.statement(site.node), site.scope.owner
    return (
        isinstance(statement, ast.Assign)
        and statement.value is site.node
        and own_attribute(statement.targets[0]) != ""
        and owner is not None
        and _PICKLED.isdisjoint(owner.bindings)
    )


def _is_looked_up(outcome: Outcome) -> bool:
    """Whether what goes on is what was found under the hash."""
    return any(
        isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load) for each in outcome.way
    )


def _is_returned(site: Site, outcome: Outcome, *, captured: bool) -> bool:
    """Whether it is returned as captured state, or as it is and not for ``__hash__``."""
    function = site.module.loads.scope(outcome.node).method
    if outcome.use is not Use.RETURNED:
        return False
    name = "" if function is None else function.name
    if captured:
        return captures(name) or name in _SERIALIZERS
    returned = getattr(outcome.node, "value", None)
    nodes = ast.walk(returned) if isinstance(returned, ast.AST) else ()
    return not about(name, _HASH) and not any(
        isinstance(each, (ast.Subscript, ast.Compare)) for each in nodes
    )


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Write the fields of what is to be kept, and raise TypeError for the rest.",
    nodes=(ast.FunctionDef, ast.keyword),
    applies=mentions("JSONEncoder", "default=repr"),
)
def repr_in_json(site: Site) -> Iterator[Violation]:
    """An object that JSON does not know is written as its ``repr``."""
    node = site.node
    shown: ast.AST | None = None
    if isinstance(node, ast.keyword):
        call = site.module.survey.parents.get(node)
        writes = isinstance(call, ast.Call) and site.qualified(call.func) in {
            "json.dump",
            "json.dumps",
        }
        if writes and node.arg == "default" and site.qualified(node.value) == "builtins.repr":
            shown = node.value
    elif isinstance(node, ast.FunctionDef) and node.name == "default" and len(node.args.args) == 2:
        bases = getattr(site.scope.node, "bases", ())
        if any(last_name(each) == "JSONEncoder" for each in bases):
            shown = next(_find_returned_reprs(site, node), None)
    if shown is not None:
        yield site.violation(
            "What JSON does not know is written as its repr.",
            "An object without a text of its own is shown by its address, which is another in every process.",
            node=shown,
            confidence=0.8,
        )


def _find_returned_reprs(site: Site, function: ast.FunctionDef) -> Iterator[ast.Return]:
    """Yield where a function returns the ``repr`` of its argument and has not asked for its kind."""
    given = function.args.args[1].arg
    for each in ast.walk(function):
        if isinstance(each, ast.Return) and isinstance(each.value, ast.Call):
            names = [last_name(one) for one in (each.value.func, *each.value.args[:1])]
            if names == ["repr", given] and not _is_of_known_kind(site, each):
                yield each


def _is_of_known_kind(site: Site, statement: ast.AST) -> bool:
    """Whether the condition around asks of which kind the object is, other than one shown by its address."""
    around = next(site.module.survey.above(statement), None)
    return (
        isinstance(around, ast.If)
        and statement in around.body
        and any(
            isinstance(each, ast.Call)
            and last_name(each) == "isinstance"
            and len(each.args) == 2
            and not (site.qualified(each.args[1]) or "").startswith("weakref.")
            for each in ast.walk(around.test)
        )
    )
