"""What was seen to break a declaration, and by which factor or law.

Invariant: an exposure names one thing that was seen in a trial; none is inferred from source text.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

ENFORCEMENT: Final = "enforcement"
RERUN: Final = "rerun"
ANOTHER_HOST: Final = "another host"


@dataclass(frozen=True)
class Exposure:
    """One way in which a tool broke what it declares.

    Attributes:
        by: the factor or law; ``enforcement`` and ``rerun`` where nothing was perturbed.
        what: what was seen, in words.
        need: the need that it has and does not declare, where enforcement refused it.
        place: ``file:line``, where that is known.
    """

    by: str
    what: str
    need: str = ""
    place: str = ""

    def to_json(self) -> dict[str, str]:
        """As plain data."""
        return asdict(self)

    def __str__(self) -> str:
        need = f", need {self.need}" if self.need else ""
        place = f" at {self.place}" if self.place else ""
        return f"{self.by}{need}{place}: {self.what}"
