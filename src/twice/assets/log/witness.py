"""Where the values of a log come from, and what re-rendering came to.

Invariant: a value is recorded by a machine, imported from a file, or declared by a person; a log
says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from twice.assets.log.declaring import Need, declare, many, table
from twice.assets.log.kinds import DIGEST, INSTANT, SHA256, WHOLE_MAX, Choice, Number, Text


class Level(StrEnum):
    """How a value came to be known, strongest first."""

    RECORDED = "recorded"
    IMPORTED = "imported"
    DECLARED = "declared"


class Outcome(StrEnum):
    """What a re-rendering came to."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    CANNOT_JUDGE = "cannot-judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where one value, or everything below one JSON pointer, comes from.

    Recorded names the run record; imported names file, its digest and the chunk; declared names who
    said it and when. The gate asks for what belongs to the level.
    """

    level: Level | None = declare(Choice(tuple(Level)), Need.ALWAYS, "how it is known")
    record: str | None = declare(Text(), Need.OPTIONAL, "the run record, for recorded")
    file: str | None = declare(Text(), Need.OPTIONAL, "the file, for imported")
    sha256: str | None = declare(SHA256, Need.OPTIONAL, "the digest of that file or record")
    chunk: str | None = declare(Text(), Need.OPTIONAL, "the place in that file")
    who: str | None = declare(Text(), Need.OPTIONAL, "the person, for declared")
    when: str | None = declare(INSTANT, Need.OPTIONAL, "the time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one re-rendering came to."""

    when: str | None = declare(INSTANT, Need.ALWAYS, "when it was rendered again")
    machine: str | None = declare(Text(), Need.ALWAYS, "where")
    outcome: Outcome | None = declare(Choice(tuple(Outcome)), Need.ALWAYS, "what it came to")
    grade: str | None = declare(
        Choice(("bytes", "payload", "tolerance", "different")), Need.OPTIONAL,
        "the strictest grade that every run reached",
    )  # fmt: skip
    runs: int | None = declare(
        Number("a number of runs of at least 1", 1, 10**6, whole=True), Need.OPTIONAL, "how often"
    )
    metrics: Mapping[str, float] | None = declare(
        table(Number("a figure", -WHOLE_MAX, WHOLE_MAX)), Need.OPTIONAL, "the worst figures"
    )
    artefacts: tuple[str, ...] | None = declare(
        many(DIGEST), Need.OPTIONAL, "digests of what was rendered"
    )
    reason: str | None = declare(Text(), Need.OPTIONAL, "why, in words")
