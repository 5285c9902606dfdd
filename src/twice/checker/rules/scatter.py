"""The rule about additions at indices that may repeat: a GPU adds there in the order of a race."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, ProjectFacts
from twice.checker.rules.engine import project_rule
from twice.checker.rules.settings import collect_facts, find_unsettled, is_true
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_SCATTERING: Final = {"torch", "jax", "tensorflow", "torch_scatter", "torch_geometric"}
_OTHER_REDUCTIONS: Final = {"max", "min", "amax", "amin", "mul", "prod", "any"}
_WHOLE: Final = {"long", "int", "int32", "int64", "bool"}
_WHOLE_MAKERS: Final = {"ones", "ones_like", "new_ones", "long", "int"}


def gather(module: Module) -> dict[str, Any] | None:
    """Give what a file sets, and its additions at indices, with the switch that orders them."""
    return collect_facts(module, {"atomic-scatter": _find_additions})


@project_rule(
    Channel.GPU,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Ask for deterministic algorithms (torch.use_deterministic_algorithms(True), XLA_FLAGS=--xla_gpu_deterministic_ops=true), or sort by index and add segment by segment.",
    gather=gather,
)
def atomic_scatter(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Numbers are added at indices that may repeat, in the order in which a GPU gets to them."""
    return find_unsettled(facts, "atomic-scatter")


def _find_additions(site: Site) -> Iterator[tuple[str, Violation]]:
    module = site.module
    if module.imported.isdisjoint(_SCATTERING):
        return
    said = set()
    for node, scope, name in module.calls:
        package = _find_package(module, node, scope, name)
        if package is None or (scope.method, package) in said:
            continue
        said.add((scope.method, package))  # Once for each function.
        func = node.func
        shown = func.attr if isinstance(func, ast.Attribute) else module.source(func)
        if module.catalogue.has_method("updating-at", shown):
            shown = f"at[…].{shown}"
        yield (
            f"{package} ordered",
            site.at(node, scope).violation(
                f"{shown}() adds at indices that may repeat.",
                "A GPU adds where an index repeats in the order of a race, and a float sum keeps a trace of it.",
            ),
        )


def _find_package(module: Module, call: ast.Call, scope: Scope, name: str | None) -> str | None:
    """Return the package whose switch would order an addition at indices that may repeat; None when it is no such."""
    catalogue, func = module.catalogue, call.func
    package = catalogue.names("atomic-adds").get(name or "")
    attribute = func.attr if isinstance(func, ast.Attribute) else ""
    if package is None and isinstance(func, ast.Attribute):
        if catalogue.has_method("updating-at", attribute):
            return "jax" if _repeats_at(module, func.value, scope) else None
        if name is None and "torch" in module.imported:
            package = catalogue.methods.get("atomic-adds", {}).get(attribute)
    if package is None:
        return None
    keywords = {each.arg: each.value for each in call.keywords}
    given = [*call.args, *keywords.values()]
    words = {each.value for each in given if isinstance(each, ast.Constant)}
    if words & _OTHER_REDUCTIONS or any(_is_whole(module, each, scope) for each in given):
        return None
    if attribute.startswith("scatter_reduce") and not words & {"sum", "mean"}:
        return None
    if attribute == "index_put_" and not is_true(keywords.get("accumulate")):
        return None
    return package


def _is_whole(module: Module, node: ast.expr, scope: Scope) -> bool:
    """Whether it is made of ones or of whole numbers, which add up exactly in any order."""
    if isinstance(node, ast.Name):
        bindings = module.names.bindings(node.id, scope)
        if len(bindings) != 1 or bindings[0].kind != "assign":
            return False
        node = bindings[0].node  # type: ignore[assignment]
    if not isinstance(node, ast.Call):
        return False
    made = last_name(node)
    if made in {"to", "type"}:
        return any(last_name(each) in _WHOLE for each in node.args)
    return made in _WHOLE_MAKERS


def _repeats_at(module: Module, updated: ast.expr, scope: Scope) -> bool:
    """Whether ``grid.at[index]`` may name a place twice."""
    if not isinstance(updated, ast.Subscript) or not isinstance(updated.value, ast.Attribute):
        return False
    if updated.value.attr != "at" or "jax" not in module.imported:
        return False
    index = updated.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return not all(_is_single(module, each, scope) for each in parts)


def _is_single(module: Module, node: ast.expr, scope: Scope) -> bool:
    """Whether an index is one place or a stretch: a constant, a slice, a range, what is counted from a counter."""
    if isinstance(node, (ast.Constant, ast.Slice)):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_single(module, node.operand, scope)
    if isinstance(node, ast.BinOp):
        return any(_is_counter(module, each, scope) for each in (node.left, node.right))
    if isinstance(node, ast.Call):
        return last_name(node) == "arange"
    return _is_counter(module, node, scope)


def _is_counter(module: Module, node: ast.expr, scope: Scope) -> bool:
    """Whether a name is a whole number: annotated so, of a range, or counted by ``fori_loop``."""
    if not isinstance(node, ast.Name):
        return False
    kind = module.kinds.of(node, scope)
    if kind is not None:
        return kind.name == "int"
    if not isinstance(scope.node, ast.FunctionDef) or not module.speaks_of("fori_loop"):
        return False
    return any(each.arg == node.id for each in scope.node.args.args[:1]) and any(
        last_name(call) == "fori_loop" and scope.name in [last_name(each) for each in call.args]
        for call, _, _ in module.calls
    )
