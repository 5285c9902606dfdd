"""Entropy of the system reaches what the run computes.

``uuid4``, ``os.urandom`` and ``secrets`` give other values in every run, and no seed sets them. An
identifier from them that is kept as state, returned as data, used as a key or hashed makes every
record of two runs differ.

Derive identifiers from the run: a counter in the state, a digest of seed and place. Nothing is said
of names of temporary files, of runs, of tokens and keys of security.

Bad:
    import uuid

    class Agent:
        def __init__(self, model):
            self.agent_id = uuid.uuid4()
            model.agents[self.agent_id] = self

or:
    import secrets

    class Lottery:
        def draw(self, tickets):
            return tickets[secrets.randbelow(len(tickets))]

or:
    from uuid import UUID, uuid4
    from pydantic import BaseModel, Field

    class Record(BaseModel):
        text: str
        record_id: UUID = Field(default_factory=uuid4)

Good:
    class Agent:
        def __init__(self, model):
            model.count += 1
            self.agent_id = model.count
            model.agents[self.agent_id] = self

or:
    import os
    import uuid

    def scratch(folder):
        path = os.path.join(folder, f"{uuid.uuid4()}.tmp")
        return open(path, "wb")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules import lasting
from twice.checking.rules.measuring import measures
from twice.checking.syntax.module import Module, Site
from twice.checking.syntax.uses.outcomes import Outcome, Use
from twice.checking.syntax.uses.words import NAMING, about
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


def look(site: Site) -> Iterator[Found]:
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


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report the draws that end in attributes, by what all files do with those."""
    return lasting.weighed(facts)


def _is_aside(site: Site) -> bool:
    return site.called == "random.SystemRandom" or measures(site)


def _found(site: Site, outcome: Outcome) -> Found:
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


def _field(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.EFFECTS,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Derive it from the run: a counter in the state, a generator with a seed, a digest of seed and place.",
    calls=("entropy", "field"),
    look=look,
    gather=gather,
    conclude=conclude,
)
