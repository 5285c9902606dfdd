"""The text of nested values is a key.

Two equal values can have two texts (dictionaries built in another order, sets, objects that
show their address), and two different ones the same (long arrays are shortened, ``1`` and ``"1"``). What is found by such
a key is missed in a replay, or is another call's.

Make the key of a canonical encoding: JSON with sorted keys, hashed; or a tuple of the values.
Nothing is said of tuples of plain numbers and names.

Bad:
    class Client:
        def ask(self, model, **params):
            cache_key = str((model, params))
            if cache_key not in self.cache:
                self.cache[cache_key] = self.send(model, params)
            return self.cache[cache_key]

or:
    def call_hash(name, *args, **kwargs):
        return repr((name, args, kwargs))

or:
    def cached(cache, function, *args, **kwargs):
        key = f"{function.__name__}:{args}:{kwargs}"
        if key not in cache:
            cache[key] = function(*args, **kwargs)
        return cache[key]

or:
    import threading

    def run(self, work):
        worker = str(threading.current_thread())
        self.pending[worker] = work

Good:
    import json

    class Client:
        def ask(self, model, **params):
            cache_key = json.dumps([model, params], sort_keys=True)
            return self.cache[cache_key]

or:
    def label(row: int, column: int):
        key = str((row, column))
        return key
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.digests import is_nested, is_star, keyed
from twice.checking.syntax.module import Site
from twice.checking.syntax.survey import Scope
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "text-key"
_WORKERS: Final = {"threading.current_thread", "threading.currentThread", "asyncio.current_task"}


def look(site: Site) -> Iterator[Found]:
    """Look at a text that is made of something."""
    if isinstance(site.node, ast.FormattedValue):
        yield from _formatted(site, site.node)
        return
    call = site.call
    if len(call.args) != 1:
        return
    (subject,) = call.args
    if isinstance(subject, ast.Call) and site.qualified(subject.func) in _WORKERS:
        outcome = site.value()
        if outcome.use.reach is not Reach.QUIET:
            yield site.found(
                NAME,
                "The text of a thread or a task is kept as its identity.",
                "It has a number and an address in it that another run does not give again.",
            )
        return
    if not _is_nested(site, subject):
        return
    outcome_of_key = keyed(site)
    if outcome_of_key is not None:
        yield site.found(
            NAME,
            f"{site.module.shown(call.func)}() of nested values is used as a key.",
            "Equal values can have different texts and different values the same",
            outcome=outcome_of_key,
            confidence=0.85,
        )


def _formatted(site: Site, node: ast.FormattedValue) -> Iterator[Found]:
    """Look at a value in a formatted string."""
    subject, whole = node.value, site.module.survey.parents.get(node)
    if not isinstance(subject, ast.Name) or whole is None:
        return
    if not is_star(subject, site.scope):
        return
    outcome = keyed(site.module.site(whole, site.scope))
    if outcome is not None:
        yield site.found(
            NAME,
            f"A text with {subject.id} in it is used as a key.",
            "Equal values can have different texts and different values the same",
            node=whole,
            outcome=outcome,
            confidence=0.85,
        )


def _is_nested(site: Site, node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(is_nested(site.kind(each)) or is_star(each, site.scope) for each in node.elts)
    if isinstance(node, ast.Dict):
        return any(is_nested(site.kind(each)) for each in node.values)
    return is_star(node, site.scope)


def _suits(node: ast.FormattedValue, scope: Scope) -> bool:
    """Whether a name is formatted, in a function."""
    del scope
    return isinstance(node.value, ast.Name)


RULE = Rule(
    name=NAME,
    channel=Channel.ENCODING,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Make the key of a canonical encoding: json.dumps(values, sort_keys=True), hashed.",
    calls=("text",),
    nodes=(ast.FormattedValue,),
    look=look,
    suits=_suits,
)
