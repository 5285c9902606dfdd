"""The rules about workers that race: what is finished first, what arrives first, what several change.

Of an order, where it ends is ``analysis.order``'s to say. Of a race, the file shows who takes part: threads or
processes that it starts, a lock or a time limit that it names.

Invariant: what one worker does alone, and what is sorted or put under its own key afterwards, is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Fix, Reach, Violation
from twice.checker.rule import Breaks
from twice.checker.rules.engine import rule
from twice.checker.rules.orders import report, weigh
from twice.checker.rules.threads import (
    calls_in,
    in_loop,
    is_within,
    of_target,
    parameter_values,
    started,
)
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import COMPREHENSIONS, Scope, targets
from twice.checker.syntax.uses.loads import spelled
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_APPENDING: Final = {"append", "extend", "appendleft"}
_FAILURES: Final = frozenset(
    {"error", "errors", "exc", "exception", "exceptions", "failure", "failures"}
)
_QUEUES: Final = frozenset({"billiard", "multiprocess", "multiprocessing", "queue", "torch"})
_SOCKETS: Final = ("zmq.PULL", "zmq.ROUTER", "zmq.DEALER")
_SIZED: Final = {"max_workers", "processes", "nodes"}
_BY_SIZE: Final = (
    "as_completed", "imap_unordered", "cpu_count", "_max_workers", "sched_getaffinity",
)  # fmt: skip
_TEXTS: Final = {"builtins.str", "builtins.repr", "builtins.hash", "builtins.format"}
_LOAD: Final = "Which worker is done first depends on the load of the machine."


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Go through the futures in the order of submission, or put each result at its own index.",
    calls=("completion-order",),
)
def completion_order(site: Site) -> Iterator[Violation]:
    """Results are taken in the order in which they happened to be finished."""
    message = f"{last_name(site.call)}() gives results in the order in which they are finished."
    why = "Which one is finished first depends on the load of the machine."
    ends = site.module.orders.follow(site.node, site.scope)
    outcome = weigh(ends, races=True)
    around = site.module.survey.parents.get(site.node)
    if outcome is not None and outcome.use is Use.UNSEEN and isinstance(around, ast.Return):
        outcome = Outcome(Use.RETURNED, around)  # That order is what the function gives.
    yield from report(site, outcome, message, why)


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Use imap or map, which keep the order of the inputs.",
    methods=("unordered-pool", "calling-back"),
)
def unordered_pool(site: Site) -> Iterator[Violation]:
    """A pool hands back results in the order in which its workers finish."""
    func, orders, fix = site.call.func, site.module.orders, None
    if not isinstance(func, ast.Attribute):
        return
    if func.attr == "apply_async":
        callback = site.keyword("callback")
        if isinstance(callback, ast.Attribute) and callback.attr in _APPENDING and in_loop(site):
            ends = orders.filled(callback.value, site.scope, callback)
            message = f"{site.module.shown(callback)} is called back in the order in which workers finish."
            yield from report(site, weigh(ends, races=True), message, _LOAD)
        return
    if func.attr == "imap_unordered":
        place = site.module.place(func)
        if place.end_column > len(func.attr):
            name = ast.Name(func.attr, lineno=place.end_line, end_lineno=place.end_line)
            name.end_col_offset = func.end_col_offset or 0
            name.col_offset = name.end_col_offset - len(func.attr)
            fix = Fix("Use imap", safe=True, edits=(site.replaced(name, "imap"),))
    message = f"{func.attr}() gives results in the order in which workers finish."
    ends = orders.follow(site.node, site.scope)
    yield from report(site, weigh(ends, races=True), message, _LOAD, fix=fix)


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Wait for all tasks and go through them in the order in which they were made.",
    calls=("waiting-for-some",),
)
def first_completed(site: Site) -> Iterator[Violation]:
    """A race between tasks decides what happens next."""
    module, current = site.module, site.node
    parents = module.survey.parents
    above = parents.get(current)
    while isinstance(above, (ast.Await, ast.Attribute, ast.Subscript)):
        if isinstance(above, ast.Subscript) and module.source(above.slice) != "0":
            return
        if isinstance(above, ast.Attribute) and above.attr != "done":
            return
        current, above = above, parents.get(above)
    is_done = isinstance(current, (ast.Attribute, ast.Subscript))
    if isinstance(above, ast.Assign):
        target = above.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)):
            target = target.elts[0]
        elif not is_done:
            return
        loads = module.loads.of(target.id, site.scope) if isinstance(target, ast.Name) else []
        ends = [
            end
            for load, scope in loads
            if load.lineno > above.lineno
            for end in module.orders.follow(load, scope)
        ]
    else:
        ends = module.orders.follow(current, site.scope) if is_done else []
    when = site.keyword("return_when")
    message = f"{site.called}() gives the finished tasks as a set, and their order is used."
    why = "The order of a set of tasks follows their addresses in memory."
    if when is not None and "FIRST" in module.source(when):
        message = "What is done first is taken first."
        why = "Which task is done first depends on the load of the machine."
    yield from report(site, weigh(ends, races=True), message, why)


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Send an index along and put each result at its own place, or sort by it when all are there.",
    methods=("taking",),
)
def arrival_order(site: Site) -> Iterator[Violation]:
    """Results of several workers are taken from a queue in the order in which they arrive."""
    func, module = site.call.func, site.module
    if not isinstance(func, ast.Attribute):
        return
    if func.attr == "recv":
        if not module.speaks_of(*_SOCKETS):
            return
    elif _QUEUES.isdisjoint(module.imported) or not _is_of_queue(site):
        return
    elif func.attr == "get_nowait" and _invents(site):
        yield site.violation(
            f"{module.shown(func.value)} is asked without waiting, and something else is done when it is empty.",
            "Whether anything is there yet depends on the load of the machine.",
            reach=Reach.UNSEEN,
            confidence=0.8,
        )
        return
    else:
        kind = site.kind(func.value)
        if kind is None or kind.name != "queue" or not _is_fed_by_several(site, func.value):
            return
    message = f"{module.shown(func.value)} gives the results of several workers in the order in which they arrive."
    yield from report(site, weigh(_iterate_ends(site), races=True), message, _LOAD)


def _is_of_queue(site: Site) -> bool:
    """Whether a call is ``get(block, timeout)``, and not a dictionary's ``get(key)``."""
    return last_name(site.call) != "get" or all(
        isinstance(each, ast.Constant) and isinstance(each.value, (bool, int, float))
        for each in site.call.args
    )


def _iterate_ends(site: Site) -> Iterator[Outcome]:
    """Yield where the order ends in which a loop takes things by a call."""
    orders = site.module.orders
    for each in site.above():
        if isinstance(each, (ast.For, ast.While)):
            yield from orders.looped(each, site.scope, site.call)
            return
        if isinstance(each, COMPREHENSIONS):
            yield from () if isinstance(each, ast.DictComp) else orders.follow(each, site.scope)
            return
        if isinstance(each, _FUNCTIONS):
            return


def _invents(site: Site) -> bool:
    """Whether, where nothing is there, a message is made up that the code after it acts on."""
    statement = site.module.survey.statement(site.node)
    around = site.module.survey.parents.get(statement)
    if not (isinstance(statement, ast.Assign) and isinstance(around, ast.Try) and in_loop(site)):
        return False
    names = {spelled(one) for target in statement.targets for one in targets(target)}
    for each in [each for one in _handlers(around, "Empty") for each in one.body]:
        if isinstance(each, ast.Assign) and names & {
            spelled(one) for target in each.targets for one in targets(target)
        }:
            values = each.value.elts if isinstance(each.value, ast.Tuple) else [each.value]
            return any(not isinstance(one, ast.Constant) or bool(one.value) for one in values)
    return False


def _handlers(node: ast.Try, *names: str) -> list[ast.ExceptHandler]:
    """Return the handlers of some exceptions."""
    return [
        each
        for each in node.handlers
        if each.type is not None
        and any(
            last_name(one) in names
            for one in (each.type.elts if isinstance(each.type, ast.Tuple) else [each.type])
        )
    ]


def _is_fed_by_several(site: Site, queue: ast.expr) -> bool:
    """Whether several processes or threads are started that put things into it."""
    module, word = site.module, spelled(queue)
    for call, scope, _ in module.calls:
        here = module.site(call, scope)
        if last_name(call.func) not in {"Process", "Thread"} or not in_loop(here):
            continue
        work = here.keyword("target")
        function = None if work is None else module.loads.callee(work, scope)
        if work is None or function is None:
            continue
        given = parameter_values(of_target(here, work), function)
        for inner, _ in calls_in(module, function):
            base = inner.func.value if isinstance(inner.func, ast.Attribute) else None
            if base is None or last_name(inner) not in {"put", "put_nowait"}:
                continue
            passed = given.get(base.id) if isinstance(base, ast.Name) else None
            if word in {spelled(base), "" if passed is None else spelled(passed)}:
                return True
    return False


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Return the results and take them in the order of submission, or put each at its own index.",
    calls=("thread",),
    methods=("handing-to-threads",),
)
def thread_append(site: Site) -> Iterator[Violation]:
    """Threads append to one list, and its order is used."""
    start, module = started(site), site.module
    function = (
        None if start is None or not start.several else module.loads.callee(start.work, site.scope)
    )
    if start is None or function is None:
        return
    given = parameter_values(start, function)
    why = f"Which of those started in line {site.call.lineno} is done first depends on the load of the machine."
    for call, scope in calls_in(module, function):
        func = call.func
        if (
            isinstance(func, ast.Attribute)
            and func.attr in _APPENDING
            and not about(
                last_name(func.value), _FAILURES
            )  # Whether there is any is what is asked.
        ):
            here = module.site(call, scope)
            here.rule = site.rule
            ends = _iterate_list_ends(site, func.value, scope, function, given)
            message = f"{module.shown(func.value)} is appended to by several threads."
            yield from report(here, weigh(ends, races=True), message, why, confidence=0.85)


def _iterate_list_ends(
    site: Site, base: ast.expr, scope: Scope, function: Scope, given: dict[str, ast.expr]
) -> Iterator[Outcome]:
    """Yield where the order of a list ends that threads append to."""
    module = site.module
    loads: list[tuple[ast.expr, Scope]] = []
    if isinstance(base, ast.Name):
        holder = module.names.holder(base.id, scope)
        if holder is not None and is_within(holder, function):
            passed = given.get(base.id)
            if holder is not function or not isinstance(passed, ast.Name):
                return
            base, holder = passed, site.scope
        if holder is not None and not _is_fresh(site, base):
            loads.extend(module.loads.of(base.id, holder))
    elif isinstance(base, ast.Attribute) and last_name(base.value) == "self" and function.owner:
        loads.extend(module.loads.of_attribute(base.attr, function.owner))
    if not any(module.loads.is_sorted(load, inner) for load, inner in loads):
        for load, inner in loads:
            if not is_within(inner, function):
                yield from module.orders.follow(load, inner)


def _is_fresh(site: Site, given: ast.Name) -> bool:
    """Whether each thread is given a list of its own, made in the loop that starts it."""
    loop = next((each for each in site.above() if isinstance(each, _LOOPS)), None)
    inside = set() if loop is None else set(ast.walk(loop))
    assigned = site.module.names.bindings(given.id, site.scope)
    return any(each.kind == "assign" and each.node in inside for each in assigned)


@rule(
    Channel.CONCURRENCY,
    Breaks.BIT_EXACT,
    Severity.LOW,
    "Say how many workers there are, and divide the work by a number of your own.",
    calls=("executor", "pool"),
)
def unnamed_executor(site: Site) -> Iterator[Violation]:
    """A pool is as large as the machine, and the result depends on how the work was divided."""
    call = site.call
    said = call.args or site.has_star or any(each.arg in _SIZED for each in call.keywords)
    if not said and site.module.speaks_of(*_BY_SIZE):
        yield site.violation(
            f"{site.called}() has no number of workers.",
            "It takes as many as the machine has processors, and the order or the division of the work follows.",
            confidence=0.7,
        )


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Number the objects or tasks yourself, in the order in which they are made, and use that.",
    calls=("thread-identity", "sorting"),
    methods=("sorting",),
)
def identity_key(site: Site) -> Iterator[Violation]:
    """A key or an order is made of an address or of the name of a thread."""
    if site.catalogue.has("thread-identity", site.called):
        yield from _look_at_thread(site)
        return
    key = site.keyword("key")
    inside = [] if key is None else [key, *ast.walk(key)]
    if any(
        site.qualified(each.func if isinstance(each, ast.Call) else each) == "builtins.id"
        for each in inside
        if each is key or isinstance(each, ast.Call)
    ):
        in_place = last_name(site.call) == "sort"
        ends = (
            [Outcome(Use.STATE, site.node)]
            if in_place
            else site.module.orders.follow(site.node, site.scope)
        )
        message = "Elements are ordered by id(): by their addresses in memory."
        why = "Another run puts the same objects at other addresses."
        yield from report(site, weigh(ends), message, why, confidence=0.95)


def _look_at_thread(site: Site) -> Iterator[Violation]:
    """Find a thread's name or number that becomes a value."""
    parents = site.module.survey.parents
    parent = parents.get(site.node)
    number = (site.called or "").endswith(("get_ident", "get_native_id"))
    text: ast.AST | None = None
    if isinstance(parent, ast.Call) and site.qualified(parent.func) in _TEXTS:
        text = parent
    elif isinstance(parent, ast.FormattedValue):
        text = parents.get(parent)
    elif isinstance(parent, ast.Attribute) and parent.attr in {"name", "ident", "native_id", "pid"}:
        text, number = parent, number or parent.attr != "name"
    if text is None and not number:
        return
    outcome = site.value(text)
    if outcome.use is Use.BRANCH or (number and outcome.use in {Use.KEY, Use.UNSEEN, Use.STATE}):
        return  # Its own table, a lock's owner.
    yield site.violation(
        f"The identity of a thread, from {site.called}(), is used as a value.",
        "Threads get other names and numbers in another run.",
        outcome=outcome,
        confidence=0.85,
    )
