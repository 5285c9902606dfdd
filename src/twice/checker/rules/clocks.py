"""The rules about clocks that ask for more than where a time ends: loops, defaults of arguments, times of files.

Invariant: a loop that waits for something is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.clock_and_entropy import find_factory, find_frozen
from twice.checker.rules.effects import DATA, WorldRow, make_rule
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import BESIDE, TELEMETRY, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_WAITS: Final = frozenset(
    ["sleep", "poll", "wait", "recv", "receive", "select", "read", "readline", "get_nowait", "join", "retry", "connect", "accept", "listen", "ping", "request", "response", "alive", "ready", "frame", "chunk", "queue", "download", "message", "messages"]
)  # fmt: skip
_THREAD: Final = "threading.Thread"
_KEEPS: Final = {"append", "extend", "add", "update", "insert", "push"}
_FILE_TIMES: Final = {"st_mtime", "st_ctime", "st_mtime_ns", "st_ctime_ns"}
_STEPPING: Final = frozenset({"step", "update", "tick", "advance", "integrate", "simulate", "move"})


def _is_clock(site: Site, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and site.catalogue.has("clock", site.qualified(node.func))


@rule(
    Channel.EFFECTS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Limit by a count of steps or attempts; let a time limit fail, or record how far it came.",
    methods=("joining",),
    nodes=(ast.While, ast.For),
    applies=mentions("time"),
)
def time_limited_work(site: Site) -> Iterator[Violation]:
    """How much is made is decided by the clock: things are made until a time is over, and are kept."""
    node = site.node
    if isinstance(node, ast.Call):
        yield from _find_stopped_thread(site)
        return
    assert isinstance(node, (ast.While, ast.For)), "loops are asked for"
    scopes = (site.scope.method, site.scope.owner)
    if any(each is not None and about(each.name, BESIDE) for each in scopes):
        return
    tests = [node.test] if isinstance(node, ast.While) else []
    tests += [
        each.test
        for each in node.body
        if isinstance(each, ast.If) and each.body and isinstance(each.body[-1], ast.Break)
    ]
    found = next(
        (clock for test in tests for clock in _find_compared_clocks(site, node, test)), None
    )
    if found is not None and not _waits(node) and _keeps(node):
        yield site.violation(
            "A loop goes on until a time is over, and what it made until then is kept.",
            "A faster or less busy machine gets further, so two runs with one seed keep different things.",
            node=found,
            confidence=0.8,
        )


def _find_stopped_thread(site: Site) -> Iterator[Violation]:
    """Find a thread that is waited for until a time is over, and is told to stop then, so that it gives what it has."""
    function, call = site.scope.method, site.call
    waited = call.func.value if isinstance(call.func, ast.Attribute) else None
    if function is None or not isinstance(waited, ast.Name) or not (call.args or call.keywords):
        return
    made = [each.node for each in site.module.names.bindings(waited.id, site.scope)]
    if not any(
        isinstance(each, ast.Call) and site.qualified(each.func) == _THREAD for each in made
    ):
        return
    loop = next((each for each in site.above() if isinstance(each, ast.While)), None)
    if loop is not None and not any(isinstance(each, ast.Break) for each in ast.walk(loop)):
        return  # It is waited for as long as it takes.
    stops = [
        each.lineno
        for each in ast.walk(function.node)
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == "set"
        and not each.args
    ]
    if stops and min(stops) > call.lineno:
        yield site.violation(
            f"{waited.id} is waited for until a time is over, and is told to stop then.",
            "A faster or less busy machine gets further, so two runs with one seed return different things.",
            confidence=0.8,
        )


def _find_compared_clocks(
    site: Site, loop: ast.While | ast.For, test: ast.expr
) -> Iterator[ast.AST]:
    """Yield the clocks that are read in a comparison of a condition, or right before it in the loop."""
    assigned = {
        each.targets[0].id: each.value
        for each in loop.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    for each in ast.walk(test):
        if isinstance(each, ast.Compare) and isinstance(
            each.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
        ):
            for side in (each.left, *each.comparators):
                read = assigned.get(side.id, side) if isinstance(side, ast.Name) else side
                yield from (one for one in ast.walk(read) if _is_clock(site, one))


def _waits(node: ast.While | ast.For) -> bool:
    """Whether the loop waits for something, or polls it."""
    return any(
        isinstance(each, ast.Await)
        or (isinstance(each, ast.Call) and about(last_name(each), _WAITS))
        or (isinstance(each, ast.Try) and len(node.body) == 1)
        for one in node.body
        for each in ast.walk(one)
    )


def _keeps(node: ast.While | ast.For) -> bool:
    """Whether something that the loop made is kept after it: not for a log, nor a mere count."""
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in _KEEPS
        and bool(each.args)
        and not about(last_name(each.func.value), TELEMETRY)
        for one in node.body
        for each in ast.walk(one)
    )


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Step by a fixed time, as often as is needed to catch up with the clock.",
    nodes=(ast.While,),
    applies=mentions("sleep"),
)
def sleep_paced_tick(site: Site) -> Iterator[Violation]:
    """A simulation takes its time step from the clock."""
    nodes = list(ast.walk(site.node))
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    clocks = {each for each in calls if _is_clock(site, each)}
    if not clocks or not any(last_name(each) == "sleep" for each in calls):
        return
    spans: set[str] = set()  # Names in the loop that hold a time or the difference of two.

    def mentions_span(node: ast.AST) -> bool:
        return any(each in clocks or getattr(each, "id", "") in spans for each in ast.walk(node))

    for each in nodes:
        if isinstance(each, ast.Assign) and mentions_span(each.value):
            spans |= {name.id for name in each.targets if isinstance(name, ast.Name)}
    for call in calls:
        given = [*call.args, *(each.value for each in call.keywords)]
        if about(last_name(call), _STEPPING) and any(map(mentions_span, given)):
            yield site.violation(
                f"{site.module.shown(call.func)}() is given the time that went by on the clock.",
                "The scheduler of the machine decides how long each step is.",
                node=call,
            )
            return


@rule(
    Channel.EFFECTS,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Make None the default and take the time from the run when it is needed.",
    calls=("clock", "field"),
)
def default_argument_clock(site: Site) -> Iterator[Violation]:
    """A default value reads a clock."""
    if site.catalogue.has("field", site.called):
        made = find_factory(site, "clock")
        if made is not None:
            yield _find_field(site, *made)
        return
    where = find_frozen(site)
    if isinstance(where, ast.arguments):
        yield site.violation(
            f"{site.called}() is the default of an argument: it is read once, at import.",
            "Each process freezes the moment of its import into every call that leaves it out.",
            confidence=0.95,
        )
    elif where is not None:
        yield _find_field(site, site.node, site.called or "A clock")


def _find_field(site: Site, node: ast.AST, called: str) -> Violation:
    return site.violation(
        f"{called}() is the default of a field.",
        "Every object that nobody gave a time to keeps the real one, so two runs keep two.",
        node=node,
        reach=Reach.UNSEEN,  # Who reads it is not known.
    )


@rule(
    Channel.EFFECTS,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Give a fixed time: gzip.compress(data, mtime=0), gzip.GzipFile(…, mtime=0).",
    calls=("compressing",),
)
def compressed_time(site: Site) -> Iterator[Violation]:
    """A compressed file says in its first bytes when it was made."""
    called = site.called or ""
    mode = site.argument(1, "mode")
    written = str(getattr(mode, "value", ""))
    if called == "tarfile.open":
        is_stamped = written in {"w:gz", "x:gz", "w|gz"}
    else:
        is_stamped = called == "gzip.compress" or written[:1] in {"w", "x", "a"}
    if is_stamped and site.keyword("mtime") is None and not site.has_star:
        yield site.violation(
            f"{called}() writes the present time into what it makes.",
            "Equal contents get other bytes, and another digest, in every run.",
            confidence=0.8,
        )


def _suits_file_time(node: ast.Attribute, _: Scope) -> bool:
    return isinstance(node.ctx, ast.Load) and node.attr in _FILE_TIMES


file_time = make_rule(
    "file-time",
    "The time of a file reaches what the run computes.",
    "Take a date from the contents or the name, and compare digests to see what has changed.",
    WorldRow(
        "{called} is when a file was changed.",
        "A copied or newly checked out folder has other times",
        sinks=DATA - {Use.RETURNED},
        beside=BESIDE,
        doubts=False,
        ends=lambda site: site.module.values.follow(site.node, site.scope, is_time=True),
    ),
    "file-time",
    nodes=(ast.Attribute,),
    suits=_suits_file_time,
    applies=mentions("time"),
)
