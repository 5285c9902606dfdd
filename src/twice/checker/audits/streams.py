"""Streams of random numbers: who draws, makes and seeds them, and who owns them over all files.

A process-wide stream is seeded for a file when something in its reach seeds it, as the rules see it. A seed that is
written into the program, or a default that a call relies on, owns nothing: its generator keeps its owner and is an
orphan, with a note that says why.

Invariant: there are as many places after they are settled as before, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from twice.checker.analysis.generators import StreamOrigin, StreamOwner, UseKind
from twice.checker.analysis.stream_uses import SPACES
from twice.foundation.printable import pluralize

_OWNER_WORDS: Final = {
    StreamOwner.NAMED: "a stream of the run",
    StreamOwner.GENERATOR: "a generator made here",
    StreamOwner.PARAMETER: "handed in",
    StreamOwner.PASSED: "held by another object",
    StreamOwner.PROCESS: "process-wide",
}


@dataclass(frozen=True, slots=True)
class RandomUse:
    """A place that draws, makes a generator or seeds one.

    Args:
        path: the file.
        line: from 1.
        function: dotted path of the function; "" at the top of the file.
        kind: draws, makes or seeds.
        call: the call, as it is written, shortened.
        stream: the stream: its name in the run, the expression that holds it, or the library.
        origin: whose it is.
        where: ``path:line`` where the generator was made or the stream seeded; "" not seen.
        zone: what part of the project the place is.
    """

    path: str
    line: int
    function: str
    kind: UseKind
    call: str
    stream: str
    origin: StreamOrigin
    where: str
    zone: str

    @property
    def is_orphan(self) -> bool:
        """Whether nobody owns what is drawn, or its owner seeds it with what is not the run's."""
        return self.origin.is_orphan


def settle_owners(
    uses: Sequence[RandomUse], seeded: Callable[[str], frozenset[str]], notes: Mapping[str, str]
) -> tuple[RandomUse, ...]:
    """Give the places with the owners of process-wide streams and held generators that all files show.

    Args:
        uses: the places, each as its file shows it.
        seeded: gives the streams that are seeded for a file.
        notes: why the run's seed never reaches a place, by ``path:line``.
    """
    seeding: dict[tuple[str, str], RandomUse] = {}  # By stream, and by stream and file.
    makers: dict[str, list[RandomUse]] = {}  # By the attribute that a generator becomes.
    for each in uses:
        owner = each.origin.owner
        if each.kind is UseKind.SEEDS and owner is StreamOwner.PROCESS:
            for stream in each.stream.split(", "):
                seeding.setdefault((stream, each.path), each)
                other = seeding.setdefault((stream, ""), each)
                if other.zone != "core" and each.zone == "core":
                    seeding[stream, ""] = each
        is_seeded = owner in {StreamOwner.GENERATOR, StreamOwner.NAMED} and each.zone != "tests"
        if each.kind is UseKind.MAKES and is_seeded and "." in each.stream:
            attribute = each.stream.rpartition(".")[2].strip(" ,()")
            makers.setdefault(attribute, []).append(each)

    def settle(each: RandomUse) -> RandomUse:
        origin = each.origin
        if each.kind is UseKind.DRAWS and origin.owner is StreamOwner.PROCESS:
            by = seeding.get((each.stream, each.path)) or seeding.get((each.stream, ""))
            note = _explain_orphan(each, by, seeded)
            if note or by is None:
                return replace(each, origin=StreamOrigin(StreamOwner.NOBODY, note=note))
            origin = replace(origin, seed=by.origin.seed, note=by.origin.note)
            return replace(each, origin=origin, where=f"{by.path}:{by.line}")
        made = makers.get(origin.attribute, ())
        if each.kind is UseKind.DRAWS and origin.owner is StreamOwner.PASSED and made:
            where = f"{made[0].path}:{made[0].line}"
            if len({one.path for one in made}) > 1:
                note = f"made in {pluralize(len(made), 'place')}, the first {where}"
                return replace(each, origin=replace(origin, note=note))
            seeds = " or ".join(dict.fromkeys(one.origin.seed for one in made))
            return replace(each, origin=replace(made[0].origin, seed=seeds), where=where)
        return each

    return tuple([_mark_unreached(settle(each), notes) for each in uses])


def _explain_orphan(
    each: RandomUse, by: RandomUse | None, seeded: Callable[[str], frozenset[str]]
) -> str:
    """Say why nobody owns a draw from a process-wide stream; "" when somebody does."""
    is_space = each.stream == SPACES
    what = "a space" if is_space else f"the process-wide stream of {each.stream}"
    if by is None:
        besides = ", and env.reset(seed=...) does not" if is_space else ""
        return f"nobody here seeds {what}{besides}"
    if by.path == each.path:
        return ""
    if by.zone == "tests" and each.zone != "tests":
        return f"only a test seeds {what}"
    if is_space or each.stream.partition(".")[0] in seeded(each.path):
        return ""
    return f"{by.path}:{by.line} seeds {what}, which this file is not run with"


def _mark_unreached(each: RandomUse, notes: Mapping[str, str]) -> RandomUse:
    """Make an orphan of a place whose seed the run's never reaches."""
    origin, note = each.origin, notes.get(each.where)
    owners = {StreamOwner.GENERATOR, StreamOwner.PROCESS}
    if note is None or each.is_orphan or origin.owner not in owners:
        return each
    note = f"{note}; {origin.note}" if origin.note else note
    return replace(each, origin=replace(origin, note=note, unreached=True))


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """A stream that is drawn from, or made.

    Args:
        name: its name in the run, the expression that holds it first, or the library.
        origin: whose it is.
        made: ``path:line`` where it was made or seeded; "" not seen.
        draws: how many places draw from it.
        first: ``path:line`` of the first place that draws, or makes it.
        zone: what part of the project that place is.
    """

    name: str
    origin: StreamOrigin
    made: str
    draws: int
    first: str
    zone: str

    @property
    def is_orphan(self) -> bool:
        """Whether nobody owns it, or its owner seeds it with what is not the run's."""
        return self.origin.is_orphan

    @property
    def is_idle(self) -> bool:
        """Whether it is made from a seed, and no draw was seen."""
        return not self.draws and not self.is_orphan

    @property
    def whose(self) -> str:
        """Who owns it, in words."""
        origin = self.origin
        if origin.owner is StreamOwner.NOBODY:
            return origin.note
        words = _OWNER_WORDS[origin.owner]
        if origin.owner in {StreamOwner.GENERATOR, StreamOwner.PROCESS} and origin.seed:
            words += f", seed {origin.seed}"
        return f"{words}; {origin.note}" if origin.note else words


def summarize_streams(uses: Sequence[RandomUse]) -> tuple[StreamSummary, ...]:
    """Give the streams outside of tests: orphans first, those of the core before others, then the most used."""
    groups: dict[tuple[str, str], list[RandomUse]] = {}
    inner = [each for each in uses if each.zone != "tests"]
    for each in inner:
        if each.kind is not UseKind.SEEDS:
            groups.setdefault(_key(each), []).append(each)
    found = [_summarize(group) for group in groups.values()]
    said = {each.made for each in found}
    found += [
        _summarize([each])
        for each in inner
        if each.kind is UseKind.SEEDS and each.is_orphan
        and not (each.origin.unreached and each.where in said)
    ]  # fmt: skip

    def rank(each: StreamSummary) -> tuple[Any, ...]:
        aside = each.is_orphan and each.zone != "core"
        return not each.is_orphan, aside, -each.draws, each.first, each.name

    return tuple(sorted(found, key=rank))


def _key(each: RandomUse) -> tuple[str, str]:
    owner = each.origin.owner
    if owner in {StreamOwner.GENERATOR, StreamOwner.NOBODY} and each.where:
        return owner.value, each.where
    return owner.value, each.origin.attribute if owner is StreamOwner.PARAMETER else each.stream


def _summarize(group: Sequence[RandomUse]) -> StreamSummary:
    drawn = [each for each in group if each.kind is UseKind.DRAWS]
    made = next((each for each in group if each.kind is UseKind.MAKES), group[0])
    one = next((each for each in group if each.origin.unreached), made)
    first = (drawn or group)[0]
    where = "" if one.origin.owner is StreamOwner.PARAMETER else one.where
    at = f"{first.path}:{first.line}"
    return StreamSummary(one.stream, one.origin, where, len(drawn), at, first.zone)
