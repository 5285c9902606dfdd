"""Comments that speak to the checker: reading them from a file, and taking findings away by them.

``# twice: ignore[rule, other] reason, until 2027-01`` takes findings away; rule and reason are required. At the end of
a line it holds for the statements there, by itself for the next statement with its body. ``# twice: boundary reason``
on a line by itself says that the world is let in there on purpose: before a function or class, or at the top for the
whole file.

Invariant: text in a string is no comment; a finding on the checker's own work is never taken away.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from twice.checker.findings import NO_REMARKS, Comment, Finding, Remarks, SourceSpan, Violation
from twice.checker.housekeeping import (
    BAD_SUPPRESSION,
    EXPIRED_SUPPRESSION,
    HOUSEKEEPING_NAMES,
    UNKNOWN_RULE,
    UNUSED_SUPPRESSION,
)
from twice.checker.report import Accepted

_MENTION: Final = re.compile(r"#[ \t]*twice:[ \t]*(?:ignore|boundary)\b", re.IGNORECASE)
_WORD: Final = (
    r"twice:[ \t]*(?:ignore|(?P<boundary>boundary))\b|(?i:twice:[ \t]*ignore)(?=[ \t]*\[)"
)
_COMMENT: Final = re.compile(
    rf"(?<!\S)#[ \t]*(?:{_WORD})[ \t]*(?:\[(?P<rules>[^\]#]*)\])?(?P<rest>[^#]*)"
)
_UNTIL: Final = re.compile(r"[ ,;]*\buntil\s+(?P<date>\d\S*)$")
_DATE: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?\Z")
_LENGTH_MAX: Final = 1_000  # of a comment: a generated line of megabytes is not searched
_BLANK: Final = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement's lines: its own (a compound one's header, to its last expression and to its body), and those with its body."""

    first: int
    header_last: int
    own_last: int
    last: int
    defines: bool
    is_docstring: bool


def read_comments(text: str, tree: ast.Module) -> Remarks:
    """Read what the comments of a file say."""
    if not _MENTION.search(text):
        return NO_REMARKS
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as the parser does
    statements = _statements(tree)
    ignores: list[Comment] = []
    boundaries: list[tuple[int, int]] = []
    for line, column, comment, alone in _comments(text):
        for match in _COMMENT.finditer(comment[:_LENGTH_MAX]):
            at = Comment(line, column + match.start() + 1, line, line)
            if not match["boundary"]:
                ignores.append(_ignore(at, match, _find_lines(statements, line, alone=alone)))
                continue
            read = _boundary(at, match["rest"], statements, alone, text.count("\n") + 1)
            if read.fault:
                ignores.append(read)
            else:
                boundaries.append((read.first, read.last))
    return Remarks(tuple(ignores), tuple(boundaries))


def _comments(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Each comment: line, column from 0, text, and whether nothing else is on its line."""
    code = -1
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield *token.start, token.string, token.start[0] != code
            elif token.type not in _BLANK:
                code = token.end[0]
    except (tokenize.TokenError, SyntaxError):
        return  # The parser took the file; the comments up to here are those that there are.


def _statements(tree: ast.Module) -> list[_Statement]:
    """Every statement in source order."""
    found = []
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        blocks = (getattr(node, name, ()) for name in ("body", "orelse", "finalbody"))
        cases = (each.body for name in ("handlers", "cases") for each in getattr(node, name, ()))
        inner = [each for block in (*blocks, *cases) for each in block]
        inner.sort(key=lambda each: (each.lineno, each.col_offset))
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        last = node.end_lineno or node.lineno
        own_last = max(node.lineno, inner[0].lineno - 1) if inner else last
        defines = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        documents = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_docstring = documents and node is tree.body[0]
        header_last = _find_header_end(node) if inner else last
        found.append(_Statement(first, header_last, own_last, last, defines, is_docstring))
        pending.extend(reversed(inner))
    return found


def _find_header_end(node: ast.stmt) -> int:
    """Give the last line of a compound statement's expressions: a comment below it is about the body."""
    nested = (ast.stmt, ast.excepthandler, ast.match_case)
    parts = [each for each in ast.iter_child_nodes(node) if not isinstance(each, nested)]
    ends = (getattr(each, "end_lineno", 0) or 0 for part in parts for each in ast.walk(part))
    return max(node.lineno, *ends, 0)


def _find_next(statements: list[_Statement], line: int) -> _Statement | None:
    """Give the outermost statement that begins first after a line."""
    after = (each for each in statements if each.first > line)
    return min(after, key=lambda each: (each.first, -each.last), default=None)


def _find_lines(statements: list[_Statement], line: int, *, alone: bool) -> tuple[int, int] | None:
    """Give the lines that a comment covers: the statements on its line, or the next statement."""
    at = [
        each
        for each in statements
        if each.first <= line <= (each.header_last if alone else each.own_last)
    ]
    if at:  # On a line by itself too, when that is inside a statement's brackets.
        return min(each.first for each in at), max(each.own_last for each in at)
    after = _find_next(statements, line)
    if not alone:
        return line, line
    return None if after is None else (after.first, after.last)


def _ignore(at: Comment, match: re.Match[str], lines: tuple[int, int] | None) -> Comment:
    said, until, fault = match["rest"].strip(), "", ""
    if dated := _UNTIL.search(said):
        said, until = said[: dated.start()], dated["date"]
        if not _DATE.match(until):
            fault = f"has the date {until!r}, not one like 2027-01 or 2027-01-31"
    reason = said.lstrip(":,-").strip()
    rules = tuple(dict.fromkeys(each.strip() for each in (match["rules"] or "").split(",")))
    if not any(rules):
        fault = "names no rule"
    elif not reason:
        fault = "gives no reason"
    elif lines is None:
        fault = "stands before no statement"
    first, last = lines or (at.line, at.line)
    rules = tuple(filter(None, rules))
    return Comment(at.line, at.column, first, last, rules, reason, until, fault)


def _boundary(
    at: Comment, reason: str, statements: list[_Statement], alone: bool, last: int
) -> Comment:
    if not reason.strip():
        return replace(at, fault="gives no reason")
    if not alone:
        return replace(at, fault="does not stand on a line by itself")
    after = _find_next(statements, at.line)
    if after is not None and after.defines:
        return replace(at, first=after.first, last=after.last)
    if all(each.first > at.line for each in statements if not each.is_docstring):
        return replace(at, first=1, last=last)
    return replace(at, fault="stands neither at the top nor before a function or class")


def apply_comments(
    findings: Sequence[Finding],
    remarks: Mapping[str, Remarks],
    *,
    known: Container[str],
    today: str,
    judged: Container[str] | None = None,
) -> tuple[list[Finding], list[Accepted], list[tuple[str, Violation]]]:
    """Take findings away by comments: those that are left, those that are gone, and the faults of the comments.

    Args:
        findings: all of them, sorted.
        remarks: what the comments of each file say; files without any may be left out.
        known: the names of all rules.
        today: as 2027-01-31.
        judged: the rules that were reported; None for all. A comment for another rule is never unused.
    """
    left: list[Finding] = []
    gone: list[Accepted] = []
    used: set[tuple[str, Comment, str]] = set()
    for each in findings:
        comment = _comment_for(each, remarks.get(each.path, NO_REMARKS), today)
        if comment is None:
            left.append(each)
        else:
            used.add((each.path, comment, each.found.rule))
            gone.append(Accepted(each, comment.reason))
    faults = []
    for path, said in sorted(remarks.items()):
        for comment in said.ignores:
            unused = [
                rule
                for rule in comment.rules
                if (path, comment, rule) not in used and (judged is None or rule in judged)
            ]
            faults += [(path, one) for one in _faults(comment, known, today, unused)]
    return left, gone, faults


def _comment_for(finding: Finding, remarks: Remarks, today: str) -> Comment | None:
    rule, line = finding.found.rule, finding.found.place.line
    if rule in HOUSEKEEPING_NAMES:
        return None
    for each in remarks.ignores:
        holds = rule in each.rules and each.first <= line <= each.last and not each.fault
        if holds and not each.has_expired(today):
            return each
    return None


def _faults(
    comment: Comment, known: Container[str], today: str, unused: Sequence[str]
) -> Iterator[Violation]:
    if comment.fault:
        yield _fault(comment, BAD_SUPPRESSION, f"The comment {comment.fault}.")
        return
    if comment.has_expired(today):
        yield _fault(comment, EXPIRED_SUPPRESSION, f"The comment held until {comment.until}.")
        return
    for rule in comment.rules:
        if rule not in known:
            yield _fault(comment, UNKNOWN_RULE, f"There is no rule {rule!r}.")
        elif rule in HOUSEKEEPING_NAMES:
            yield _fault(comment, BAD_SUPPRESSION, f"{rule} cannot be taken away.")
        elif rule in unused:
            yield _fault(comment, UNUSED_SUPPRESSION, f"Nothing here is found by {rule}.")


def _fault(comment: Comment, rule: str, message: str) -> Violation:
    return Violation(
        rule=rule,
        place=SourceSpan(comment.line, comment.column, comment.line, comment.column),
        message=message,
        why="A comment that takes nothing away, or for no reason, hides what comes later.",
        confidence=1.0,
        statement=f"{','.join(comment.rules)} {comment.reason}"[:200],
    )
