"""A default value reads a clock.

A default is evaluated once, when the module is imported: every call of every run in this process
gets the moment of the import, and every process another one. A field's default of a dataclass that
is made by a clock puts the real time into every object that nobody gave a time to.

Give None as the default and take the time from the run, or ask for it.

Bad:
    from datetime import datetime

    class World:
        def __init__(self, name, now=datetime.now()):
            self.now = now

or:
    from dataclasses import dataclass, field
    import time

    @dataclass
    class Event:
        kind: str
        at: float = field(default_factory=time.time)

or:
    from datetime import datetime
    from pydantic import BaseModel, Field

    class Result(BaseModel):
        score: float
        timestamp: str = Field(default_factory=lambda: datetime.now().isoformat())

Good:
    class World:
        def __init__(self, name, now):
            self.now = now

or:
    import time

    def wait(timeout, clock=time.monotonic):
        end = clock() + timeout
        while clock() < end:
            time.sleep(0.1)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.checking.syntax.survey import Scope
from twice.checking.syntax.uses.words import LABEL, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "default-argument-clock"


def look(site: Site) -> Iterator[Found]:
    """Look at a reading of a clock, and at a field that is given one."""
    node = site.node
    if site.catalogue.has("field", site.called):
        for name in ("default_factory", "factory", "default"):
            given = site.keyword(name)
            if given is not None and site.catalogue.has("clock", site.qualified(given)):
                yield _field(site, given, site.qualified(given) or "A clock")
        return
    where = frozen(site)
    if isinstance(where, ast.arguments):
        yield site.found(
            NAME,
            f"{site.called}() is the default of an argument: it is read once, at import.",
            "Each process freezes the moment of its import into every call that leaves it out.",
            confidence=0.95,
        )
    elif where is not None:
        yield _field(site, node, f"{site.called}()")


def _field(site: Site, node: ast.AST, clock: str) -> Found:
    return site.found(
        NAME,
        f"{clock.removesuffix('()')}() is the default of a field.",
        "Every object that nobody gave a time to keeps the real one, so two runs keep two.",
        node=node,
        reach=Reach.UNSEEN,  # Who reads it is not known.
        confidence=0.9,
    )


def frozen(site: Site) -> ast.AST | None:
    """Give the arguments, or the field's call, that a clock is the default of; None elsewhere."""
    survey = site.module.survey
    scope: Scope = site.scope
    if scope.node.__class__ is ast.Lambda:
        parent = survey.parents.get(scope.node)
        if isinstance(parent, ast.keyword) and parent.arg in {"default_factory", "factory"}:
            return survey.parents.get(parent)
        return None
    for above in survey.above(site.node):
        if isinstance(above, ast.arguments):
            return above
        if isinstance(above, ast.stmt):
            if isinstance(above, ast.AnnAssign) and scope.is_class:
                name = above.target.id if isinstance(above.target, ast.Name) else ""
                return None if about(name, LABEL - {"timestamp", "stamp"}) else above
            return None
    return None


RULE = Rule(
    name=NAME,
    channel=Channel.EFFECTS,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Make None the default and take the time from the run when it is needed.",
    calls=("clock", "field"),
    look=look,
)
