"""How a program ended, recorded and replayed: its exit, its exception, what it returned.

Of a message neither addresses nor folders are compared, so that a program in another folder ends the same
way. Of the raising line the name of the file counts, not its folder.

Invariant: a torn record, and a run that a signal ended, compare with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import PurePath
from typing import Any

from twice.recording.compared_output import select_of_message
from twice.recording.results import RESULTS
from twice.recording.runrecord import RunRecord
from twice.replaying.checking import Failure


def find_ending_difference(
    record: RunRecord, message: Mapping[str, Any], evaluated: int, *, has_same_code: bool
) -> Failure | None:
    """Return how the program ended otherwise than it did, or None.

    Args:
        record: what was replayed.
        message: the last one of the process that replayed it.
        evaluated: how many points were judged.
        has_same_code: whether the recorded code was executed, so that lines can be compared.
    """
    recorded = record.ending
    if recorded is None or recorded.get("how") == "torn" or "interrupted_at_point" in recorded:
        return None
    folders = record.program_folders()
    was = _describe_parts(recorded, folders)
    now = [
        f"{message['how']}, exit code {message['exit_code']}",
        message["exception"] or "",
        select_of_message(message["message"] or "", folders),
        message["raised_at"] or "",
    ]
    n_parts = 4 if has_same_code else 3
    if was[:n_parts] == now[:n_parts]:
        return None
    return Failure(evaluated, record.ticks - 1, "ending", ("(ending)",), _join(was), _join(now))


def find_result_difference(
    record: RunRecord, message: Mapping[str, Any], evaluated: int
) -> Failure | None:
    """Return which result of the program differs: the returned value or a number of ``run.summary``; or None.

    A record of an earlier version holds none. Where a value was equal only within a tolerance, results that
    are computed from it are not compared.
    """
    recorded = (record.ending or {}).get(RESULTS)
    if recorded is None or message["within"]:
        return None
    found = next(_list_result_differences(recorded, message[RESULTS]), None)
    if found is None:
        return None
    name, was, now = found
    column = f"({name.partition(':')[0]})"
    return Failure(evaluated, record.ticks - 1, name, (column,), was, now)


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
