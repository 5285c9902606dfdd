"""Runs of tests: where their records stand, and whether they are made or verified.

A record is executed in the fork of a process that is kept, so that many tests are quick; what differs
is verified once more in a fresh process, and that is what is reported.

Invariant: a test whose record is missing, torn, of another run, or differs, never passes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from twice.diagnosis.diagnose import diagnose_failure
from twice.errors import ProgramChanged, TwiceError, UsageError
from twice.foundation.comparison import differences
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import decode
from twice.foundation.seeds import Seed
from twice.recording.cadence import parse_cadence
from twice.recording.naming import parse_program
from twice.recording.program import Program, program_of
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import unsupported_rows
from twice.recording.setup import Setup
from twice.recording.surroundings import for_recording
from twice.recording.trust import grant
from twice.replayer.replay_job import folder_of, stand_ins_of, surroundings_of
from twice.replayer.verdict import SEAL
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.testing.laboratory import AT_FAILURE, forked, hold_in, record_into
from twice.worker.process import Worker

FOLDER: Final = "__twice__"
_NAME_MAX: Final = 120
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_DIGITS: Final = 8
_FIELDS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Where:
    """The test that asks.

    Attributes:
        file: path of its file.
        name: of the test in it, classes and parameters with it.
        root: pytest's root folder; programs are named from there.
        node: how it is asked for on pytest's command line.
        update: whether every run is recorded anew.
        require: whether a missing record fails.
    """

    file: Path
    name: str
    root: Path
    node: str
    update: bool
    require: bool


class Runs:
    """The runs of one test, in the order in which it asks for them.

    Args:
        where: the test.
        note: told ``recorded`` or ``verified``.

    Attributes:
        results: what was verified, in order.
    """

    def __init__(self, where: Where, note: Callable[[str], object] = lambda _: None) -> None:
        self._where, self._note = where, note
        self._records: list[RunRecord] = []
        self.results: list[Verification] = []

    @property
    def record(self) -> RunRecord:
        """The record of the latest run, open for reading.

        Raises:
            UsageError: E-USE-001, before there is one.
        """
        if not self._records:
            raise UsageError(
                "This test has no run yet.",
                "Expected a marker, or a call of the fixture.",
                'For example: @pytest.mark.twice("examples/swarm.py:main", seed=7)',
            )
        return self._records[-1]

    def __call__(
        self,
        program: str | Callable[..., object],
        *,
        seed: int,
        config: Mapping[str, Any] | None = None,
        **policies: Any,
    ) -> RunRecord:
        """Record a run the first time, verify its record ever after.

        Args:
            program: ``"file.py:function"`` from pytest's root folder, ``"module:function"``, a
                script, or a function that a fresh process can find.
            seed: master seed.
            config: plain values.
            **policies: fields of ``Setup``. ``cadence`` is ``"none"`` unless it is given: a record
                that is checked in stays small. With ``"tick"`` it says after an edit which fields differ.

        Returns:
            The record, open until the test is over.

        Raises:
            TwiceError: what a run refused. A difference fails the test.
        """
        __tracebackhide__ = True
        setup = Setup(
            self._named(program),
            Seed(seed),
            dict(config or {}),
            **{**policies, "cadence": parse_cadence(str(policies.get("cadence", "none")))},
        )
        path = self._path()
        if self._where.update or not path.is_file():
            self._make(path, setup)
            self._note("recorded")
        else:
            self._require_same(path, setup)
            self._verify(path)
            self._note("verified")
        self._records.append(RunRecord.open(path))
        return self._records[-1]

    def of_marker(
        self, arguments: tuple[Any, ...], keywords: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> None:
        """The run that a marker names; a function among its values is given the test's parameters.

        Raises:
            UsageError: E-USE-001, for a marker without a program or a seed.
        """
        __tracebackhide__ = True
        given = dict(keywords)
        if len(arguments) != 1 or "seed" not in given:
            raise UsageError(
                f"The marker twice was given {len(arguments)} arguments and "
                f"{', '.join(sorted(given)) or 'no keywords'}.",
                "Expected one program, and a seed.",
                'For example: @pytest.mark.twice("examples/swarm.py:main", seed=7)',
            )
        for name in ("seed", "config"):
            if callable(given.get(name)):
                given[name] = given[name](**parameters)
        self(arguments[0], **given)

    def close(self) -> None:
        """Close the records."""
        while self._records:
            self._records.pop().close()

    def _named(self, program: str | Callable[..., object]) -> Program:
        if isinstance(program, str):
            return parse_program(program, cwd=self._where.root)
        return program_of(program)

    def _path(self) -> Path:
        count = len(self._records)
        again = f"-{count + 1}" if count else ""
        name = f"{self._where.file.stem}.{self._where.name.replace('::', '.')}{again}"
        return self._where.file.parent / FOLDER / f"{safe_name(name)}.twice"

    def _make(self, path: Path, setup: Setup) -> None:
        where = self._where
        if not where.update and (where.require or os.environ.get("CI")):
            _fail(
                f"there is no record at {_shown(path, where.root)}",
                "a test that is required to verify has nothing to verify",
                f"record it, and check it in: pytest {where.node} --twice-update",
            )
        path.parent.mkdir(exist_ok=True)
        aside = path.with_name(f".{path.name}.{os.getpid()}.new")
        try:
            surroundings = for_recording(os.environ, explicit={})
            root = setup.program.root if Path(setup.program.root).is_dir() else None
            ended = record_into(aside, setup, surroundings, forked(surroundings, folder=root))
            exception = ended["exception"]
            if exception is not None:
                raised = f"{exception['type']}: {exception['message']}"
                _fail(f"the program raised {raised}", "nothing was recorded", _by_hand(setup))
            self._verify(aside, new=True)
            aside.replace(path)
        finally:
            with suppress(OSError):
                aside.unlink()

    def _require_same(self, path: Path, setup: Setup) -> None:
        with RunRecord.open(path) as record:
            was, now = record.setup, setup
            pairs = {
                "program": (str(was.program), str(now.program)),
                "seed": (was.seed.value, now.seed.value),
                "config": (dict(was.config), dict(now.config)),
                "class": (was.predicate.sentence(), now.predicate.sentence()),
            }
            grant(
                record.digest, now.allow
            )  # it is kept beside the test, whose code is executed anyway
        for name, (recorded, asked) in pairs.items():
            if recorded != asked:
                _fail(
                    f"{_shown(path, self._where.root)} is the record of another run",
                    f"its {name} is {recorded!r}, and the test says {asked!r}",
                    f"record it anew: pytest {self._where.node} --twice-update",
                )

    def _verify(self, path: Path, *, new: bool = False) -> None:
        __tracebackhide__ = True
        # A new record is verified in another process than it was made in: forks share addresses.
        changed, statement = _statement(path, forked_apart)
        if not _holds(statement, changed=changed is not None):
            changed, statement = _statement(path, None)
        self.results.append(statement)
        if _holds(statement, changed=changed is not None):
            return
        lines = [statement.to_markdown().lstrip("# ").rstrip(), ""]
        try:
            if changed is not None:
                lines += [changed.happened, *_fields(path)]
            elif statement.failure is not None and statement.failure.name != SEAL:
                lines.append(diagnose_failure(path, statement.failure).to_text())
        except TwiceError as error:
            lines.append(f"no diagnosis: {error.happened}")
        todo = f"if that is intended: pytest {self._where.node} --twice-update"
        if new:
            todo = "nothing was kept: a run that does not repeat itself is no record"
        _fail("the run differs from its record", "\n".join(lines), todo)


def forked_apart(record: RunRecord) -> Worker:
    """A fork in the surroundings of a record, of a process that records nothing."""
    pinned = surroundings_of(record)
    stand_ins = stand_ins_of(record)
    return forked(pinned, folder=folder_of(record), stand_ins=stand_ins, apart=True)


def _statement(
    path: Path, start: Callable[[RunRecord], Worker] | None
) -> tuple[ProgramChanged | None, Verification]:
    """The statement, and how the code differs where it does: behaviour is what a test is about."""
    options: dict[str, Any] = {} if start is None else {"start": start}
    try:
        return None, verify(path, **options)
    except ProgramChanged as error:
        return error, verify(path, informational=True, **options)


def _holds(statement: Verification, *, changed: bool) -> bool:
    """Whether the run is as recorded; after an edit, whether every point of it still is."""
    if not changed:
        return statement.exit_code == 0 and statement.result == "PASS"
    judged = statement.counts["evaluated"]
    return (
        statement.result == "UNKNOWN"
        and statement.failure is None
        and judged > 0
        and not statement.is_torn
        and not unsupported_rows(statement.inventory)
    )


def _fields(path: Path) -> list[str]:
    """What differs after an edit, where the record kept the state; the old code is not there to ask."""
    with RunRecord.open(path) as record:
        held = hold_in(forked_apart(record), record, capture=AT_FAILURE)
        failure, now = held.failure, held.message.get("state")
        if failure is None or not now:
            return []
        numbers = [e.number for e in record.reader.snapshots if e.tick == failure.tick + 1]
        if not numbers:
            return [
                'values are not in the record: cadence="tick" keeps the state before every tick'
            ]
        was = record.state_at(numbers[0])
    lines = []
    for name in sorted({*was} & {*now}):
        for each in differences(was[name], decode(now[name]), component=name):
            ulps = "" if each.ulps is None else f", {each.ulps} ulps"
            lines.append(f"  field: {each.path} ({each.kind}{ulps}): {each.a} / {each.b}")
    return lines[:_FIELDS_MAX]


def safe_name(name: str) -> str:
    """A file name for a test's name: the same everywhere, and another for every other name."""
    safe = _UNSAFE.sub("-", name).strip("-")
    if safe == name and len(safe) <= _NAME_MAX:
        return safe
    digest = digest_bytes(name.encode("utf-8", "surrogatepass"), Algorithm.SHA256)
    return f"{safe[:_NAME_MAX]}-{str(digest).rpartition(':')[2][:_DIGITS]}"


def _shown(path: Path, root: Path) -> str:
    return os.path.relpath(path, root)


def _by_hand(setup: Setup) -> str:
    from twice.diagnosis.vary.report import format_record_command

    return f"run it by hand: {format_record_command(setup, {}, 'a')}"


def _fail(what: str, more: str, todo: str) -> None:
    __tracebackhide__ = True
    pytest.fail(f"twice: {what}\n{more}\n{todo}", pytrace=False)
