"""Runs of tests: where their records stand, and whether they are made or verified.

A record is executed in the fork of a process that is kept, so that many tests are quick; what differs
is verified once more in a fresh process, and that is what is reported.

Invariant: a test whose record is missing, torn, of another run, or differs, never passes.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from twice.diagnosis.diagnose import diagnose_failure
from twice.diagnosis.text_layout import name_tick, set_values
from twice.diagnosis.vary.report import format_record_command
from twice.errors import TwiceError, UsageError
from twice.foundation.channels import Channel
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.recorder.audit.inventory import unsupported_rows
from twice.recorder.cadence import parse_cadence
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program import name_function
from twice.recorder.program_spec import parse_program
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.recorder.trust import grant
from twice.replayer.replay_run import Plan, execute_once
from twice.replayer.verdict import SEAL
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.testing.executor import AT_FAILURE, compare_states, fork_apart, fork_worker, record_in
from twice.testing.failure_report import list_fields

FOLDER: Final = "__twice__"
_NAME_MAX: Final = 120
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_DIGITS: Final = 8


class RecordedRuns:
    """The runs of one test, in the order in which it asks for them.

    Args:
        file: of the test; records stand beside it.
        node: how the test is asked for on pytest's command line.
        root: of pytest; programs are named from there.
        update: record every run anew.
        require: fail where a record is missing.
        note: called with ``recorded`` or ``verified`` for every run.
    """

    def __init__(
        self,
        file: Path,
        node: str,
        root: Path,
        *,
        update: bool = False,
        require: bool = False,
        note: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._file, self._node, self._root = file, node, root
        self._update, self._require, self._note = update, require, note
        self._records: list[RunRecord] = []
        self.results: list[Verification] = []

    @property
    def record(self) -> RunRecord:
        """The record of the latest run, open for reading."""
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
            parse_program(program, cwd=self._root)
            if isinstance(program, str)
            else name_function(program),
            Seed(seed),
            dict(config or {}),
            **{**policies, "cadence": parse_cadence(str(policies.get("cadence", "none")))},
        )
        count = len(self._records)
        name = (self._node.partition("::")[2] or self._node).replace("::", ".")
        again = f"-{count + 1}" if count else ""
        path = self._file.parent / FOLDER / f"{safe_name(f'{self._file.stem}.{name}{again}')}.twice"
        if self._update or not path.is_file():
            self._make(path, setup)
            self._note("recorded")
        else:
            self._require_same(path, setup)
            self._verify(path)
            self._note("verified")
        self._records.append(RunRecord.open(path))
        return self._records[-1]

    def run_marker(
        self, arguments: tuple[Any, ...], keywords: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> None:
        """Run what a marker names; a function among its values is given the test's parameters."""
        __tracebackhide__ = True
        given = dict(keywords)
        if len(arguments) != 1 or "seed" not in given:
            raise UsageError(
                f"The marker twice was given {pluralize(len(arguments), 'argument')} and "
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

    def _make(self, path: Path, setup: Setup) -> None:
        if not self._update and (self._require or os.environ.get("CI")):
            _fail(
                f"there is no record at {os.path.relpath(path, self._root)}",
                "a test that is required to verify has nothing to verify",
                f"record it, and check it in: pytest {self._node} --twice-update",
            )
        path.parent.mkdir(exist_ok=True)
        aside = path.with_name(f".{path.name}.{os.getpid()}.new")
        try:
            surroundings = for_recording(os.environ, explicit={})
            root = setup.program.root if Path(setup.program.root).is_dir() else None
            ended = record_in(fork_worker(surroundings, folder=root), aside, setup, surroundings)
            exception = ended["exception"]
            if exception is not None:
                _fail(
                    f"the program raised {exception['type']}: {exception['message']}",
                    "nothing was recorded",
                    f"run it by hand: {format_record_command(setup, {}, 'a')}",
                )
            self._verify(aside, is_new=True)
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
            # It is kept beside the test, whose code is executed anyway.
            grant(record.digest, now.allow)
        for name, (recorded, asked) in pairs.items():
            if recorded != asked:
                _fail(
                    f"{os.path.relpath(path, self._root)} is the record of another run",
                    f"its {name} is {recorded!r}, and the test says {asked!r}",
                    f"record it anew: pytest {self._node} --twice-update",
                )

    def _verify(self, path: Path, *, is_new: bool = False) -> None:
        __tracebackhide__ = True
        # Behaviour is what a test is about, so edited code is executed too. A new record is verified in another
        # process than it was made in: forks share addresses.
        verification = verify(path, informational=True, start=fork_apart)
        if not _holds(verification):
            verification = verify(path, informational=True)
        self.results.append(verification)
        if _holds(verification):
            return
        todo = f"if that is intended: pytest {self._node} --twice-update"
        if is_new:
            todo = "nothing was kept: a run that does not repeat itself is no record"
        elif not (verification.changed_code or verification.environment):
            todo = f"see it again: twice verify {shlex.quote(os.path.relpath(path))} --diagnose"
        failure = verification.failure
        where = f" {name_tick(failure.tick)}, in {', '.join(failure.columns)}" if failure else ""
        _fail(
            f"the run differs from its record{where}", "\n".join(_explain(path, verification)), todo
        )


def _holds(verification: Verification) -> bool:
    """Whether the run is as recorded; after an edit, whether every point of it still is."""
    if not verification.changed_code:
        return verification.exit_code == 0 and verification.result == "PASS"
    return (
        verification.result == "UNKNOWN"
        and verification.failure is None
        and verification.counts["evaluated"] > 0
        and not verification.is_torn
        and not unsupported_rows(verification.inventory)
    )


def _explain(path: Path, verification: Verification) -> Iterator[str]:
    """Yield where a run leaves its record: field, both values, line and channel, as far as they are known."""
    failure, changed = verification.failure, verification.changed_code
    if failure is None or failure.name == SEAL:
        yield verification.to_text(whole=True)
        return
    try:
        if not changed:
            found = diagnose_failure(path, failure, environment=verification.environment)
            yield replace(found, next=()).to_text()  # the record that its commands name may be gone
            if found.fields or found.operation is not None:
                return
        fields = _compare_fields(path)
    except TwiceError as error:
        fields = [f"  no diagnosis: {error.happened}"]
    if changed:
        yield f"  first difference: {verification.name_place(failure)}"
        if failure.at:
            yield f"  line: {failure.at}"
    if failure.has_values:
        yield from set_values("  value", failure.recorded, failure.replayed)
    yield from fields
    if changed:
        names = ", ".join(each.path for each in changed)
        yield f"  channel: {Channel.REPLAY} ({names} differs from the recorded program)"


def _compare_fields(path: Path) -> list[str]:
    """Return what differs after an edit, where the record kept the state; the old code is not there to ask."""
    with RunRecord.open(path) as record:
        plan = Plan(predicate=record.setup.predicate, capture=AT_FAILURE)
        replay = execute_once(record, plan, start=fork_apart)
        if replay.failure is None or not replay.state:
            return []
        tick = replay.failure.tick + 1
        after = [each for each in record.reader.snapshots if each.tick == tick]
        if not after:
            return [
                '  its fields are not in the record: cadence="tick" keeps the state before every tick'
            ]
        was = record.state_at(after[0].number)
    return [*list_fields(compare_states({name: encode(was[name]) for name in was}, replay.state))]


def safe_name(name: str) -> str:
    """Return a file name for a test's name: the same everywhere, and another for every other name."""
    safe = _UNSAFE.sub("-", name).strip("-")
    if safe == name and len(safe) <= _NAME_MAX:
        return safe
    digest = digest_bytes(name.encode("utf-8", "surrogatepass"), Algorithm.SHA256)
    return f"{safe[:_NAME_MAX]}-{str(digest).rpartition(':')[2][:_DIGITS]}"


def _fail(what: str, more: str, todo: str) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(f"twice: {what}\n{more}\n{todo}", pytrace=False)
