"""A digest is taken of a pickle."""

from __future__ import annotations

from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.digests import digested
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "pickle-digest"


def look(site: Site) -> Iterator[Violation]:
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
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Hash a canonical encoding of the fields: sorted JSON, or each array's dtype, shape and bytes.",
        __doc__ or "",
    ),
    calls=("pickling",),
    look=look,
)
