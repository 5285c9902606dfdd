"""A key or an order is made of an address or of the name of a thread.

``id(x)``, ``str(threading.current_thread())`` and the number of a thread are other ones in every run.
A result that is found again under such a key is not found by the next run; a sort by ``id`` is a sort by
address.

Nothing is said where an object is looked up by its own address, or where a thread is compared or logged.

Bad:
    import threading

    def begin(transactions):
        key = str(threading.current_thread())
        transactions[key] = []
        return key

or:
    def ordered(agents):
        return sorted(agents, key=id)

or:
    class Table:
        def rows(self, agents):
            agents.sort(key=lambda agent: (agent.age, id(agent)))
            return agents

Good:
    import threading

    def is_main(seen, node):
        if id(node) in seen:
            return False
        return threading.current_thread() is threading.main_thread()

or:
    import logging
    import threading

    def tell():
        logging.info("in thread %s", threading.current_thread().name)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Outcome, Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "identity-key"
_TEXTS = {"builtins.str", "builtins.repr", "builtins.hash", "builtins.format"}


def look(site: Site) -> Iterator[Found]:
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


def _of_thread(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.CONCURRENCY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Number the objects or tasks yourself, in the order in which they are made, and use that.",
    calls=("thread-identity", "sorting"),
    methods=("sorting",),
    look=look,
)
