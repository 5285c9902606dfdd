"""What rules about clocks share: whether a reading is of a duration, and whether code is there to measure or to show.

Invariant: words of names make a reading quieter and never louder.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.rules.roles import advances
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import MEASURING, SHOWING, TELEMETRY, about, last_name

_STEADY: Final = ("monotonic", "perf_counter", "process_time", "thread_time", "default_timer")
_MEASURES: Final = (MEASURING | TELEMETRY | SHOWING) - {
    "time",
    "usage",
    "save",
    "checkpoint",
    "show",
}
_SPANS: Final = (
    MEASURING
    | TELEMETRY
    | {
        "seconds",
        "second",
        "minutes",
        "hours",
        "secs",
        "sec",
        "ms",
        "times",
        "frequency",
        "hz",
        "took",
        "span",
        "runtimes",
        "durations",
        "timers",
    }
)
_FILES: Final = _MEASURES | {"performance", "benchmarks", "timing", "stats"}


def is_steady(called: str | None) -> bool:
    """Whether a clock tells nothing but durations."""
    return called is not None and any(each in called for each in _STEADY)


def measures(site: Site) -> bool:
    """Whether the function, its class or its file is there to measure, to log or to show."""
    function, owner = site.scope.method, site.scope.owner
    if function is not None and about(function.name, _MEASURES):
        return True
    if owner is not None and about(owner.name, _MEASURES):
        return True
    return about(site.module.path.rpartition("/")[2].removesuffix(".py"), _FILES)


def starts(site: Site) -> bool:
    """Whether a reading is the start of durations: it is subtracted from what is read later."""
    loads = _loads(site)
    return any(_is_subtracted(site, each) for each in loads)


def is_span(site: Site) -> bool:
    """Whether a reading is the end of a duration: something is subtracted from it, here or later."""
    parents = site.module.survey.parents
    parent = parents.get(site.node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub):
        return parent.left is site.node
    return any(
        isinstance(above := parents.get(each), ast.BinOp) and isinstance(above.op, ast.Sub)
        for each in _loads(site)
    )


def is_presence(outcome: Outcome) -> bool:
    """Whether a branch asks no more than whether there is a value at all."""
    test = getattr(outcome.node, "test", None)
    return outcome.use is Use.BRANCH and isinstance(test, (ast.Name, ast.Attribute, ast.Call))


def _loads(site: Site) -> list[ast.AST]:
    """Where a reading that is kept under a name is read again."""
    module = site.module
    if not module.follows:
        return []
    parent = module.survey.parents.get(site.node)
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    found: list[ast.AST] = []
    for target in targets:
        if isinstance(target, ast.Name):
            found.extend(node for node, _ in module.loads.of(target.id, site.scope))
        elif isinstance(target, ast.Attribute) and site.scope.owner is not None:
            found.extend(
                node for node, _ in module.loads.of_attribute(target.attr, site.scope.owner)
            )
    return found


def _is_subtracted(site: Site, node: ast.AST) -> bool:
    parents = site.module.survey.parents
    parent = parents.get(node)
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub) and parent.right is node


def is_named_span(site: Site, outcome: Outcome) -> bool:
    """Whether a duration is kept where the name says that it is one, shown, or all that is returned."""
    returned = outcome.node.value if isinstance(outcome.node, ast.Return) else None
    if isinstance(returned, ast.BinOp) or is_written_into_text(site):
        return True
    parent = site.module.survey.parents.get(site.node)
    if isinstance(returned, ast.Tuple) and parent in returned.elts:
        return True  # A function that gives the time it took beside its result.
    if outcome.use is Use.RETURNED and _is_beside_result(site, parent):
        return True
    return any(_says_span(node) for node in (*outcome.way[1:], outcome.node))


def _is_beside_result(site: Site, span: ast.AST | None) -> bool:
    """Whether a duration that got a name is put into a tuple, by what is no step of a run."""
    module, function = site.module, site.scope.method
    assign = None if span is None else module.survey.parents.get(span)
    if not isinstance(assign, ast.Assign) or not isinstance(assign.targets[0], ast.Name):
        return False
    if function is None or advances(function.name):
        return False
    loads = module.loads.of(assign.targets[0].id, site.scope)
    return any(isinstance(module.survey.parents.get(load), ast.Tuple) for load, _ in loads)


def is_written_into_text(site: Site) -> bool:
    """Whether a reading stands in a formatted string."""
    return any(isinstance(each, ast.JoinedStr) for each in site.above())


def is_handed_in(site: Site) -> bool:
    """Whether the clock that is called is a parameter's default, so that a caller may give another."""
    func, scope, module = site.call.func, site.scope, site.module
    if isinstance(func, ast.Attribute) and scope.owner is not None:
        bindings = module.attributes.of(scope.owner).get(func.attr, [])
        if len(bindings) == 1 and isinstance(bindings[0][0].node, ast.Name):
            func, scope = bindings[0][0].node, bindings[0][1]
    return isinstance(func, ast.Name) and any(
        each.kind == "argument" for each in module.names.bindings(func.id, scope)
    )


def _says_span(node: ast.AST) -> bool:
    """Whether a station of a way is an attribute, a key or a name that says that it holds a duration."""
    if isinstance(node, ast.Name):
        return about(node.id, TELEMETRY)
    if isinstance(node, ast.Constant):
        return about(str(node.value), _SPANS)
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
        return about(str(key), _SPANS) or about(last_name(node.value), _SPANS)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return about(last_name(node.func.value), _SPANS)
    return isinstance(node, ast.Attribute) and about(node.attr, _SPANS)
