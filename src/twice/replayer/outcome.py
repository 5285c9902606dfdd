"""What one execution gave, and how a program ended: its exit, its exception, what it returned.

Of a message neither addresses nor folders are compared, so that a program in another folder ends the same
way. Of the raising line the name of the file counts, not its folder.

Invariant: a torn record, and a run that a signal ended, compare with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import PurePath
from typing import Any

from twice.recording.compared_output import select_of_message
from twice.recording.ordering import ORDERS
from twice.recording.results import RESULTS
from twice.recording.runrecord import RunRecord

STOPPED = "stopped"
"""How an execution ended that was to go no further."""
_TO_ITS_END = frozenset({"completed", "exit", "exception"})


@dataclass(frozen=True)
class Failure:
    """The first place at which an execution leaves its record.

    Attributes:
        index: compare-point index in the record.
        tick: tick of that point.
        name: name of the point, or ``input:NAME``, ``effect``, ``ending``.
        columns: columns that differ, sorted.
        recorded: what the record holds, as text.
        replayed: what the execution gave, as text.
        at: ``file:line`` of the program where it was noticed, or empty.
        traceback: what the execution printed of an exception that the recorded run did not print, or empty.
    """

    index: int
    tick: int
    name: str
    columns: tuple[str, ...]
    recorded: str
    replayed: str
    at: str = ""
    traceback: str = ""

    def to_json(self) -> dict[str, object]:
        """As ``first_failure`` in a verification."""
        return {
            "index": self.index,
            "tick": self.tick,
            "name": self.name,
            "columns": list(self.columns),
            "recorded": self.recorded,
            "replayed": self.replayed,
            "at": self.at,
            **({"traceback": self.traceback} if self.traceback else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Failure:
        """Read back what ``to_json`` wrote."""
        return cls(
            data["index"],
            data["tick"],
            data["name"],
            tuple(data["columns"]),
            data["recorded"],
            data["replayed"],
            data["at"],
            data.get("traceback", ""),
        )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one execution gave, as its process told it.

    Attributes:
        failure: the first difference that was met on the way, which ended the execution; or None.
        how: ``completed``, ``exit``, ``exception``, ``stopped`` where it was to go no further; empty after a failure.
        exit_code: of the program.
        exception: type of the exception that ended it, or None.
        message: of that exception.
        raised_at: the program's own line that raised it.
        results: the returned value and the numbers of ``run.summary``.
        orders: digests of the insertion orders of dicts at the end, by component; None without an end.
        reads: how often each operation of the world was read, by name; None without an end.
        inventory: every source of the world that it met.
        absent: variables that the program was given stars for.
        open_order: why a difference may be one of order alone; empty where it may not.
        evaluated: how many compare-points were judged.
        passed: how many of them were equal.
        failed: how many were not.
        within: how many were equal within a tolerance.
    """

    failure: Failure | None = None
    how: str = ""
    exit_code: int = 0
    exception: str | None = None
    message: str | None = None
    raised_at: str | None = None
    results: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, str] | None = None
    reads: Mapping[str, int] | None = None
    inventory: Sequence[Mapping[str, Any]] = ()
    absent: Sequence[str] = ()
    open_order: str = ""
    evaluated: int = 0
    passed: int = 0
    failed: int = 0
    within: int = 0

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Outcome:
        """Read the last message of a process that verified a record."""
        given: dict[str, Any] = {
            name: message[name] for name in ("evaluated", "passed", "failed", "within")
        }
        given |= {"absent": message.get("absent", ()), "open_order": message.get("order", "")}
        if message["kind"] == "failure":
            return cls(failure=Failure.from_json(message), **given)
        if message["how"] == STOPPED:
            return cls(how=STOPPED, **given)
        return cls(
            how=message["how"],
            exit_code=message["exit_code"],
            exception=message["exception"],
            message=message["message"],
            raised_at=message["raised_at"],
            results=message[RESULTS],
            orders=message[ORDERS],
            reads=message["effects"]["strict"],
            inventory=message["inventory"],
            **given,
        )

    @property
    def is_whole(self) -> bool:
        """Whether the program ran to its end, so that what it left counts."""
        return self.how in _TO_ITS_END


def find_ending_difference(
    record: RunRecord, outcome: Outcome, at: int, *, has_same_code: bool
) -> Failure | None:
    """Return how the program ended otherwise than it did, or None.

    Args:
        record: what was replayed.
        outcome: what the execution gave.
        at: index of the compare-point that a difference is counted at.
        has_same_code: whether the recorded code was executed, so that lines can be compared.
    """
    recorded = record.ending
    if recorded is None or recorded.get("how") == "torn" or "interrupted_at_point" in recorded:
        return None
    folders = record.program_folders()
    was = _describe_parts(recorded, folders)
    now = [
        f"{outcome.how}, exit code {outcome.exit_code}",
        outcome.exception or "",
        select_of_message(outcome.message or "", folders),
        outcome.raised_at or "",
    ]
    n_parts = 4 if has_same_code else 3  # lines move when code is edited
    if was[:n_parts] == now[:n_parts]:
        return None
    return Failure(at, record.ticks - 1, "ending", ("(ending)",), _join(was), _join(now))


def find_result_difference(record: RunRecord, outcome: Outcome, at: int) -> Failure | None:
    """Return which result of the program differs: the returned value or a number of ``run.summary``; or None.

    A record of an earlier version holds none. Where a value was equal only within a tolerance, results that
    are computed from it are not compared.
    """
    recorded = (record.ending or {}).get(RESULTS)
    # A value within its tolerance may lead to a result that differs in every bit.
    if recorded is None or outcome.within:
        return None
    found = next(_list_result_differences(recorded, outcome.results), None)
    if found is None:
        return None
    name, was, now = found
    return Failure(at, record.ticks - 1, name, (f"({name.partition(':')[0]})",), was, now)


def find_read_difference(record: RunRecord, outcome: Outcome, at: int) -> Failure | None:
    """Return which operation was read from the world more or less often, of all that compare-points do not show."""
    recorded = (record.ending or {}).get("effects", {}).get("strict") or {}
    for name in sorted({*recorded, *(outcome.reads or {})}):
        was, now = recorded.get(name, 0), (outcome.reads or {}).get(name, 0)
        if was != now:
            texts = (f"{count} times {name} until the end" for count in (was, now))
            return Failure(at, record.ticks - 1, "effect", ("effects",), *texts)
    return None


def compare_endings(a: RunRecord, b: RunRecord) -> list[tuple[str, str, str]]:
    """Return how two complete runs ended differently, results included.

    Returns:
        Name, and what each run has: ``ending``, and the names of ``find_result_difference``.
    """
    was, now = (_describe_parts(each.ending or {}, each.program_folders()) for each in (a, b))
    rows = [] if was == now else [("ending", _join(was), _join(now))]
    one, other = ((each.ending or {}).get(RESULTS) for each in (a, b))
    if one is not None and other is not None:
        rows += _list_result_differences(one, other)
    return rows


def _list_result_differences(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield ``returned`` and the first ``summary:NAME`` that differ, with what each run has."""
    was, now = (each.get("returned") for each in (one, other))
    if _identity_of(was) != _identity_of(now):
        yield "returned", _describe_value(was), _describe_value(now)
    for was, now in zip_longest(*(each.get("summaries", []) for each in (one, other))):
        if was != now:
            yield f"summary:{(was or now)[0]}", _describe_summary(was), _describe_summary(now)
            return


def describe_uncompared_results(record: RunRecord) -> list[str]:
    """Return why results of a run cannot be compared, in words."""
    returned = ((record.ending or {}).get(RESULTS) or {}).get("returned")
    if returned is None or "digest" in returned:
        return []
    return [f"the returned value is not compared: a {returned['type']} has no canonical form"]


def describe_ending(ending: Mapping[str, Any] | None) -> str:
    """Return how a run ended, as text."""
    return (
        "no ending (the record is torn)" if ending is None else _join(_describe_parts(ending, ()))
    )


def describe_raising_line(exception: Mapping[str, Any]) -> str:
    """Return the program's own line that raised an exception: ``train.py:12 in step``; empty without one."""
    if not exception.get("frames"):
        return ""
    frame = exception["frames"][-1]
    return f"{PurePath(frame['file']).name}:{frame['line']} in {frame['function']}"


def _describe_parts(ending: Mapping[str, Any], folders: Sequence[str]) -> list[str]:
    exception = ending.get("exception")
    said = f"{ending['how']}, exit code {ending['exit_code']}"
    if not exception:
        return [said, "", "", ""]
    return [
        said,
        exception["type"],
        select_of_message(exception["message"], folders),
        describe_raising_line(exception),
    ]


def _identity_of(returned: Mapping[str, str] | None) -> tuple[str, str] | None:
    return None if returned is None else (returned["type"], returned.get("digest", ""))


def _describe_value(returned: Mapping[str, str] | None) -> str:
    if returned is None:
        return "None"
    text = returned.get("text", "")
    digest = f" ({returned['digest']})" if "digest" in returned else ""
    return f"{text or returned['type']}{digest}"


def _describe_summary(summary: Sequence[str] | None) -> str:
    return "nothing" if summary is None else f"{summary[0]} = {float.fromhex(summary[1])!r}"


def _join(parts: list[str]) -> str:
    return ", ".join(filter(None, parts))
