"""Whose generator an expression is: where it was made, from which seed, or who handed it in.

Invariant: an expression that cannot be traced has the owner ``PASSED``; nothing is guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twice.checker.syntax.module import Module
from twice.checker.syntax.survey import Binding, Scope

_DEPTH: Final = 6
_SHOWN_MAX: Final = 60
_SEED_KEYWORDS: Final = ("seed", "x", "a", "entropy", "key", "seed_value")
_STREAM_METHODS: Final = {"rng", "python"}
FIXED_WITHOUT_SEED: Final = frozenset({"torch.Generator"})
"""Generators that begin at a fixed position when nobody seeds them."""


class Owner(StrEnum):
    """Who owns a stream of random numbers."""

    NAMED = "named-stream"
    """A stream of the run, by name."""
    GENERATOR = "generator"
    """A generator that this project makes from a seed."""
    PARAMETER = "parameter"
    """A generator that the caller hands in."""
    PASSED = "passed"
    """A generator that some other object holds; where it was made was not seen."""
    PROCESS = "process-wide"
    """The one stream of a library for the whole process, which somebody here seeds."""
    NOBODY = "nobody"
    """Made without a seed, or a process-wide stream that nobody seeds."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a generator comes from.

    Args:
        owner: whose it is.
        line: where it was made, in the same file; 0 when that was not seen.
        seed: the text of the seed, "" when there is none.
        attribute: the attribute that holds it, when another object does.
        note: what else is to be known, as the end of a sentence.
        unreached: whether the run's seed never reaches it, although it has one.
    """

    owner: Owner
    line: int = 0
    seed: str = ""
    attribute: str = ""
    note: str = ""
    unreached: bool = False


class Origins:
    """Traces generators in one file.

    Args:
        module: the file.
    """

    def __init__(self, module: Module) -> None:
        self._module = module

    def of(self, node: ast.AST, scope: Scope) -> Origin:
        """Give the origin of the generator that an expression is."""
        found = list(self._of(node, scope, _DEPTH))
        if not found:
            return Origin(Owner.PASSED, attribute=_attribute(node))
        return _together(found)

    def made(self, call: ast.Call, scope: Scope) -> Origin:
        """Give the origin that a call of a constructor is."""
        name = self._module.names.qualified(call.func, scope) or ""
        if name == "random.SystemRandom":
            return Origin(Owner.NOBODY, call.lineno, note="draws from the system's entropy")
        seed = seed_argument(call)
        if seed is None or (isinstance(seed, ast.Constant) and seed.value is None):
            if name in FIXED_WITHOUT_SEED:
                note = "begins at the library's default seed until it is seeded"
                return Origin(Owner.GENERATOR, call.lineno, note=note)
            if has_star(call):
                return Origin(Owner.GENERATOR, call.lineno, "*")
            return Origin(Owner.NOBODY, call.lineno, note="made without a seed")
        text = self.shown(seed)
        note = ""
        if self.may_be_none(seed, scope):
            note = f"unseeded when {text} is not given"
        return Origin(Owner.GENERATOR, call.lineno, text, note=note)

    def shown(self, node: ast.AST) -> str:
        """Give an expression on one short line."""
        text = " ".join(self._module.source(node).split())
        return text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 1]}…"

    def may_be_none(self, node: ast.AST, scope: Scope) -> bool:
        """Say whether an expression is a parameter whose default is None and nothing replaces it."""
        if not isinstance(node, ast.Name):
            return False
        bindings = self._module.names.bindings(node.id, scope)
        if len(bindings) != 1 or not isinstance(bindings[0].node, ast.arg):
            return False
        return _default_is_none(bindings[0].node, self._module)

    def _of(self, node: ast.AST, scope: Scope, depth: int) -> Iterator[Origin]:
        if depth <= 0:
            return
        if isinstance(node, ast.Call):
            yield from self._called(node, scope, depth)
        elif isinstance(node, ast.BoolOp):
            for each in node.values:
                yield from self._of(each, scope, depth - 1)
        elif isinstance(node, ast.IfExp):
            yield from self._of(node.body, scope, depth - 1)
            yield from self._of(node.orelse, scope, depth - 1)
        elif isinstance(node, ast.Name):
            holder = self._module.names.holder(node.id, scope)
            for binding in () if holder is None else holder.bindings[node.id]:
                yield from self._bound(binding, holder or scope, depth)
        elif isinstance(node, ast.Attribute):
            yield from self._held(node, scope, depth)
        elif isinstance(node, ast.Subscript):
            yield from self._of(node.value, scope, depth - 1)

    def _called(self, call: ast.Call, scope: Scope, depth: int) -> Iterator[Origin]:
        catalogue = self._module.catalogue
        name = self._module.names.qualified(call.func, scope)
        stream = stream_name(call)
        if stream:
            yield Origin(Owner.NAMED, call.lineno, stream)
        elif catalogue.has("key-derivations", name) and call.args:
            yield from self._of(call.args[0], scope, depth - 1)
        elif is_constructor(self._module, name):
            inner = _wrapped(self._module, call, scope)
            yield self.made(call if inner is None else inner, scope)
        elif isinstance(call.func, ast.Attribute) and call.func.attr in {"manual_seed", "spawn"}:
            if call.func.attr == "manual_seed" and call.args:
                yield Origin(Owner.GENERATOR, call.lineno, self.shown(call.args[0]))
            else:
                yield from self._of(call.func.value, scope, depth - 1)

    def _held(self, node: ast.Attribute, scope: Scope, depth: int) -> Iterator[Origin]:
        owner = scope.owner
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"} and owner:
            for binding, where, _ in self._module.attributes.of(owner).get(node.attr, ()):
                yield from self._bound(binding, where, depth)

    def _bound(self, binding: Binding, scope: Scope, depth: int) -> Iterator[Origin]:
        node = binding.node
        if binding.kind == "argument" and isinstance(node, ast.arg):
            note = ""
            yield Origin(Owner.PARAMETER, node.lineno, attribute=node.arg, note=note)
        elif binding.kind in {"assign", "unpack"}:
            yield from self._of(node, scope, depth - 1)
        elif binding.kind == "annotated" and isinstance(node, ast.AnnAssign) and node.value:
            yield from self._of(node.value, scope, depth - 1)
        elif binding.kind == "element" and isinstance(node, (ast.For, ast.comprehension)):
            yield from self._of(node.iter, scope, depth - 1)


def _together(found: list[Origin]) -> Origin:
    """One origin out of several ways to get the generator: seeded ones speak, an unseeded one is noted."""
    seeded = [each for each in found if each.owner is not Owner.NOBODY]
    orphan = next((each for each in found if each.owner is Owner.NOBODY), None)
    if not seeded:
        return found[0]
    best = next((each for each in seeded if each.owner is not Owner.PARAMETER), seeded[0])
    if orphan is None:
        return best
    note = f"unseeded on one way (line {orphan.line})"
    return Origin(best.owner, best.line, best.seed, best.attribute, note)


def stream_name(call: ast.Call) -> str:
    """Give the name of the stream of a run that a call asks for; "" when it is no such call."""
    func = call.func
    if not (isinstance(func, ast.Attribute) and func.attr in _STREAM_METHODS and call.args):
        return ""
    first = call.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return first.value
    if isinstance(first, ast.JoinedStr):
        return "".join(
            str(each.value) if isinstance(each, ast.Constant) else "{}" for each in first.values
        )
    return ""


def is_constructor(module: Module, name: str | None) -> bool:
    """Say whether a call of that name makes a generator."""
    catalogue = module.catalogue
    return any(
        catalogue.has(group, name)
        for group in ("generators", "numpy-generator", "stdlib-generator", "torch-generator")
    ) and not catalogue.has("key-derivations", name)


def _wrapped(module: Module, call: ast.Call, scope: Scope) -> ast.Call | None:
    """Return the constructor inside another one: ``Generator(PCG64(seed))``."""
    inner = call.args[0] if call.args else None
    if isinstance(inner, ast.Call) and is_constructor(
        module, module.names.qualified(inner.func, scope)
    ):
        return inner
    return None


def seed_argument(call: ast.Call) -> ast.expr | None:
    """Give the seed in a call that makes or seeds a generator."""
    for keyword in call.keywords:
        if keyword.arg in _SEED_KEYWORDS:
            return keyword.value
    first = call.args[0] if call.args else None
    return None if isinstance(first, ast.Starred) else first


def has_star(call: ast.Call) -> bool:
    """Say whether arguments of a call come by a star."""
    return any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None for each in call.keywords
    )


def _default_is_none(argument: ast.arg, module: Module) -> bool:
    arguments = module.survey.parents.get(argument)
    if not isinstance(arguments, ast.arguments):
        return False
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip(reversed(plain), reversed(arguments.defaults), strict=False))
    given: ast.expr | None = defaults.get(argument)
    if argument in arguments.kwonlyargs:
        given = arguments.kw_defaults[arguments.kwonlyargs.index(argument)]
    return isinstance(given, ast.Constant) and given.value is None


def _attribute(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""
