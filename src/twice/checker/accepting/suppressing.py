"""Reading comments that speak to the checker.

``# twice: ignore[rule, other] reason, until 2027-01`` takes findings away; code and reason are
required. At the end of a line it holds for the statements there, by itself for the next statement
with its body. ``# twice: boundary reason`` on a line by itself says that the world is let in there
on purpose: before a function or class, or at the top for the whole file.

Invariant: what stands in a string is no comment.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twice.checker.accepting.comments import Comment, Remarks

_MENTION: Final = re.compile(r"#[ \t]*twice:[ \t]*(?:ignore|boundary)\b", re.IGNORECASE)
_WORD: Final = (
    r"twice:[ \t]*(?:ignore|(?P<boundary>boundary))\b|(?i:twice:[ \t]*ignore)(?=[ \t]*\[)"
)
_COMMENT: Final = re.compile(rf"#[ \t]*(?:{_WORD})[ \t]*(?:\[(?P<rules>[^\]#]*)\])?(?P<rest>[^#]*)")
_UNTIL: Final = re.compile(r"until\s+(?P<date>\d\S*)$")
_BETWEEN: Final = re.compile(r"[\s,./-]+")
_SPOKEN: Final = re.compile(
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
    r"|\d{1,2}(?:st|nd|rd|th)|q[1-4]|(?:19|20)\d\d|tomorrow",
    re.IGNORECASE,
)
"""A part of a date in words."""
_AROUND_DATES: Final = frozenset({"the", "of", "end", "start", "middle", "mid", "early", "late"})
_QUOTES: Final = ('"', "`")
_LENGTH_MAX: Final = 1_000  # of a comment that is listened to
_DATE: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?\Z")


def remarks_in(text: str, tree: ast.Module) -> Remarks:
    """Give what the comments of a file say.

    Args:
        text: the source.
        tree: its syntax.
    """
    if not _MENTION.search(text):
        return Remarks()
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as the parser does
    stretches = _stretches(tree)
    top = _top(tree)
    ignores: list[Comment] = []
    boundaries: list[tuple[int, int]] = []
    for line, column, comment, alone in _comments(text):
        for match in _COMMENT.finditer(comment[:_LENGTH_MAX]):
            if _is_spoken_of(comment[: match.start()]):
                continue
            at = (line, column + match.start() + 1)
            if match["boundary"]:
                read = _boundary(at, match, alone, stretches, top=top, last=text.count("\n") + 1)
                if read.fault:
                    ignores.append(read)
                else:
                    boundaries.append((read.first, read.last))
            else:
                ignores.append(_ignore(at, match, _held(stretches, line, alone=alone)))
    return Remarks(tuple(ignores), tuple(boundaries))


def _is_spoken_of(before: str) -> bool:
    """Whether somebody speaks of such a comment, by what stands before it in the same one."""
    if before and not before[-1].isspace():
        return True
    return any(before.count(each) % 2 for each in _QUOTES)


def _comments(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Each comment: line, column from 0, text, and whether nothing else stands on its line."""
    code = -1
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield *token.start, token.string, token.start[0] != code
            elif token.type not in _BLANK:
                code = token.end[0]
    except (tokenize.TokenError, SyntaxError):
        return  # The parser took the file; what the tokenizer made of it so far is what there is.


_BLANK: Final = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A statement's lines: its own (a compound one's header), and those with its body."""

    first: int
    own_last: int
    last: int
    defines: bool


def _stretches(tree: ast.Module) -> list[_Stretch]:
    """Every statement in source order."""
    found = []
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        inner = _inner(node)
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        last = node.end_lineno or node.lineno
        own_last = max(node.lineno, min(each.lineno for each in inner) - 1) if inner else last
        if inner and inner[0].lineno == node.lineno:
            own_last = node.lineno
        defines = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        found.append(_Stretch(first, own_last, last, defines))
        pending.extend(reversed(inner))
    return found


def _inner(node: ast.stmt) -> list[ast.stmt]:
    inner: list[ast.stmt] = []
    for name in ("body", "orelse", "finalbody"):
        inner.extend(getattr(node, name, ()))
    for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        inner.extend(each.body)
    return sorted(inner, key=lambda each: (each.lineno, each.col_offset))


def _held(stretches: list[_Stretch], line: int, *, alone: bool) -> tuple[int, int] | None:
    """Return the lines that a comment covers: the statements on its line, or the next statement."""
    at = [each for each in stretches if each.first <= line <= each.own_last]
    if at:  # On a line by itself too, when that is inside a statement's brackets.
        return min(each.first for each in at), max(each.own_last for each in at)
    if not alone:
        return line, line
    after = min((each for each in stretches if each.first > line), key=_first, default=None)
    return None if after is None else (after.first, after.last)


def _first(stretch: _Stretch) -> tuple[int, int]:
    return stretch.first, -stretch.last


def _ignore(at: tuple[int, int], match: re.Match[str], stretch: tuple[int, int] | None) -> Comment:
    first, last = stretch or (at[0], at[0])
    until, reason, fault = "", match["rest"].strip().lstrip(":,-").strip(), ""
    said = match["rest"][:_LENGTH_MAX].strip()
    dated = _UNTIL.match(said[max(said.rfind("until"), 0) :])
    if dated:
        until = dated["date"]
        reason = said[: said.rfind("until")].rstrip(" ,;").lstrip(":,-").strip()
        if not _DATE.match(until):
            fault = _NO_DATE.format(until)
    elif spoken := _spoken_date(said):
        fault = _NO_DATE.format(spoken)
    rules = tuple(dict.fromkeys(each.strip() for each in (match["rules"] or "").split(",")))
    if not any(rules):
        fault = "names no rule"
    elif not reason:
        fault = "gives no reason"
    elif stretch is None:
        fault = "stands before no statement"
    return Comment(*at, first, last, tuple(filter(None, rules)), reason, until, fault)


_NO_DATE: Final = "has the date {!r}, not one like 2027-01 or 2027-01-31"


def _spoken_date(said: str) -> str:
    """Give the date in words that a reason ends with; "" when it ends with none."""
    before, until, after = said.rpartition("until ")
    words = [each for each in _BETWEEN.split(after.lower()) if each]
    if not until or (before and before[-1].isalnum()):
        return ""
    is_date = [_SPOKEN.fullmatch(each) is not None for each in words]
    others = [each for each, is_one in zip(words, is_date, strict=True) if not is_one]
    known = all(each in _AROUND_DATES or each.isdigit() for each in others)
    return after.strip() if any(is_date) and known else ""


def _top(tree: ast.Module) -> int:
    """Return the line from which statements count, after any docstring."""
    first = tree.body[0] if tree.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return (first.end_lineno or first.lineno) + 1
    return 1


def _boundary(
    at: tuple[int, int],
    match: re.Match[str],
    alone: bool,
    stretches: list[_Stretch],
    *,
    top: int,
    last: int,
) -> Comment:
    line = at[0]
    if not match["rest"].strip():
        return Comment(*at, line, line, fault="gives no reason")
    if not alone:
        return Comment(*at, line, line, fault="does not stand on a line by itself")
    after = min((each for each in stretches if each.first > line), key=_first, default=None)
    if after is not None and after.defines:
        return Comment(*at, after.first, after.last)
    if all(each.first > line for each in stretches if each.first >= top):
        return Comment(*at, 1, last)
    return Comment(
        *at, line, line, fault="stands neither at the top nor before a function or class"
    )
