"""Where two runs part, and the findings there: in its statement, on the way of its value, in its function.

A run names a file and a line, a finding names a part of a file. Both are looked up in the file's present syntax.
Which factors a rule is about follows from the words of its name, so a new rule about an old thing needs no entry.

Invariant: a file that cannot be read or parsed matches nothing but equal lines.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, Self

from twice.checker.files import decode, read_file, to_shown_path
from twice.checker.findings import Finding, SourceSpan
from twice.cli.output import pick
from twice.diagnosis.divergence import OperationFound
from twice.diagnosis.vary.report import BASELINE, FactorResult

Match = Literal["statement", "step", "function"]
_THREADS: Final = (BASELINE, "task order", "switch interval")
# Entropy and the like are made anew in every run: two runs with nothing varied show them.
_FACTORS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("listing glob walk", ("listing order",)),
    ("set hash salted sum", ("hash seed", "memory layout")),
    ("id identity address repr text digest", (BASELINE, "memory layout", "hash seed")),
    ("blas unpinned", ("threads", "blas kernels")),
    ("transcendental libm", ("libm", "cpu features", "blas kernels")),
    ("completion completed concurrent executor parallel pool", _THREADS),
    ("race sleep thread threads unordered", _THREADS),
    ("zone naive", ("time zone", BASELINE, "clock offset")),
    ("clock time datetime date", (BASELINE, "clock offset")),
    ("locale", ("locale",)),
    ("environment environ getenv", ("locale", "time zone", "user and home", "environment")),
    ("cwd working", ("working directory",)),
    ("finalizer finaliser weak gc", ("garbage collection",)),
    ("unseeded entropy random uuid global none library", (BASELINE,)),
    ("network subprocess output unrecorded", (BASELINE,)),
)
"""Words of rule names, and the factors that such a rule is about."""


def find_factors(rule: str) -> tuple[str, ...]:
    """Find the factors that a rule is about, the likeliest first; none when no experiment decides.

    Args:
        rule: its name, words with hyphens.
    """
    words = {*rule.split("-")}
    if words >= {"blas", "threads"}:  # Threads of a library, not of the program.
        words -= {"threads"}
    found = [each for about, those in _FACTORS if words & {*about.split()} for each in those]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Parting:
    """Two runs that were seen to part.

    Args:
        row: what was varied, and what came of it.
        operation: the first that differs, its file as findings name it; None when it could not be said.
        channel: what the difference is put down to; "" when to nothing.
    """

    row: FactorResult
    operation: OperationFound | None = None
    channel: str = ""

    @classmethod
    def from_row(cls, row: FactorResult) -> Self:
        """Read it from a factor's result."""
        found = row.divergence
        if found is None or found.operation is None:
            return cls(row)
        operation = replace(found.operation, file=to_shown_path(Path(found.operation.file)))
        return cls(row, operation, found.attribution[0].channel.value if found.attribution else "")

    @property
    def condition(self) -> str:
        """Under what the runs part, for people."""
        value = f" ({self.row.value})" if self.row.value else ""
        varied = f"under another {self.row.factor}{value}"
        return "with nothing varied" if self.row.factor == BASELINE else varied

    @property
    def place(self) -> str:
        """The operation's file and line; "" without one."""
        return f"{self.operation.file}:{self.operation.line}" if self.operation else ""

    @property
    def values(self) -> str:
        """The operation's name, with its value in both runs; "" without one."""
        at = self.operation
        return f"{at.name}: {at.a} / {at.b}" if at else ""

    def to_json(self) -> dict[str, object]:
        """Give plain values."""
        at = self.operation
        names = ("line", "function", "code", "name", "a", "b")
        operation = at and {"path": at.file, **pick(at, *names)}
        return {**pick(self.row, "factor", "value"), "operation": operation}

    def concerns(self, finding: Finding) -> bool:
        """Say whether a finding is about what was varied, or about what differs though nothing was."""
        factors = find_factors(finding.found.rule)
        if self.row.factor == BASELINE:
            return BASELINE in factors or finding.channel == self.channel
        return not set(self.row.factor.split(" + ")).isdisjoint(factors)

    def match(self, findings: Sequence[Finding]) -> tuple[Match, list[Finding]]:
        """Give the findings that the operation is a witness of: the nearest, and no other.

        Of several in its function and no nearer, it is a witness of none: it may be any of them.
        """
        nearest: dict[Match, list[Finding]] = {"statement": [], "step": [], "function": []}
        for each in findings:
            kind = self._find_tie(each)
            if kind and self.concerns(each):
                nearest[kind].append(each)
        kind, found = next((pair for pair in nearest.items() if pair[1]), ("function", []))
        return kind, [] if kind == "function" and len(found) > 1 else found

    def _find_tie(self, finding: Finding) -> Match | None:
        """How the operation stands to a finding; None when it is elsewhere."""
        at, found = self.operation, finding.found
        if at is None or not is_among(at.file, [finding.path]):
            return None
        if _covers(finding.path, found.place, at.line):
            return "statement"
        if any(_covers(finding.path, step.place, at.line) for step in found.steps):
            return "step"
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        around = _find_statements(finding.path, at.line)
        names = [each.name for each in around if isinstance(each, definitions)]
        symbol = [each for each in found.symbol.split(".") if each not in {"", "<lambda>"}]
        return "function" if names == symbol and _read_syntax(finding.path).body else None


def is_among(path: str, paths: Sequence[str]) -> bool:
    """Say whether a file is one of some, through links too."""
    return path in paths or Path(path).resolve() in {Path(each).resolve() for each in paths}


def _covers(path: str, place: SourceSpan, line: int) -> bool:
    """Whether a line is of the statement that a place stands in; of a compound one, its header."""
    if place.line <= line <= place.end_line:
        return True
    around = _find_statements(path, place.line)
    if not around:
        return False
    body = getattr(around[-1], "body", None)
    end = body[0].lineno - 1 if body else around[-1].end_lineno or place.line
    return around[-1].lineno <= line <= end


def _find_statements(path: str, line: int) -> list[ast.stmt]:
    """Find the statements that a line is in, outermost first."""
    every = (each for each in ast.walk(_read_syntax(path)) if isinstance(each, ast.stmt))
    return [each for each in every if each.lineno <= line <= (each.end_lineno or 0)]


def _read_syntax(path: str) -> ast.Module:
    """Parse a file; a file with a syntax error is empty."""
    return _parse(read_file(path).data or b"")


@lru_cache(maxsize=16)
def _parse(data: bytes) -> ast.Module:
    try:
        return ast.parse(decode(data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
