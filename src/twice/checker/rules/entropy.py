"""Entropy of the system reaches what the run computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules import lasting
from twice.checker.rules.measuring import measures
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import NAMING, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "entropy"
_SECRET: Final = frozenset(
    [
        "token",
        "tokens",
        "secret",
        "secrets",
        "password",
        "salt",
        "nonce",
        "cnonce",
        "auth",
        "csrf",
        "crypto",
        "key",
        "session",
        "credential",
        "credentials",
        "boundary",
        "request",
        "req",
        "trace",
        "span",
        "correlation",
        "connection",
        "socket",
        "upload",
        "tmp",
        "temp",
        "temporary",
        "shm",
        "lock",
        "worker",
        "rendezvous",
        "port",
        "address",
        "mask",
        "masking",
    ]
)
_TRANSPORT: Final = frozenset(
    {"network", "networking", "rpc", "transport", "zmq", "http", "server"}
)
_IDS: Final = frozenset({"uid", "uids", "uuid", "uuids", "guid", "guids"})
_RUNS: Final = frozenset(
    {"job", "task", "run", "runs", "rdzv", "launch", "execution", "experiment", "filename"}
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a draw from the system's entropy."""
    if _is_aside(site):
        return
    if site.catalogue.has("field", site.called):
        yield from _field(site)
        return
    outcome = _reached(site)
    if outcome is not None and not lasting.attribute_of(outcome, _IDS):
        yield _found(site, outcome)


def gather(module: Module) -> dict[str, Any] | None:
    """Give the draws that end in an attribute, and what the file does with such attributes."""
    return lasting.gathered(
        module, "entropy", _IDS, lambda site: None if _is_aside(site) else _reached(site), _found
    )


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report the draws that end in attributes, by what all files do with those."""
    return lasting.weighed(facts)


def _is_aside(site: Site) -> bool:
    return site.called == "random.SystemRandom" or measures(site)


def _found(site: Site, outcome: Outcome) -> Violation:
    return site.found(
        NAME,
        f"{site.called}() takes entropy of the system.",
        "No seed sets it, so two runs have two values",
        outcome=outcome,
        confidence=0.8,
    )


def _reached(site: Site) -> Outcome | None:
    """Give where entropy ends; None where nothing is to be said of it."""
    if _is_default(site):
        return None  # The field says it.
    outcome = site.value()
    if outcome.use is Use.SEED or _is_secret(site, outcome):
        return None  # time-seed says the former.
    if outcome.use.reach is Reach.QUIET and outcome.use is not Use.DROPPED:
        return None
    aside = _is_called_a_name(outcome) or about(site.module.path.replace("/", "_"), _TRANSPORT)
    if outcome.use is Use.BRANCH or (outcome.use < Use.KEY and aside):
        return Outcome(Use.UNSEEN, outcome.node, outcome.way)  # Whether there is one, mostly.
    return outcome


def _is_called_a_name(outcome: Outcome) -> bool:
    """Whether an attribute or a variable on its way says that it holds a name."""
    names = [getattr(each, "attr", getattr(each, "id", "")) for each in outcome.way]
    return any(isinstance(each, str) and about(each, NAMING) for each in names)


def _field(site: Site) -> Iterator[Violation]:
    """Find a field with entropy as its default: every object without a given value differs."""
    given = site.keyword("default_factory") or site.keyword("factory")
    made = None if given is None else _maker(site, given)
    statement = site.module.survey.statement(site.node)
    owner = site.scope
    if made is None or not owner.is_class or not isinstance(statement, ast.AnnAssign):
        return
    names = [getattr(statement.target, "id", ""), owner.name]
    if any(about(each, _SECRET) for each in names) or about(names[0], _RUNS):
        return
    yield site.found(
        NAME,
        f"{made}() is the default of {owner.name}.{names[0]}.",
        "No seed sets it, so every object of two runs that nobody gave one to has two values.",
        confidence=0.85,
    )


def _is_default(site: Site) -> bool:
    """Whether it is made by a field's default."""
    parent = site.module.survey.parents.get(site.scope.node)
    return (
        isinstance(site.scope.node, ast.Lambda)
        and isinstance(parent, ast.keyword)
        and parent.arg in {"default_factory", "factory"}
    )


def _maker(site: Site, given: ast.expr) -> str | None:
    """Give the source of entropy that makes a default, by itself or in a lambda."""
    if isinstance(given, ast.Lambda):
        calls = [each for each in ast.walk(given.body) if isinstance(each, ast.Call)]
    else:
        calls = []
    for each in [given, *(one.func for one in calls)]:
        called = site.qualified(each)
        if site.catalogue.has("entropy", called):
            return called
    return None


def _is_secret(site: Site, outcome: Outcome) -> bool:
    """Whether it is for security, for transport or for a temporary name, by the names around it."""
    function, owner = site.scope.method, site.scope.owner
    names = ["" if scope is None else scope.name for scope in (function, owner)]
    for node in (*outcome.way, outcome.node):
        names.extend(
            name
            for name in (
                getattr(node, "id", ""),
                getattr(node, "attr", ""),
                getattr(node, "arg", ""),
            )
            if isinstance(name, str)
        )
    is_run_id = about(names[0], _RUNS) and about(names[0], _IDS)
    return (
        is_run_id
        or any(about(each, _SECRET) for each in names)
        or any(about(each, _RUNS) for each in names[2:])
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Derive it from the run: a counter in the state, a generator with a seed, a digest of seed and place.",
        __doc__ or "",
    ),
    calls=("entropy", "field"),
    look=look,
    gather=gather,
    conclude=conclude,
)
