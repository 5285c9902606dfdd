"""The rules about reads of the world. Each is a row: a group of the catalogue, where its values must not end, what to do.

Where a value ends is the business of the value analysis; a row says which ends make it data of the run. An end that
was not seen, or one in code that is no part of a run's steps, makes a finding that is doubted.

Invariant: names make a finding quieter and never louder.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from twice.checker.analysis.roles import advances, begins
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import BESIDE, TELEMETRY, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

DATA: Final = frozenset({Use.RETURNED, Use.STATE, Use.STORED, Use.KEY, Use.DIGEST})
_MATTERS: Final = DATA | {Use.BRANCH}
_WORKERS: Final = frozenset(
    ["backend", "cpu", "cpus", "fork", "host", "hostname", "jobs", "lock", "machine", "parent", "pid", "process", "processes", "rank", "socket", "thread", "tmp", "worker", "workers"]
)  # fmt: skip
# Variables that say where things are, who asks, or how much is told.
_VARIABLES: Final = TELEMETRY | frozenset(
    ["auth", "cache", "ci", "dir", "display", "endpoint", "home", "host", "key", "level", "password", "path", "port", "secret", "term", "token", "url", "user", "verbose"]
)  # fmt: skip
_SIZES: Final = frozenset(
    ["batch", "batches", "size", "workers", "jobs", "threads", "processes", "chunk", "count", "parallel", "concurrency"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WorldRow:
    """What is said of a read of the world.

    Args:
        message: a sentence with ``{called}`` and ``{function}`` in it.
        why: how two runs differ.
        sinks: the ends that make the value data of the run.
        beside: words in the name of a function, its class or its file that is there for something else.
        passed: words in the names that the value passes which say that it is no data.
        in_run: whether only parts of a run are looked at, and only its steps are believed.
        doubts: whether a value whose end is another one, or was not seen, is spoken of.
        confidence: 0 to 1.
        ends: gives the ends of the value.
    """

    message: str
    why: str
    sinks: frozenset[Use] = _MATTERS
    beside: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    in_run: bool = False
    doubts: bool = True
    confidence: float = 0.8
    ends: Callable[[Site], list[Outcome]] = Site.ends

    def find(self, site: Site) -> tuple[Violation, Outcome] | None:
        """Return what is to be said of a read, and where its value ends."""
        function = site.scope.method
        if self.in_run and (function is None or begins(function.name)):
            return None
        stem = site.module.path.rpartition("/")[2].removesuffix(".py")
        names = [each.name for each in (function, site.scope.owner) if each is not None]
        if any(about(each, self.beside) for each in (names if self.in_run else [*names, stem])):
            return None
        outcome = gravest(self.ends(site), Outcome(Use.UNSEEN, site.node))
        is_quiet = outcome.use.reach is Reach.QUIET
        if (
            outcome.use is Use.DROPPED
            or (is_quiet and (self.in_run or not self.doubts))
            or (self.passed and any(about(each, self.passed) for each in _passed(outcome)))
        ):
            return None
        name = "" if function is None else function.name
        is_data = outcome.use in self.sinks
        if not is_data and not self.doubts:
            return None
        is_elsewhere = outcome.use > Use.UNSEEN and not is_data
        if is_elsewhere or (self.in_run and not advances(name)):
            outcome = replace(outcome, use=Use.UNSEEN, open=())
        called = (site.called or site.module.shown(site.node)).removeprefix(LOCAL)
        message = self.message.format(called=called, function=name)
        found = site.violation(message, self.why, outcome=outcome, confidence=self.confidence)
        return found, outcome


def _passed(outcome: Outcome) -> Iterator[str]:
    """Yield the names and texts that a value passes on its way."""
    for node in (*outcome.way, outcome.node):
        if isinstance(node, ast.Constant):
            yield str(node.value)
        for field in ("id", "attr", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


def make_rule(
    name: str,
    title: str,
    remedy: str,
    row: WorldRow,
    *groups: str,
    breaks: Breaks = Breaks.LOGICAL,
    **more: Any,
) -> Rule:
    """Make a rule of a row; ``more`` are fields of ``Rule``."""

    def look(site: Site) -> Iterator[Violation]:
        found = row.find(site)
        if found is not None:
            yield found[0]

    facts = RuleFacts(name, Channel.EFFECTS, breaks, Severity.MEDIUM, remedy, title)
    return Rule(facts, calls=groups, **{"look": look, **more})


_LOCAL_FORMATS: Final = frozenset(
    ["arrow", "audiofolder", "csv", "imagefolder", "json", "pandas", "parquet", "text", "webdataset", "xml"]
)  # fmt: skip
_VERIFYING: Final = frozenset(
    ["check", "checksum", "integrity", "sha256", "sha512", "validate", "verify"]
)
_NETWORK: Final = WorldRow(
    "{function}() asks the network by {called}().",
    "The answer is another one at another time",
    in_run=True,
)


def _look_at_network(site: Site) -> Iterator[Violation]:
    """Find an answer that a run uses, and a download of whatever its name stands for on that day."""
    if not site.catalogue.has("download", site.called):
        found = _NETWORK.find(site)
        if found is not None:
            yield found[0]
        return
    pin, first = site.catalogue.names("download")[site.called or ""], site.argument(0, "path")
    named = first.value if isinstance(first, ast.Constant) else None
    calls = [] if site.scope.method is None else ast.walk(site.scope.method.node)
    if (
        site.has_star
        or (pin and site.keyword(pin) is not None)
        or site.keyword("data_files") is not None
        or named in _LOCAL_FORMATS
        or any(isinstance(each, ast.Call) and about(last_name(each), _VERIFYING) for each in calls)
    ):
        return
    yield site.violation(
        f"{site.called}() takes what the name stands for on that day.",
        "Nothing pins a version or compares a digest, so a later run computes with other data.",
        reach=Reach.UNSEEN if pin and named is None else Reach.LOUD,
        confidence=0.75,
    )


network = make_rule(
    "network",
    "What the network answers reaches the run.",
    "Ask before the run and keep the answer with its digest, pin a revision, or make the call a recorded effect.",
    _NETWORK,
    "network",
    "download",
    look=_look_at_network,
)
child_output = make_rule(
    "child-output",
    "What another program prints is used as data in a run.",
    "Run it before and keep what came, or make the call a recorded effect.",
    WorldRow(
        "{function}() uses what {called}() gives.",
        "Another machine or another moment gives another output",
        in_run=True,
        doubts=False,
    ),
    "child",
)
unrecorded_input = make_rule(
    "unrecorded-input",
    "A run asks a person, or reads what is typed, in the middle.",
    "Take the answer from a recorded effect, or from a script that belongs to the run.",
    WorldRow(
        "{function}() asks for input by {called}().",
        "What is typed is in no record, so the run cannot be repeated",
        in_run=True,
    ),
    "asking-people",
)


def _find_identity(site: Site) -> list[Outcome]:
    """Return the ends of a process's number or a machine's name; whether it is still the same says nothing."""
    above = site.above()
    if isinstance(above[0], ast.Compare) or any(isinstance(each, ast.arguments) for each in above):
        return [Outcome(Use.DROPPED, site.node)]
    return site.ends()


process_identity = make_rule(
    "process-identity",
    "What the process or the machine is called reaches what the run computes.",
    "Give workers numbers of their own, and put what depends on the machine into the configuration.",
    WorldRow(
        "{called}() asks what the process or the machine is.",
        "Another run or another machine has another answer",
        sinks=DATA - {Use.KEY},  # Tables by thread are fine.
        beside=BESIDE | _WORKERS,
        passed=_WORKERS,
        doubts=False,
        confidence=0.75,
        ends=_find_identity,
    ),
    "machine",
    breaks=Breaks.BIT_EXACT,
)


def _find_sizing(site: Site) -> list[Outcome]:
    """Return the branches that decide by the machine's load how much is done at once."""
    return [each for each in site.ends() if each.use is Use.BRANCH and _sets_size(site, each.node)]


def _sets_size(site: Site, branch: ast.AST) -> bool:
    bodies = (
        [*getattr(branch, "orelse", ()), *getattr(branch, "body", ())]
        if isinstance(branch, ast.stmt)
        else []
    )
    for one in bodies or [site.module.survey.statement(branch)]:
        for each in ast.walk(one):
            targets = getattr(each, "targets", [getattr(each, "target", None)])
            if isinstance(each, (ast.Assign, ast.AugAssign)) and any(
                about(last_name(target), _SIZES) for target in targets
            ):
                return True
    return False


host_load = make_rule(
    "host-load",
    "How busy the machine is decides what a run does.",
    "Take sizes and numbers of workers from the configuration, and record them.",
    WorldRow(
        "The load of the machine decides how much is done at once.",
        "Two runs find the machine otherwise busy",
        sinks=frozenset({Use.BRANCH}),
        doubts=False,
        confidence=0.85,
        ends=_find_sizing,
    ),
    "host-load",
    methods=("host-load",),
    once_per_function=True,
)


def _suits_environment(node: ast.Subscript, _: Scope) -> bool:
    return isinstance(node.ctx, ast.Load) and isinstance(node.value, (ast.Name, ast.Attribute))


@rule(
    Channel.EFFECTS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Read it once where the run is set up, put it into the configuration, and record it.",
    calls=("environment-read",),
    nodes=(ast.Subscript,),
    suits=_suits_environment,
    applies=mentions("environ"),
)
def environment_mid_run(site: Site) -> Iterator[Violation]:
    """The environment is read in the middle of a run."""
    node, function = site.node, site.scope.method
    name: ast.AST | None
    if isinstance(node, ast.Subscript):
        if site.qualified(node.value) != "os.environ":
            return
        name = node.slice
    else:
        name = site.argument(0, "key")
    said = name.value if isinstance(name, ast.Constant) else ""
    if function is None or not isinstance(said, str) or about(said, _VARIABLES):
        return
    if begins(function.name):
        return
    outcome = site.value()
    if outcome.use.reach is Reach.QUIET:
        return
    if not advances(function.name):
        outcome = replace(outcome, use=Use.UNSEEN, open=())
    yield site.violation(
        f"{function.name}() reads {said or 'a variable'} of the environment.",
        "It is in no configuration and in no snapshot, and another shell gives another value",
        outcome=outcome,
        confidence=0.8,
    )


_TESTS: Final = frozenset(
    ["test", "tests", "testing", "unittest", "pytest", "mock", "mocks", "fixture", "fixtures", "conftest"]
)  # fmt: skip


def _replaces_attribute(node: ast.Assign, _: Scope) -> bool:
    """Whether an attribute is set that may be a module's: ``time.time = …``."""
    return any(
        isinstance(each, ast.Attribute)
        and isinstance(each.value, (ast.Name, ast.Attribute))
        and getattr(each.value, "id", "") != "self"
        for each in node.targets
    )


@rule(
    Channel.EFFECTS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Hand the part in as an argument, and give a real stand-in where one is needed.",
    calls=("mocks",),
    nodes=(ast.Assign,),
    suits=_replaces_attribute,
    once_per_function=True,
)
def mock_outside_tests(site: Site) -> Iterator[Violation]:
    """Code that is no test replaces parts of the program by mocks."""
    node, module = site.node, site.module
    if isinstance(node, ast.Assign):
        world = site.catalogue.together("clock", "entropy", "global-draws")
        named = [each for each in node.targets if isinstance(each, ast.Attribute)]
        replaced = [each for each in named if site.qualified(each) in world]
        what = f"{module.shown(replaced[0])} is replaced" if replaced else ""
    else:
        what = f"{module.shown(site.call.func)}() is called"
    if not what or _is_of_tests(site):
        return
    decorated = [each for each in site.scope.inner if each.node is module.survey.parents.get(node)]
    yield site.at(node, decorated[0] if decorated else site.scope).violation(
        f"{what} by code that is no test.",
        "While a mock is active, another program runs than the one that is read and recorded.",
    )


def _is_of_tests(site: Site) -> bool:
    """Whether the file, or a function or class around the place, is called a test or a fixture."""
    module = site.module
    folders = module.path.removesuffix(".py").split("/")
    around = [
        each.name
        for each in site.above()
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    if any(about(each, _TESTS) for each in (*folders, *around)):
        return True
    return "pytest" in module.imported or module.speaks_of("unittest.TestCase")
