"""What the checker finds in the lines of a tool: the surface joins two rooms that do not know each other.

Invariant: nothing is executed, and a finding that a comment settles is none.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from twice.tooling.verifying.verification import Suspicion
    from twice.tooling.verifying.verifying import Checker

_SURE: Final = 0.7


def source_checker() -> Checker:
    """Give what finds suspicious places in a file; a file is read once."""
    from twice.checking.findings import Reach
    from twice.checking.looked import Looked
    from twice.checking.looking import look_at_bytes
    from twice.checking.reader import Reader
    from twice.tooling.verifying.verification import Suspicion

    reader = Reader()
    arranged = reader.index()
    today = datetime.now(UTC).date().isoformat()
    looked: dict[str, Looked] = {}

    def check(path: str, text: str, first: int, last: int) -> list[Suspicion]:
        if path not in looked:
            looked[path] = look_at_bytes(path, text.encode(), "", reader, arranged)
        ignores = [
            each
            for each in looked[path].remarks.ignores
            if not each.fault and not each.has_expired(today)
        ]
        return [
            Suspicion(each.rule, f"{Path(path).name}:{each.place.line}", each.message)
            for each in looked[path].found
            if first <= each.place.line <= last
            and each.reach is not Reach.QUIET
            and each.confidence >= _SURE
            and not any(
                each.rule in comment.rules and comment.first <= each.place.line <= comment.last
                for comment in ignores
            )
        ]

    return check
