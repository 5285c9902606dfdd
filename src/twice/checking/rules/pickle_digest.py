"""A digest is taken of a pickle.

A pickle of equal values has other bytes when they share objects in another way, when strings are
interned or not, in another version of Python or of a library, and for every set. It is no encoding of the value.

Hash a canonical encoding of the fields instead.

Bad:
    import hashlib
    import pickle

    def digest_of(state):
        return hashlib.sha256(pickle.dumps(state)).hexdigest()

or:
    import hashlib
    import pickle

    class Fingerprint:
        def __init__(self, obj):
            self.hasher = hashlib.sha1()
            self.hasher.update(pickle.dumps(obj, protocol=4))

Good:
    import hashlib
    import json

    def digest_of(state):
        return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()

or:
    import pickle

    def to_child(connection, work):
        connection.send(pickle.dumps(work))
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.digests import digested
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "pickle-digest"


def look(site: Site) -> Iterator[Found]:
    """Look at a pickle that is made."""
    called = site.called or ""
    if not called.endswith(".dumps"):
        return
    outcome = digested(site)
    if outcome is not None:
        yield site.found(
            NAME,
            f"{called}() is hashed.",
            "Equal values can have different pickles: shared objects, sets, versions",
            outcome=outcome,
        )


RULE = Rule(
    name=NAME,
    channel=Channel.ENCODING,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Hash a canonical encoding of the fields: sorted JSON, or each array's dtype, shape and bytes.",
    calls=("pickling",),
    look=look,
)
