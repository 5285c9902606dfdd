"""JSON that is hashed, or is a key, has its keys in the order in which they were put in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Edit, Fix, SourceSpan, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.digests import digested, keyed_here
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unsorted-json-digest"


def look(site: Site) -> Iterator[Violation]:
    """Look at JSON that is made."""
    given = site.keyword("sort_keys")
    if site.has_star or not (given is None or _is_false(given)):
        return
    subject = site.argument(0, "obj")
    kind = site.kind(subject)
    if subject is None or (
        kind is not None
        and kind.name not in {"dict", "object"}
        and kind.element in {"str", "int", "float", "bool"}
    ):
        return
    outcome, end = digested(site), "is hashed"
    if outcome is None:
        outcome, end = keyed_here(site), "is a key"
    if outcome is not None:
        yield site.found(
            NAME,
            f"json.dumps() keeps the order of the keys, and its text {end}.",
            "Equal dictionaries that were filled in another order get another one",
            outcome=outcome,
            fix=None if given is not None else _fix(site),
        )


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _fix(site: Site) -> Fix:
    call = site.call
    last = max((*call.args, *(each.value for each in call.keywords)), key=_end)
    place = site.module.place(last)
    after = SourceSpan(place.end_line, place.end_column, place.end_line, place.end_column)
    return Fix("Sort the keys", safe=False, edits=(Edit(after, ", sort_keys=True"),))


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Sort the keys: json.dumps(value, sort_keys=True, separators=(',', ':')).",
        __doc__ or "",
    ),
    calls=("json-text",),
    look=look,
)
