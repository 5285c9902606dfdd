"""What a program hands over besides its state: the value that it returned, and the numbers of ``run.summary``.

Not for: a value without a canonical form. Its type is kept, and the verdict says that it was not compared.

Invariant: describing a result never fails a run.
"""

from __future__ import annotations

from dataclasses import field

from twice.errors import TwiceError
from twice.foundation.comparison import short
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, digest_value

RESULTS = "results"
"""Key of the ending."""
_SUMMARIES_MAX = 10_000


@dataclass
class Results:
    """The results of one run.

    Attributes:
        returned: what the program's function returned; None for nothing.
        summaries: names and numbers in the order in which the program gave them.
    """

    returned: object = None
    summaries: list[tuple[str, float]] = field(default_factory=list)

    def describe(self, algorithm: Algorithm) -> dict[str, object]:
        """Return plain values: ``returned`` and ``summaries``, each where there is one.

        Args:
            algorithm: of the digest of the returned value.
        """
        found: dict[str, object] = {}
        if self.returned is not None:
            found["returned"] = _describe_value(self.returned, algorithm)
        if self.summaries:
            summaries = self.summaries[:_SUMMARIES_MAX]
            found["summaries"] = [[name, value.hex()] for name, value in summaries]
        return found


def _describe_value(value: object, algorithm: Algorithm) -> dict[str, str]:
    described = {"type": f"{type(value).__module__}.{type(value).__qualname__}"}
    try:
        digest = digest_value(value, algorithm)
    except (TwiceError, RecursionError):
        return described
    return {**described, "digest": str(digest), "text": short(value)}
