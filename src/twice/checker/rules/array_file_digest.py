"""An array is hashed as a file, or as bytes that do not say what they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.digests import digested, digested_name, hashes
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "array-file-digest"


def look(site: Site) -> Iterator[Violation]:
    """Look at an array that is made into bytes."""
    if not hashes(site.module):
        return
    if site.catalogue.has("array-bytes", site.called):
        target = site.argument(0, "file")
        outcome = digested_name(site, target) if isinstance(target, ast.Name) else None
        if outcome is not None:
            yield site.found(
                NAME,
                f"What {site.called}() writes is hashed.",
                "The file has a header of its version and the memory order in it.",
            )
        return
    function = site.scope.method
    if function is not None and _says_what_it_is(function.node):
        return
    if digested(site) is not None:
        yield site.found(
            NAME,
            "An array's bytes are hashed without its dtype and shape.",
            "Arrays of other types and shapes have the same digest.",
            reach=Reach.UNSEEN,
        )


def _says_what_it_is(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Attribute) and each.attr in {"dtype", "shape"}
        for each in ast.walk(node)
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Hash dtype.str, shape and tobytes(order='C'), in this order.",
        __doc__ or "",
    ),
    calls=("array-bytes",),
    methods=("array-bytes",),
    look=look,
)
