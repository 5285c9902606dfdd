"""What following a value and following an order share: a worklist, names, attributes, functions.

Invariant: each pair of node and key is visited once, and no more than ``_BUDGET`` of them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from twice.checker.catalogue import Catalogue
from twice.checker.findings import OpenEnd
from twice.checker.syntax.attributes import Attributes
from twice.checker.syntax.kinds import Kinds
from twice.checker.syntax.names import LOCAL, Names
from twice.checker.syntax.nodes import own_attribute
from twice.checker.syntax.reaching import reaches
from twice.checker.syntax.survey import Binding, Scope, Survey, targets
from twice.checker.syntax.uses.loads import Loads, argument_place, parameter_at
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import LABEL, MEASURING, TELEMETRY, TIMING, about, last_name

_BUDGET: Final = 300
_CALL_DEPTH: Final = 2
_MEASURES: Final = MEASURING - {"time"}
STEPS: Final = 60_000


@dataclass(slots=True)
class Steps:
    """How many stations may still be looked at in one file: a file that repeats itself has an end, too."""

    left: int = STEPS


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of a file, for whoever follows a value in it.

    ``is_script`` says that its functions are there for itself, and nobody imports them; ``module`` is the dotted name
    under which others import it.
    """

    survey: Survey
    names: Names
    kinds: Kinds
    catalogue: Catalogue
    loads: Loads
    attributes: Attributes
    module: str = ""
    is_script: bool = False
    steps: Steps = field(default_factory=Steps)

    def elsewhere(self, func: ast.AST, scope: Scope) -> str | None:
        """Give the qualified name of a function, constructor or method that another file may define."""
        name = self.names.qualified(func, scope)
        if name is None and isinstance(func, ast.Attribute):
            owner = self._instance(func.value, scope)
            name = None if owner is None else f"{owner}.{func.attr}"
        if name is None or name[0] == LOCAL or name.partition(".")[0] in sys.stdlib_module_names:
            return None
        return name

    def callee(self, func: ast.expr, scope: Scope) -> Scope | None:
        """Give the function, method or constructor of the file that a call calls, of an object made there too."""
        found = self.loads.callee(func, scope)
        if found is None and isinstance(func, ast.Attribute):
            owner = self._instance(func.value, scope)
            found = None if owner is None else self.loads.function(f"{owner}.{func.attr}")
        return found

    def _instance(self, node: ast.AST, scope: Scope) -> str | None:
        """Return the class that an object is said to be of, or was made of."""
        bindings: list[Binding] = []
        owner = scope.owner
        if isinstance(node, ast.Name):
            bindings = self.names.bindings(node.id, scope)
        elif isinstance(node, ast.Attribute) and owner and own_attribute(node):
            bindings = [each for each, _, _ in self.attributes.of(owner).get(node.attr, ())]
        if len(bindings) != 1:
            return None
        made = bindings[0].node
        if isinstance(made, ast.Name):
            return self._instance(made, scope)
        if isinstance(made, ast.Call):
            return self.names.qualified(made.func, scope)
        said = made.annotation if isinstance(made, (ast.arg, ast.AnnAssign)) else None
        return None if said is None else self.names.qualified(said, scope)


@dataclass(frozen=True, slots=True)
class At:
    """A station of a value.

    Args:
        node: an expression that has the value.
        scope: where it is evaluated.
        way: what it passed.
        calls: how many calls were followed so far.
        key: the constant under which the value was put into the dictionary that ``node`` is; "" for none.
    """

    node: ast.AST
    scope: Scope
    way: tuple[ast.AST, ...]
    calls: int = 0
    key: str = ""

    def on(self, node: ast.AST) -> At:
        """Give the station around this one."""
        return At(node, self.scope, self.way, self.calls, self.key)

    def passing(self, node: ast.AST, passed: ast.AST | None = None) -> At:
        """Give the station around this one, which is a step of the way; or another is."""
        return self.to(node, self.scope, passed or node)

    def to(self, node: ast.AST, scope: Scope, passed: ast.AST, calls: int = 0) -> At:
        """Give a station elsewhere, that is reached by way of some syntax and more calls."""
        return At(node, scope, (*self.way, passed), self.calls + calls, self.key)

    def ends(
        self, use: Use, node: ast.AST | None = None, leaving: OpenEnd | None = None
    ) -> Outcome:
        """Give the end of the way here."""
        ends = () if leaving is None else (leaving,)
        return Outcome(use, self.node if node is None else node, self.way, ends)


_Look: TypeAlias = "Callable[[At], Iterator[At | Outcome]]"


class Trail:
    """Follows one value: stations still to look at, and ends that were found.

    Args:
        look: gives what one station leads to: stations and ends.
        steps: how many stations of the file may still be looked at.
        is_order: whether an order is followed, and not a value.
    """

    def __init__(self, look: _Look, steps: Steps, *, is_order: bool = False) -> None:
        self._look = look
        self._steps = steps
        self._is_order = is_order

    def follow(self, start: At) -> list[Outcome]:
        """Give every end, in the order in which they were found."""
        waiting = [start]
        seen: set[tuple[ast.AST, str]] = set()
        found: list[Outcome] = []
        while waiting:
            at = waiting.pop()
            if (at.node, at.key) in seen:
                continue
            seen.add((at.node, at.key))
            self._steps.left -= 1
            if len(seen) > _BUDGET or self._steps.left < 0:
                found.append(at.ends(Use.UNSEEN))
                break
            for each in self._look(at):
                if isinstance(each, At):
                    waiting.append(each)
                elif each.open and self._is_order:
                    ends = [end._replace(is_order=True) for end in each.open]
                    found.append(replace(each, open=tuple(ends)))
                else:
                    found.append(each)
        return found


def to_name(reading: Reading, at: At, name: ast.Name) -> Iterator[At | Outcome]:
    """Go on wherever the name that a value got is read."""
    loads = reading.loads.of(name.id, at.scope)
    bindings = reading.names.bindings(name.id, at.scope)
    reading.steps.left -= len(loads) * (1 + len(bindings)) // 16
    if reading.steps.left < 0:
        yield at.ends(Use.UNSEEN, name)
        return
    if name.id == "__all__" and at.scope.parent is None:
        yield at.ends(Use.LABEL, name)
        return
    if not loads:
        if at.scope.parent is None:
            yield at.ends(Use.LABEL if about(name.id, LABEL) else Use.UNSEEN, name)
        elif name.id in at.scope.global_names:
            yield at.ends(Use.STATE, name)
        else:
            yield at.ends(Use.DROPPED, name)
        return
    several = len(bindings) > 1
    unread = True
    for load, scope in loads:
        if several and scope is at.scope and not reaches(reading.survey, name, load, bindings):
            continue
        unread = False
        yield at.to(load, scope, name)
    if unread:
        yield at.ends(Use.DROPPED, name)


def to_attribute(
    reading: Reading, at: At, target: ast.Attribute, put: ast.AST | None = None
) -> Iterator[At | Outcome]:
    """Go on wherever an attribute that a value became, or was put into, is read; unread, it is state."""
    owner = at.scope.owner
    own = isinstance(target.value, ast.Name) and target.value.id in {"self", "cls"}
    loads = reading.loads.of_attribute(target.attr, owner) if own and owner is not None else []
    if put is not None and owner is not None and reading.loads.is_class_tracked(owner):
        # The run reads a tracked object; that it is put into is no other reading.
        own_statement = reading.survey.statement(put)
        loads = [each for each in loads if reading.survey.statement(each[0]) is not own_statement]
    if loads:
        for load, scope in loads:
            yield at.to(load, scope, target)
        return
    if about(target.attr, TELEMETRY) or about(last_name(target.value), TELEMETRY):
        yield at.ends(Use.TELEMETRY, target)
    elif about(target.attr, TIMING):
        yield at.ends(Use.TIMING, target)
    else:
        yield at.ends(Use.STATE, target)


def to_target(reading: Reading, at: At, target: ast.AST) -> Iterator[At | Outcome]:
    """Go on after the assignment of a value to a target of any form."""
    for one in targets(target):
        key = constant_key(one)
        if key and about(key, TELEMETRY):
            yield at.ends(Use.TELEMETRY, one)
        elif isinstance(one, ast.Name):
            yield from to_name(reading, at, one)
        elif isinstance(one, ast.Attribute):
            yield from to_attribute(reading, at, one)
        elif isinstance(one, ast.Subscript):
            yield from to_container(reading, replace(at, key=key), one.value, one)


def constant_key(node: ast.AST) -> str:
    """Give the text that an entry is looked up by; "" when it is another expression, or no entry."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    return index.value if isinstance(index, ast.Constant) and isinstance(index.value, str) else ""


def to_container(
    reading: Reading, at: At, container: ast.AST, put: ast.AST
) -> Iterator[At | Outcome]:
    """Go on wherever the container that a value was put into is read."""
    word = last_name(container)
    if about(word, TELEMETRY):
        yield at.ends(Use.TELEMETRY, put)
    elif isinstance(container, ast.Name):
        holder = reading.names.holder(container.id, at.scope)
        bindings = reading.names.bindings(container.id, at.scope)
        kinds = {each.kind for each in bindings}
        plain = holder is not None and (holder.is_function or holder is at.scope)
        if holder is not None and plain and "argument" not in kinds:
            others = [
                (load, scope)
                for load, scope in reading.loads.of(container.id, at.scope)
                if reading.survey.statement(load) is not reading.survey.statement(put)
                and (scope is not at.scope or reaches(reading.survey, put, load, bindings))
            ]
            for load, scope in others:
                yield at.to(load, scope, put)
            if reading.loads.is_tracked(container.id, at.scope) and not any(
                _is_undone(reading, load) for load, _ in others
            ):
                yield at.ends(Use.STATE, put)
            elif not others:
                yield at.ends(Use.DROPPED if holder.is_function else Use.STATE, put)
        else:
            yield at.ends(Use.STATE, put)
    elif isinstance(container, ast.Attribute):
        yield from to_attribute(reading, at, container, put)
    elif isinstance(container, ast.Subscript):
        yield from to_container(reading, at, container.value, put)
    else:
        yield at.ends(Use.STATE, put)


_BUILTIN_METHODS: Final = {name for kind in (bytes, dict, list, set, str) for name in dir(kind)}
_LOOKS: Final = frozenset(
    ["all", "any", "enumerate", "iter", "len", "list", "max", "min", "print", "repr", "str", "sum", "tuple"]
)  # fmt: skip
"""Functions that leave the container that they are given as it is."""


def _is_undone(reading: Reading, load: ast.AST) -> bool:
    """Whether a container is sorted, emptied or replaced there, or handed to code that may do it."""
    match reading.survey.parents.get(load):
        case ast.Attribute(attr="sort" | "clear" | "pop" | "remove"):
            return True
        case ast.Subscript(slice=ast.Slice(), ctx=ast.Store() | ast.Del()):
            return True
        case ast.Call(func=ast.Attribute(attr="track")) | ast.Call(func=ast.Name(id="sorted")):
            return False
        case ast.Call(func=ast.Name(id=name)):
            return name not in _LOOKS
        case ast.Call() | ast.keyword():
            return True
    return False


def to_sequence(
    reading: Reading, at: At, container: ast.AST, put: ast.AST
) -> Iterator[At | Outcome]:
    """Go on after an order was put into a container; a later sort erases it."""
    if reading.loads.is_sorted(container, at.scope):
        yield at.ends(Use.ERASED, put)
    else:
        yield from to_container(reading, at, container, put)


def to_caller(reading: Reading, at: At, node: ast.AST, *, is_value: bool) -> Iterator[At | Outcome]:
    """Go on at the calls in the file of a function that returned a value or an order."""
    function = at.scope
    name = function.name
    if name in {"__repr__", "__str__", "_repr_html_", "__format__"}:
        yield at.ends(Use.LABEL, node)
        return
    if name == "__dir__" and not is_value:
        yield at.ends(Use.ERASED, node)  # dir() sorts.
        return
    if is_value and about(name, _MEASURES) and not about(name, frozenset({"step"})):
        yield at.ends(Use.TELEMETRY, node)
        return
    if name == "<lambda>":
        yield at.ends(Use.UNSEEN, node)
        return
    calls = reading.loads.calls_of(function) if at.calls < _CALL_DEPTH else []
    private = (
        (name.startswith("_") and not name.startswith("__"))
        or reading.is_script
        or (function.parent is not None and function.parent.is_function)
    )
    if not calls and not is_value and _is_never_called(reading, function):
        yield at.ends(Use.DROPPED, node)
        return
    if not calls or not private:
        use = Use.LABEL if is_value and about(name, LABEL) else Use.RETURNED
        is_method = function.parent is not None and function.parent.is_class
        yield at.ends(
            use,
            node,
            None if is_method else OpenEnd("out", f"{reading.module}.{Names.path(function)}"),
        )
    for call, scope in calls:
        yield at.to(call, scope, node, calls=1)


def _is_never_called(reading: Reading, function: Scope) -> bool:
    """Whether a function of a script that is in no package is there, and nobody speaks of it."""
    return (
        reading.is_script
        and not reading.survey.package
        and function.parent is not None
        and function.parent.parent is None
        and isinstance(function.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and not function.node.decorator_list
        and not reading.loads.of(function.name, function.parent)
    )


def to_parameter(
    reading: Reading, at: At, call: ast.Call, back: Callable[[], Use]
) -> Iterator[At | Outcome]:
    """Go on inside the function of the file that a value was passed to; ``back`` says where its result ends."""
    function = reading.callee(call.func, at.scope) if at.calls < _CALL_DEPTH else None
    place = argument_place(call, at.node)
    if function is None:
        yield at.ends(Use.UNSEEN, call, _into(reading, at, call, place, back))
        return
    name = parameter_at(function, place)
    if name is None:
        yield at.ends(Use.UNSEEN, call)
        return
    loads = reading.loads.of(name, function)
    if not loads:
        yield at.ends(Use.DROPPED, call)
    for load, scope in loads:
        yield at.to(load, scope, call, calls=1)


def _into(
    reading: Reading, at: At, call: ast.Call, place: str | None, back: Callable[[], Use]
) -> OpenEnd | None:
    """Where a value goes into a function of another file; None when it is not known which."""
    func = call.func
    name = reading.elsewhere(func, at.scope)
    if place is None:
        return None
    if name is not None:
        return OpenEnd("into", name, place, back=back())
    if isinstance(func, ast.Attribute) and func.attr not in _BUILTIN_METHODS:
        # A method so called, of whatever class of the project has one; what it returns is not guessed at.
        return OpenEnd("into", LOCAL + func.attr, place, back=Use.UNSEEN)
    return None
