"""The rules about what several workers change without an order: a number, a table, a queue that may be full or empty.

Each asks for a sign in the file that others take part: a started thread, a lock, a time limit.

Invariant: what is found says which of two workers comes first, and not only that there are two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.analysis.places import is_draw
from twice.checker.analysis.roles import advances
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.engine import rule
from twice.checker.rules.threads import is_within, started
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.loads import spelled
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import TELEMETRY, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_LOCKS: Final = frozenset({"lock", "mutex", "semaphore"})
_CACHES: Final = frozenset({"cache", "caches", "memo", "store"})
_STARTING: Final = ("Thread(", "Process(", "Executor(", ".submit(", "to_thread(", "Pool(")
_ASKING: Final = frozenset({"empty", "poll", "qsize"})
_TAKING: Final = frozenset({"get", "get_nowait", "recv"})
_FILLING: Final = frozenset(
    ["add", "append", "appendleft", "extend", "insert", "put", "set", "update"]
)
_LOOPS_AND_FUNCTIONS: Final = (ast.While, ast.For, ast.FunctionDef, ast.AsyncFunctionDef)
_LIMITS: Final = {"Full", "Timeout", "TimeoutError", "TimeoutExpired"}
_TRAINING: Final = frozenset({"fit", "learn", "train", "trainer", "training"})
_TELLS: Final = {"print", "warn", "warning", "info", "debug", "error", "exception", "log"}
_CLAIMING: Final = {"os.link", "os.rename", "os.replace", "shutil.move"}


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Let each worker return its part, and put the parts together in the order of submission.",
    calls=("thread",),
    methods=("handing-to-threads",),
)
def thread_race(site: Site) -> Iterator[Violation]:
    """Threads change a number or a table that they share."""
    start, module = started(site), site.module
    function = None if start is None else module.loads.callee(start.work, site.scope)
    if start is None or function is None:
        return
    nodes = [
        each
        for one in getattr(function.node, "body", ())
        for each in (ast.walk(one) if isinstance(one, ast.AST) else ())
    ]
    for each in nodes:
        if isinstance(each, ast.AugAssign) and start.several:
            shared, words = _is_shared(each.target, function), "is changed by several threads"
            if shared and _is_locked(site, each):
                kind = module.kinds.of(each.target, function)
                shared = kind is not None and kind.name == "float"
                words = "adds up floats in the order in which threads come"
            if shared and not about(last_name(each.target), TELEMETRY):
                here = module.site(each, function)
                here.rule = site.rule
                yield here.violation(
                    f"{module.shown(each.target)} {words}.",
                    f"Those started in line {site.call.lineno} read and write it in another order in each run.",
                    confidence=0.85,
                )
        elif (place := _find_filled(each)) is not None and _is_table(
            site, place, function, start.several
        ):
            yield site.violation(
                f"{module.shown(place)} is filled by a thread while others read it.",
                f"What is put there in line {place.lineno} is there sooner or later, by the load of the machine.",
                confidence=0.75,
            )


def _is_shared(target: ast.AST, function: Scope) -> bool:
    """Whether a place is one that each run of a function finds again."""
    if isinstance(target, ast.Name):
        return target.id in function.global_names | function.nonlocal_names
    if isinstance(target, ast.Subscript):
        target = target.value
        return isinstance(target, ast.Name) and target.id not in function.bindings
    return (
        isinstance(target, ast.Attribute)
        and last_name(target.value) == "self"
        and function.owner is not None
    )


def _is_locked(site: Site, node: ast.AST) -> bool:
    return any(
        isinstance(each, (ast.With, ast.AsyncWith))
        and any(about(last_name(item.context_expr), _LOCKS) for item in each.items)
        for each in site.module.survey.above(node)
    )


def _find_filled(node: ast.AST) -> ast.expr | None:
    """Return the container that a node puts something into under a key."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return (
            node.func.value
            if node.func.attr in {"set", "setdefault", "update"} and node.args
            else None
        )
    return None


def _is_table(site: Site, place: ast.expr, function: Scope, several: bool) -> bool:
    """Whether it is a module's dict that is read elsewhere, or a cache that outlives the call."""
    module = site.module
    if not isinstance(place, ast.Name):
        return False
    holder = module.names.holder(place.id, function)
    if holder is None or is_within(holder, function):
        return False
    if about(place.id, _CACHES):
        return True
    kind = module.kinds.of(place, function)
    return (
        several
        and holder is module.survey.root
        and kind is not None
        and kind.name == "dict"
        and any(not is_within(scope, function) for _, scope in module.loads.of(place.id, holder))
    )


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Wait for a number of results that is known beforehand, or for a mark that says that there are no more.",
    nodes=(ast.While, ast.Try),
    applies=mentions("queue", "Queue", "multiprocessing", ".poll(", ".empty()"),
)
def queue_drain(site: Site) -> Iterator[Violation]:
    """How much is taken from a queue depends on what has arrived by then."""
    node = site.node
    loop: ast.AST = node
    if isinstance(node, ast.While):
        asked = {spelled(base) for base, _ in _iterate_methods(node.test, _ASKING)}
        found = [each for each in _iterate_methods(node, _TAKING) if spelled(each[0]) in asked]
    else:
        assert isinstance(node, ast.Try), "no other kind is asked for"
        around = (each for each in site.above() if isinstance(each, _LOOPS_AND_FUNCTIONS))
        loop = next(around, node)
        ends = [
            each.body[-1]
            for each in node.handlers
            if "Empty" in site.module.source(each.type or each)
        ]
        given_up = any(isinstance(each, (ast.Break, ast.Return)) for each in ends)
        found = [
            (base, call)
            for base, call in _iterate_methods(node, _TAKING if given_up else frozenset())
            if call.args or call.keywords or last_name(call) == "get_nowait"
        ]
    if not isinstance(loop, (ast.While, ast.For)) or _is_locked(site, loop):
        return
    for base, call in found[:1]:
        pipe = last_name(call) == "recv"
        function = site.scope.method
        # What a step of the run acts on counts even where it is not followed any further.
        least = Use.UNSEEN if function is not None and advances(function.name) else Use.ADDED
        kept = any(
            spelled(one) != spelled(base) for one, _ in _iterate_methods(loop, _FILLING)
        ) or any(end.use >= least for end in site.module.orders.looped(loop, site.scope, call))
        if pipe or (kept and _has_producers(site, base)):
            yield site.violation(
                f"{site.module.shown(base)} is emptied of what is there by then.",
                "How much has arrived by then depends on the load of the machine.",
                node=call,
                reach=Reach.LOUD if kept else Reach.UNSEEN,
                confidence=0.8,
            )


def _iterate_methods(node: ast.AST, names: frozenset[str]) -> Iterator[tuple[ast.expr, ast.Call]]:
    """Yield the calls of methods of some names, each with what it is called on."""
    for each in ast.walk(node):
        if (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr in names
        ):
            yield each.func.value, each


def _has_producers(site: Site, base: ast.expr) -> bool:
    """Whether others may put things into a queue meanwhile: it is not only this function's own."""
    module = site.module
    own = site.scope.bindings.get(base.id, ()) if isinstance(base, ast.Name) else ()
    if isinstance(base, ast.Name) and own and own[0].kind == "argument":
        return base.id != "self"
    if not module.speaks_of(*_STARTING):
        return False
    if isinstance(base, ast.Name) and own:
        around = [
            module.survey.parents.get(load) for load, _ in module.loads.of(base.id, site.scope)
        ]
        return any(not isinstance(each, ast.Attribute) for each in around)
    return True


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Wait until there is room, or fail: what is left out has to be the same in each run.",
    nodes=(ast.ExceptHandler,),
    applies=mentions(*_LIMITS),
)
def timed_drop(site: Site) -> Iterator[Violation]:
    """Something is left out when a queue is full or a time limit has passed."""
    handler = site.node
    assert isinstance(handler, ast.ExceptHandler), "handlers are asked for"
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {last_name(each) for each in kinds if each is not None}
    around = site.module.survey.parents.get(handler)
    if not names & _LIMITS or not isinstance(around, ast.Try):
        return
    last, tried = handler.body[-1], around.body[-1]
    again = isinstance([*around.body, *around.orelse][-1], (ast.Break, ast.Return))
    drops = "Full" in names and not again and all(map(only_tells, handler.body))
    if isinstance(last, ast.Return) and isinstance(tried, ast.Return):
        drops = last.value is None or isinstance(last.value, (ast.Constant, ast.Name))
    puts = [each for each in ast.walk(tried) if isinstance(each, ast.Call)]
    if drops and puts:
        yield site.violation(
            f"{site.module.shown(puts[0])} is given up when {' or '.join(sorted(names & _LIMITS))} is raised.",
            "Whether there is room, or time enough, depends on the load of the machine.",
            node=puts[0],
            confidence=0.8,
        )


def only_tells(statement: ast.stmt) -> bool:
    """Say whether a handler's statement does nothing, or logs."""
    if isinstance(statement, (ast.Pass, ast.Continue)):
        return True
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Expr) or not isinstance(value, ast.Call):
        return isinstance(value, ast.Constant)
    whose = value.func.value if isinstance(value.func, ast.Attribute) else value
    return last_name(value) in _TELLS or about(last_name(whose), TELEMETRY)


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Give each process its own share by its rank, and bring the results together in the order of ranks.",
    nodes=(ast.With, ast.Call, ast.Try),
    applies=mentions("get_lock", "share_memory", "_lock", "rename", "replace"),
)
def process_race(site: Site) -> Iterator[Violation]:
    """Which worker comes first decides what the others find."""
    node, message = site.node, None
    if isinstance(node, ast.With):
        message = _look_at_lock(site, node)
    elif isinstance(node, ast.Try):
        message = _look_at_claim(site, node)
    elif isinstance(node, ast.Call) and _is_shared_model(site, node):
        message = f"{site.module.shown(node)} lets processes change it in no order."
    if message is not None:
        yield site.violation(
            message, "Which worker comes first depends on the load of the machine.", confidence=0.75
        )


def _is_shared_model(site: Site, call: ast.Call) -> bool:
    """Whether a model, or each of its tensors, is shared where it is trained."""
    function = site.scope.method
    trains = function is not None and about(function.name, _TRAINING)
    if last_name(call) == "share_memory_":
        loops = [each for each in site.above() if isinstance(each, ast.For)]
        texts = " ".join(site.module.source(each.iter) for each in loops)
        return trains and ("state" in texts or "parameters" in texts)
    return last_name(call) == "share_memory" and (trains or site.module.speaks_of(".backward("))


def _look_at_lock(site: Site, node: ast.With) -> str | None:
    """Say what is read, drawn or done under a lock, where the one before has left something."""
    lock = node.items[0].context_expr
    inside = [each for one in node.body for each in ast.walk(one)]
    if (
        last_name(lock) == "get_lock"
        and isinstance(lock, ast.Call)
        and isinstance(lock.func, ast.Attribute)
    ):
        place = spelled(lock.func.value)
        values = [
            each
            for each in inside
            if isinstance(each, ast.Attribute)
            and each.attr == "value"
            and spelled(each.value) == place
        ]
        changes = any(isinstance(each.ctx, ast.Store) for each in values)
        statement = site.module.survey.statement
        written = {statement(each) for each in values if isinstance(each.ctx, ast.Store)}
        reads = any(statement(each) not in written for each in values)
        if changes and (reads or len(node.body) > 1):
            return f"{site.module.shown(lock.func.value)} is counted up by several processes, and its value is used."
    elif about(last_name(lock), _LOCKS) and any(
        is_draw(site.module.orders.reading, each, site.scope) for each in inside
    ):
        return f"Something is drawn under {site.module.shown(lock)}, which others hold in turn."
    return None


def _look_at_claim(site: Site, node: ast.Try) -> str | None:
    """Say what is claimed by renaming it, where whoever comes too late goes on to the next."""
    late = any(
        isinstance(each.body[-1], ast.Continue)
        for each in node.handlers
        if each.type is not None
        and last_name(each.type) in {"FileNotFoundError", "FileExistsError"}
    )
    for each in ast.walk(node) if late else ():
        if isinstance(each, ast.Call) and site.qualified(each.func) in _CLAIMING:
            return f"{site.module.shown(each)} goes to whichever process is first."
    return None
