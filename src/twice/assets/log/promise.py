"""What is promised of an asset: that it can be made again, to which grade; or why not.

Invariant: a promise is one of two, and each has its own obligations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twice.assets.log.declaring import Need, declare, many, table
from twice.assets.log.kinds import WHOLE_MAX, Choice, Number, Text

WHY_CODES: Final = (
    "hosted-provider", "no-seed", "model-retired", "made-by-hand", "thread-order", "outside-input",
    "other",
)  # fmt: skip


class Mode(StrEnum):
    """Which of the two promises."""

    DETERMINISTIC = "deterministic"
    NON_DETERMINISTIC = "non-deterministic"


class Grade(StrEnum):
    """How alike a second rendering has to be, strictest first."""

    BYTES = "bytes"
    PAYLOAD = "payload"
    TOLERANCE = "tolerance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A tolerance: its name, and the limit of each metric that it judges by."""

    name: str | None = declare(Text("a name such as image-stochastic"), Need.ALWAYS, "its name")
    limits: Mapping[str, float] | None = declare(
        table(Number("a limit", -WHOLE_MAX, WHOLE_MAX)), Need.OPTIONAL, "the limit of each metric"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The promise, and who decided on it."""

    mode: Mode | None = declare(
        Choice(tuple(Mode)), Need.ALWAYS, "deterministic or non-deterministic"
    )
    grade: Grade | None = declare(
        Choice(tuple(Grade)), Need.PROMISED, "how alike a second rendering has to be",
        excusable=False,
    )  # fmt: skip
    profile: Profile | None = declare(
        Profile, Need.OPTIONAL, "the tolerance that grade tolerance means"
    )
    why: str | None = declare(Text("a sentence"), Need.MARKED, "why it is not deterministic")
    why_code: str | None = declare(Choice(WHY_CODES), Need.MARKED, "the same as a code")
    constraints: tuple[str, ...] | None = declare(
        many(Text("a constraint"), 1), Need.MARKED, "what keeps it consistent without a promise"
    )
    decided_by: str | None = declare(Text(), Need.OPTIONAL, "who decided")
    basis: str | None = declare(Text(), Need.OPTIONAL, "the plan that asks for it")
