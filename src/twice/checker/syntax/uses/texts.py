"""What a text that an order went into is for: a sentence or a message for people, or something else.

Invariant: names and wording make a text quieter until it is written or hashed, and no further.
"""

from __future__ import annotations

import ast
import re
from typing import Final

from twice.checker.syntax.survey import Survey
from twice.checker.syntax.uses.words import last_name

_SENTENCE: Final = re.compile(r"(?:^|\n)\W*[A-Z][a-z]+[ :]")
_MESSAGES: Final = (
    "msg", "message", "messages", "reason", "hint", "warning", "error", "err",
)  # fmt: skip


def is_message(survey: Survey, node: ast.AST) -> bool:
    """Say whether a text is put into a name for a message."""
    statement = survey.statement(node)
    if isinstance(statement, ast.Assign):
        target: ast.AST = statement.targets[0]
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        target = statement.target
    else:
        return isinstance(statement, ast.Raise)
    return last_name(target).lower().endswith(_MESSAGES)


def is_sentence(survey: Survey, node: ast.AST) -> bool:
    """Say whether a text becomes a part of one with a sentence in it: ``f"Left out: {names}"``."""
    text: list[str] = []
    current: ast.AST | None = node
    while isinstance(current, (ast.expr, ast.FormattedValue)):
        if isinstance(current, ast.JoinedStr):
            parts: list[ast.expr] = current.values
        elif isinstance(current, ast.BinOp):
            parts = [current.left, current.right]
        else:
            parts = []
        text += [
            each.value
            for part in parts
            for each in ast.walk(part)
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        current = survey.parents.get(current)
    return any(map(_SENTENCE.search, text))
