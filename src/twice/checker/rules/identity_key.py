"""A key or an order is made of an address or of the name of a thread."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "identity-key"
_TEXTS = {"builtins.str", "builtins.repr", "builtins.hash", "builtins.format"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a sort, or at who asks for a thread."""
    called = site.called
    if site.catalogue.has("thread-identity", called):
        yield from _of_thread(site)
        return
    key = site.keyword("key")
    if key is None or not _is_address(site, key):
        return
    in_place = isinstance(site.call.func, ast.Attribute) and site.call.func.attr == "sort"
    outcome = Outcome(Use.STATE, site.node) if in_place else site.order()
    if outcome.use is Use.ERASED:
        return
    yield site.found(
        NAME,
        "Elements are ordered by id(): by their addresses in memory.",
        "Another run puts the same objects at other addresses.",
        outcome=outcome,
        confidence=0.95,
    )


def _is_address(site: Site, key: ast.expr) -> bool:
    if isinstance(key, ast.Lambda):
        return any(
            isinstance(each, ast.Call) and site.qualified(each.func) == "builtins.id"
            for each in ast.walk(key.body)
        )
    return site.qualified(key) == "builtins.id"


def _of_thread(site: Site) -> Iterator[Violation]:
    """Find a thread's name or number that becomes a value."""
    text = _as_text(site)
    number = (site.called or "").endswith(("get_ident", "get_native_id")) or (
        isinstance(text, ast.Attribute) and text.attr != "name"
    )
    if text is None and not number:
        return
    outcome = site.value(text)
    if outcome.use is Use.BRANCH or (number and outcome.use in {Use.KEY, Use.UNSEEN, Use.STATE}):
        return  # Its own table, a lock's owner.
    yield site.found(
        NAME,
        f"The identity of a thread, from {site.called}(), is used as a value.",
        "Threads get other names and numbers in another run.",
        outcome=outcome,
        confidence=0.85,
    )


def _as_text(site: Site) -> ast.expr | None:
    """Return the expression that turns a thread into a text or a name."""
    parent = site.module.survey.parents.get(site.node)
    if isinstance(parent, ast.Call) and site.qualified(parent.func) in _TEXTS:
        return parent
    if isinstance(parent, ast.FormattedValue):
        whole = site.module.survey.parents.get(parent)
        return whole if isinstance(whole, ast.expr) else None
    if isinstance(parent, ast.Attribute) and parent.attr in {"name", "ident", "native_id", "pid"}:
        return parent
    return None


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Number the objects or tasks yourself, in the order in which they are made, and use that.",
        __doc__ or "",
    ),
    calls=("thread-identity", "sorting"),
    methods=("sorting",),
    look=look,
)
