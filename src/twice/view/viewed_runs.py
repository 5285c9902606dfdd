"""The runs that a page shows: records that stay open, and what they hold for each question of the page.

A stranger may have written a record: nothing of it is executed here, and what it claims is cut where it is long. A record
that is still being written is opened anew when it has grown.

Invariant: an answer is plain data, and every value in it was proved by the record's chain of checksums.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import Any, Final

from twice.diagnosis.log_comparison import (
    LogDivergence,
    compare_logs,
    list_unequal_judged,
    point_ref,
)
from twice.errors import TwiceError, UsageError
from twice.foundation.version import VERSION
from twice.recorder.record import first_difference
from twice.recorder.record_form import describe_ending, describe_parent
from twice.recorder.record_summary import next_command
from twice.recorder.runrecord import RunRecord
from twice.recorder.snapshots import load
from twice.report.moment import LISTS, moment
from twice.report.overview import describe_run, identity_rows
from twice.report.record_pages import list_reads, list_streams
from twice.report.values import find_part, inline, list_numbers, mapping
from twice.view.levels import BINS_MAX, count_events
from twice.view.state_tree import compare_states, describe_state, describe_value

FORMAT: Final = "twice.view/1"
ENTRIES_MAX: Final = 300
_TICKS_MAX: Final = (1 << 53) - 1
"""Up to here the page has exact numbers."""
_PATHS_MAX: Final = 500
_VALUES_MAX: Final = 1000
_STATE_BYTES_MAX: Final = 64 << 20
"""Of all the states that are decoded for one plot."""
_COMPARED_WHOLE: Final = 200_000
"""Compare-points up to which two logs are compared whole, with tolerances; chains alone tell of longer ones."""


class ViewedRuns:
    """Open records, each by its number on the page; a context manager that closes them.

    Args:
        paths: of the records.

    Raises:
        RecordUnreadable, RecordForeign, RecordVersion, RecordTorn, RecordCorrupt: one cannot be opened.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        # Requests come on threads of their own, and records are read by one at a time.
        self._lock = RLock()
        self._records: list[RunRecord] = []
        self._sizes: list[int] = []
        try:
            for path in paths:
                self.add(path)
        except BaseException:
            self.close()
            raise

    def add(self, path: Path) -> dict[str, Any]:
        """Open one more record, and return what is said of it."""
        with self._lock:
            self._records.append(RunRecord.open(path))
            self._sizes.append(_measure(path))
            return self._describe(len(self._records) - 1)

    def close(self) -> None:
        """Close all records."""
        with self._lock, ExitStack() as stack:
            for record in self._records:
                stack.callback(record.close)

    def path_of(self, run: int) -> Path:
        """Return the path of a record."""
        return self._find(run).path

    def answer(self, question: str, asked: Mapping[str, str]) -> dict[str, Any]:
        """Answer a question of the page.

        Args:
            question: ``session``, ``timeline``, ``moment``, ``paths``, ``values``, ``fields`` or
                ``difference``.
            asked: its parameters, as text.

        Raises:
            UsageError: E-USE-001, no such question, or a parameter that is missing or makes no sense.
            TwiceError: the record refuses.
        """
        answers: dict[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
            "session": self._tell_session,
            "timeline": self._tell_timeline,
            "moment": self._tell_moment,
            "paths": self._tell_paths,
            "values": self._tell_values,
            "fields": self._tell_fields,
            "difference": self._tell_difference,
        }
        if question not in answers:
            raise _refuse("question", question, f"one of {', '.join(answers)}")
        with self._lock:
            return answers[question](asked)

    def _find(self, run: int) -> RunRecord:
        if not 0 <= run < len(self._records):
            raise _refuse("run", run, f"a number from 0 to {len(self._records) - 1}")
        return self._records[run]

    def _refresh(self) -> None:
        """Open those anew that have grown: their programs are still running."""
        for at, record in enumerate(self._records):
            try:
                size = _measure(record.path)
                if record.complete or size == self._sizes[at]:
                    continue
                grown = RunRecord.open(record.path)
            except TwiceError:
                continue  # what was read of it stays readable
            record.close()
            self._records[at], self._sizes[at] = grown, size

    def _describe(self, run: int) -> dict[str, Any]:
        """Return what the page's head says of a run."""
        record = self._records[run]
        told, ending = describe_run(record), mapping(record.ending)
        exception, caveats = mapping(ending.get("exception")), ending.get("caveats")
        tear, ended = record.reader.tear, describe_ending(record.ending)
        ticks = min(max(record.ticks, 0), _TICKS_MAX)
        claim = [f"The record claims {record.ticks:,} ticks."] if ticks != record.ticks else []
        rows = list[dict[str, str]]()
        for name, text in identity_rows(record, told):
            rows.append({"name": name or rows[-1]["name"], "text": text})
        state, mood = "complete", "good" if ended == "completed" else "unsure"
        if tear is not None:
            state, mood = ("damaged", "bad") if tear.damaged else ("torn", "unsure")
        return {
            "run": run,
            "name": record.path.name,
            "path": str(record.path),
            **{name: told[name] for name in ("program", "seed", "points")},
            "ticks": ticks,
            "state": state,
            "mood": mood,
            "ending": ended,
            "exception": f"{exception.get('type')}: {exception.get('message')}"
            if exception
            else "",
            "caveats": [*(caveats if isinstance(caveats, list) else ()), *claim],
            "identity": rows,
            "streams": [
                {"name": name, "kind": kind, "draws": _print_count(draws)}
                for name, kind, draws, _ in list_streams(told)
            ],
            "reads": [
                {"name": name, "by": by, "count": _print_count(count)}
                for name, by, count in list_reads(told)
            ],
            "snapshots": record.reader.snapshot_count,
            "parent": describe_parent(record.parent) or None,
            "next": next_command(record),
            "can_branch": record.complete,
            "why_not": "" if record.complete else "the record is not complete",
        }

    def _tell_session(self, _: Mapping[str, str]) -> dict[str, Any]:
        self._refresh()
        runs = [self._describe(run) for run in range(len(self._records))]
        return {"format": FORMAT, "twice": VERSION, "runs": runs}

    def _tell_timeline(self, asked: Mapping[str, str]) -> dict[str, Any]:
        run = _read_integer(asked, "run")
        record = self._find(run)
        end = max(record.ticks - 1, 0)
        first, last = (
            _read_integer(asked, name, default, -1, end)
            for name, default in (("from", 0), ("to", end))
        )
        if last < first:
            raise _refuse("to", last, f"{first} or later")
        bins = _read_integer(asked, "bins", 240, 1, BINS_MAX)
        actors = {number: key for key, number in record.actors().items()}
        return {"run": run, **count_events(record.reader, first, last, bins, actors)}

    def _tell_moment(self, asked: Mapping[str, str]) -> dict[str, Any]:
        record, tick = self._find_moment(asked)
        told, omitted = moment(record, tick, show=_keep), dict[str, int]()
        for name in LISTS:
            if len(told[name]) > ENTRIES_MAX:
                omitted[name] = len(told[name]) - ENTRIES_MAX
                told[name] = told[name][:ENTRIES_MAX]
        for entry in told["inputs"]:
            entry["value"] = describe_value(entry["value"])
        for entry in told["effects"]:  # the page shows their texts
            del entry["value"]
            entry.pop("arguments", None)
        if told["snapshot"] is not None:
            told["snapshot"]["state"] = describe_state(told["snapshot"].pop("values"))
        return {**told, "changed": _list_changed(record, tick), "omitted": omitted}

    def _find_moment(self, asked: Mapping[str, str]) -> tuple[RunRecord, int]:
        record = self._find(_read_integer(asked, "run"))
        return record, _read_integer(asked, "tick", None, -1, max(record.ticks - 1, 0))

    def _find_state(self, asked: Mapping[str, str]) -> dict[str, Any]:
        record, tick = self._find_moment(asked)
        number = record.snapshot_before(tick)
        return {} if number is None else record.state_at(number)

    def _tell_fields(self, asked: Mapping[str, str]) -> dict[str, Any]:
        a, b = (self._find_state({**asked, "run": asked.get(run, "")}) for run in ("a", "b"))
        return compare_states(a, b)

    def _tell_paths(self, asked: Mapping[str, str]) -> dict[str, Any]:
        found = islice(list_numbers(self._find_state(asked)), _PATHS_MAX)
        return {"paths": [{"path": path, "text": inline(value)} for path, value in found]}

    def _tell_values(self, asked: Mapping[str, str]) -> dict[str, Any]:
        record, path = self._find(_read_integer(asked, "run")), asked.get("path", "")
        of = record.reader.snapshot_count
        ticks, values, texts = list[int](), list[float | None](), list[str]()
        has_numbers = False
        for number in self._choose_snapshots(record):
            try:
                part = find_part(record.state_at(number), path)
                texts.append(inline(part))
                # An array has an element, a library a number of its own.
                value = part.item() if hasattr(part, "item") else part
            except KeyError:
                value = None
                texts.append("no such part")
            except ValueError:
                value = None
            # A double holds neither every integer nor, for JSON, what is not finite.
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            is_shown = is_number and abs(value) <= sys.float_info.max
            has_numbers |= is_number
            ticks.append(record.reader.snapshot(number)[0].tick)
            values.append(float(value) if is_shown else None)
        if of and not has_numbers:
            raise _refuse("path", path, "the path of a number in the state")
        told = {"path": path, "ticks": ticks, "values": values, "texts": texts}
        return {**told, "shown": len(ticks), "of": of}

    def _choose_snapshots(self, record: RunRecord) -> Iterator[int]:
        """Yield numbers of snapshots, over the whole run, as many as may be decoded for one plot."""
        of = record.reader.snapshot_count
        if not of:
            return
        parts = load(record.reader, of - 1).subsystems.values()
        size = 1 + sum(len(each) for part in parts for each in part)
        most = max(2, min(_VALUES_MAX, _STATE_BYTES_MAX // size, of))
        yield from sorted({round(at * (of - 1) / max(most - 1, 1)) for at in range(most)})

    def _tell_difference(self, asked: Mapping[str, str]) -> dict[str, Any]:
        a, b = (self._find(_read_integer(asked, name)) for name in ("a", "b"))
        log_a, log_b = a.reader.points, b.reader.points
        common = min(len(log_a), len(log_b))
        if common <= _COMPARED_WHOLE:
            found = compare_logs(a, b)
        else:
            first, columns, shorter = first_difference(log_a, log_b), list[str](), None
            if first == common:
                shorter = "a" if len(log_a) < len(log_b) else "b"
            elif first is not None:
                columns = list_unequal_judged(a, b, first)
            at = None if first is None else point_ref(b if shorter == "a" else a, first)
            agreed = point_ref(a, first - 1) if first else None
            found = LogDivergence(at, agreed, tuple(columns), shorter=shorter)
        within = f"{found.within} compare-points differ within the tolerance" * bool(found.within)
        return {
            "equal": found.at is None,
            "tick": found.at and found.at.tick,
            "name": found.at and found.at.name,
            "columns": list(found.columns),
            "last_agreement": found.last_agreement and found.last_agreement.to_json(),
            "shorter": found.shorter,
            "within": within,
        }


def _keep(value: Any) -> Any:
    return value


def _print_count(count: object) -> str:
    """Return a count with commas; a stranger's record may have anything in its place."""
    is_count = isinstance(count, int) and 0 <= count < 1 << 63
    return f"{count:,}" if is_count else "not counted"


def _measure(path: Path) -> int:
    """Return the bytes of a file; -1 of an object, which does not grow, and of what is gone."""
    return path.stat().st_size if path.exists() else -1


def _list_changed(record: RunRecord, tick: int) -> list[str]:
    """Return the components whose digest changed in a tick."""
    log, changed = record.reader.points, set[str]()
    for index in log.indices_of_tick(tick):
        now = log.point(index).digests
        before = log.point(index - 1).digests if index else {}
        changed |= {name for name, digest in now.items() if before.get(name, digest) != digest}
    return sorted(changed)


def _read_integer(
    asked: Mapping[str, str],
    name: str,
    default: int | None = None,
    low: int | None = None,
    high: int | None = None,
) -> int:
    """Read a parameter; E-USE-001 when it is missing, no integer, or out of range."""
    text = asked.get(name, default)
    expected = "an integer" if low is None else f"an integer from {low} to {high}"
    try:
        number = int(str(text))
    except ValueError:
        raise _refuse(name, text, expected) from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise _refuse(name, number, expected)
    return number


def _refuse(name: str, value: object, expected: str) -> UsageError:
    return UsageError(f"{name} is {value!r}.", f"Expected {expected}.", "Open the page anew.")
