"""The rules about snapshots: state that is left out, shared with the run, or kept as a pickle.

Each is a query on ``analysis.classes``: what methods change, against what captures and restores mention.

Invariant: an attribute is state when a method that goes on with a run changes it; a name alone makes none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from twice.checker.analysis.classes import Change, ClassState, is_self, is_whole
from twice.checker.analysis.roles import CAPTURES, advances, begins, captures, restores
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks
from twice.checker.rules.engine import rule
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.nodes import own_attribute
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import GENERATOR, TELEMETRY, TIMING, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_DERIVED: Final = TELEMETRY | TIMING | frozenset(
    ["cache", "cached", "memo", "lock", "thread", "viewer", "window", "screen", "renderer", "render", "surface", "fig", "ax", "figure", "canvas", "callback", "callbacks", "listener", "listeners", "observer", "reporter", "reporters", "hook", "hooks", "handler", "handle", "file", "path", "connection", "socket", "client", "closed", "running", "dirty", "verbose", "warned", "last", "previous", "prev"]
)  # fmt: skip
# What writes down what others do, or shows it, has no part in the run.
_WATCHING: Final = frozenset(
    ["logger", "monitor", "playback", "record", "recorder", "recording", "replay", "replayer", "viewer"]
)  # fmt: skip
_HOLDING: Final = frozenset({"buffer", "memory", "pool", "sampler"})
_ENDING: Final = frozenset(
    ["clear", "close", "delete", "destroy", "dispose", "render", "replay", "shutdown", "stop", "teardown"]
)  # fmt: skip
_PUTTING: Final = frozenset(
    ["add", "append", "record", "remember", "put", "push", "insert", "remove", "pop", "store", "schedule", "enqueue", "receive"]
)  # fmt: skip
_RUNS: Final = GENERATOR | frozenset(
    ["buffer", "buffers", "replay", "optimizer", "optimizers", "optim", "momentum", "velocity", "physics", "simulation", "history", "memory", "episode", "counter", "epoch", "population"]
)  # fmt: skip
_MADE: Final = _DERIVED | frozenset(
    ["session", "fn", "fun", "func", "function", "op", "ops", "compiled", "conn", "executor", "pool", "process", "event", "hook", "stream", "device", "weakref", "parent", "owner", "shared", "gui", "manager", "cls", "factory", "class", "type", "hooks", "proxy", "ref", "refs", "future", "display", "size", "spec", "store"]
)  # fmt: skip
_WORLDS: Final = frozenset({"env", "environment", "simulation", "simulator", "world"})


@rule(
    Channel.SNAPSHOT,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Capture it with the rest, and put it back where the rest is put back.",
    nodes=(ast.ClassDef,),
)
def state_attribute_missing(site: Site) -> Iterator[Violation]:
    """What an object does changes an attribute that its snapshot leaves out."""
    owner = next(each for each in site.scope.inner if each.node is site.node)
    state = ClassState(site.module, owner)
    watches = about(owner.name, _WATCHING) and not about(owner.name, _HOLDING)
    for node, whose, kept in _list_captures(state):
        missing = [each for each in _list_state(state) if each[0] not in kept]
        if missing:
            name, changing, first = missing[0]
            others = ", ".join(f"self.{each}" for each, _, _ in missing[1:3])
            more = f" (and {others})" if others else ""
            unsure = watches or not kept
            yield site.at(node, owner).violation(
                f"{whose} of {owner.name} leaves out self.{name}{more}, which {changing}() changes.",
                "A restored object keeps the later value, so it does not go on as the one that was kept.",
                node=first if whose == "__init__()" else node,
                reach=Reach.UNSEEN if unsure else Reach.LOUD,
                confidence=0.5 if unsure else 0.85,
            )
    for node, whose, option in _list_forgotten(state):
        found = site.at(node, owner).violation(
            f"{whose}() of {owner.name} leaves out self.{option}, which the constructor is given.",
            "An object that is read back has the default in its place.",
            confidence=0.8,
        )
        yield replace(found, severity=Severity.MEDIUM)


def _list_forgotten(state: ClassState) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield the methods ``to_…`` whose ``from_…`` makes the object without an option that neither of them mentions."""
    for name, own in state.methods.items():
        stem, word, rest = name.partition("to_")
        back = state.methods.get(f"{stem}from_{rest}")
        if back is None or not word or stem.strip("_") or not state.reach(own):
            continue
        rebuilt = list(ast.walk(back.node))
        made = [
            each
            for each in rebuilt
            if isinstance(each, ast.Call) and last_name(each) in {"cls", state.owner.name}
        ]
        if len(made) != 1 or any(each.arg is None for each in made[0].keywords):
            continue
        nodes = [*ast.walk(own.node), *rebuilt]
        words = {str(getattr(each, key, "")) for each in nodes for key in ("attr", "arg", "value")}
        left_out = (each for each in state.options if each not in words | _DERIVED)
        yield from ((own.node, name, each) for each in islice(left_out, 1))


def _list_captures(state: ClassState) -> Iterator[tuple[ast.AST, str, set[str]]]:
    """Yield what captures a class's state: where, what it is called, and the attributes in it."""
    for name, own in state.methods.items():
        back = state.pair(name)
        reached = [state.reach(each) for each in (own, *back)] if back else [None]
        if None not in reached and (reached[0] or _gives_nothing(own.node)):
            yield own.node, f"{name}()", set(chain.from_iterable(filter(None, reached)))
    listed = state.list_captured()
    if listed is not None:
        yield listed[0], last_name(listed[0].targets[0]), listed[1]
    restored = state.constructor_restores()
    if restored:
        yield state.methods["__init__"].node, "__init__()", restored


def _gives_nothing(node: ast.AST) -> bool:
    """Whether a getter says that there is no state: it returns an empty dictionary."""
    returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    return len(returned) == 1 and isinstance(returned[0], ast.Dict) and not returned[0].keys


def _list_state(state: ClassState) -> Iterator[tuple[str, str, ast.AST]]:
    """Yield the attributes that change as the object goes on, with who changes them and where they begin."""
    module = state.module
    for name, changes in state.changes.items():
        first = next((each for each in changes if each.method == "__init__"), None)
        if first is None and name in state.lazy:
            first = changes[0]
        if first is None or name.startswith("__") or about(name, _DERIVED):
            continue
        if about(name, GENERATOR) and module.speaks_of("run.rng("):
            continue  # A stream of a run: the run's snapshots hold it.
        changing = [each.method for each in changes if _goes_on(each)]
        kind = module.kinds.of(ast.Attribute(ast.Name("self"), name), state.methods["__init__"])
        if not changing and kind is not None and kind.is_generator:
            changing = [each for each, scope in state.methods.items() if _draws(scope, name)]
        if changing and not _is_shown_alone(module, state.owner, name):
            yield name, changing[0], first.node


def _goes_on(change: Change) -> bool:
    name = change.method
    if name.startswith("__") or restores(name) or captures(name) or about(name, _ENDING):
        return False
    if change.kind == "augment":
        return not begins(name)
    return advances(name) or name == "run" or (change.kind == "fill" and about(name, _PUTTING))


def _is_shown_alone(module: Module, owner: Scope, name: str) -> bool:
    """Whether an attribute ends in telemetry and labels alone: the step number of a metric."""
    if not module.follows:
        return False
    loads = module.loads.of_attribute(name, owner)
    ends = [each for load, scope in loads for each in module.values.follow(load, scope)]
    return bool(ends) and all(Use.DROPPED < each.use <= Use.TELEMETRY for each in ends)


def _draws(function: Scope, name: str) -> bool:
    """Whether a method calls a method of an attribute."""
    return not restores(function.name) and any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and own_attribute(each.func.value) == name
        for each in ast.walk(function.node)
    )


def _state_around(site: Site) -> ClassState | None:
    """Return the class whose method a site is."""
    return ClassState(site.module, site.scope) if site.scope.is_class else None


@rule(
    Channel.SNAPSHOT,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Read the counter without taking from it: keep the next number as an attribute.",
    nodes=(ast.FunctionDef,),
    named=CAPTURES,
)
def capture_changes_state(site: Site) -> Iterator[Violation]:
    """Capturing the state takes a number from a counter or a generator, so that the run goes on as another."""
    state = _state_around(site)
    for change in [] if state is None else chain.from_iterable(state.changes.values()):
        if change.kind == "advance" and change.method == getattr(site.node, "name", ""):
            yield site.violation(
                f"{site.scope.name}.{change.method}() takes the next of {site.module.shown(change.node)}.",
                "The run that was captured goes on one number later than the one that is restored.",
                node=change.node,
            )


@rule(
    Channel.SNAPSHOT,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Keep its state (state_dict(), its arrays, bit_generator.state) and put it back in __setstate__.",
    nodes=(ast.FunctionDef,),
    named=frozenset({"__getstate__"}),
)
def dropped_on_pickle(site: Site) -> Iterator[Violation]:
    """State that an object gains while it runs is left out when it is pickled."""
    state = _state_around(site)
    if state is None or not any(
        is_whole(each) or last_name(each) == "__getstate__" for each in ast.walk(site.node)
    ):
        return
    texts = {getattr(each, "value", None) for each in ast.walk(site.node)}
    kept = {each.strip("_") for each in texts if isinstance(each, str)}
    dropped = dict(_list_dropped(site.node))
    lost = [
        name
        for name in dropped
        if not about(name, _MADE)
        and (about(name, _RUNS) or any(map(_gains, state.changes.get(name, ()))))
        and not _comes_back(state, name)
        and not any(name.strip("_") in each for each in kept - {name.strip("_")})
    ]
    if lost:
        yield site.violation(
            f"{site.scope.name}.__getstate__() leaves out {', '.join(lost)}.",
            "A restored object has it empty or new, where the one that was kept had what its run came to.",
            node=dropped[lost[0]],
            confidence=0.85,
        )


def _list_dropped(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the entries that are taken out of a copy of all attributes, and where."""
    for each in ast.walk(node):
        named: list[ast.expr] = []
        if isinstance(each, ast.Delete) or (isinstance(each, ast.Assign) and is_none(each.value)):
            named = [one.slice for one in each.targets if isinstance(one, ast.Subscript)]
        elif isinstance(each, ast.Call) and last_name(each) == "pop":
            named = each.args[:1]
        elif isinstance(each, ast.Compare) and isinstance(each.ops[0], (ast.NotEq, ast.NotIn)):
            named = each.comparators
        for one in named:
            for name in one.elts if isinstance(one, (ast.Tuple, ast.List, ast.Set)) else [one]:
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    yield name.value, each


def _gains(change: Change) -> bool:
    """Whether a change gives an attribute what only a run can give; what is opened or compiled is made again."""
    value = change.value
    if begins(change.method) or change.method.startswith("__"):
        return False
    if change.kind != "assign":
        return True
    return isinstance(value, ast.Call) and last_name(value) in {"iter", "deepcopy", "copy"}


def _comes_back(state: ClassState, name: str) -> bool:
    """Whether ``__setstate__`` makes it from what was kept."""
    setter = state.methods.get("__setstate__")
    given = state.arguments("__setstate__") - {"self"}
    for change in state.changes.get(name, ()):
        if change.method == "__setstate__" and change.value is not None:
            names = {each.id for each in ast.walk(change.value) if isinstance(each, ast.Name)}
            if not names.isdisjoint(given):
                return True
    return setter is not None and _draws(setter, name)  # self.optimizer.load_state_dict(…)


@rule(
    Channel.SNAPSHOT,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Keep the state besides the arguments, generators included, and put it back after construction.",
    nodes=(ast.FunctionDef,),
    named=frozenset({"__reduce__", "__reduce_ex__", "__setstate__"}),
)
def reduced_pickle(site: Site) -> Iterator[Violation]:
    """A pickled or copied object is made anew from its constructor's arguments."""
    state, node = _state_around(site), site.node
    if state is None:
        return
    getter = state.methods.get("__getstate__")
    if getattr(node, "name", "") == "__setstate__":
        if getter is None or not any(map(_constructs, ast.walk(node))):
            return
        kept = state.reach(getter)
        if not kept or not _are_arguments(state, kept):
            return
        is_state = "args" in state.arguments("__init__") or _runs(state)
        where = next((each for each in ast.walk(getter.node) if isinstance(each, ast.Return)), node)
    else:
        where, kept, is_state = node, {own_attribute(each) for each in ast.walk(node)}, False
        returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
        if not returned or not all(_is_class_and_arguments(each, state) for each in returned):
            return
    if is_state or any(
        name not in kept and not begins(each.method) and not each.method.startswith("__")
        for name, changes in state.changes.items()
        if any(each.method == "__init__" for each in changes)
        for each in changes
        if each.kind in {"assign", "augment"}
    ):
        yield site.violation(
            f"{site.scope.name} is pickled and copied by its constructor's arguments alone.",
            "A copy or a restored object starts anew: its progress and its generators' positions are gone.",
            node=where,
        )


def _runs(state: ClassState) -> bool:
    """Whether objects of a class go on by steps, so that they have a state besides their arguments."""
    bases = getattr(state.owner.node, "bases", ())
    names = [state.owner.name, *map(last_name, bases)]
    return "step" in state.methods or any(about(each, _WORLDS) for each in names)


def _constructs(node: ast.AST) -> bool:
    """Whether it makes a new object of its own class, or initialises itself again."""
    if not isinstance(node, ast.Call):
        return False
    return _is_own_class(node.func) or own_attribute(node.func) == "__init__"


def _is_own_class(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and last_name(node) == "type":
        return any(map(is_self, node.args))
    return own_attribute(node) == "__class__"


def _are_arguments(state: ClassState, kept: set[str]) -> bool:
    """Whether attributes are what the constructor was given, as it was given."""
    given = state.arguments("__init__")
    return all(
        each.method == "__init__" and isinstance(each.value, ast.Name) and each.value.id in given
        for name in kept
        for each in state.changes.get(name, [Change("", "", state.owner.node)])
    )


def _is_class_and_arguments(node: ast.AST | None, state: ClassState) -> bool:
    match node:
        case ast.Tuple(elts=[made, ast.Tuple()]):
            return _is_own_class(made) or last_name(made) == state.owner.name
    return False


@rule(
    Channel.SNAPSHOT,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Copy what is inside as well (copy.deepcopy), or keep the values from which it is made again.",
    nodes=(ast.FunctionDef,),
    named=CAPTURES,
)
def shallow_snapshot(site: Site) -> Iterator[Violation]:
    """A snapshot copies an object's attributes and shares what is in them."""
    name = getattr(site.node, "name", "")
    if not site.scope.is_class or not captures(name) or name in {"__getstate__", "state_dict"}:
        return  # What __getstate__ gives is pickled, and so copied.
    for each in ast.walk(site.node):
        if not isinstance(each, ast.Call):
            continue
        name = last_name(each)
        copied = each.args[:1] or [getattr(each.func, "value", each)]
        if (name == "copy" or site.qualified(each.func) == "builtins.dict") and is_whole(copied[0]):
            yield site.violation(
                f"{site.module.shown(each)} shares the lists and objects in it.",
                "What happens to them later happens in the snapshot, so going back does not go back.",
                node=each,
                confidence=0.85,
            )
            return
