"""A snapshot copies a list and shares what is in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.roles import method, own_attribute
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "shallow-snapshot"
_SNAPSHOTS: Final = frozenset({"snapshot", "memento"})
_PLAIN: Final = frozenset(
    ["None", "Any", "Path", "UUID", "Decimal", "Fraction", "Enum", "Hashable", "Literal", "Callable", "Type"]
)  # fmt: skip
_HOLDERS: Final = frozenset(
    ["Optional", "Union", "List", "Deque", "Dict", "Set", "Tuple", "Sequence", "Iterable", "Mapping", "MutableMapping", "Collection", "FrozenSet", "DefaultDict", "OrderedDict", "Annotated", "Final", "MutableSequence"]
)  # fmt: skip
_COPIES: Final = {"list", "dict", "tuple", "deque", "set"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a class that is called a snapshot."""
    node = site.node
    assert isinstance(node, ast.ClassDef), "classes are asked for"
    if not about(node.name, _SNAPSHOTS):
        return
    owner = next(each for each in site.scope.inner if each.node is node)
    first = method(owner, "__init__")
    if first is None or not isinstance(first.node, ast.FunctionDef):
        return
    arguments = first.node.args
    shared = {
        each.arg
        for each in (*arguments.args, *arguments.kwonlyargs)
        if each.annotation is not None and _holds_objects(each.annotation)
    }
    for each in ast.walk(first.node):
        if isinstance(each, ast.Assign) and own_attribute(each.targets[0]):
            name = next((one for one in map(_copied, ast.walk(each.value)) if one in shared), "")
            if name:
                yield site.found(
                    NAME,
                    f"{node.name} copies {name} and shares the objects in it.",
                    "What happens to them later happens in the snapshot, so going back does not go back.",
                    node=each,
                    confidence=0.85,
                )
                return


def _copied(node: ast.AST) -> str:
    """Give the name of what is copied one level deep."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
        return node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    if last_name(node.func) in _COPIES and len(node.args) == 1:
        return node.args[0].id if isinstance(node.args[0], ast.Name) else ""
    return ""


def _holds_objects(annotation: ast.expr) -> bool:
    """Whether it is a collection of objects of some class that a program has made itself."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return False
    names = [
        last_name(each)
        for each in ast.walk(annotation)
        if isinstance(each, (ast.Name, ast.Attribute))
    ]
    return any(isinstance(each, ast.Subscript) for each in ast.walk(annotation)) and any(
        each[:1].isupper() and each not in _PLAIN and each not in _HOLDERS for each in names
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SNAPSHOT,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Copy what is inside as well: copy.deepcopy, or the values from which it is made again.",
        __doc__ or "",
    ),
    nodes=(ast.ClassDef,),
    look=look,
    applies=mentions("Snapshot", "Memento"),
)
