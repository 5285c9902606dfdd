"""What the process or the machine is called reaches what the run computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.measuring import measures
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "process-identity"
_QUIET: Final = frozenset(
    [
        "worker",
        "workers",
        "job",
        "jobs",
        "proc",
        "procs",
        "process",
        "processes",
        "thread",
        "threads",
        "pool",
        "cpu",
        "processor",
        "processors",
        "cpus",
        "core",
        "cores",
        "pid",
        "parent",
        "fork",
        "forked",
        "host",
        "hostname",
        "machine",
        "node",
        "rank",
        "lock",
        "socket",
        "port",
        "address",
        "backend",
        "tmp",
        "temp",
        "parallel",
        "parallelism",
        "concurrency",
        "device",
        "devices",
        "env",
        "info",
        "meta",
        "metadata",
        "platform",
        "version",
    ]
)
_LOUD: Final = {Use.DIGEST, Use.RETURNED, Use.STATE, Use.STORED}  # Tables by thread are fine.


def look(site: Site) -> Iterator[Violation]:
    """Look at a question for the process or the machine."""
    if measures(site) or any(isinstance(each, ast.arguments) for each in site.above()):
        return  # How many workers there are by default.
    if isinstance(site.module.survey.parents.get(site.node), ast.Compare):
        return  # Whether it is still the same process.
    outcome = site.value()
    if outcome.use not in _LOUD or _is_of_workers(site, outcome):
        return
    yield site.found(
        NAME,
        f"{site.called}() asks what the process or the machine is.",
        "Another run or another machine has another answer",
        outcome=outcome,
        confidence=0.75,
    )


def _is_of_workers(site: Site, outcome: Outcome) -> bool:
    """Whether it is how many work, which worker it is, or a description of the machine, by the names around."""
    function, owner = site.scope.method, site.scope.owner
    names = [scope.name for scope in (function, owner) if scope is not None]
    for node in (*outcome.way, outcome.node):
        if isinstance(node, ast.Constant):
            names.append(str(node.value))
        names.extend(
            name
            for name in (getattr(node, "id", ""), getattr(node, "attr", ""))
            if isinstance(name, str)
        )
    return any(about(each, _QUIET) for each in names[:8])


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Give workers numbers of their own, and put what depends on the machine into the configuration.",
        __doc__ or "",
    ),
    calls=("machine",),
    look=look,
)
