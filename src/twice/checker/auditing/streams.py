"""The streams of a project: what is drawn, put together by who owns it.

Invariant: tests are left out; orphans come first, those of the core before others, then the most used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from twice.checker.auditing.origins import Owner
from twice.checker.auditing.seeds import Draw, What

_WORDS: Final = {
    Owner.NAMED: "a stream of the run",
    Owner.GENERATOR: "a generator made here",
    Owner.PARAMETER: "handed in",
    Owner.PASSED: "held by another object",
    Owner.PROCESS: "process-wide",
}


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream that is drawn from, or made.

    Args:
        name: its name in the run, the expression that holds it first, or the library.
        owner: whose it is.
        made: ``path:line`` where it was made or seeded; "" not seen.
        seed: the text of the seed; "" none.
        note: what else is to be known.
        draws: how many places draw from it.
        first: ``path:line`` of the first place that draws, or makes it.
        zone: what part of the project that place is.
        unreached: whether the run's seed never reaches it, although it has one.
    """

    name: str
    owner: Owner
    made: str
    seed: str
    note: str
    draws: int
    first: str
    zone: str
    unreached: bool = False

    @property
    def is_orphan(self) -> bool:
        """Whether nobody owns it, or its owner seeds it with what is not the run's."""
        return self.owner is Owner.NOBODY or self.unreached

    @property
    def is_idle(self) -> bool:
        """Whether it is made from a seed, and no draw was seen."""
        return not self.draws and not self.is_orphan

    @property
    def whose(self) -> str:
        """Who owns it, in words."""
        if self.owner is Owner.NOBODY:
            return self.note
        words = _WORDS[self.owner]
        if self.owner in {Owner.GENERATOR, Owner.PROCESS} and self.seed:
            words += f", seed {self.seed}"
        return f"{words}; {self.note}" if self.note else words


def streams(draws: Sequence[Draw]) -> tuple[Stream, ...]:
    """Give the streams that are drawn from or made outside of tests."""
    groups: dict[tuple[str, str], list[Draw]] = {}
    for each in draws:
        if each.zone != "tests" and each.what is not What.SEEDS:
            groups.setdefault(_key(each), []).append(each)
    found = [_stream(group) for group in groups.values()]
    said = {each.made for each in found}
    found.extend(
        _stream([each])
        for each in draws
        if each.what is What.SEEDS and each.is_orphan and each.zone != "tests"
        and not (each.origin.unreached and each.where in said)
    )  # fmt: skip
    return tuple(
        sorted(
            found,
            key=lambda each: (
                not each.is_orphan, each.is_orphan and each.zone != "core", -each.draws, each.first,
                each.name,
            ),
        )
    )  # fmt: skip


def _key(each: Draw) -> tuple[str, str]:
    owner = each.origin.owner
    if owner in {Owner.GENERATOR, Owner.NOBODY} and each.where:
        return owner.value, each.where
    if owner is Owner.PARAMETER:
        return owner.value, each.origin.attribute
    return owner.value, each.stream


def _stream(group: list[Draw]) -> Stream:
    drawn = [each for each in group if each.what is What.DRAWS]
    made = next((each for each in group if each.what is What.MAKES), None)
    one = next((each for each in group if each.origin.unreached), made or group[0])
    first = (drawn or group)[0]
    return Stream(
        name=one.stream,
        owner=one.origin.owner,
        made="" if one.origin.owner is Owner.PARAMETER else one.where,
        seed=one.origin.seed,
        note=one.origin.note,
        draws=len(drawn),
        first=f"{first.path}:{first.line}",
        zone=first.zone,
        unreached=one.origin.unreached,
    )
