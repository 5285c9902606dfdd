"""What an object does changes an attribute that its snapshot leaves out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import (
    CAPTURES,
    advances,
    begins,
    captures,
    mentioned,
    methods,
    own_attribute,
    restores,
)
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import GENERATOR, TELEMETRY, TIMING, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "state-attribute-missing"
_DERIVED: Final = (
    TELEMETRY
    | TIMING
    | frozenset(
        [
            "cache",
            "cached",
            "memo",
            "lock",
            "thread",
            "viewer",
            "window",
            "screen",
            "renderer",
            "render",
            "surface",
            "fig",
            "ax",
            "figure",
            "canvas",
            "callback",
            "callbacks",
            "listener",
            "listeners",
            "observer",
            "handler",
            "handle",
            "file",
            "path",
            "connection",
            "socket",
            "client",
            "closed",
            "running",
            "dirty",
            "verbose",
            "warned",
            "last",
            "previous",
            "prev",
        ]
    )
)
_WATCHING: Final = frozenset(
    [
        "logger",
        "monitor",
        "playback",
        "record",
        "recorder",
        "recording",
        "replay",
        "replayer",
        "viewer",
    ]
)
"""What a class is called that writes down what others do, or shows it."""
_HOLDING: Final = frozenset({"buffer", "memory", "pool", "sampler"})
_ENDING: Final = frozenset(
    [
        "clear",
        "close",
        "delete",
        "destroy",
        "dispose",
        "render",
        "replay",
        "shutdown",
        "stop",
        "teardown",
    ]
)
"""What a method does when an object does not go on any more, or shows what it did."""
_PUTTING: Final = frozenset(
    [
        "add",
        "append",
        "record",
        "remember",
        "put",
        "push",
        "insert",
        "remove",
        "pop",
        "store",
        "schedule",
        "enqueue",
        "receive",
    ]
)
_PUTS: Final = {
    "append", "appendleft", "add", "insert", "extend", "update", "setdefault", "pop", "popleft", "remove", "discard",
}  # fmt: skip
_DECORATED: Final = {"abstractmethod", "staticmethod", "classmethod", "property"}
_WHOLE: Final = {"__dict__", "__slots__", "__class__"}
_WHOLE_CALLS: Final = {
    "vars",
    "super",
    "asdict",
    "deepcopy",
    "dir",
    "getattr",
    "fields",
    "signature",
}


def look(site: Site) -> Iterator[Violation]:
    """Look at a method that captures its object's state."""
    node, owner = site.node, site.scope
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    if not owner.is_class or not captures(node.name):
        return
    every = {each.name: each for each in methods(owner)}
    back = [each for each in every.values() if restores(each.name)]
    getter = every.get(node.name)
    if not back or getter is None or getter.node is not node or _is_accessor(node):
        return
    says_none = _gives_nothing(node)
    watches = about(owner.name, _WATCHING) and not about(owner.name, _HOLDING)
    kept = _reached(getter, every)
    if kept is None or (not kept and not says_none):
        return
    for each in back:
        restored = _reached(each, every)
        if restored is None:
            return
        kept |= restored
    missing = [each for each in _changed(site, owner, every) if each[0] not in kept]
    if missing:
        name, changing = missing[0]
        others = ", ".join(f"self.{each}" for each, _ in missing[1:3])
        more = f" (and {others})" if others else ""
        yield site.found(
            NAME,
            f"{node.name}() of {owner.name} leaves out self.{name}{more}, which {changing}() changes.",
            "A restored object keeps the later value, so it does not go on as the one that was kept.",
            reach=Reach.UNSEEN if says_none or watches else Reach.LOUD,
            confidence=0.5 if says_none or watches else 0.85,
        )


def _gives_nothing(node: ast.FunctionDef) -> bool:
    """Whether a getter says that there is no state: it returns an empty dictionary."""
    returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    return len(returned) == 1 and isinstance(returned[0], ast.Dict) and not returned[0].keys


def _is_accessor(node: ast.FunctionDef) -> bool:
    """Whether it gives one attribute as it is, or is nobody's own method."""
    returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    if len(returned) == 1 and returned[0] is not None and own_attribute(returned[0]):
        return True
    return any(isinstance(each, ast.Name) and each.id in _DECORATED for each in node.decorator_list)


def _reached(function: Scope, every: dict[str, Scope]) -> set[str] | None:
    """Collect the names that a method and its callees mention; return None if they are unknown."""
    found: set[str] = set()
    waiting, seen = [function], {function.name}
    while waiting:
        one = waiting.pop()
        for node in ast.walk(one.node):
            if isinstance(node, ast.Call):
                func = node.func
                name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
                if name in _WHOLE_CALLS and not _is_about_another(node):
                    return None
                if any(isinstance(each, ast.Name) and each.id == "self" for each in node.args):
                    return None
            elif (
                isinstance(node, ast.Return)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                return None
        found |= mentioned(one)
        for name in sorted(found & every.keys()):
            if name not in seen:
                seen.add(name)
                waiting.append(every[name])
    return None if found & _WHOLE else found


def _is_about_another(node: ast.Call) -> bool:
    """Whether it is a call of ``deepcopy`` or the like on something else than the whole object."""
    return bool(node.args) and not (
        isinstance(node.args[0], ast.Name) and node.args[0].id == "self"
    )


def _is_shown_alone(site: Site, owner: Scope, name: str) -> bool:
    """Whether an attribute ends in telemetry and labels alone: the step number of a metric."""
    if not site.module.follows:
        return False
    loads = site.module.loads.of_attribute(name, owner)
    ends = [each for load, scope in loads for each in site.module.values.follow(load, scope)]
    return bool(ends) and all(Use.DROPPED < each.use <= Use.TELEMETRY for each in ends)


def _changed(site: Site, owner: Scope, every: dict[str, Scope]) -> Iterator[tuple[str, str]]:
    """Attributes that begin in the constructor and change as the object goes on, with who changes them."""
    for name, bindings in site.module.attributes.of(owner).items():
        if about(name, _DERIVED) or name.startswith("__"):
            continue
        if about(name, GENERATOR) and site.module.speaks_of("run.rng("):
            continue  # A stream of a run: the run's snapshots hold it.
        first = [
            each
            for each in bindings
            if each[1].method is not None and each[1].method.name == "__init__"
        ]
        if not first:
            continue
        changing = [
            scope.method.name
            for binding, scope, _ in bindings
            if scope.method is not None and _goes_on(scope.method.name, binding.kind)
        ]
        changing.extend(each.name for each in every.values() if _fills(each, name))
        if changing:
            if not _is_shown_alone(site, owner, name):
                yield name, changing[0]
            continue
        kind = site.module.kinds.of(ast.Attribute(ast.Name("self"), name), first[0][1])
        if kind is not None and kind.is_generator:
            drawing = [each.name for each in every.values() if _draws(each, name)]
            if drawing:
                yield name, drawing[0]


def _goes_on(name: str, kind: str) -> bool:
    if name.startswith("__") or restores(name) or captures(name) or about(name, _ENDING):
        return False
    return advances(name) or (kind == "augment" and not begins(name))


def _fills(function: Scope, name: str) -> bool:
    """Whether a method puts things into an attribute, or takes them out, as the object goes on."""
    if function.name.startswith("__") or restores(function.name) or captures(function.name):
        return False
    if not (advances(function.name) or about(function.name, _PUTTING)):
        return False
    for node in ast.walk(function.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _PUTS and own_attribute(node.func.value) == name:
                return True
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and own_attribute(node.value) == name
        ):
            return True
    return False


def _draws(function: Scope, name: str) -> bool:
    """Whether a method calls a method of an attribute."""
    return (
        not function.name.startswith("__")
        and not restores(function.name)
        and any(
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and own_attribute(each.func.value) == name
            for each in ast.walk(function.node)
        )
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SNAPSHOT,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Capture it with the rest, and put it back where the rest is put back.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    named=CAPTURES,
)
