"""A digest is taken of floats that were rounded into text.

Rounding makes near numbers equal, and equal ones different where a last bit crosses the edge: a real difference
is hidden, and a harmless one is not. What is hashed should be the bits.

Hash the bytes (``struct.pack``, ``float.hex``), and compare with a tolerance elsewhere, by name.

Bad:
    import hashlib

    def digest_of(position):
        return hashlib.sha256(f"{position:.6f}".encode()).hexdigest()

or:
    import hashlib

    def state_hash(agents):
        h = hashlib.md5()
        for agent in agents:
            h.update(f"{agent.x:.3f},{agent.y:.3f}".encode())
        return h.hexdigest()

Good:
    import hashlib
    import struct

    def digest_of(position):
        return hashlib.sha256(struct.pack("<d", position)).hexdigest()

or:
    def show(position):
        return f"at {position:.3f}"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.digests import digested, hashes
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "float-text-digest"
_ROUNDED: Final = re.compile(r"\.\d+[efgEFG]?\Z")


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.ENCODING,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Hash the bits: struct.pack('<d', x) or x.hex().",
    nodes=(ast.FormattedValue,),
    look=look,
    applies=hashes,
)
