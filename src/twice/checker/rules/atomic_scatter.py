"""Numbers are added at indices that may repeat, in the order in which a GPU gets to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import ordered_packages
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "atomic-scatter"
_WHY = (
    "A GPU adds where an index repeats in the order of a race, and a float sum keeps a trace of it."
)


def gather(module: Module) -> dict[str, Any] | None:
    """Give the additions, and the packages whose operations the file orders."""
    packages = sorted(ordered_packages(module))
    found = []
    said: set[tuple[Scope | None, str]] = set()
    if not module.imported.isdisjoint(_PACKAGES):
        for node, scope, name in module.calls:
            package = _package(module, node, scope, name)
            if package is not None and (scope.method, package) not in said:
                said.add((scope.method, package))  # Once for each function.
                one = _found(module.site(node, scope), package)
                found.append({"package": package, "found": one.to_json()})
    return {"ordered": packages, "found": found} if packages or found else None


_PACKAGES = {"torch", "jax", "tensorflow", "torch_scatter", "torch_geometric"}


def _package(module: Module, call: ast.Call, scope: Scope, name: str | None) -> str | None:
    """Give the package whose flag would order an addition, or None when it is no such."""
    catalogue, func = module.catalogue, call.func
    if not isinstance(func, ast.Attribute):
        note = catalogue.names("atomic-adds").get(name or "")
        return note if note and _rounds(module, call, scope) else None
    attr = func.attr
    if attr in catalogue.methods.get("updating-at", ()):
        base = func.value
        if (
            isinstance(base, ast.Subscript)
            and isinstance(base.value, ast.Attribute)
            and base.value.attr == "at"
            and "jax" in module.imported
            and _may_repeat(base.slice)
        ):
            return "jax"
        return None
    note = catalogue.names("atomic-adds").get(name or "")
    if note is not None:
        return note if _rounds(module, call, scope) else None
    if attr in catalogue.methods.get("atomic-adds", ()) and "torch" in module.imported:
        if attr == "index_put_" and not _accumulates(call):
            return None
        if any(_is_counted(module, each, scope) for each in call.args[-1:]):
            return None
        if attr.startswith("scatter_reduce") and not _sums(call):
            return None
        return "torch" if name is None else None
    return None


def _rounds(module: Module, call: ast.Call, scope: Scope) -> bool:
    """Whether it adds, and adds what is no mere count."""
    how = next((each.value for each in call.keywords if each.arg == "reduce"), None)
    for each in [*call.args[3:], *([] if how is None else [how])]:
        if isinstance(each, ast.Constant) and each.value in {
            "max",
            "min",
            "amax",
            "amin",
            "mul",
            "any",
        }:
            return False
    return not (call.args and _is_counted(module, call.args[0], scope))


def _is_counted(module: Module, node: ast.expr, scope: Scope) -> bool:
    """Whether it is ones or whole numbers, which add up exactly in any order."""
    if isinstance(node, ast.Name):
        bindings = module.names.bindings(node.id, scope)
        values = [each.node for each in bindings if each.kind == "assign"]
        if (
            len(values) != 1
            or not isinstance(values[0], ast.expr)
            or isinstance(values[0], ast.Name)
        ):
            return False
        node = values[0]
    if not isinstance(node, ast.Call):
        return False
    word = last_name(node.func)
    if word in {"to", "type"}:
        return any(last_name(each) in _WHOLE for each in node.args)
    return word in {"ones", "ones_like", "new_ones", "long", "int"}


_WHOLE = {"long", "int", "int32", "int64", "bool"}


def _accumulates(call: ast.Call) -> bool:
    return any(
        each.arg == "accumulate"
        and isinstance(each.value, ast.Constant)
        and each.value.value is True
        for each in call.keywords
    )


def _sums(call: ast.Call) -> bool:
    every = [*call.args, *(each.value for each in call.keywords)]
    return any(isinstance(each, ast.Constant) and each.value in {"sum", "mean"} for each in every)


def _may_repeat(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return not all(_is_single(each) for each in parts)


def _is_single(node: ast.expr) -> bool:
    """Whether an index is one place or a stretch: a constant, a slice, a counter."""
    if isinstance(node, (ast.Constant, ast.Slice, ast.UnaryOp)):
        return True
    if isinstance(node, ast.Name):
        return len(node.id) == 1 or node.id.endswith(("idx", "step"))
    if isinstance(node, ast.BinOp):  # ``order - i``: counted from a place, it is a place.
        return any(
            _is_single(each) and isinstance(each, ast.Name) for each in (node.left, node.right)
        )
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"arange", "s_"}


def _found(site: Site, package: str) -> Violation:
    func = site.call.func
    name = func.attr if isinstance(func, ast.Attribute) else site.module.source(func)
    if package == "jax":
        name = f"at[…].{name}" if name in {"add", "multiply"} else name
    return site.found(NAME, f"{name}() adds at indices that may repeat.", _WHY)


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report the additions of packages that no file of the project orders."""
    ordered = {name for each in facts.values() for name in each["ordered"]}
    for path, each in facts.items():
        for one in each["found"]:
            if one["package"] not in ordered:
                yield path, Violation.from_json(one["found"])


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.GPU,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Ask for deterministic algorithms (torch.use_deterministic_algorithms(True), XLA_FLAGS=--xla_gpu_deterministic_ops=true), or sort by index and add segment by segment.",
        __doc__ or "",
    ),
    gather=gather,
    conclude=conclude,
)
