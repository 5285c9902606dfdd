"""The environment is read in the middle of a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.roles import advances, begins
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import TELEMETRY, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "environment-mid-run"
_ASIDE: Final = TELEMETRY | frozenset(
    [
        "key",
        "token",
        "secret",
        "password",
        "auth",
        "home",
        "path",
        "dir",
        "user",
        "display",
        "term",
        "host",
        "port",
        "url",
        "endpoint",
        "address",
        "ci",
        "verbose",
        "level",
        "rank",
        "world",
        "local",
        "master",
        "device",
        "devices",
        "github",
        "headless",
        "test",
        "tests",
    ]
)
_SETTINGS: Final = frozenset(
    ["settings", "setting", "config", "configuration", "options", "env", "environment", "constants"]
)
_RUNS: Final = frozenset(
    [
        "run",
        "train",
        "fit",
        "simulate",
        "evaluate",
        "collect",
        "rollout",
        "step",
        "sample",
        "generate",
    ]
)
_NUMBERS: Final = {"builtins.int", "builtins.float"}
_ASKS: Final = frozenset({"to", "is", "has", "should", "check", "dev"})


def look(site: Site) -> Iterator[Violation]:
    """Look at a read of the environment."""
    node = site.node
    if isinstance(node, ast.Subscript):
        if not isinstance(node.ctx, ast.Load) or site.qualified(node.value) != "os.environ":
            return
        name: ast.AST | None = node.slice
    else:
        name = site.argument(0, "key")
    function = site.scope.method
    if function is not None and about(function.name, _RUNS) and _is_number(site):
        yield from _of_run(site, function.name, name)
        return
    if (
        function is None
        or begins(function.name)
        or not (advances(function.name) or site.scope.owner)
    ):
        return
    if about(site.module.path.rpartition("/")[2].removesuffix(".py"), _SETTINGS):
        return
    said = name.value if isinstance(name, ast.Constant) else ""
    if not isinstance(said, str) or about(said, _ASIDE):
        return
    outcome = site.value()
    if not advances(function.name) or about(function.name, _ASKS):
        if outcome.use not in {Use.BRANCH, Use.STATE}:
            return
        outcome = Outcome(Use.UNSEEN, outcome.node, outcome.way)
    yield site.found(
        NAME,
        f"{function.name}() reads {said or 'a variable'} of the environment.",
        "It is in no configuration, and another shell gives another value",
        outcome=outcome,
        confidence=0.8,
    )


def _is_number(site: Site) -> bool:
    """Whether what is read is made a number on the spot."""
    return any(
        isinstance(each, ast.Call) and site.qualified(each.func) in _NUMBERS
        for each in site.above()[:3]
    )


def _of_run(site: Site, function: str, name: ast.AST | None) -> Iterator[Violation]:
    """Find a number that a run takes from the environment while it runs."""
    said = name.value if isinstance(name, ast.Constant) else ""
    if not isinstance(said, str) or about(said, _ASIDE - {"test", "tests"}):
        return
    outcome = site.value()
    if outcome.use.reach is Reach.QUIET and outcome.use is not Use.DROPPED:
        return
    yield site.found(
        NAME,
        f"{function}() takes a number from {said or 'a variable'} of the environment.",
        "It is in no configuration and in no snapshot, and another shell gives another number.",
        confidence=0.8,
    )


def _suits(node: ast.Subscript, scope: Scope) -> bool:
    """Whether something is read from what may be the environment, by that name or an attribute so called."""
    del scope
    return isinstance(node.ctx, ast.Load) and isinstance(node.value, (ast.Name, ast.Attribute))


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Read it once where the run is set up, put it into the configuration, and record it.",
        __doc__ or "",
    ),
    calls=("environment-read",),
    nodes=(ast.Subscript,),
    look=look,
    suits=_suits,
    applies=mentions("environ"),
)
