"""The rules about what is written of a run: checkpoints without generators, pickles, counters outside of any state.

Invariant: a checkpoint is one from which the file resumes; what is only exported needs no generator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.analysis.classes import ClassState, is_self, is_whole
from twice.checker.analysis.roles import advances, captures, resumes
from twice.checker.findings import Violation
from twice.checker.rule import Breaks
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.nodes import walk
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import GENERATOR, TELEMETRY, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_STATE: Final = frozenset(
    ["state", "states", "snapshot", "snapshots", "checkpoint", "ckpt", "env", "environment", "world", "sim", "simulation", "simulator", "agent", "agents", "population", "buffer", "replay", "history", "trace", "episode", "trajectory", "trajectories", "game", "memory", "rng", "recording", "transcript", "response", "responses"]
)  # fmt: skip
_CALLS: Final = frozenset(
    ["api", "response", "responses", "reply", "llm", "request", "requests", "prompt", "messages", "replay", "trace"]
)  # fmt: skip
_KEEPERS: Final = frozenset({"snapshot", "snapshotter", "checkpointer"})
_EXPORTS: Final = {"state_dict", "params", "weights"}
_OPTIMIZER: Final = frozenset(["optimizer", "optimizers", "optim", "opt", "optimiser", "trainer"])
_LOADS: Final = frozenset({"load", "restore", "resume"})
_POSITIONS: Final = frozenset({"epoch", "iteration", "step"})
_SAVES: Final = frozenset({"save", "snapshot", "checkpoint", "ckpt", "state", "dump"})
_RNG_CALLS: Final = frozenset(
    ["get_rng_state", "get_rng_state_all", "getstate", "set_rng_state", "setstate", "bit_generator"]
)
_RNG_KEYS: Final = GENERATOR | {"generators"}
_STATES: Final = frozenset({"state", "states"})
_ENTRIES_MIN: Final = 3
# Counters of places of a machine or a screen number nothing of a run.
_PLACES: Final = frozenset(
    ["binding", "fig", "figure", "shader", "slot", "texture", "thread", "widget", "window", "worker"]
)  # fmt: skip


def keeps_generators(module: Module) -> bool:
    """Say whether a file keeps or restores the state of a generator: by a call, or under a key."""
    return module.speaks_of("rng", "RNG", "random", "generator", "bit_generator") and any(
        map(_keeps_generator, module.survey.parents)
    )


def _keeps_generator(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr in _RNG_CALLS:
        return True
    if isinstance(node, ast.Call):
        name = last_name(node)
        return about(name, _RNG_KEYS) and about(name, _STATES)
    if isinstance(node, ast.Subscript):
        return _is_generator_key(node.slice)
    return isinstance(node, ast.Dict) and any(map(_is_generator_key, filter(None, node.keys)))


def _is_generator_key(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and about(str(node.value), _RNG_KEYS)


@rule(
    Channel.SNAPSHOT,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Keep torch.get_rng_state(), random.getstate() and every generator's state, and set them on resuming.",
    nodes=(ast.FunctionDef,),
    named=_SAVES | _LOADS,
)
def checkpoint_without_rng(site: Site) -> Iterator[Violation]:
    """A training checkpoint has no generator's state in it."""
    if _resumes_training(site.node) and not keeps_generators(site.module):
        yield site.violation(
            f"{getattr(site.node, 'name', '')}() goes on with a training from its parts, and no generator is among them.",
            "A resumed run draws other numbers than one that was not interrupted.",
            confidence=0.8,
        )
        return
    for where, entries in _list_dictionaries(site.node):
        if _trains(site.module, entries):
            message = "The checkpoint keeps what was learned, and no generator's state."
        elif "seed" in entries and len(entries) >= _ENTRIES_MIN and _reads_seed(site.module):
            message = "The checkpoint keeps the seed and no generator's state."
        else:
            continue
        if not keeps_generators(site.module):
            yield site.violation(
                message,
                "A resumed run draws other numbers than one that was not interrupted; from a seed, those that were drawn already.",
                node=where,
                confidence=0.85,
            )
            return


def _resumes_training(node: ast.AST) -> bool:
    """Whether a function loads the state of an optimizer and of others, and how far the training had come."""
    loaded = [
        {last_name(each), last_name(getattr(each.func, "value", each))}
        for each in walk(node)
        if isinstance(each, ast.Call) and about(last_name(each), _LOADS)
    ]
    optimizers = sum(any(about(one, _OPTIMIZER) for one in each) for each in loaded)
    return 0 < optimizers < len(loaded) and any(
        isinstance(each, ast.Name)
        and isinstance(each.ctx, ast.Store)
        and about(each.id, _POSITIONS)
        for each in walk(node)
    )


def _list_dictionaries(function: ast.AST) -> list[tuple[ast.AST, dict[str, ast.expr]]]:
    """List the dictionaries that a function builds, with their entries, those that are put in later as well."""
    found: dict[str | ast.AST, tuple[ast.AST, dict[str, ast.expr]]] = {}
    for node in walk(function):
        target = node.targets[0] if isinstance(node, ast.Assign) else node
        if isinstance(node, ast.Assign) and isinstance(target, ast.Subscript):
            if isinstance(target.slice, ast.Constant):
                its = found.setdefault(last_name(target.value), (node, {}))
                its[1][str(target.slice.value)] = node.value
        elif isinstance(display := getattr(node, "value", None), ast.Dict) or isinstance(
            display := node, ast.Dict
        ):
            keys = [each.value for each in display.keys if isinstance(each, ast.Constant)]
            if len(keys) == len(display.keys) and display not in found:
                its = (display, dict(zip(map(str, keys), display.values, strict=True)))
                found[display] = found[last_name(target) or display] = its
    return list(found.values())


def _trains(module: Module, entries: dict[str, ast.expr]) -> bool:
    """Whether entries are the state of an optimizer among others, and the file loads one again."""
    kept = [
        last_name(each.func.value)
        for value in entries.values()
        for each in ast.walk(value)
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == "state_dict"
    ]
    return (
        len(kept) > 1
        and any(about(each, _OPTIMIZER) for each in kept)
        and any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "load_state_dict"
            and about(last_name(node.func.value), _OPTIMIZER)
            for node, _ in module.survey.nodes.get(ast.Call, ())
        )
    )


def _reads_seed(module: Module) -> bool:
    """Whether a function that resumes reads a seed."""
    return any(
        isinstance(each, ast.Subscript)
        and isinstance(each.slice, ast.Constant)
        and each.slice.value == "seed"
        for scope in module.survey.scopes
        if scope.is_function and resumes(scope.name)
        for each in ast.walk(scope.node)
    )


@rule(
    Channel.SNAPSHOT,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Write the fields in a format that says its version: JSON, arrays with dtype and shape.",
    calls=("pickling",),
)
def pickle_state(site: Site) -> Iterator[Violation]:
    """The state of a run, or what a replay reads, is kept as a pickle."""
    called, subject = site.called or "", site.argument(0, "obj")
    function, owner = site.scope.method, site.scope.owner
    if subject is None or site.has_star or (function and function.name.startswith("__")):
        return
    state = None if owner is None else ClassState(site.module, owner)
    captured = function is not None and captures(function.name)
    if not (captured and state and is_whole(subject)):
        is_kept = _reads_pickles(site.module) and _is_state(subject, state)
        if called.endswith(".dumps"):
            is_returned = isinstance(site.module.survey.parents.get(site.node), ast.Return)
            is_written = any(each.use is Use.STORED for each in site.ends())
            is_kept = is_kept and ((captured and is_returned) or is_written)
        if not is_kept:
            return
    yield site.violation(
        f"{called}() keeps {site.module.shown(subject)}.",
        "Another version of the code reads another state from it, and equal states have different bytes.",
        confidence=0.8,
    )


def _reads_pickles(module: Module) -> bool:
    """Whether the file reads a pickle, too: what is only written is an export."""
    return any(module.catalogue.has("unpickling", name) for _, _, name in module.calls)


def _is_state(subject: ast.expr, state: ClassState | None) -> bool:
    name = last_name(subject)
    if state is not None and about(state.owner.name, _KEEPERS):
        return True
    if is_self(subject) or is_whole(subject):
        goes_on = state is not None and any(map(advances, state.methods))
        return goes_on or (state is not None and about(state.owner.name, _STATE))
    if isinstance(subject, ast.Call) or name in _EXPORTS:
        return False
    if about(name, frozenset({"cache"})):
        arguments = state.arguments() if state else set()
        return any(about(each, _CALLS) for each in {name, *arguments})
    return about(name, _STATE)


@rule(
    Channel.SNAPSHOT,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Count in the run's own state, or derive the number from what is numbered.",
    nodes=(ast.Assign, ast.AnnAssign),
    suits=lambda node, scope: (
        not scope.is_function and isinstance(node.value, (ast.Call, ast.Constant))
    ),
)
def class_counter(site: Site) -> Iterator[Violation]:
    """A counter of the class, or of the module, numbers what a run makes."""
    node, scope = site.node, site.scope
    assert isinstance(node, (ast.Assign, ast.AnnAssign)), "assignments are asked for"
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Name) or about(target.id, TELEMETRY | _PLACES):
        return
    if isinstance(node.value, ast.Call):
        found = _counts(site, node.value) and _is_drawn(site, target.id)
    else:
        is_number = isinstance(node.value, ast.Constant) and type(node.value.value) is int
        found = is_number and scope.is_class and _is_stepped(site, target.id)
    if found:
        whose = f"the class {scope.name}" if scope.is_class else "the module"
        yield site.violation(
            f"{target.id} is a counter of {whose}, and numbers what a run makes.",
            "It goes on over runs in one process, and is no part of a state that is restored.",
            confidence=0.8,
        )


def _counts(site: Site, value: ast.expr) -> bool:
    """Whether it is ``itertools.count()``, or a table of such."""
    inner = [value]
    if isinstance(value, ast.Call):
        if site.qualified(value.func) in {"collections.defaultdict", "functools.partial"}:
            inner = [each.body if isinstance(each, ast.Lambda) else each for each in value.args[:1]]
            return any(_counts(site, each) for each in inner)
        inner = [value.func]
    return any(site.catalogue.has("counters", site.qualified(each)) for each in inner)


def _is_drawn(site: Site, name: str) -> bool:
    """Whether a function takes the counter's next number and does something with it."""
    survey = site.module.survey
    return any(
        isinstance(node, ast.Call)
        and last_name(node) == "next"
        and len(node.args) == 1
        and where.is_function
        and last_name(node.args[0]) == name
        and (
            not site.scope.is_class
            or where.owner is site.scope
            or _is_class(node.args[0], site.scope)
        )
        and not isinstance(survey.parents.get(node), ast.Expr)
        for node, where in survey.nodes.get(ast.Call, ())
    )


def _is_stepped(site: Site, name: str) -> bool:
    """Whether a method counts up the class's attribute, and another place takes its number."""
    module, owner = site.module, site.scope
    if not any(
        isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Attribute)
        and node.target.attr == name
        and where.owner is owner
        and _is_class(node.target, owner)
        for node, where in module.survey.nodes.get(ast.AugAssign, ())
    ):
        return False
    for load, where in module.loads.of_attribute(name, owner):
        statement = module.survey.statement(load)
        if where.owner is owner and isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return)):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            ends = module.values.follow(load, where) if module.follows else []
            is_label = bool(ends) and all(Use.DROPPED < each.use <= Use.TELEMETRY for each in ends)
            if getattr(target, "attr", "") != name and not is_label:
                return True
    return False


def _is_class(node: ast.expr, owner: Scope) -> bool:
    """Whether an attribute is one of the class: of its name, ``cls``, ``type(self)`` or ``self.__class__``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    value = getattr(node, "value", None)
    return value is not None and last_name(value) in {owner.name, "cls", "type", "__class__"}
