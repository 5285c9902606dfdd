"""An array is hashed as a file, or as bytes that do not say what they are.

The bytes of ``numpy.save`` hold the header of one version of the format and the memory order; those of ``tobytes`` hold
neither dtype nor shape: a row and a column, or two floats and four integers, have one digest.

Hash dtype, shape and the bytes in C order, in this order. Bytes alone are a matter of hygiene;
a hashed file is more.

Bad:
    import hashlib
    import io
    import numpy as np

    def digest_of(array):
        buffer = io.BytesIO()
        np.save(buffer, array)
        return hashlib.sha256(buffer.getvalue()).hexdigest()

or:
    import hashlib

    def digest_of(array):
        return hashlib.sha256(array.tobytes()).hexdigest()

Good:
    import hashlib

    def digest_of(array):
        h = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
        h.update(array.tobytes())
        return h.hexdigest()

or:
    import numpy as np

    def save(path, array):
        np.save(path, array)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.digests import digested, digested_name, hashes
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "array-file-digest"


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.ENCODING,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Hash dtype.str, shape and tobytes(order='C'), in this order.",
    calls=("array-bytes",),
    methods=("array-bytes",),
    look=look,
)
