"""The rules about replay: a state that is put back in part, or not at all, and what outlives a run in the process.

Invariant: of a state that is handed on as a whole nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.analysis.roles import RESUMES, captures, methods, restores
from twice.checker.findings import Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.checkpoint import keeps_generators
from twice.checker.rules.engine import rule
from twice.checker.rules.races import only_tells
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import GENERATOR, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_PARTS: Final = {"qpos", "qvel"}
_REST: Final = ("mj_setState", "qacc_warmstart", "setState", "set_state_spec")
_PAIRS: Final = {
    "__setstate__": "__getstate__", "load_state_dict": "state_dict", "load_state": "save_state",
    "restore_state": "save_state", "restore": "snapshot", "restore_snapshot": "snapshot",
}  # fmt: skip
_RESUMING: Final = frozenset({"resume"})
_RESTORING: Final = RESUMES | {"state", "snapshot"}
_STREAMS: Final = ("seeding", "generators", "global-draws")
_POSITIONS: Final = {"epoch", "iter", "iteration", "step", "global_step", "n_iter"}
_SETS: Final = ("set_rng_state", "set_rng_state_all", "setstate", "set_state")
_ABSENCES: Final = {"ImportError", "ModuleNotFoundError"}


@rule(
    Channel.REPLAY,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Put back whatever the getter gives; for MuJoCo: mj_setState with mjSTATE_INTEGRATION.",
    nodes=(ast.FunctionDef,),
    applies=mentions(
        "resume", "state", "snapshot", "restore", "checkpoint", "roll", "rewind", "revert"
    ),
    suits=lambda node, _: (
        about(node.name, _RESTORING) or any(about(each.arg, _RESUMING) for each in node.args.args)
    ),
)
def partial_restore(site: Site) -> Iterator[Violation]:
    """Putting a state back restores less of it than there is."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    if not site.scope.is_class or captures(node.name):
        return
    given = [each.arg for each in node.args.args if about(each.arg, _RESUMING)]
    if given and (where := _find_resumed(site, node, given[0])) is not None:
        yield _report_resumed(site, node, where)
        return
    if not about(node.name, _RESTORING):
        return
    if _is_positions_alone(site, node):
        yield site.violation(
            f"{node.name}() puts back positions and velocities alone.",
            "Time, activations and the solver's warm start stay those of the run that was interrupted.",
            confidence=0.85,
        )
        return
    left = _left_out(site.scope, node) if restores(node.name) else []
    if left:
        yield site.violation(
            f"{node.name}() does not read {', '.join(map(repr, left[:3]))}, which the getter gives.",
            "What is not put back keeps the value of the run that was interrupted.",
            confidence=0.8,
        )
    where = _find_position(node) if about(node.name, _RESUMING) else None
    if where is not None and not keeps_generators(site.module):
        yield _report_resumed(site, node, where)


def _report_resumed(site: Site, node: ast.FunctionDef, where: ast.AST) -> Violation:
    return site.violation(
        f"{node.name}() puts back how far the run had come, and no generator.",
        "It goes on from there with other random numbers than the run that was not interrupted.",
        node=where,
        confidence=0.8,
    )


def _find_resumed(site: Site, node: ast.FunctionDef, given: str) -> ast.stmt | None:
    """Return where a run that draws gets the state of one that it is given to go on from, without its generators."""
    function = next((each for each in site.scope.inner if each.node is node), None)
    draws = any(
        scope.method is function
        and (_draws(site, call) or any(site.catalogue.has(each, called) for each in _STREAMS))
        for call, scope, called in site.module.calls
    )
    if not draws or keeps_generators(site.module):
        return None
    asked = [
        each.body[0]
        for each in ast.walk(node)
        if isinstance(each, ast.If)
        and given in {last_name(one) for one in ast.walk(each.test)}
        and isinstance(each.body[0], (ast.Assign, ast.For))
    ]
    return min(asked, key=lambda each: each.lineno, default=None)


def _find_position(node: ast.FunctionDef) -> ast.Assign | None:
    """Return where an attribute gets the epoch or the step that was kept."""
    for each in ast.walk(node):
        match each:
            case ast.Assign(
                targets=[ast.Attribute()], value=ast.Subscript(slice=ast.Constant(value))
            ):
                if value in _POSITIONS:
                    return each
    return None


def _is_positions_alone(site: Site, node: ast.FunctionDef) -> bool:
    if not site.module.speaks_of("qpos"):
        return False
    stored: set[str] = set()
    for each in ast.walk(node):
        target = each.value if isinstance(each, ast.Subscript) else each
        if isinstance(getattr(each, "ctx", None), ast.Store) and isinstance(target, ast.Attribute):
            stored.add(target.attr)
    text = site.module.source(node)
    return stored >= _PARTS and "time" not in stored and not any(each in text for each in _REST)


def _left_out(owner: Scope, node: ast.FunctionDef) -> list[str]:
    """List the keys that the getter gives and the setter does not read."""
    wanted = _PAIRS.get(node.name, node.name.replace("set_", "get_", 1))
    getter = [each for each in methods(owner) if each.name == wanted != node.name]
    if len(getter) != 1 or len(node.args.args) != 2 or node.args.kwarg or node.args.vararg:
        return []
    given = _given(getter[0].node)
    read = _read(node, node.args.args[1].arg)
    if given is None or not read:
        return []
    return [each for each in given if each not in read]


def _given(node: ast.AST) -> list[str] | None:
    """List the keys of the dictionary that a getter returns, if it is literal."""
    returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    if len(returned) != 1 or not isinstance(returned[0], ast.Dict):
        return None
    keys = [each.value if isinstance(each, ast.Constant) else None for each in returned[0].keys]
    names = [each for each in keys if isinstance(each, str)]
    return names if len(names) == len(keys) and len(names) > 1 else None


def _read(node: ast.FunctionDef, name: str) -> set[str]:
    """Return the keys read from an argument, or none if it has any other use."""
    parents = {child: each for each in ast.walk(node) for child in ast.iter_child_nodes(each)}
    found: set[str] = set()
    for each in ast.walk(node):
        if not isinstance(each, ast.Name) or each.id != name:
            continue
        parent = parents[each]
        key: ast.AST | None = None
        if isinstance(parent, ast.Subscript) and parent.value is each:
            key = parent.slice
        elif isinstance(parent, ast.Attribute) and parent.attr in {"get", "pop"}:
            call = parents[parent]
            key = call.args[0] if isinstance(call, ast.Call) and call.args else None
        elif isinstance(parent, ast.Compare) and each in parent.comparators:
            key = parent.left  # "key" in state
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return set()
        found.add(key.value)
    return found


@rule(
    Channel.REPLAY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Let the error through: a run whose generators were not restored is another run.",
    nodes=(ast.Try,),
    applies=mentions(*_SETS),
)
def restore_failure_swallowed(site: Site) -> Iterator[Violation]:
    """A generator's state could not be put back, and the run goes on as if it had."""
    node = site.node
    assert isinstance(node, ast.Try), "tries are asked for"
    calls = [each for one in node.body for each in ast.walk(one) if isinstance(each, ast.Call)]
    sets = next((each for each in calls if _sets(site, each)), None)
    for handler in node.handlers:
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        names = {last_name(each) if each is not None else "" for each in types}
        if names <= _ABSENCES or not all(map(only_tells, handler.body)):
            continue
        if sets is not None:
            yield site.violation(
                f"A failure of {last_name(sets)}() is passed over.",
                "The run goes on with whatever streams it has, and nothing says that they are not the kept ones.",
                node=handler,
            )


def _sets(site: Site, node: ast.Call) -> bool:
    """Whether it puts the state of a generator back."""
    called = site.qualified(node.func) or ""
    return last_name(node) in _SETS and called.startswith(("random.", "numpy.random.", "torch."))


@rule(
    Channel.REPLAY,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Keep it in the run's state, or derive the generator from the key.",
    nodes=(ast.Assign,),
    suits=lambda node, scope: scope.is_function and isinstance(node.targets[0], ast.Subscript),
)
def module_cache(site: Site) -> Iterator[Violation]:
    """What was drawn in one run is kept in the module, where the next run reads it."""
    node = site.node
    assert isinstance(node, ast.Assign), "assignments are asked for"
    target = node.targets[0]
    assert isinstance(target, ast.Subscript), "only those suit"
    table, root = target.value, site.module.survey.root
    if not isinstance(table, ast.Name):
        return
    if site.module.names.holder(table.id, site.scope) is not root:
        return
    made = [last_name(each.node) or type(each.node) for each in root.bindings.get(table.id, ())]
    if made not in ([ast.Dict], ["dict"], ["OrderedDict"]) or not site.module.loads.of(
        table.id, root
    ):
        return
    nodes = ast.walk(node.value)
    drawn = (each.func for each in nodes if isinstance(each, ast.Call) and _draws(site, each))
    draw = next(drawn, None)
    more = "" if draw is not None else _find_forgotten(site, target, node.value)
    if draw is not None:
        what = f"what {site.module.shown(draw)}() drew"
        why = "A second run in the process, and one that is restored, reads it in place of a draw of its own."
    elif more:
        what = f"what also depends on {more}, which is no part of its key"
        why = "Whoever asks first decides what all later ones get, a second run in the process too."
    else:
        return
    yield site.violation(f"{table.id} of the module keeps {what}.", why, confidence=0.85)


def _draws(site: Site, node: ast.Call) -> bool:
    """Whether a call draws from a generator by a method of it, or from the process-wide stream."""
    return (
        isinstance(node.func, ast.Attribute)
        and site.catalogue.has_method("drawing", node.func.attr)
        and (
            about(last_name(node.func.value), GENERATOR)
            or (site.qualified(node.func) or "").startswith(("random.", "numpy.random."))
        )
    )


def _find_forgotten(site: Site, target: ast.Subscript, value: ast.expr) -> str:
    """Return the parameter that a remembered result depends on and its key leaves out; "" for none.

    Only where nothing is there yet, and what is kept is returned: a register remembers no result.
    """
    function, names = site.scope, site.module.names
    table = last_name(target.value)
    above = site.module.survey.above(site.node)
    is_new = any(
        isinstance(each, ast.If)
        and isinstance(each.test, ast.Compare)
        and isinstance(each.test.ops[0], ast.NotIn)
        and last_name(each.test.comparators[0]) == table
        for each in above
    )
    returned = [each for each in ast.walk(function.node) if isinstance(each, ast.Return)]
    if not is_new or not any(table in map(last_name, ast.walk(each)) for each in returned):
        return ""

    def expand(node: ast.AST, depth: int = 4) -> set[str]:
        """Return the parameters in an expression, and in what the names in it were made of."""
        found: set[str] = set()
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and names.holder(each.id, function) is function:
                for one in function.bindings[each.id]:
                    if one.kind == "argument":
                        found.add(each.id)
                    elif depth and one.node is not node:
                        found |= expand(one.node, depth - 1)
        return found

    return min(expand(value) - expand(target.slice), default="")
