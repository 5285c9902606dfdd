"""What the process or the machine is called reaches what the run computes.

The number of the process, the host's name and the number of its processors are others in another
run or on another machine. Kept as state, returned, hashed or used to decide, they make runs differ.

Give workers numbers of their own, and say in the configuration how many there are. Nothing is said of
logs, of names of files, nor of how much is done at a time.

Bad:
    import os

    class Agent:
        def __init__(self):
            self.key = f"{os.getpid()}-{id(self)}"

or:
    import os

    def chunks(items):
        size = len(items) // os.cpu_count()
        return [items[at : at + size] for at in range(0, len(items), size)]

Good:
    import logging
    import os

    logging.info("process %s", os.getpid())

or:
    import os
    from concurrent.futures import ProcessPoolExecutor

    def pool():
        return ProcessPoolExecutor(max_workers=os.cpu_count())
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.measuring import measures
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Outcome, Use
from twice.checking.syntax.uses.words import about
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


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.EFFECTS,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Give workers numbers of their own, and put what depends on the machine into the configuration.",
    calls=("machine",),
    look=look,
)
