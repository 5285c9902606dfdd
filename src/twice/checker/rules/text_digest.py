"""A digest is taken of an object's text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.digests import digested, hashes, shows_itself
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "text-digest"
_REPR: Final = 114  # The conversion of ``{x!r}``.
_PLAIN: Final = {"int", "float", "bool", "str", "bytes", "path", "range"}
_SIMPLE: Final = frozenset(
    [
        "seed",
        "id",
        "uid",
        "uuid",
        "index",
        "idx",
        "num",
        "number",
        "count",
        "size",
        "len",
        "length",
        "step",
        "version",
        "name",
        "path",
        "file",
        "filename",
        "dir",
        "key",
        "hash",
        "digest",
        "url",
        "year",
        "date",
        "day",
        "time",
        "timestamp",
        "shape",
        "dtype",
        "type",
        "rank",
        "epoch",
        "text",
        "string",
        "str",
        "prefix",
        "suffix",
        "word",
        "token",
        "label",
        "title",
        "line",
        "salt",
        "i",
        "j",
        "k",
        "n",
        "instruction",
        "prompt",
        "message",
        "code",
        "content",
    ]
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a text that is made of something."""
    node = site.node
    if isinstance(node, ast.FormattedValue):
        subject = node.value
        if node.conversion != _REPR and not _is_self(subject):
            return
    else:
        if len(site.call.args) != 1:
            return
        subject = site.call.args[0]
    kind = site.kind(subject)
    if kind is not None and (kind.name in _PLAIN or kind.element in _PLAIN):
        return
    if isinstance(subject, ast.Constant) or about(last_name(subject), _SIMPLE):
        return
    if kind is None and _is_a_part(site):
        return  # Of several texts put together, one that is not known is mostly a number.
    outcome = None if shows_itself(site, kind) else digested(site)
    if outcome is not None:
        if _may_be_plain(site, subject, known=kind is not None):
            outcome = Outcome(Use.UNSEEN, outcome.node, outcome.way)
        shown = site.module.shown(subject)
        yield site.found(
            NAME,
            f"The text of {shown if len(shown) <= 40 else 'an object'} is hashed.",
            "Addresses, the order of sets and shortened arrays get into it or drop out of it",
            outcome=outcome,
            confidence=0.85,
        )


def _may_be_plain(site: Site, subject: ast.expr, *, known: bool) -> bool:
    """Whether it is a list of numbers, perhaps, or an object of a class that may say itself what its text is."""
    if isinstance(subject, ast.Call):
        return last_name(subject.func) in {"list", "tuple"}
    if known or not isinstance(subject, ast.Name):
        return False
    bindings = site.module.names.bindings(subject.id, site.scope)
    return len(bindings) == 1 and getattr(bindings[0].node, "annotation", None) is not None


def _is_a_part(site: Site) -> bool:
    """Whether the text is one of several, or of something that is computed on the spot."""
    if isinstance(site.node, ast.FormattedValue):
        return False
    subject, parent = site.call.args[0], site.module.survey.parents.get(site.node)
    return not isinstance(subject, (ast.Name, ast.Attribute)) or not isinstance(
        parent, (ast.Attribute, ast.Call, ast.Assign, ast.Return)
    )


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Hash an encoding of the values: canonical JSON, or the bytes of each field in a fixed order.",
        __doc__ or "",
    ),
    calls=("text",),
    nodes=(ast.FormattedValue,),
    look=look,
    applies=hashes,
)
