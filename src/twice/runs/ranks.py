"""Two runs of a distributed program, each a folder of ranks: in which rank did the difference begin?

Each rank is compared with itself in the other folder. A rank whose first difference is a message that it received is
followed to the rank that sent it, and one that got a result to the rank that computed it, until one is found whose
first difference is its own. Nothing is executed.

Not covered: what reached a rank in another way than by its recorded messages. Then that rank is named.

Invariant: an origin is a rank that took the same messages on both sides up to there. What leads to no such rank (a
record that is missing or torn, or contradicts another) is ``unknown``, with the reason.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

from twice.diagnosis.log_comparison import PointRef, compare_logs, input_differences
from twice.diagnosis.read_comparison import is_extra_read_only, reads_that_differ
from twice.errors import UsageError
from twice.foundation.channels import Channel
from twice.foundation.dataclass import dataclass
from twice.recorder.messages import Message, read_messages
from twice.recorder.runrecord import RunRecord
from twice.runs.ranks_verdict import SUFFIX, RankOrigin, RanksComparison, enumerate_names


def compare_ranks(a: Path, b: Path, *, anyway: bool = False) -> RanksComparison:
    """Say in which rank the difference of two runs began.

    Args:
        a: a folder with one record a rank, ``RANK.twice``.
        b: another, of the same program with the same seed.
        anyway: go on although seed, code or configuration differ.

    Raises:
        UsageError: E-USE-001, for a folder without records.
        RecordForeign, RecordCorrupt, RecordUnreadable: E-RECORD-002 to 005.
    """
    names = [_list_ranks(folder) for folder in (a, b)]
    both = sorted(names[0] & names[1])
    found = _RankSearch(a, b, anyway=anyway)
    partings = {name: parting for name in both if (parting := found.compare(name)) is not None}
    origins: dict[str, RankOrigin] = {}
    reached: Counter[str] = Counter()
    reasons = dict.fromkeys(found.other_inputs)
    for name in () if reasons else partings:
        try:
            origin = found.follow(name)
        except _UnknownOrigin as error:
            reasons[str(error)] = None
            continue
        reached[origin.rank] += 1
        kept = origins.setdefault(origin.rank, origin)
        if len(origin.path) > len(kept.path):
            origins[origin.rank] = origin
    for folder, only in ((a, names[0] - names[1]), (b, names[1] - names[0])):
        if only and not origins:
            reasons[f"{folder} alone holds {enumerate_names(sorted(only))}"] = None
    for name in both:
        if name in found.torn and name not in partings:
            reasons[f"{found.torn[name]}; as far as both records of {name} go, they agree"] = None
    return RanksComparison(
        a=str(a),
        b=str(b),
        ranks=len(both),
        origins=sorted(origins.values(), key=lambda each: (-reached[each.rank], each.rank)),
        differing=list(partings),
        only_a=sorted(names[0] - names[1]),
        only_b=sorted(names[1] - names[0]),
        reasons=list(reasons),
    )


class _UnknownOrigin(Exception):
    """Why a search cannot go on."""


@dataclass(frozen=True)
class _Event:
    """A compare-point of a rank, with the message that it is of."""

    point: int
    tick: int
    name: str
    digest: bytes
    message: Message


@dataclass(frozen=True)
class _RankParting:
    """Where the two records of a rank part."""

    rank: str
    at: PointRef
    columns: tuple[str, ...]
    sides: tuple[_Event | None, _Event | None]
    names: tuple[str, str]  # of the compare-points
    reads: tuple[str, ...]
    is_torn: bool  # because one of them ends there without being closed


class _RankLog:
    """The messages of one record, by what other ranks know of them."""

    def __init__(self, path: Path) -> None:
        self.sent: dict[int, _Event] = {}
        self.results: dict[tuple[str, int], _Event] = {}
        self.gives: dict[str, _Event] = {}
        self.by_point: dict[int, _Event] = {}
        with RunRecord.open(path) as record:
            points = record.reader.points
            for at, tick, message in read_messages(record):
                if at >= len(points):
                    break  # of a record that is torn between a message and its point
                point = points.point(at)
                event = _Event(at, tick, point.name, point.root, message)
                self.by_point[at] = event
                if message.kind == "sent":
                    self.sent[message.number] = event
                elif message.kind == "result":
                    self.results[message.peer, message.number] = event
                self.gives.update(dict.fromkeys(message.gives, event))


class _RankSearch:
    """Two folders, and the records of them that were read."""

    def __init__(self, a: Path, b: Path, *, anyway: bool) -> None:
        self._folders, self._anyway = (a, b), anyway
        self._partings: dict[str, _RankParting] = {}
        self.torn: dict[str, str] = {}
        self.other_inputs: list[str] = []
        self._log = cache(self._read_log)

    def compare(self, rank: str) -> _RankParting | None:
        """Return where the two records of a rank part, or None where they agree."""
        path_a, path_b = (folder / f"{rank}{SUFFIX}" for folder in self._folders)
        with RunRecord.open(path_a) as a, RunRecord.open(path_b) as b:
            if not self._anyway:
                self.other_inputs += [
                    f"{rank} has another input: {each.what} is {each.a} and {each.b} (go on with --anyway)"
                    for each in input_differences(a, b)
                ]
            torn = [str(each.path) for each in (a, b) if not each.complete]
            if torn:
                self.torn[rank] = f"{' and '.join(torn)}: torn"
            where = compare_logs(a, b)
            if where.at is None or is_extra_read_only(a, b, where):
                return None
            index = where.at.index
            logs = [self._log(side, rank) for side in (0, 1)]
            names = [
                each.reader.points.point(index).name if index < len(each.reader.points) else "(end)"
                for each in (a, b)
            ]
            parting = _RankParting(
                rank,
                where.at,
                where.columns,
                (logs[0].by_point.get(index), logs[1].by_point.get(index)),
                (names[0], names[1]),
                tuple(reads_that_differ(a, b, where.at)),
                is_torn=where.shorter is not None and not {"a": a, "b": b}[where.shorter].complete,
            )
        self._partings[rank] = parting
        return parting

    def follow(self, rank: str) -> RankOrigin:
        """Follow a difference to the rank where it began; raise ``_UnknownOrigin`` with the reason where none is found."""
        path: list[str] = []
        while True:
            if rank in path:
                raise _UnknownOrigin(
                    f"the records contradict each other: {' <- '.join([*path, rank])}"
                )
            path.append(rank)
            parting = self._partings.get(rank)
            if parting is None:
                for side in (0, 1):
                    self._log(side, rank)  # says so where one is missing
                raise _UnknownOrigin(
                    f"{rank} agrees with itself, and what {path[-2]} had from it does not"
                )
            if parting.is_torn:
                raise _UnknownOrigin(
                    f"{self.torn[rank]}, where {rank} parts, after tick {parting.at.tick}"
                )
            found = self._find_source(parting)
            if isinstance(found, RankOrigin):
                return replace(found, path=tuple(dict.fromkeys([found.rank, *reversed(path)])))
            rank = found

    def _find_source(self, parting: _RankParting) -> RankOrigin | str:
        """Return the origin, or the rank from which the difference came."""
        rank, (a, b) = parting.rank, parting.sides
        received = [each for each in (a, b) if each is not None and each.message.kind == "received"]
        if a is not None and b is not None and len(received) == 2:
            if _name_call(a) != _name_call(b):
                return self._compare_order(parting, a, b)
            return self._find_sender(rank, a.message)
        if received:
            message = received[0].message
            side = 1 if received[0] is a else 0
            if self._was_sent(side, rank, message):
                raise _UnknownOrigin(
                    f"{rank} received message {message.number} of {message.peer} on one side alone: "
                    "the run ended before it came"
                )
            return message.peer
        if a is not None and b is not None and a.name == b.name == "got":
            return self._find_result(rank, a, b) or self._own(parting)
        return self._own(parting)

    def _own(self, parting: _RankParting) -> RankOrigin:
        """Return a rank's own first difference as an origin."""
        a, b = parting.sides
        blind = {
            name
            for side in (0, 1)
            for event in self._log(side, parting.rank).by_point.values()
            if event.point <= parting.at.index and event.message.kind in {"received", "got"}
            for name in event.message.refused
        }
        if blind:
            raise _UnknownOrigin(
                f"{parting.rank} parts at tick {parting.at.tick}, after it took values that are not compared: "
                f"{enumerate_names(sorted(blind))}"
            )
        what, channel = ", ".join(parting.columns), None
        if a is None or b is None or a.name != b.name:
            texts = [
                name if each is None else f"{name}: {_describe(each)}"
                for name, each in zip(parting.names, parting.sides, strict=True)
            ]
        elif a.name == "state":
            what, parts = "state", (a.message.parts, b.message.parts)
            apart = [
                name
                for name in sorted({*parts[0], *parts[1]})
                if parts[0].get(name, (b"",))[0] != parts[1].get(name, (b"",))[0]
            ]
            texts = [
                ", ".join(f"{name} = {each[name][1]}" for name in apart if name in each)
                for each in parts
            ]
        else:
            what, texts = a.name, [_describe(a), _describe(b)]
            channel = Channel.CONCURRENCY if a.name == "waited" else None
        return RankOrigin(
            parting.rank, parting.at.tick, parting.at.index, what, texts[0], texts[1], channel, parting.reads
        )  # fmt: skip

    def _compare_order(self, parting: _RankParting, a: _Event, b: _Event) -> RankOrigin | str:
        """Return the rank that received messages in another order, or a sender that sent others."""
        for side, event in ((1, a), (0, b)):
            if not self._was_sent(side, parting.rank, event.message):
                return event.message.peer
        return RankOrigin(
            parting.rank,
            parting.at.tick,
            parting.at.index,
            "order",
            f"{_name_call(a)}: {_describe(a)}",
            f"{_name_call(b)}: {_describe(b)}",
            Channel.CONCURRENCY,
        )

    def _find_sender(self, rank: str, message: Message) -> RankOrigin | str:
        """Return where the arguments of one message became different: its sender, or who computed one of them."""
        sender = message.peer
        events = [self._log(side, sender).sent.get(message.number) for side in (0, 1)]
        a, b = events
        if a is None or b is None:
            raise _UnknownOrigin(
                f"the record of {sender} lacks its message {message.number} to {rank}"
            )
        if a.digest != b.digest:
            return sender
        source = self._find_result(sender, a, b)
        if source is not None:
            return source
        parting = self._partings.get(sender)
        if parting is not None and parting.at.index <= a.point:
            return sender  # which result to hand on followed from something earlier
        texts = [
            "the results of "
            + ", ".join(
                f"message {given.message.number} of {maker}"
                for maker, given in (
                    self._resolve(side, sender, each) for each in event.message.takes
                )
            )
            for side, event in ((0, a), (1, b))
        ]
        return RankOrigin(sender, a.tick, a.point, "sent", texts[0], texts[1])

    def _find_result(self, rank: str, a: _Event, b: _Event) -> str | None:
        """Return who computed the first value that differs of those that two equal events take; None if they take others."""
        calls = [
            [self._resolve(side, rank, each) for each in event.message.takes]
            for side, event in ((0, a), (1, b))
        ]
        if [_name_source(*each) for each in calls[0]] != [_name_source(*each) for each in calls[1]]:
            return None
        for maker, event in calls[0]:
            owner = maker if event.message.kind == "put" else event.message.peer
            values = [self._value(side, maker, event) for side in (0, 1)]
            if values[0] != values[1]:
                return owner
        raise _UnknownOrigin(
            f"a value that {rank} took at tick {a.tick} differs, and nobody computed it differently"
        )

    def _value(self, side: int, maker: str, event: _Event) -> bytes:
        """Return the digest of what a reference stood for on one side."""
        message = event.message
        if message.kind == "put":
            found = self._log(side, maker).by_point.get(event.point)
        else:
            found = self._log(side, message.peer).results.get((maker, message.number))
        if found is None:
            raise _UnknownOrigin(
                f"the record of {message.peer or maker} in {self._folders[side]} has no result of message "
                f"{message.number} of {maker}"
            )
        return found.digest

    def _resolve(self, side: int, rank: str, reference: str) -> tuple[str, _Event]:
        """Return the rank that made a reference, and its message; the rank that took it is asked first."""
        others = sorted(_list_ranks(self._folders[side]) - {rank})
        for name in (rank, *others):
            if (event := self._log(side, name).gives.get(reference)) is not None:
                return name, event
        raise _UnknownOrigin(f"{rank} took a reference that no record tells the origin of")

    def _was_sent(self, side: int, rank: str, message: Message) -> bool:
        """Return whether a message to a rank was sent on a side too."""
        event = self._log(side, message.peer).sent.get(message.number)
        return event is not None and event.message.peer == rank

    def _read_log(self, side: int, rank: str) -> _RankLog:
        path = self._folders[side] / f"{rank}{SUFFIX}"
        if not path.is_file():
            raise _UnknownOrigin(f"{path} is missing")
        return _RankLog(path)


def _list_ranks(folder: Path) -> set[str]:
    found = {path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}")}
    if not found:
        raise UsageError(
            f"{folder} holds no records.",
            "Expected two folders with one record a rank, such as driver.twice.",
            "For example: twice diagnose runs/a runs/b",
            path=str(folder),
        )
    return found


def _name_call(event: _Event) -> str:
    return f"message {event.message.number} of {event.message.peer}"


def _name_source(maker: str, event: _Event) -> tuple[str, str, int]:
    """Return what a reference stands for, the same in every run: its maker, and a count."""
    kind = event.message.kind
    return maker, kind, event.message.number if kind == "sent" else event.point


def _describe(event: _Event) -> str:
    message = event.message
    if message.kind in {"sent", "received"}:
        towards = "to" if message.kind == "sent" else "from"
        return f"{message.method}({message.text}) {towards} {message.peer}"
    return f"{message.method}: {message.text}" if message.method else message.text
