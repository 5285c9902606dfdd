"""A seed is made of an address or of a salted hash."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.seeding import is_seed_name
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "identity-subseed"
_NUMBERS = {"int", "float", "bool"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a call of ``id`` or ``hash``."""
    called = site.called
    if called not in {"builtins.id", "builtins.hash"} or not site.call.args:
        return
    if called == "builtins.hash" and _is_number(site, site.call.args[0]):
        return
    outcome = site.value()
    if outcome.use is not Use.SEED:
        return
    known = called == "builtins.id" or site.kind(site.call.args[0]) is not None
    what = "an address in memory" if called == "builtins.id" else "salted in each process"
    found = site.found(
        NAME,
        f"{site.module.shown(site.node)} becomes a seed, and it is {what}.",
        "The same part of the program gets another stream in the next process.",
        outcome=outcome,
    )
    yield found if known else replace(found, reach=Reach.UNSEEN, confidence=0.6)


def _is_number(site: Site, node: ast.expr) -> bool:
    if is_seed_name(node):
        return True
    if isinstance(node, ast.Tuple):
        return all(_is_number(site, each) for each in node.elts)
    kind = site.kind(node)
    if kind is None:
        return False
    return kind.name in _NUMBERS or (kind.name == "tuple" and kind.element in _NUMBERS)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.BIT_EXACT,
        Severity.HIGH,
        "Derive it by a stable name: run.rng(name), or a hash of hashlib over the name's bytes.",
        __doc__ or "",
    ),
    calls=("process-identity",),
    look=look,
)
