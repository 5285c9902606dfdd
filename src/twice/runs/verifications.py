"""Verify many records: jobs for an executor, a journal of what they answered, one document and one line for each.

A record that cannot be verified does not keep the others from it: its result is UNKNOWN, with the error. What has come
is in the journal, so a command that was killed goes on from there.

Not covered: a record that changes between two commands with one journal; its size and time are compared, not its bytes.

Invariant: the entries stand in the order of the records, whatever ended first, and only one of them is in memory.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from twice.errors import TwiceError
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize, printable
from twice.foundation.record_url import to_path
from twice.recorder.record_form import reading
from twice.recorder.runrecord import RunRecord
from twice.recorder.trust import is_made_here
from twice.replayer.preconditions import source_changes
from twice.replayer.replay_job import (
    folder_of,
    stand_ins_of,
    start_child,
    start_server,
    surroundings_of,
)
from twice.replayer.statement_file import write_statement
from twice.replayer.verification import Verification
from twice.runs.journal import Journal, stamp_record
from twice.runs.record_job import describe_error, receive_record, send_record
from twice.runs.verify_options import VerifyOptions
from twice.worker.executor import Done, Executor, Job, run_jobs
from twice.worker.fork_server import ForkServer
from twice.worker.process import Worker

FORMAT: Final = "twice.verifications/1"
_BAD_LAST: Final = (0, 2, 1)
"""Exit codes from good to bad: a promise that is broken counts for more than one that nobody could test."""

_ONE_OF_TWO: Final = "one of two replays differs from the record, and the other agrees: verify it by itself with --repeat 5"

Cite = Callable[[RunRecord], tuple[Mapping[str, Any] | None, Sequence[str]]]
"""Finds the specification of a record's program, and what it promises and is not so."""


def verify_here(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Do the job of one record in a worker; return its statement in JSON and Markdown, and what is said of it.

    Args:
        arguments: ``record``, as ``send_record`` makes it, ``cited``, ``mismatches`` and ``options``.
    """
    with receive_record(arguments["record"]) as path:
        options = VerifyOptions.from_json(arguments["options"])
        judge = partial(options.verify, path, arguments["cited"], arguments["mismatches"])
        first = judge(start=_server.fork)
        # No other result rests on a process that has everything loaded.
        statement = first if first.result == "PASS" else judge()
        if first.result == "FAIL" and statement.result == "PASS":
            statement = replace(statement, not_judged=[*statement.not_judged, _ONE_OF_TWO])
        with RunRecord.open(path) as record:
            ticks = record.ticks
    statement = replace(statement, path=to_path(arguments["record"]["path"]))
    rate = None
    if statement.took_s and statement.failure is None and ticks:
        rate = round(ticks / statement.took_s, 1)
    return {
        # As text, which keeps the order of its members.
        "statement": json.dumps(statement.to_json()),
        "markdown": statement.to_markdown(),
        "exit_code": statement.exit_code,
        "explained": _explain(statement),
        "rate": rate,
        "next": statement.list_next_steps()[0].to_json(),
    }


class _Server:
    """The process that the replays of one worker are forked from, as long as its records have the same surroundings.

    A recording has addresses of its own, so a fork that agrees with it is evidence, as a fresh process is.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._forks: ForkServer | None = None

    def fork(self, record: RunRecord) -> Worker:
        """Fork for a record; a fresh process where nothing may fork."""
        surroundings, folder = surroundings_of(record), folder_of(record)
        key = (surroundings.to_json(), stand_ins_of(record), folder, is_made_here(record.digest))
        if self._forks is None or key != self._key:
            if self._forks is not None:
                self._forks.close()
            self._key, self._forks = key, start_server(record)
        return self._forks.fork() if self._forks.fit else start_child(record)


_server = _Server()


def _explain(done: Verification) -> str:
    """Say in one line what a verification found."""
    if done.failure is not None:
        place = f"{done.failure.name} of tick {done.failure.tick}"
        return f"differs at {place}: {done.name_columns(done.failure)}"
    if done.restores and done.restores["failed"]:
        return str(done.restores["failed"][0]["reason"])
    if done.result != "PASS" and (why := [*done.headline, *done.caveats]):
        return why[0]
    agree = pluralize(done.counts["evaluated"], "compare-point agrees", "compare-points agree")
    return agree + (f", {done.restores['tested']} restored too" if done.restores else "")


def describe_entry(entry: Mapping[str, Any]) -> str:
    """Return the line of an entry."""
    rate = entry["ticks_per_s"]["replayed"]
    replayed = "" if rate is None else f"; {rate:,.0f} ticks/s replayed"
    return printable(f"{entry['result']}: {entry['path']}: {entry['explained']}{replayed}")


class Verifications:
    """The verification of many records.

    Args:
        paths: of the records, in the order of the entries.
        options: how each is verified.
        cite: finds the specification of a record's program.
        writes: whether statements are written beside the records.
        journal: where entries are kept; entries that it has already are not made again.

    Attributes:
        counts: how many records have each result.
        exit_code: 1 when any fails, else 2 when any does not pass, else 0.
        next_steps: of each record that does not pass.
        repeated: how many records were begun again because a worker died.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        options: VerifyOptions,
        cite: Cite,
        *,
        writes: bool,
        journal: Journal,
    ) -> None:
        self._paths, self._options, self._cite, self._writes = paths, options, cite, writes
        self._journal = journal
        self.counts: Counter[str] = Counter()
        self.exit_code, self.repeated = 0, 0
        self.next_steps: list[Mapping[str, Any]] = []

    def run(self, executor: Executor, progress: Callable[[int, int], None]) -> None:
        """Verify those that the journal does not have.

        Args:
            executor: where.
            progress: called with (records verified, records).
        """
        for path in self._paths:
            if self._journal.has(path) and _is_other_program(path, self._journal.read(path)):
                self._journal.forget(path)
        waiting = [at for at, path in enumerate(self._paths) if not self._journal.has(path)]
        of = len(self._paths)
        done = of - len(waiting)
        progress(done, of)
        for end in run_jobs(executor, self._prepare(waiting, executor)):
            at, stamp = end.job.key
            self._journal.write(self._paths[at], self._judge(self._paths[at], end), stamp)
            self.repeated += end.attempts > 1
            done += 1
            progress(done, of)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the entries in the order of the records, and count them."""
        for path in self._paths:
            entry = self._journal.read(path)
            code, step = entry.pop("exit_code"), entry.pop("next")
            self.counts[entry["result"]] += 1
            self.exit_code = max(self.exit_code, code, key=_BAD_LAST.index)
            if code:
                self.next_steps.append(step)
            yield entry
        self.counts = Counter(dict(sorted(self.counts.items())))

    def _prepare(self, waiting: Sequence[int], executor: Executor) -> Iterator[Job]:
        for at in waiting:
            path = self._paths[at]
            stamp = stamp_record(str(path))
            try:
                with reading("something", path), RunRecord.open(path) as record:
                    cited, mismatches = self._cite(record)
                    arguments = {
                        "record": send_record(path, record, is_here=executor.is_here),
                        "cited": None if cited is None else dict(cited),
                        "mismatches": list(mismatches),
                        "options": self._options.to_json(),
                    }
            except TwiceError as error:
                self._journal.write(path, _tell_failure(path, error), stamp)
                continue
            yield Job("twice.runs.verifications:verify_here", arguments, (at, stamp))

    def _judge(self, path: Path, end: Done) -> dict[str, Any]:
        """Return the entry of a record, its statement written."""
        answer, error = end.answer, end.error
        if answer is None:
            assert error is not None, "a job has an answer or an error"
            return _tell_failure(path, error)
        statement = json.loads(answer["statement"])
        entry = {
            "path": str(path),
            "result": statement["result"],
            "ticks_per_s": {"recorded": None, "replayed": answer["rate"]},
            "statement": statement,
            "host": answer["host"],
            "explained": answer["explained"],
            "exit_code": answer["exit_code"],
            "next": answer["next"],
        }
        if self._writes:
            try:
                write_statement(path, statement, answer["markdown"])
            except TwiceError as error:
                return entry | {"exit_code": 2, **describe_error(error)}
        return entry


def _is_other_program(path: Path, entry: Mapping[str, Any]) -> bool:
    """Whether the program was changed after the record at a path was verified."""
    try:
        with RunRecord.open(path) as record:
            changed = [each.path for each in source_changes(record)]
    except TwiceError:
        return True
    return changed != [each["path"] for each in entry["statement"]["code"]["changed"]]


def _tell_failure(path: Path, error: TwiceError) -> dict[str, Any]:
    """Return the entry of a record that nobody could verify. A record holds no time of its own, so its rate is null."""
    return {
        "path": str(path),
        "result": "UNKNOWN",
        "ticks_per_s": {"recorded": None, "replayed": None},
        "statement": None,
        "exit_code": 2,
        "next": NextStep("verify it by itself", f"twice verify {shlex.quote(str(path))}").to_json(),
        **describe_error(error),
    }
