"""Where a file sets environment variables and switches of libraries: shared by the rules about them.

Only what is written with a constant name counts.

Invariant: one reading of a file for all rules; none for a file that sets nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from twice.checker.findings import Violation
from twice.checker.syntax.module import Module
from twice.checker.syntax.survey import Scope


@dataclass(frozen=True, slots=True)
class Setting:
    """A switch that is set.

    Args:
        name: the variable, or the qualified attribute.
        node: where its name stands.
        value: what it is set to; None when that is not seen.
        scope: where it is set.
        forced: whether a value that was there before is lost.
    """

    name: str
    node: ast.expr
    value: ast.expr | None
    scope: Scope
    forced: bool

    @property
    def text(self) -> str:
        """The constant parts of the text that it is set to."""
        if self.value is None:
            return ""
        return " ".join(
            each.value
            for each in ast.walk(self.value)
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        )


_VARIABLES: WeakKeyDictionary[Module, tuple[Setting, ...]] = WeakKeyDictionary()
_ATTRIBUTES: WeakKeyDictionary[Module, tuple[Setting, ...]] = WeakKeyDictionary()


def variables(module: Module) -> tuple[Setting, ...]:
    """Give every environment variable that a file sets, in source order."""
    if not module.speaks_of("environ", "putenv"):
        return ()
    found = _VARIABLES.get(module)
    if found is None:
        every = [*_assigned(module), *_called(module)]
        found = tuple(sorted(every, key=lambda each: (each.node.lineno, each.node.col_offset)))
        _VARIABLES[module] = found
    return found


def attributes(module: Module) -> tuple[Setting, ...]:
    """Give every attribute below ``torch.backends`` that a file sets, in source order."""
    if not module.speaks_of("backends", "cudnn"):
        return ()
    found = _ATTRIBUTES.get(module)
    if found is None:
        found = _ATTRIBUTES[module] = tuple(_switched(module))
    return found


def _assigned(module: Module) -> Iterator[Setting]:
    for node, scope in module.survey.nodes.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign), "asked for"
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _is_environment(module, target.value, scope):
                name = target.slice
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    yield Setting(name.value, name, node.value, scope, forced=True)


def _called(module: Module) -> Iterator[Setting]:
    for node, scope, _ in module.calls:
        func = node.func
        if not isinstance(func, ast.Attribute):
            continue
        if func.attr in {"setdefault", "putenv"}:
            known = (
                _is_environment(module, func.value, scope)
                if func.attr == "setdefault"
                else module.names.qualified(func, scope) == "os.putenv"
            )
            name = node.args[0] if known and len(node.args) == 2 else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                forced = func.attr == "putenv"
                yield Setting(name.value, name, node.args[1], scope, forced=forced)
        elif func.attr == "update" and _is_environment(module, func.value, scope):
            yield from _updated(node, scope)


def _updated(node: ast.Call, scope: Scope) -> Iterator[Setting]:
    for each in node.args:
        if isinstance(each, ast.Dict):
            for name, value in zip(each.keys, each.values, strict=True):
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    yield Setting(name.value, name, value, scope, forced=True)
    for keyword in node.keywords:
        if keyword.arg is not None:
            yield Setting(keyword.arg, keyword.value, keyword.value, scope, forced=True)


def _is_environment(module: Module, node: ast.AST, scope: Scope) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and (
        module.names.qualified(node, scope) == "os.environ"
    )


def _switched(module: Module) -> Iterator[Setting]:
    for node, scope in module.survey.nodes.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign), "asked for"
        for target in node.targets:
            if not isinstance(target, ast.Attribute):
                continue
            name = module.names.qualified(target, scope)
            if name is not None and name.startswith("torch.backends."):
                yield Setting(name, target, node.value, scope, forced=True)


def is_true(node: ast.AST | None) -> bool:
    """Say whether it is the constant True or 1."""
    return isinstance(node, ast.Constant) and node.value == 1


def is_false(node: ast.AST | None) -> bool:
    """Say whether it is the constant False or 0."""
    return isinstance(node, ast.Constant) and node.value == 0


def deterministic_calls(module: Module) -> Iterator[tuple[ast.Call, Scope]]:
    """Give the calls of ``torch.use_deterministic_algorithms`` and what is like it."""
    if not module.speaks_of("determinis"):
        return
    for node, scope, name in module.calls:
        if name in ORDERING_CALLS:
            yield node, scope


ORDERING_CALLS = {
    "torch.use_deterministic_algorithms": "torch",
    "torch.set_deterministic": "torch",
    "torch.set_deterministic_debug_mode": "torch",
    "tensorflow.config.experimental.enable_op_determinism": "tensorflow",
    "transformers.enable_full_determinism": "torch",
    "transformers.trainer_utils.enable_full_determinism": "torch",
}
"""Calls after which a package's operations come in a fixed order."""


def ordered_packages(module: Module) -> set[str]:
    """Give the packages whose operations this file orders: torch, tensorflow, jax."""
    found = set()
    for call, scope in deterministic_calls(module):
        if call.args and is_false(call.args[0]):
            continue
        found.add(ORDERING_CALLS[module.names.qualified(call.func, scope) or ""])
    for each in variables(module):
        if each.name == "TF_DETERMINISTIC_OPS":
            found.add("tensorflow")
        elif each.name == "XLA_FLAGS" and (
            "xla_gpu_deterministic_ops" in each.text
            or "xla_gpu_exclude_nondeterministic_ops" in each.text
        ):
            found.add("jax")
    return found


def unless_any(facts: Mapping[str, Any], key: str) -> Iterator[tuple[str, Violation]]:
    """Give what all files found, unless a fact of one of them speaks for the whole project."""
    if any(each[key] for each in facts.values()):
        return
    for path, each in facts.items():
        for found in each["found"]:
            yield path, Violation.from_json(found)
