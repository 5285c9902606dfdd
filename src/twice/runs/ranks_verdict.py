"""The verdict on two folders of ranks: where differences began, in words and as JSON.

It finds nothing; ``ranks`` does.

Invariant: a result is one of four words, and follows from the other fields.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from twice.foundation.channels import Channel
from twice.foundation.dataclass import dataclass
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize

FORMAT: Final = "twice.ranks/1"
SUFFIX: Final = ".twice"
Result = Literal["same", "parted", "order-of-messages", "unknown"]
_EXIT: Final[Mapping[Result, int]] = {"same": 0, "parted": 1, "order-of-messages": 1, "unknown": 2}
_SHOWN_MAX: Final = 8


@dataclass(frozen=True)
class RankOrigin:
    """Where a difference began.

    Attributes:
        rank: whose own difference it is.
        tick: of that rank, from 0.
        point: index of the compare-point in its records.
        what: the kind of message, ``state``, ``order``, or the columns of another compare-point.
        a: value on one side, as text.
        b: value on the other side, as text.
        channel: the channel that is known from the kind alone, or None.
        reads: sources of the world whose recorded values differ between the records of the rank.
        path: ranks that the difference passed through, from this one on.
    """

    rank: str
    tick: int
    point: int
    what: str
    a: str
    b: str
    channel: Channel | None = None
    reads: tuple[str, ...] = ()
    path: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As an entry of ``origins``."""
        return {
            **{name: getattr(self, name) for name in ("rank", "tick", "point", "what", "a", "b")},
            "channel": self.channel and self.channel.value,
            "reads": list(self.reads),
            "path": list(self.path),
        }


@dataclass(frozen=True)
class RanksComparison:
    """The verdict on two folders of ranks.

    Attributes:
        a: one folder.
        b: the other folder.
        ranks: how many ranks are in both.
        origins: where differences began, the one that reached most ranks first.
        differing: names of the ranks that differ.
        only_a: ranks that are in the first folder alone.
        only_b: ranks that are in the second folder alone.
        reasons: why nothing, or not everything, can be told.
    """

    a: str
    b: str
    ranks: int
    origins: Sequence[RankOrigin]
    differing: Sequence[str]
    only_a: Sequence[str]
    only_b: Sequence[str]
    reasons: Sequence[str]

    @property
    def result(self) -> Result:
        """One of four words."""
        if self.origins:
            return "order-of-messages" if self.origins[0].what == "order" else "parted"
        return "unknown" if self.reasons else "same"

    @property
    def exit_code(self) -> int:
        """Return 0 for the same, 1 for a difference, 2 for unknown."""
        return _EXIT[self.result]

    @property
    def next(self) -> list[NextStep]:
        """The step that looks closer at the rank, if one was found."""
        if not self.origins:
            return []
        origin = self.origins[0]
        paths = [shlex.quote(str(Path(each, origin.rank + SUFFIX))) for each in (self.a, self.b)]
        command = f"twice diagnose {' '.join(paths)} --no-lines"
        return [NextStep("compare the two records of that rank", command, origin.channel)]

    def to_json(self) -> dict[str, object]:
        """As ``twice diagnose --json`` prints it."""
        return {
            "format": FORMAT,
            "a": self.a,
            "b": self.b,
            "result": self.result,
            "ranks": self.ranks,
            "origins": [each.to_json() for each in self.origins],
            "differing": list(self.differing),
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "reasons": list(self.reasons),
            "next": [each.to_json() for each in self.next],
        }

    def to_lines(self) -> list[str]:
        """For people."""
        counted = pluralize(self.ranks, "rank")
        lines = {
            "same": f"same: {counted} agree at every compare-point",
            "unknown": f"unknown: {counted} compared, and the origin cannot be told",
        }
        out = [lines[self.result]] if self.result in lines else []
        for origin in self.origins:
            place = f"{origin.rank} at tick {origin.tick}"
            if origin.what == "order":
                out.append(f"order of messages: {place} received other messages first")
            else:
                out.append(f"parted: the difference begins in {place}: {origin.what}")
            out += [f"  a: {origin.a}", f"  b: {origin.b}"]
            if origin.channel:
                out.append(f"  channel: {origin.channel.value}")
            if origin.reads:
                out.append(f"  reads that differ: {', '.join(origin.reads)}")
            if len(origin.path) > 1:
                out.append(f"  from there it went to: {enumerate_names(origin.path[1:])}")
        if self.differing:
            out.append(f"ranks that differ: {enumerate_names(self.differing)}")
        for folder, names in ((self.a, self.only_a), (self.b, self.only_b)):
            if names:
                out.append(f"only in {folder}: {enumerate_names(names)}")
        out += [f"not told: {each}" for each in self.reasons]
        return out + [f"next: {each.command}" for each in self.next]


def enumerate_names(names: Sequence[str]) -> str:
    """Return the first names in a row, with how many more there are."""
    more = len(names) - _SHOWN_MAX
    return ", ".join(names[:_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
