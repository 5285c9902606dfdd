"""Several records, verified beside each other: one line for each, in the order given, and one document of them all.

A record that cannot be verified does not keep the others from it: its result is UNKNOWN, with the error.

Invariant: the order of the lines is that of the records, whatever finished first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

from twice.cli.console import show_progress
from twice.cli.output import print_json, print_lines
from twice.errors import TwiceError
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize, printable
from twice.recorder.record_form import reading
from twice.recorder.runrecord import RunRecord
from twice.replayer.replay_job import start_child
from twice.replayer.verification import Verification
from twice.worker.concurrency import run_concurrently
from twice.worker.process import FreshWorker

FORMAT: Final = "twice.verifications/1"
_BAD_LAST: Final = (0, 2, 1)
"""Exit codes from good to bad: a promise that is broken counts for more than one that nobody could test."""


@dataclass(frozen=True, slots=True)
class VerifiedRecord:
    """The verification of one record of several, or the error instead, and how many ticks it has."""

    path: Path
    statement: Verification | None = None
    error: TwiceError | None = None
    ticks: int = 0

    @property
    def result(self) -> str:
        """The word."""
        return "UNKNOWN" if self.statement is None else self.statement.result

    @property
    def exit_code(self) -> int:
        """The exit code, as of one record."""
        return 2 if self.error or self.statement is None else self.statement.exit_code

    @property
    def ticks_per_s(self) -> float | None:
        """The ticks that its replay made in a second; None of a run without ticks, or one that did not end well."""
        done = self.statement
        if done is None or not done.took_s or done.failure is not None or not self.ticks:
            return None
        return self.ticks / done.took_s

    def to_json(self) -> dict[str, Any]:
        """Return an entry of ``runs``. A record holds no time of its own, so its rate is null."""
        rate = self.ticks_per_s
        replayed = None if rate is None else round(rate, 1)
        told: dict[str, Any] = {
            "path": str(self.path),
            "result": self.result,
            "ticks_per_s": {"recorded": None, "replayed": replayed},
            "statement": None if self.statement is None else self.statement.to_json(),
        }
        if (error := self.error) is not None:
            facts = {name: getattr(error, name) for name in ("happened", "expected", "remedy")}
            told["error"] = {"id": error.id, **facts}
        return told

    def describe(self) -> str:
        """Return its line."""
        rate = self.ticks_per_s
        replayed = "" if rate is None else f"; {rate:,.0f} ticks/s replayed"
        return printable(f"{self.result}: {self.path}: {self._explain()}{replayed}")

    def _explain(self) -> str:
        done = self.statement
        if self.error is not None or done is None:
            return f"{self.error.id} {self.error.happened}" if self.error else ""
        if done.failure is not None:
            place = f"{done.failure.name} of tick {done.failure.tick}"
            return f"differs at {place}: {done.name_columns(done.failure)}"
        if done.restores and done.restores["failed"]:
            return str(done.restores["failed"][0]["reason"])
        if done.result != "PASS" and (why := [*done.headline, *done.caveats]):
            return why[0]
        agree = pluralize(done.counts["evaluated"], "compare-point agrees", "compare-points agree")
        restored = f", {done.restores['tested']} restored too" if done.restores else ""
        return agree + restored


def verify_several(
    paths: Sequence[Path],
    verify: Callable[..., Verification],
    *,
    jobs: int,
    writes: bool,
    as_json: bool,
) -> int:
    """Verify records, print their lines or their document, and return the worst exit code.

    Args:
        paths: of the records.
        verify: verifies one, in a process that the function ``start`` starts.
        jobs: how many at once.
        writes: whether statements are written beside the records.
        as_json: print one document instead of lines.
    """
    done, workers = count(1), list[FreshWorker]()

    def start(record: RunRecord) -> FreshWorker:
        workers.append(start_child(record))
        return workers[-1]

    def verify_one(path: Path) -> VerifiedRecord:
        statement = None
        try:
            with reading("something", path):
                statement = verify(path, start=start)
                with RunRecord.open(path) as record:
                    found = VerifiedRecord(path, statement, ticks=record.ticks)
            if writes:
                statement.write_beside()
        except TwiceError as error:
            found = VerifiedRecord(path, statement, error)
        progress(next(done), len(paths))
        return found

    with show_progress("verified") as progress:
        try:
            found = run_concurrently([partial(verify_one, path) for path in paths], at_once=jobs)
        except KeyboardInterrupt:
            for worker in workers:  # waiting threads would keep this process alive
                worker.kill()
            raise
    results = dict(sorted(Counter(each.result for each in found).items()))
    code = max((each.exit_code for each in found), key=_BAD_LAST.index)
    steps = [_next(each) for each in found if each.exit_code]
    if as_json:
        runs = [each.to_json() for each in found]
        print_json(
            {
                "format": FORMAT,
                "runs": runs,
                "counts": results,
                "jobs": jobs,
                "next": [step.to_json() for step in steps],
            }
        )
        return code
    for each in found:
        print_lines([each.describe()])
    counted = ", ".join(f"{number} {result}" for result, number in results.items())
    print_lines([f"{pluralize(len(found), 'record')}: {counted}"])
    print_lines(printable(f"next: {each.command}") for each in steps[:1])
    return code


def _next(found: VerifiedRecord) -> NextStep:
    """Return the step that follows for a record that does not pass."""
    if found.statement is None:
        return NextStep("verify it by itself", f"twice verify {found.path}")
    return found.statement.list_next_steps()[0]
