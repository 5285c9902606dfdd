"""Run many records' programs afresh, wherever jobs are executed, and say which of the new runs part from their records.

A new record stands in a folder under the name of the one it was made after. One that is there already, of the same run
and the program as it is now, is not made again, so a command that was killed goes on from there.

Invariant: the entries stand in the order of the records, and no record is replaced unless that was asked for.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.log_comparison import compare_logs
from twice.errors import OutputUnwritable, RecordTorn, TwiceError, UsageError
from twice.foundation.printable import printable
from twice.recorder.record_form import describe_ending, reading
from twice.recorder.recorder import refuse_existing
from twice.recorder.runrecord import RunRecord
from twice.recorder.trust import remember_record
from twice.replayer.preconditions import source_changes
from twice.replayer.rerun import rerun
from twice.runs.record_job import describe_error, receive_record, send_record
from twice.worker.executor import Executor, Job, run_jobs
from twice.writing import make_folder, write

FORMAT: Final = "twice.reruns/1"


def rerun_here(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Do the job of one record in a worker; return its entry, and ``content``, the new record for a caller elsewhere.

    Args:
        arguments: ``record``, as ``send_record`` makes it, ``out``, ``is_here``, whether this process sees that path,
            and ``informational``.
    """
    out, is_here = Path(arguments["out"]), arguments["is_here"]
    folder = nullcontext(str(out.parent)) if is_here else tempfile.TemporaryDirectory("-rerun")
    with receive_record(arguments["record"]) as path, folder as place:
        mine = Path(place, out.name)
        # What may be there is torn, of an attempt whose worker died: anything else was refused before.
        rerun(path, out=mine, force=True, informational=arguments["informational"]).close()
        given = {"path": arguments["record"]["path"], "record": str(out)}
        content = None if is_here else mine.read_bytes()
        return {"entry": {**_describe(path, mine), **given}, "content": content}


def rerun_records(
    paths: Sequence[Path],
    folder: Path,
    executor: Executor,
    *,
    force: bool,
    informational: bool,
    progress: Callable[[int, int], object],
) -> list[dict[str, Any]]:
    """Run afresh, and return an entry for each record.

    Args:
        paths: of the records.
        folder: of the new ones; made where it is not there.
        executor: where the programs run.
        force: replace records that are there.
        informational: go on although a program differs.
        progress: called with (records done, records).

    Returns:
        ``path``, ``record`` (the new one), ``how`` and ``exit_code`` of its ending, ``ticks``, and ``parts_at``, the
        tick at which the two part, or None; where there is no new record ``error`` instead of these. ``explained`` says
        how it ended, or what is wrong.

    Raises:
        UsageError: E-USE-001, two records have one name. OutputUnwritable: E-OUTPUT-002.
        OutputExists: E-OUTPUT-001, something other than this rerun stands at a new record's path.
    """
    names = Counter(path.name for path in paths)
    for name, number in names.items():
        if number > 1:
            raise UsageError(
                f"{number} records have the name {name}.",
                f"Expected different names: each new record stands in {folder} under the name of its own.",
                "Give the folders one after the other.",
            )
    make_folder(folder)
    entries: dict[Path, dict[str, Any]] = {}
    for path in paths:  # what must not be replaced is found before anything is executed
        out = folder.absolute() / path.name
        state = _find_state(path, out)
        if state == "whole" and not force:
            entries[path] = _describe(path, out)
        elif state == "other":
            refuse_existing(out, force=force, is_record=True)

    def list_jobs() -> Iterator[Job]:
        for path in paths:
            if path in entries:
                continue
            try:
                with reading("something", path), RunRecord.open(path) as record:
                    sent = send_record(path, record, is_here=executor.is_here)
            except TwiceError as error:
                entries[path] = {"path": str(path), **describe_error(error)}
                continue
            arguments = {
                "record": sent,
                "out": str(folder.absolute() / path.name),
                "is_here": executor.is_here,
                "informational": informational,
            }
            yield Job("twice.runs.reruns:rerun_here", arguments, path)

    progress(len(entries), len(paths))
    for end in run_jobs(executor, list_jobs()):
        path = end.job.key
        if isinstance(end.error, OutputUnwritable):
            raise end.error
        if end.answer is None:
            assert end.error is not None, "a job has an answer or an error"
            entries[path] = {"path": str(path), **describe_error(end.error)}
        else:
            entries[path] = end.answer["entry"]
            if end.answer["content"] is not None:
                _keep(folder / path.name, end.answer["content"])
        progress(len(entries), len(paths))
    return [entries[path] for path in paths]


def describe_entry(entry: Mapping[str, Any]) -> str:
    """Return the line of an entry."""
    if "error" in entry:
        told = f"not made: {entry['explained']}"
    elif entry["parts_at"] is None:
        told = f"{entry['explained']}; equal to its record"
    else:
        told = f"{entry['explained']}; parts from its record at tick {entry['parts_at']}"
    return printable(f"{entry['path']}: {told}")


def _find_state(path: Path, out: Path) -> str:
    """Say what stands at a new record's path: this rerun ``whole``, or ``torn``, or something ``other``."""
    if not out.exists():
        return "other"
    try:
        with RunRecord.open(out) as made, RunRecord.open(path) as record:
            if (made.parent or {}).get("run_id") != record.run_id:
                return "other"
            if made.ending is None or made.ending["how"] == "interrupted":
                return "torn"
            return "other" if any(source_changes(made)) else "whole"
    except RecordTorn:  # so early that nothing of a run is in it
        return "torn"
    except TwiceError:
        return "other"


def _keep(out: Path, content: bytes) -> None:
    """Put down a new record that a worker elsewhere sent."""
    write(out, content)
    out.chmod(0o600)  # like every record
    with RunRecord.open(out) as made:
        remember_record(made.digest)  # this command had it made


def _describe(path: Path, out: Path) -> dict[str, Any]:
    with RunRecord.open(path) as record, RunRecord.open(out) as made:
        at, ending = compare_logs(record, made).at, made.ending or {}
        return {
            "path": str(path),
            "record": str(out),
            "how": ending.get("how"),
            "exit_code": ending.get("exit_code"),
            "explained": describe_ending(made.ending),
            "ticks": made.ticks,
            "parts_at": None if at is None else at.tick,
        }
