"""The state of a run, or what a replay reads, is kept as a pickle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import advances, captures, methods, own_attribute
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "pickle-state"
_STATE: Final = frozenset(
    [
        "state",
        "states",
        "snapshot",
        "snapshots",
        "checkpoint",
        "ckpt",
        "env",
        "environment",
        "world",
        "sim",
        "simulation",
        "simulator",
        "agent",
        "agents",
        "population",
        "buffer",
        "replay",
        "history",
        "trace",
        "episode",
        "trajectory",
        "trajectories",
        "game",
        "memory",
        "rng",
        "recording",
        "transcript",
        "response",
        "responses",
        "cache",
    ]
)
_CACHES: Final = frozenset({"cache"})
_OF_CALLS: Final = frozenset(
    [
        "api",
        "response",
        "responses",
        "reply",
        "replies",
        "call",
        "calls",
        "llm",
        "request",
        "requests",
        "replay",
        "trace",
    ]
)
_KEEPERS: Final = frozenset({"snapshot", "snapshotter", "checkpointer"})
"""What classes are called that keep runs: whatever they pickle is a run's state."""
_EXPORTS: Final = {"state_dict", "params", "weights"}


def look(site: Site) -> Iterator[Violation]:
    """Look at something that is pickled."""
    called = site.called or ""
    subject = site.argument(0, "obj")
    if subject is None or site.has_star or not _is_read_back(site):
        return
    function = site.scope.method
    if function is not None and function.name.startswith("__"):
        return
    name = last_name(subject)
    keeper = site.scope.owner is not None and about(site.scope.owner.name, _KEEPERS)
    if not keeper and (name in _EXPORTS or not _is_state(site, subject, name)):
        return
    is_snapshot = function is not None and captures(function.name) and _is_returned(site)
    if called.endswith(".dumps") and not is_snapshot and not _is_written(site):
        return
    yield site.found(
        NAME,
        f"{called}() keeps {site.module.shown(subject) if len(name) < 40 else name}.",
        "Another version of the code reads another state from it, and equal states have different bytes.",
        confidence=0.8,
    )


def _is_state(site: Site, node: ast.expr, name: str) -> bool:
    if name == "self" or (name == "__dict__" and own_attribute(node)):
        return site.scope.owner is not None and _goes_on(site.scope.owner)
    if isinstance(node, ast.Call):
        return False
    if about(name, _CACHES):
        return about(name, _OF_CALLS)
    return about(name, _STATE)


def _goes_on(owner: Scope) -> bool:
    """Whether a class is of things that change as a run goes on."""
    return about(owner.name, _STATE - _CACHES) or any(
        advances(each.name) for each in methods(owner)
    )


def _is_read_back(site: Site) -> bool:
    """Whether the file reads a pickle, too: what is only written is an export."""
    qualified = site.module.names.qualified
    return any(
        site.catalogue.has("unpickling", qualified(node.func, scope))
        for node, scope in site.module.survey.nodes.get(ast.Call, ())
        if isinstance(node, ast.Call)
    )


def _is_returned(site: Site) -> bool:
    return isinstance(site.module.survey.parents.get(site.node), ast.Return)


def _is_written(site: Site) -> bool:
    return any(each.use is Use.STORED for each in site.ends())


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SNAPSHOT,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Write the fields in a format that says its version: JSON, arrays with dtype and shape.",
        __doc__ or "",
    ),
    calls=("pickling",),
    look=look,
)
