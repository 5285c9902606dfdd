"""Every place in a file that asks the world: what is asked, what becomes of the answer, and through whom.

A question goes through the effects layer when it is asked of ``run.effects`` or inside of a function
that is declared an effect; then a replay gives the recorded answer. Every other one is raw.

Invariant: one entry for each call or subscript, in source order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twice.checker.findings import Reach
from twice.checker.syntax.module import Module
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use

KINDS: Final = {
    "clock": "clock",
    "entropy": "entropy",
    "ask-environment": "environment",
    "ask-files": "files",
    "listing": "listing",
    "ask-network": "network",
    "ask-processes": "processes",
    "ask-input": "input",
    "ask-host": "host",
    "ask-process-identity": "process",
}
"""Groups of the catalogue, and what is asked there."""

_LAYER: Final = {
    "clock": "clock",
    "entropy": "entropy",
    "env": "environment",
    "fs": "files",
    "net": "network",
    "process": "processes",
    "stdin": "input",
    "call": "declared",
}
_DECLARING: Final = frozenset({"twice.effect", "twice.recorder.run.effect"})
_WRITING: Final = frozenset("wax")
_SHOWN_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to the world.

    Args:
        path: the file.
        line: from 1.
        function: dotted path of the function; "" at the top of the file.
        kind: clock, entropy, environment, files, listing, network, processes, input, host, process.
        call: the call, as it is written, shortened.
        governed: whether it goes through the effects layer.
        use: where the answer ends, as ``Use`` names it.
        ends: the same as the end of a sentence.
        reach: how far the answer was seen to travel.
        zone: what part of the project the file is.
    """

    path: str
    line: int
    function: str
    kind: str
    call: str
    governed: bool
    use: str
    ends: str
    reach: Reach
    zone: str = "core"

    @property
    def is_gap(self) -> bool:
        """Whether the core computes with an answer that no replay can give again."""
        return not self.governed and self.zone == "core" and self.reach is not Reach.QUIET


def effects(module: Module, zone: str = "core") -> Iterator[Ask]:
    """Give every question that a file asks."""
    table = _table(module)
    for node, scope in module.survey.nodes.get(ast.Call, ()):
        assert isinstance(node, ast.Call), "asked for"
        kind, governed = _asked(module, node, scope, table)
        if kind:
            yield _ask(module, node, scope, kind, zone, governed=governed)
    for node, scope in module.survey.nodes.get(ast.Subscript, ()):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and module.names.qualified(node.value, scope) == "os.environ"
        ):
            yield _ask(module, node, scope, "environment", zone, governed=False)


def _table(module: Module) -> dict[str, str]:
    return {name: kind for group, kind in KINDS.items() for name in module.catalogue.names(group)}


def _asked(module: Module, call: ast.Call, scope: Scope, table: dict[str, str]) -> tuple[str, bool]:
    name = module.names.qualified(call.func, scope)
    if name is not None and not name.startswith("."):
        kind = table.get(name, "")
        if kind == "files" and _writes(call):
            return "", False
        return kind, False
    if not isinstance(call.func, ast.Attribute):
        return "", False
    layer = _through_layer(call.func)
    if layer:
        return layer, True
    method = call.func.attr
    if module.catalogue.has_method("ask-files", method) and not call.args:
        return "files", False
    if module.catalogue.has_method("listing", method):
        base = module.kinds.of(call.func.value, scope)
        if (base is not None and base.name == "path") or method in {"iterdir", "rglob"}:
            return "listing", False
    return "", False


def _through_layer(func: ast.Attribute) -> str:
    """Return the kind of a request to ``….effects``: the word after it, or "" if there is none."""
    word, node = func.attr, func.value
    while isinstance(node, ast.Attribute):
        if node.attr == "effects":
            return _LAYER.get(word, "declared")
        word, node = node.attr, node.value
    return (
        _LAYER.get(word, "declared") if isinstance(node, ast.Name) and node.id == "effects" else ""
    )


def _writes(call: ast.Call) -> bool:
    mode: ast.expr | None = call.args[1] if len(call.args) > 1 else None
    for keyword in call.keywords:
        if keyword.arg == "mode":
            mode = keyword.value
    return (
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and not _WRITING.isdisjoint(mode.value)
    )


def _ask(
    module: Module, node: ast.expr, scope: Scope, kind: str, zone: str, *, governed: bool
) -> Ask:
    site = module.site(node, scope)
    outcome = site.value()
    if kind == "listing":
        outcome = max(outcome, site.order(), key=lambda each: each.use)
    text = " ".join(module.source(node).split())
    return Ask(
        path=module.path,
        line=node.lineno,
        function=module.in_function(scope),
        kind=kind,
        call=text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 1]}…",
        governed=governed or _is_declared(module, scope),
        use=outcome.use.name.lower(),
        ends=_ends(module, outcome, node.lineno),
        reach=outcome.use.reach,
        zone=zone,
    )


def _ends(module: Module, outcome: Outcome, asked: int) -> str:
    if outcome.use is Use.UNSEEN:
        return "it is handed to code that was not followed"
    line = module.place(outcome.node).line
    words = outcome.words(line)
    return words.removesuffix(f" in line {line}") if line == asked else words


def _is_declared(module: Module, scope: Scope) -> bool:
    """Whether the function, or one around it, is declared an effect."""
    current: Scope | None = scope
    while current is not None and current.parent is not None:
        node = current.node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if module.names.qualified(called, current.parent) in _DECLARING:
                    return True
        current = current.parent
    return False
