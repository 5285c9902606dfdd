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

from twice.errors import TwiceError, UsageError
from twice.foundation.version import VERSION
from twice.recorder.config import format_value
from twice.recorder.record_form import describe_ending, describe_parent
from twice.recorder.record_summary import next_command
from twice.recorder.runrecord import RunRecord
from twice.recorder.snapshots import load
from twice.report.moment import LISTS, moment
from twice.report.overview import describe_run, identity_rows
from twice.report.record_pages import list_reads, list_streams
from twice.report.values import find_part, inline, list_numbers, mapping
from twice.view.component_changes import find_change, list_changed
from twice.view.levels import BINS_MAX, count_events
from twice.view.run_difference import compare_runs
from twice.view.state_tree import compare_states, describe_state

FORMAT: Final = "twice.view/1"
ENTRIES_MAX: Final = 300
_TICKS_MAX: Final = (1 << 53) - 1
"""Up to here the page has exact numbers."""
_PATHS_MAX: Final = 500
_NAMED_MAX: Final = 20
_VALUES_MAX: Final = 1000
_STATE_BYTES_MAX: Final = 64 << 20
"""Of all the states that are decoded for one plot."""

_UNCLOSED: Final = (
    "The record does not say whether its program still runs. If it does, read the record anew. If it was killed, the "
    "command below closes the record."
)
_REPLACED: Final = "The file was replaced or removed while it was shown. The page goes on with the run that it opened."


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
        self._sizes: list[tuple[int, int]] = []
        try:
            for path in paths:
                self.add(path)
        except BaseException:
            self.close()
            raise

    def add(self, path: Path) -> dict[str, Any]:
        """Open one more record, and return what is said of it."""
        with self._lock:
            size = _measure(path)  # before it is read: a run can end meanwhile
            self._records.append(RunRecord.open(path))
            self._sizes.append(size)
            return self._describe(len(self._records) - 1)

    def close(self) -> None:
        """Close all records."""
        with self._lock, ExitStack() as stack:
            for record in self._records:
                stack.callback(record.close)

    def path_of(self, run: int) -> Path:
        """Return the path of a record that is to be executed.

        Raises:
            UsageError: E-USE-001, another record stands there by now. RecordUnreadable: E-RECORD-005, none does.
        """
        with self._lock:
            shown = self._find(run)
            with RunRecord.open(shown.path) as now:
                if now.run_id != shown.run_id:
                    raise UsageError(
                        f"{shown.path} is another run by now: it was replaced while it was shown.",
                        "Expected the run that the page shows.",
                        f"Look at the new one: twice view {shown.path}",
                        path=str(shown.path),
                    )
            return shown.path

    def answer(self, question: str, asked: Mapping[str, str]) -> dict[str, Any]:
        """Answer a question of the page.

        Args:
            question: ``session``, ``timeline``, ``moment``, ``change``, ``paths``, ``values``, ``fields`` or
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
            "change": self._tell_change,
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
        record = self._records[run]
        # What is read of a mapped file that was cut ends the whole process.
        (file, size), (shown, whole) = _measure(record.path), self._sizes[run]
        if file == shown and size < whole:
            raise UsageError(
                f"{record.path} was cut while it was shown: another file was copied over it.",
                "Expected a record that stays as it is.",
                f"Open it anew: twice view {record.path}",
                path=str(record.path),
            )
        return record

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
            if grown.run_id != record.run_id:
                grown.close()
                continue  # another run would stand under the head of this one
            record.close()
            self._records[at], self._sizes[at] = grown, size

    def _describe(self, run: int) -> dict[str, Any]:
        """Return what the page's head says of a run."""
        record = self._records[run]
        told, ending = describe_run(record), mapping(record.ending)
        exception, caveats = mapping(ending.get("exception")), ending.get("caveats")
        tear = record.reader.tear
        ended = describe_ending(record.ending) if record.ending else "no ending"
        caveats = list(caveats) if isinstance(caveats, list) else []
        ticks = min(max(record.ticks, 0), _TICKS_MAX)
        if ticks != record.ticks:
            caveats.append(f"The record claims {record.ticks:,} ticks.")
        rows = list[dict[str, str]]()
        for name, text in identity_rows(record, told):
            rows.append({"name": name or rows[-1]["name"], "text": text})
        state, mood = "complete", "good" if ended == "completed" else "unsure"
        if tear is not None:
            state, mood = ("damaged", "bad") if tear.damaged else ("not closed", "unsure")
            caveats += [_UNCLOSED] * (not tear.damaged)
        if _measure(record.path)[0] != self._sizes[run][0]:
            caveats.append(_REPLACED)
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
            "caveats": caveats,
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
        snapshots = record.list_snapshots()
        return {"run": run, **count_events(record.reader, first, last, bins, actors, snapshots)}

    def _tell_moment(self, asked: Mapping[str, str]) -> dict[str, Any]:
        record, tick = self._find_moment(asked)
        told, omitted = moment(record, tick, show=_keep), dict[str, int]()
        for name in LISTS:
            if len(told[name]) > ENTRIES_MAX:
                omitted[name] = len(told[name]) - ENTRIES_MAX
                told[name] = told[name][:ENTRIES_MAX]
        for entry in (*told["inputs"], *told["effects"]):
            entry["text"] += " (rolled back)" if entry.pop("rolled_back", False) else ""
        for entry in told["inputs"]:
            entry["toml"] = format_value(entry.pop("value"))
        for entry in told["effects"]:  # the page shows their texts
            del entry["value"]
            entry.pop("arguments", None)
        if told["snapshot"] is not None:
            told["snapshot"]["state"] = describe_state(told["snapshot"].pop("values"))
        times = 1 + sum(back.to <= tick <= back.tick for back in record.rollbacks())
        changed = list_changed(record.reader.points, tick)
        return {**told, **changed, "times": times, "omitted": omitted}

    def _find_moment(self, asked: Mapping[str, str]) -> tuple[RunRecord, int]:
        record = self._find(_read_integer(asked, "run"))
        return record, _read_integer(asked, "tick", None, -1, max(record.ticks - 1, 0))

    def _tell_change(self, asked: Mapping[str, str]) -> dict[str, Any]:
        name = asked.get("component", "")
        sides = ["run", "other"] if asked.get("other") else ["run"]
        readers = [self._find(_read_integer(asked, side)).reader for side in sides]
        # Beside a longer run, the tick can lie behind the end of the other one.
        tick = _read_integer(asked, "tick", None, -1, _TICKS_MAX)
        direction = _read_integer(asked, "direction", 1, -1, 1)
        holding = [each for each in readers if name in each.points.components()]
        if not holding:
            known = sorted({name for each in readers for name in each.points.components()})
            raise _refuse("component", name, f"one of {', '.join(known[:_NAMED_MAX])}")
        return find_change(holding, name, tick, backwards=direction < 0)

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
        numbers = record.list_snapshots()
        ticks, values, texts = list[int](), list[float | None](), list[str]()
        has_numbers = False
        for number in self._choose_snapshots(record, numbers):
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
        if numbers and not has_numbers:
            raise _refuse("path", path, "the path of a number in the state")
        told = {"path": path, "ticks": ticks, "values": values, "texts": texts}
        return {**told, "shown": len(ticks), "of": len(numbers)}

    def _choose_snapshots(self, record: RunRecord, numbers: Sequence[int]) -> Iterator[int]:
        """Yield some of the numbers of snapshots, over the whole run, as many as may be decoded for one plot."""
        of = len(numbers)
        if not of:
            return
        parts = load(record.reader, numbers[-1]).subsystems.values()
        size = 1 + sum(len(each) for part in parts for each in part)
        most = max(2, min(_VALUES_MAX, _STATE_BYTES_MAX // size, of))
        yield from sorted({numbers[round(at * (of - 1) / max(most - 1, 1))] for at in range(most)})

    def _tell_difference(self, asked: Mapping[str, str]) -> dict[str, Any]:
        a, b = (self._find(_read_integer(asked, name)) for name in ("a", "b"))
        return compare_runs(a, b)


def _measure(path: Path) -> tuple[int, int]:
    """Return number and bytes of a file; 0 and 0 of an object, which does not grow, and of what is gone."""
    if not path.exists():
        return 0, 0
    status = path.stat()
    return status.st_ino, status.st_size


def _keep(value: Any) -> Any:
    return value


def _print_count(count: object) -> str:
    """Return a count with commas; a stranger's record may have anything in its place."""
    is_count = isinstance(count, int) and 0 <= count < 1 << 63
    return f"{count:,}" if is_count else "not counted"


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
