"""What a line of source does, read from its syntax: names, calls, iteration, draws, seeding.

For: following a difference back through the names that a statement reads, and telling an attribution
what kinds of callables stand on a line. Only the statement that *starts to run* at the line counts: of
``for``, ``if``, ``while`` and ``with`` the header, not the body.

Not for: types or values. ``rng.choice`` is a draw by its name; whether ``rng`` is a generator is for the
trace to say.

Invariant: source is parsed, never imported or executed.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol

from twice.diagnosis.localization.callables import (
    IS_SQL,
    ITERATION,
    MATMUL,
    OPENING_METHODS,
    OPENS_TEXT,
    SEEDED,
    SEEDING_METHODS,
    SQL,
    TEXT,
    tags_of,
)
from twice.foundation.dataclass import dataclass

_LOOPS = (ast.For, ast.AsyncFor)
_WALKERS = frozenset(
    (
        *("list", "tuple", "iter", "enumerate", "zip", "map", "filter", "next", "dict", "deque"),
        *("sorted", "max", "min", "sum", "reversed"),
    )
)
_WALKING_METHODS = frozenset(("join", "extend", "fromkeys", "fromiter", "array", "asarray"))
_VALUES = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)  # with a body on the same line
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class LineFacts:
    """What a statement does.

    Args:
        first: first line of the statement (of its header).
        last: last line of the statement (of its header).
        code: its source, whitespace folded.
        kind: name of the syntax node: ``For``, ``If``, ``Assign``, ``Return`` …
        reads: dotted names that are read, in order, as written.
        assigns: dotted names that are bound or changed in place by assignment.
        calls: dotted names that are called, resolved through imports.
        iterates: source of what is iterated, in loops and comprehensions, unless it has an order of its own.
        tags: kinds of callables, sorted (``callables``).
        seeds: names bound here that reach a seeding call later in the function.
        only_call: dotted name of the call that is the whole value of the statement, as written; else empty.
        yields: the statement yields, awaits, or is an expression whose value a frame returns.
    """

    first: int
    last: int
    code: str
    kind: str
    reads: tuple[str, ...] = ()
    assigns: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    iterates: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    only_call: str = ""
    yields: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is a source that could be read."""
        return bool(self.kind)


UNKNOWN = LineFacts(0, 0, "", "")
"""Of a line without a source that can be read."""


class _OnLine(Protocol):
    """What stands on a line of a source."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...


def facts_at(place: _OnLine) -> LineFacts:
    """Facts about the statement on whose line something stands."""
    return line_facts(place.file, place.line)


def line_facts(file: str, line: int, source: str | None = None) -> LineFacts:
    """Facts about the statement at a line; ``UNKNOWN`` when there is no readable source.

    Args:
        file: source path, read through ``linecache`` unless ``given_sources`` holds.
        line: line number from 1.
        source: the text, when the caller has it and the file may have changed.
    """
    text = source if source is not None else _text(file)
    module = _parse(text)
    return UNKNOWN if module is None else _read_line(module, text, line)


_IN_ORDER: Final = {"range", "sorted", "run.ticks"}


def _is_ordered(iterated: ast.expr) -> bool:
    return isinstance(iterated, ast.Call) and ast.unparse(iterated.func) in _IN_ORDER


@functools.lru_cache(maxsize=1024)  # one line is asked for again and again on the way back
def _read_line(module: ast.Module, text: str, line: int) -> LineFacts:
    chain = _chain(module, line)
    here = [node for node in chain if _span(node)[0] <= line <= _span(node)[1]]
    here = [node for node in here if not isinstance(node, _DEFINITIONS)] or here
    if not here:
        return UNKNOWN
    imports = _imports(module)
    nodes = [node for statement in here for node in _header(statement)]
    reads, assigns = _names(nodes)
    changed = (read_dotted(each.target) for each in here if isinstance(each, ast.AugAssign))
    iterated = [each for statement in here for each in _iterated(nodes, statement)]
    calls, tags = _calls(nodes, imports)
    function = next((node for node in reversed(chain) if isinstance(node, _FUNCTIONS)), module)
    first, last = min(_span(each)[0] for each in here), max(_span(each)[1] for each in here)
    value = getattr(here[0], "value", None)
    return LineFacts(
        first=first,
        last=last,
        code=" ".join(" ".join(text.splitlines()[first - 1 : last]).split()),
        kind=type(here[0]).__name__,
        reads=tuple(dict.fromkeys([*reads, *(name for name in changed if name)])),
        assigns=assigns,
        calls=calls,
        iterates=tuple(
            dict.fromkeys(ast.unparse(each) for each in iterated if not _is_ordered(each))
        ),
        tags=tuple(sorted({*tags, ITERATION})) if iterated else tags,
        seeds=tuple(
            name for name in assigns if _reaches_seeding(function, _span(here[0])[0], name, imports)
        ),
        only_call=(read_dotted(value.func) or "") if isinstance(value, ast.Call) else "",
        yields=any(isinstance(node, _VALUES) for node in nodes),
    )


@contextmanager
def given_sources(texts: Mapping[str, str]) -> Iterator[None]:
    """Read lines from these texts alone, by path; files of this machine are not looked at."""
    held = _GIVEN.set(texts)
    try:
        yield
    finally:
        _GIVEN.reset(held)


_GIVEN: ContextVar[Mapping[str, str] | None] = ContextVar("given_sources", default=None)


def parse_file(file: str) -> ast.Module | None:
    """Parse a source file; return None if it cannot be read or parsed."""
    return _parse(_text(file))


def _text(file: str) -> str:
    given = _GIVEN.get()
    return "".join(linecache.getlines(file)) if given is None else given.get(file, "")


@functools.lru_cache(maxsize=64)
def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _span(node: ast.AST) -> tuple[int, int]:
    """First and last line of a statement, of a compound one the header's."""
    first: int = node.lineno  # type: ignore[attr-defined]
    last: int = node.end_lineno  # type: ignore[attr-defined]
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        last = max(first, body[0].lineno - 1)
    for decorator in getattr(node, "decorator_list", ()):
        first = min(first, decorator.lineno)
    return first, last


def _chain(module: ast.Module, line: int) -> list[ast.AST]:
    """Statements that hold the line, the outer ones before the inner ones."""
    chain: list[ast.AST] = []
    todo: list[ast.AST] = [module]
    while todo:
        for child in ast.iter_child_nodes(todo.pop()):
            if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                continue
            # A case of a match has no lines of its own.
            first: int = getattr(child, "lineno", line)
            last: int = getattr(child, "end_lineno", None) or max(
                (getattr(each, "end_lineno", 0) or 0 for each in ast.walk(child)), default=0
            )
            decorators = getattr(child, "decorator_list", ())
            if min([first, *(each.lineno for each in decorators)]) <= line <= last:
                if hasattr(child, "lineno"):
                    chain.append(child)
                todo.append(child)
    return chain


def _header(statement: ast.AST) -> Iterator[ast.AST]:
    """Every node of the statement that runs with it, without the bodies of compound statements."""
    for name, held in ast.iter_fields(statement):
        if name in {"body", "orelse", "finalbody", "handlers", "cases"} and isinstance(held, list):
            continue
        for child in held if isinstance(held, list) else [held]:
            if isinstance(child, ast.AST):
                yield from ast.walk(child)


def read_dotted(node: ast.AST) -> str | None:
    """Return an expression as a dotted name, or None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _names(nodes: list[ast.AST]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Dotted names read and bound; of ``a.b.c`` only the whole, not ``a`` and ``a.b``."""
    inner = {
        id(node.value) for node in nodes if isinstance(node, ast.Attribute) and read_dotted(node)
    }
    reads: dict[str, None] = {}
    binds: dict[str, None] = {}
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            name = read_dotted(node.value)
            if name:
                binds[name] = None
        if not isinstance(node, ast.Name | ast.Attribute) or id(node) in inner:
            continue
        name = read_dotted(node)
        if name:
            (reads if isinstance(node.ctx, ast.Load) else binds)[name] = None
    for node in nodes:
        if isinstance(node, ast.arg):
            reads.pop(node.arg, None)
    return tuple(reads), tuple(binds)


@functools.lru_cache(maxsize=64)
def _imports(module: ast.Module) -> dict[str, str]:
    """Local name -> dotted name, for imports anywhere and for plain aliases at the top."""
    known: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for statement in module.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, name = statement.targets[0], read_dotted(statement.value)
            if isinstance(target, ast.Name) and name and name.partition(".")[0] in known:
                known.setdefault(target.id, resolve(name, known))
    return known


def resolve(name: str, imports: dict[str, str]) -> str:
    """Resolve the first part of a dotted name through imports."""
    first, dot, rest = name.partition(".")
    return imports.get(first, first) + dot + rest


def _calls(
    nodes: list[ast.AST], imports: dict[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    calls: dict[str, None] = {}
    tags: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call):
            name = read_dotted(node.func)
            if name is None and isinstance(node.func, ast.Attribute):
                name = f"().{node.func.attr}"
            if name is not None:
                full = resolve(name, imports)
                calls[full] = None
                tags.update(
                    tags_of(
                        full,
                        arguments=len(node.args) + len(node.keywords),
                        is_method=name.partition(".")[0] not in imports,
                    )
                )
                if _opens_text(node, full):
                    tags.add(TEXT)
        elif isinstance(node, ast.Attribute | ast.Name):
            name = read_dotted(node)
            full = resolve(name, imports) if name else ""
            if full in {"os.environ", "os.environb", "sys.argv"}:
                tags.update(tags_of(full, arguments=0, is_method=False))
        elif isinstance(node, ast.MatMult):
            tags.add(MATMUL)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            tags.update(tag for form, tag in SQL if IS_SQL.match(text) and form.search(text))
    return tuple(calls), tuple(sorted(tags))


def _opens_text(call: ast.Call, full: str) -> bool:
    """Whether a call reads or writes text and says no encoding."""
    if full not in OPENS_TEXT and full.rpartition(".")[2] not in OPENING_METHODS:
        return False
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    mode = given.get("mode") or (call.args[1] if len(call.args) > 1 else None)
    is_binary = isinstance(mode, ast.Constant) and isinstance(mode.value, str) and "b" in mode.value
    return "encoding" not in given and not is_binary and len(call.args) < 4


def _iterated(nodes: list[ast.AST], statement: ast.AST) -> Iterator[ast.expr]:
    if isinstance(statement, _LOOPS):
        yield statement.iter
    for node in nodes:
        if isinstance(node, ast.comprehension):
            yield node.iter
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in _WALKERS:
                yield from node.args
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _WALKING_METHODS:
                yield from node.args
            elif node.func.attr in {"pop", "popitem"} and not node.args:
                yield node.func.value
        elif isinstance(node, ast.Starred | ast.YieldFrom):
            yield node.value


def _reaches_seeding(function: ast.AST, start: int, bound: str, imports: dict[str, str]) -> bool:
    """Whether a name that is bound by a statement reaches a seeding call below it."""
    carried = {bound}
    later = [node for node in ast.walk(function) if getattr(node, "lineno", 0) >= start]
    later.sort(key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
    for node in later:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            reads, _ = _names(list(ast.walk(node.value)))
            if carried & set(reads):
                carried |= set(_names(list(_header(node)))[1])
        name = read_dotted(node.func) if isinstance(node, ast.Call) else None
        if (
            isinstance(node, ast.Call)
            and name is not None
            and (resolve(name, imports) in SEEDED or name.rpartition(".")[2] in SEEDING_METHODS)
        ):
            given = [*node.args, *(each.value for each in node.keywords)]
            reads, _ = _names([inner for each in given for inner in ast.walk(each)])
            if carried & set(reads):
                return True
    return False
