"""Where two runs part, as seen from a finding: in its statement, on its way, in its function.

A run names a file and a line; a finding names a stretch of a file. Both are put on the file's syntax as it
stands now.

Invariant: a file that cannot be read or parsed ties nothing but equal lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from twice.checking.findings import Finding, Place
from twice.checking.reading import decoded, read, shown_path
from twice.diagnosis.vary.report import FactorResult

Tie = Literal["statement", "step", "function"]


@dataclass(frozen=True, slots=True)
class Operation:
    """The first operation at which two runs part.

    Args:
        path: the file, as findings name it.
        line: from 1.
        function: qualified name, as the run had it.
        code: the statement; "" when it is not known.
        name: the variable, attribute or call that first differs.
        a: its value in the run that was not varied, short.
        b: its value in the other.
        channel: what the difference is put down to; "" when to nothing.
    """

    path: str
    line: int
    function: str
    code: str
    name: str
    a: str
    b: str
    channel: str

    @classmethod
    def of(cls, row: FactorResult, sources: Sources) -> Self | None:
        """Give where a factor's run parts from the one that was not varied; None when unknown."""
        found = None if row.divergence is None else row.divergence.operation
        if row.divergence is None or found is None:
            return None
        blamed = row.divergence.attribution
        return cls(
            path=sources.shown(found.file),
            line=found.line,
            function=found.function,
            code=found.code or "",
            name=found.name,
            a=found.a,
            b=found.b,
            channel=blamed[0].channel.value if blamed else "",
        )

    def to_json(self) -> dict[str, object]:
        """As ``operation`` of a witness."""
        return {
            "path": self.path,
            "line": self.line,
            "function": self.function,
            "code": self.code,
            "name": self.name,
            "a": self.a,
            "b": self.b,
        }


class Sources:
    """The files that findings and operations are in, each read once."""

    def __init__(self) -> None:
        self._trees: dict[str, ast.Module | None] = {}

    @staticmethod
    def shown(path: str) -> str:
        """Give a path as findings name it."""
        return shown_path(Path(path))

    @staticmethod
    def among(path: str, paths: Sequence[str]) -> bool:
        """Say whether a file is one of some, through links too."""
        whole = Path(path).resolve()
        return any(path == each or whole == Path(each).resolve() for each in paths)

    def tie(self, finding: Finding, at: Operation) -> Tie | None:
        """Say how an operation stands to a finding; None when it is elsewhere."""
        if not self.among(at.path, [finding.path]):
            return None
        found = finding.found
        if self._covers(finding.path, found.place, at.line):
            return "statement"
        if any(self._covers(finding.path, step.place, at.line) for step in found.steps):
            return "step"
        symbol = ".".join(part for part in found.symbol.split(".") if part != "<lambda>")
        tree = self._tree(finding.path)
        if tree is not None and _symbol(tree, at.line) == symbol:
            return "function"
        return None

    def _covers(self, path: str, place: Place, line: int) -> bool:
        """Whether a line is of the statement that a place stands in; of a compound one, its header."""
        if place.line <= line <= place.end_line:
            return True
        tree = self._tree(path)
        around = None if tree is None else _innermost(tree, place.line, (ast.stmt,))
        if around is None:
            return False
        end = getattr(around, "end_lineno", None) or place.line
        body = getattr(around, "body", None)
        if isinstance(body, list) and body:
            end = body[0].lineno - 1
        return getattr(around, "lineno", place.line) <= line <= end

    def _tree(self, path: str) -> ast.Module | None:
        if path not in self._trees:
            self._trees[path] = _parsed(path)
        return self._trees[path]


def _parsed(path: str) -> ast.Module | None:
    raw = read(path)
    try:
        return None if raw.data is None else ast.parse(decoded(raw.data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _around(tree: ast.Module, line: int) -> Iterator[ast.AST]:
    """The nodes over a line that hold statements or are such, outermost first."""
    inside: ast.AST | None = tree
    while inside is not None:
        yield inside
        inside = next((each for each in _held(inside) if _spans(each, line)), None)


def _held(node: ast.AST) -> Iterator[ast.AST]:
    held = (ast.stmt, ast.ExceptHandler, ast.match_case)
    return (each for each in ast.iter_child_nodes(node) if isinstance(each, held))


def _spans(node: ast.AST, line: int) -> bool:
    if isinstance(node, ast.match_case):
        return any(_spans(each, line) for each in node.body)
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([int(getattr(node, "lineno", 0)), *(each.lineno for each in decorators)])
    return first <= line <= int(getattr(node, "end_lineno", None) or 0)


def _innermost(tree: ast.Module, line: int, kinds: tuple[type[ast.AST], ...]) -> ast.AST | None:
    found = [each for each in _around(tree, line) if isinstance(each, kinds)]
    return found[-1] if found else None


def _symbol(tree: ast.Module, line: int) -> str:
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return ".".join(each.name for each in _around(tree, line) if isinstance(each, named))
