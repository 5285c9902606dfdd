"""Where a file sets what decides how libraries compute: environment variables, attributes of torch, called switches.

Only what is written with a constant name counts. What the files of a project set together is judged by
``find_unsettled``: there, a test speaks for tests alone.

Invariant: one reading of a file for all rules; none for a file that names nothing that could be set.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from twice.checker.findings import Violation
from twice.checker.rule import ProjectFacts
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope

How = Literal["variable", "attribute", "call"]
Looking = Callable[["Site"], Iterator[tuple[str, Violation]]]
WORKSPACE: Final = "CUBLAS_WORKSPACE_CONFIG"
_ORDERING_OPTIONS: Final = ("xla_gpu_deterministic_ops", "xla_gpu_exclude_nondeterministic_ops")
_HINTS: Final = (
    "environ",
    "putenv",
    "backends",
    "cudnn",
    "determinis",
    "float32_matmul",
    "float_32",
)
_READ: WeakKeyDictionary[Module, tuple[Setting, ...]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Setting:
    """Something that is set.

    Args:
        how: an environment variable, an attribute, or the call of a function that switches.
        name: the variable, or the qualified name of the attribute or the function.
        node: where its name stands; the call itself.
        value: what it is set to, None when that is not seen.
        scope: where it is set.
        is_forced: whether a value that was there before is lost.
    """

    how: How
    name: str
    node: ast.expr
    value: ast.expr | None
    scope: Scope
    is_forced: bool = True

    @property
    def text(self) -> str:
        """The constant parts of the text that it is set to."""
        nodes = () if self.value is None else ast.walk(self.value)
        constants = [each.value for each in nodes if isinstance(each, ast.Constant)]
        return " ".join([each for each in constants if isinstance(each, str)])

    def keyword(self, name: str) -> ast.expr | None:
        """Give the value of a keyword argument of the call."""
        given = self.node.keywords if isinstance(self.node, ast.Call) else ()
        return next((each.value for each in given if each.arg == name), None)


def read_settings(module: Module, *how: How) -> list[Setting]:
    """Give what a file sets in some of the ways, in source order."""
    if not module.speaks_of(*_HINTS):
        return []
    known = _READ.get(module)
    if known is None:
        every = [*_read_assignments(module), *_read_calls(module)]
        every.sort(key=lambda each: (each.node.lineno, each.node.col_offset))
        known = _READ[module] = tuple(every)
    return [each for each in known if each.how in how]


def _read_assignments(module: Module) -> Iterator[Setting]:
    for node, scope in module.survey.nodes.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign), "asked for"
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                if module.names.qualified(target.value, scope) == "os.environ":
                    yield from _to_variable(target.slice, node.value, scope)
            elif isinstance(target, ast.Attribute):
                name = module.names.qualified(target, scope)
                if name is not None and name.startswith("torch.backends."):
                    yield Setting("attribute", name, target, node.value, scope)


def _read_calls(module: Module) -> Iterator[Setting]:
    switches = module.catalogue.together("ordering", "tf32")
    for node, scope, name in module.calls:
        if name in switches:
            modes = [each.value for each in node.keywords if each.arg == "mode"]
            value = next(iter([*node.args, *modes]), None)
            yield Setting("call", name, node, value, scope)
        elif name in {"os.environ.setdefault", "os.putenv"} and len(node.args) == 2:
            variable, value = node.args
            yield from _to_variable(variable, value, scope, is_forced=name == "os.putenv")
        elif name == "os.environ.update":
            for each in node.args:
                if isinstance(each, ast.Dict):
                    for key, value in zip(each.keys, each.values, strict=True):
                        yield from _to_variable(key, value, scope)
            for keyword in node.keywords:
                if keyword.arg is not None:
                    value = keyword.value
                    yield Setting("variable", keyword.arg, value, value, scope)


def _to_variable(
    name: ast.expr | None, value: ast.expr, scope: Scope, *, is_forced: bool = True
) -> Iterator[Setting]:
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        yield Setting("variable", name.value, name, value, scope, is_forced)


def is_true(node: ast.AST | None) -> bool:
    """Say whether it is the constant True or 1."""
    return isinstance(node, ast.Constant) and node.value == 1


def is_false(node: ast.AST | None) -> bool:
    """Say whether it is the constant False or 0."""
    return isinstance(node, ast.Constant) and node.value == 0


def list_set_names(module: Module) -> set[str]:
    """Give what a file sets: packages whose operations it orders, or asks to, and the workspace."""
    found = set()
    for each in read_settings(module, "variable", "call"):
        if each.how == "call":
            package = module.catalogue.names("ordering").get(each.name)
            if package and not is_false(each.value):
                found.add(f"{package} asked")
                if not is_true(each.keyword("warn_only")):
                    found.add(f"{package} ordered")
        elif each.name == "TF_DETERMINISTIC_OPS":
            found.add("tensorflow ordered")
        elif each.name == "XLA_FLAGS" and any(option in each.text for option in _ORDERING_OPTIONS):
            found.add("jax ordered")
    if module.speaks_of(WORKSPACE) and any(
        (isinstance(node, ast.Constant) and node.value == WORKSPACE)
        or (isinstance(node, ast.keyword) and node.arg == WORKSPACE)
        for node in ast.walk(module.tree)
    ):
        found.add(WORKSPACE)  # It may be handed to a process, from a table.
    return found


def collect_facts(module: Module, looking: Mapping[str, Looking]) -> dict[str, Any] | None:
    """Give the facts of a file for ``find_unsettled``: what it sets, and for each rule its places, with what they lack."""
    found = {}
    for name, look in looking.items():
        places = look(Site(module, module.tree, module.survey.root, name))
        found[name] = [[lacking, each.to_json()] for lacking, each in places]
    found = {name: places for name, places in found.items() if places}
    sets = sorted(list_set_names(module))
    return {"sets": sets, "found": found} if sets or found else None


def find_unsettled(facts: ProjectFacts, rule: str) -> Iterator[tuple[str, Violation]]:
    """Give a rule's places in all files but those for which the project sets what they lack.

    The facts of a file are what it sets, under ``sets``, and under ``found`` for each rule its places with
    what they lack. What a test sets holds while the test runs, so it speaks for no other file.
    """
    outside = facts.outside_tests()
    every, program = (
        {name for one in known.values() for name in one["sets"]} for known in (facts, outside)
    )
    for path, each in facts.items():
        known = program if path in outside else every
        for lacking, found in each["found"].get(rule, ()):
            if lacking not in known:
                yield path, Violation.from_json(found)
