"""Every name that Python binds in a scope is bound there for the checker too, and no other."""

from __future__ import annotations

import symtable
from collections.abc import Iterator
from pathlib import Path

from sourcefiles import module_of
from twice.checker.syntax.comprehensions import APART

REPOSITORY = Path(__file__).parents[2]
REAL = [
    path
    for folder in ("src/twice/checker", "src/twice/simulation", "tests/corpora", "examples")
    for path in sorted((REPOSITORY / folder).rglob("*.py"))
]  # fmt: skip
HARD = """
import os.path, sys as system
from math import *

total: int = 0
counted = [(a := b) for b in range(3) if b]

class World:
    size = 3
    def __init__(self, *parts, name="x", **more):
        global made
        made = self
        def inner():
            nonlocal name
            name = size = 1
            for i, (j, *rest) in more: pass
            with open(name) as stream, os.scandir() as (first, second): pass
            try: pass
            except OSError as error: del error
            import os.path as place
            return lambda key, /, *, other=name: [key for one in other for two in one]
        match parts:
            case [World(size=w) as whole, {"k": value, **others}, *middle] | _: pass
        total_of = {k: v for k, v in more.items()}
        total_of["x"] += 1
        async def late(): yield (x async for x in inner)
"""


def bound_by_python(table: symtable.SymbolTable) -> set[str]:
    """The names that a table binds, with those of comprehensions in it, which belong to it here."""
    names = {
        each.get_name()
        for each in table.get_symbols()
        if (each.is_local() or (table.get_type() == "module" and each.is_global()))
        and (each.is_assigned() or each.is_parameter() or each.is_imported() or each.is_namespace())
    }
    names.discard("__class__")
    for inner in table.get_children():
        if inner.get_name() in {"listcomp", "setcomp", "dictcomp", "genexpr"}:
            names |= bound_by_python(inner)
    return {each for each in names if not each.startswith(".")}


def tables(table: symtable.SymbolTable) -> Iterator[tuple[tuple[str, int], set[str]]]:
    """Every function's and class's table below one, by name and line."""
    for inner in table.get_children():
        if inner.get_name() not in {"listcomp", "setcomp", "dictcomp", "genexpr"}:
            name = inner.get_name() if inner.get_name() != "lambda" else "<lambda>"
            yield (name, inner.get_lineno()), bound_by_python(inner)
        yield from tables(inner)


def differences(text: str) -> list[object]:
    """Scopes in which other names are bound than Python binds."""
    module = module_of(text)
    mine: dict[tuple[str, int], list[set[str]]] = {}
    for scope in module.survey.scopes[1:]:
        names = {each.rstrip(APART) for each in scope.bindings}
        mine.setdefault((scope.name, scope.node.lineno), []).append(names)
    theirs: dict[tuple[str, int], list[set[str]]] = {}
    for key, names in tables(symtable.symtable(text, "example.py", "exec")):
        theirs.setdefault(key, []).append(names)
    return [
        (key, mine.get(key), found)
        for key, found in theirs.items()
        if sorted(map(sorted, found)) != sorted(map(sorted, mine.get(key, [])))
    ]


def test_hard_bindings() -> None:
    assert differences(HARD) == []


def test_real_files() -> None:
    found = {path: differences(path.read_text("utf-8")) for path in REAL}
    assert len(found) > 800
    assert {path: each for path, each in found.items() if each} == {}
