"""A digest is taken of floats that were rounded into text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.digests import digested, hashes
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "float-text-digest"
_ROUNDED: Final = re.compile(r"\.\d+[efgEFG]?\Z")


def look(site: Site) -> Iterator[Violation]:
    """Look at a value in a formatted string."""
    node = site.node
    assert isinstance(node, ast.FormattedValue), "these are asked for"
    spec = node.format_spec
    if spec is None or not isinstance(spec, ast.JoinedStr):
        return
    written = spec.values[0] if len(spec.values) == 1 else None
    if not isinstance(written, ast.Constant) or not _ROUNDED.search(str(written.value)):
        return
    outcome = digested(site)
    if outcome is not None:
        yield site.found(
            NAME,
            f"A float is rounded to {written.value!r} and hashed.",
            "A last bit that crosses the edge changes the digest, and a real difference does not",
            outcome=outcome,
        )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Hash the bits: struct.pack('<d', x) or x.hex().",
        __doc__ or "",
    ),
    nodes=(ast.FormattedValue,),
    look=look,
    applies=hashes,
)
