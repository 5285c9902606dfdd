"""The outcome of one replay, and the end of a program: its exit, its exception, its result.

Addresses and folders in a message are not compared, so that a program in another folder ends in the same way. The
raising line counts with the name of its file, not with the folder.

Invariant: a process that died gives no failure and no ending.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from itertools import zip_longest
from pathlib import PurePath
from typing import Any

from twice.foundation.dataclass import dataclass
from twice.foundation.environment import Fingerprint
from twice.recorder.output import RESULTS, select_of_message
from twice.recorder.states import ORDERS, Migration

_DIGEST = re.compile(r"[0-9a-f]{32,}")
STOPPED = "stopped"
"""How an execution ended that was to go no further."""


@dataclass(frozen=True)
class SourceChange:
    """A source file that is not what it was.

    Attributes:
        path: relative to the program's root.
        recorded: labelled digest.
        now: labelled digest, or None when the file is gone.
    """

    path: str
    recorded: str
    now: str | None


@dataclass(frozen=True)
class Failure:
    """The first place at which an execution leaves its record.

    Attributes:
        index: compare-point index in the record.
        tick: tick of that point.
        name: name of the point, or ``input:NAME``, ``effect``, ``ending``.
        columns: columns that differ, sorted.
        recorded: the recorded value, as text.
        replayed: the value of the execution, as text.
        at: ``file:line`` of the program where the difference shows, or empty.
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

    @property
    def has_values(self) -> bool:
        """Whether a value is known on a side, and not only the digests of both."""
        return not (_DIGEST.fullmatch(self.recorded) and _DIGEST.fullmatch(self.replayed))

    def to_json(self) -> dict[str, object]:
        """Return the form of ``first_failure`` in a verification."""
        told = {name: value for name, value in vars(self).items() if value or name != "traceback"}
        return {**told, "columns": list(self.columns)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Failure:
        """Build it from the JSON of ``to_json``; other members are ignored."""
        known = {each.name: data[each.name] for each in fields(cls) if each.name in data}
        return cls(**{**known, "columns": tuple(data["columns"])})


OTHER_CONTENT = "several threads ran beside each other, and a file that the run wrote has other content of the same length"
_THREADS = frozenset({"thread", "job"})


def count_threads(lineages: Mapping[str, int]) -> int:
    """Return how many threads and jobs of pools a run started, by the ``lineages`` of its ending."""
    return sum(count for name, count in lineages.items() if name.rpartition("/")[2] in _THREADS)


def no_counts() -> dict[str, int]:
    """Return counts of compare-points before any of them was judged."""
    return {"evaluated": 0, "passed": 0, "failed": 0, "within_tolerance": 0}


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The outcome of one execution of a recorded program.

    Attributes:
        failure: the first difference, which ended the execution; or None.
        death: how its process died without an answer; empty if it did not.
        how: ``completed``, ``exit``, ``exception``, ``stopped`` at the end of the plan; empty after a failure.
        ending: its parts as ``list_ending_parts`` gives them, the message as it was raised.
        results: the returned value and the numbers of ``run.summary``.
        orders: digests of the insertion orders of dicts at the end, by component; None without an end.
        reads: how often each operation of the world was read, by name; None without an end.
        inventory: every source of the world that it met.
        absent: variables whose values are placeholders in the replay.
        open_order: why only the order may differ; empty if that is impossible.
        counts: points that were evaluated, passed, failed, and passed ``within_tolerance``.
        environment: measured there; None if it died before.
        held: whether it was cut off from the network.
        kept: the report of its keeper on files and processes.
        inside: the place inside a file that differs, in the terms of its format, by path.
        state: canonical form of every component at the point that was captured.
        is_extra: whether it made an extra read.
        added: the answer of a process with a task besides the verification.
        migrated: states that a snapshot held in another version than the code's.
        took_s: seconds from the loading of the program to its last comparison; None if it died.
    """

    failure: Failure | None = None
    death: str = ""
    how: str = ""
    ending: Sequence[str] = ()
    results: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, str] | None = None
    reads: Mapping[str, int] | None = None
    inventory: Sequence[Mapping[str, Any]] = ()
    absent: Sequence[str] = ()
    open_order: str = ""
    counts: Mapping[str, int] = field(default_factory=no_counts)
    environment: Fingerprint | None = None
    held: bool = False
    kept: Mapping[str, Any] = field(default_factory=dict)
    inside: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, bytes] = field(default_factory=dict)
    is_extra: bool = False
    added: Mapping[str, Any] = field(default_factory=dict)
    migrated: Sequence[Migration] = ()
    took_s: float | None = field(default=None, compare=False)

    @property
    def is_whole(self) -> bool:
        """Return whether the program ran to its end, so that its results count."""
        return self.how in {"completed", "exit", "exception"}


def read_last_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a ``Replay`` from the last message of its process."""
    told = {"counts": message["counts"], "absent": message.get("absent", ())}
    told |= {"open_order": message.get("order", ""), "is_extra": bool(message.get("extra"))}
    told |= {"added": message.get("added", {})}
    told |= {"took_s": message.get("took_s")}
    told |= {"migrated": [*map(Migration.from_json, message.get("migrated", ()))]}
    if "state" in message:
        told["state"] = message["state"]
    if message["kind"] == "failure":
        return {**told, "failure": Failure.from_json(message)}
    if message["how"] == STOPPED:
        return {**told, "how": STOPPED}
    raised = (message[name] or "" for name in ("exception", "message", "raised_at"))
    return {
        **told,
        "how": message["how"],
        "ending": [_describe_exit(message), *raised],
        "results": message[RESULTS],
        "orders": message[ORDERS],
        "reads": message["effects"]["strict"],
        "inventory": message["inventory"],
    }


def list_ending_parts(ending: Mapping[str, Any], folders: Sequence[str] = ()) -> list[str]:
    """Return how a run ended: its exit, then type, message and raising line of its exception, or empty texts.

    Args:
        ending: as a record holds it.
        folders: of the program; the message is compared without them.
    """
    exception = ending.get("exception") or {}
    message = select_of_message(exception.get("message", ""), folders)
    raised_at = describe_raising_line(exception)
    return [_describe_exit(ending), exception.get("type", ""), message, raised_at]


def _describe_exit(ending: Mapping[str, Any]) -> str:
    return f"{ending['how']}, exit code {ending['exit_code']}"


def join_ending_parts(parts: Sequence[str]) -> str:
    """Return how a run ended in one line."""
    return ", ".join(filter(None, parts))


def describe_raising_line(exception: Mapping[str, Any]) -> str:
    """Return the program's own line that raised an exception: ``train.py:12 in step``; empty without one."""
    if not exception.get("frames"):
        return ""
    frame = exception["frames"][-1]
    return f"{PurePath(frame['file']).name}:{frame['line']} in {frame['function']}"


def list_result_differences(
    one: Mapping[str, Any], other: Mapping[str, Any], *, sampled: str = ""
) -> Iterator[tuple[str, str, str]]:
    """Yield ``returned`` and the first ``summary:NAME`` that differ, with each run's value; none of the ``sampled`` one."""
    was, now = (each.get("returned") for each in (one, other))
    # By type and digest: the text is cut, and the text of a value without a digest may contain an address.
    if {**(was or {}), "text": ""} != {**(now or {}), "text": ""}:
        yield "returned", _describe_value(was), _describe_value(now)
    reported = (
        [row for row in each.get("summaries", []) if row[0] != sampled] for each in (one, other)
    )
    for was, now in zip_longest(*reported):
        if was != now:
            yield f"summary:{(was or now)[0]}", _describe_summary(was), _describe_summary(now)
            return


def _describe_value(returned: Mapping[str, str] | None) -> str:
    if returned is None:
        return "None"
    digest = f" ({returned['digest']})" if "digest" in returned else ""
    return f"{returned.get('text') or returned['type']}{digest}"


def _describe_summary(summary: Sequence[str] | None) -> str:
    return "nothing" if summary is None else f"{summary[0]} = {float.fromhex(summary[1])!r}"
