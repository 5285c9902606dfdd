"""The branching session: leave a record at a tick, with other inputs, into a record of its own.

The new record holds the parent's prefix and names its parent and the fork. Its chain up to the fork equals the
parent's, which proves that everything before the fork is identical. The parent is opened for reading only. Each
branch executes in its own process, with its own generators.

Invariant: the branch's path stays empty until its process has ended well, and no other file is left behind.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from twice.errors import (
    BranchLimit,
    OutputExists,
    OutputUnwritable,
    RecordOutOfRange,
    ReplayRefused,
    SessionMisuse,
    UsageError,
)
from twice.foundation.encoding import decode, encode
from twice.foundation.with_blocks import Closing
from twice.recorder.audit.inventory import may_talk
from twice.recorder.record.block_writer import unwritable
from twice.recorder.recorder import make_aside_folder, refuse_existing
from twice.recorder.runrecord import RunRecord
from twice.replayer.preconditions import require_rerunnable, require_same_code
from twice.replayer.record_consistency import require_consistent_points
from twice.replayer.replay_job import (
    Start,
    job_for,
    restorable_snapshot,
    start_child,
    surroundings_of,
)
from twice.worker.process import Worker

BRANCHES_OPEN_MAX = 8


class BranchingSession(Closing):
    """A run that has left its record; a context manager.

    Attributes:
        fork: the first tick that may differ.
        tick: the session stands before the body of this tick.
        out: path of the branch's record, there once the session has finished.
    """

    open_count: ClassVar[int] = 0

    def __init__(
        self,
        record: RunRecord,
        fork: int,
        out: str | os.PathLike[str],
        *,
        force: bool = False,
        sealed: bool = False,
        start: Start = start_child,
    ) -> None:
        self.fork = self.tick = fork
        self.out, self._parent = Path(out), record.path
        self._child: Worker | None = None
        self._outcome: Mapping[str, Any] | None = None
        if BranchingSession.open_count >= BRANCHES_OPEN_MAX:
            raise BranchLimit(
                f"{BranchingSession.open_count} branches are open.",
                f"Expected at most {BRANCHES_OPEN_MAX} at once: each is a process of its own.",
                "Finish or close one first.",
            )
        self._target = self.out.absolute()
        self._beside = self._target.with_name(f"{self.out.name}.files")
        self._force = force
        _require_branch(record, fork, self.out)
        self._require_free()
        index = record.point_before(fork)
        require_consistent_points(record, index + 1)  # the branch's own record begins with them
        # A branch runs in a copy of the files. Its record is written here, to the real disk.
        self._folder = make_aside_folder(self._target)
        self._record, self._files = self._folder / "branch.twice", self._folder / "files"
        self._files.mkdir()
        try:
            chain = record.reader.points.point(index).chain if index >= 0 else bytes(16)
            snapshot = restorable_snapshot(record, fork)
            left = {"tick": fork, "point": index, "chain": chain.hex(), "snapshot": snapshot}
            job = job_for(
                record,
                "branch",
                snapshot=snapshot,
                fork=fork,
                out=str(self._record),
                sealed=sealed,
                cut_off=sealed and not may_talk(record.setup.allow),
                surroundings=surroundings_of(record).to_json(),
                parent={"run_id": record.run_id, "record": record.path.name, "fork": left},
                shared=[str(self._folder)],
                keep=str(self._files),
            )
            self._child = start(record)
            BranchingSession.open_count += 1
            message = self._child.ask(job)
        except BaseException:
            self.close()
            raise
        if message["kind"] != "at":
            self.close()
            raise ReplayRefused(
                f"The program ended before tick {fork}: {message['how']}, exit code {message['exit_code']}.",
                "Expected a run that reaches the fork.",
                "If a class has another state than it had, declare its state_version and migrate(state, version).",
                tick=fork,
            )
        assert message["tick"] == fork, "a branch first waits at its fork"

    def step_with(self, inputs: Mapping[str, Any] | None = None, *, onwards: bool = False) -> int:
        """Execute one tick with these inputs; return the tick that comes next.

        Args:
            inputs: name -> value with a canonical form; other inputs are the thunks' own.
            onwards: whether they hold at every later tick too.

        Raises:
            SessionMisuse: E-REPLAY-002, after the end.
        """
        message = self._command(self.tick + 1, inputs, onwards=onwards)
        if message["kind"] == "at":
            self.tick = int(message["tick"])
        return self.tick

    def state(self, component: str | None = None) -> Any:
        """Return plain values of all components, or of one, before the current tick's body."""
        return decode_states(self._live().ask({"do": "state"})["state"], component)

    def finish(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        onwards: bool = False,
        must_use: bool = False,
    ) -> RunRecord:
        """Run to the end and open the branch's record.

        Args:
            inputs: as for ``step_with``.
            onwards: whether they hold at every later tick too.
            must_use: give the branch up when the program asks for none of an input's name.

        Raises:
            UsageError: E-USE-001, with ``must_use``. OutputUnwritable: E-OUTPUT-002, when the path does not take it.
        """
        if self._outcome is None:
            message = self._command(None, inputs, onwards=onwards)
            assert message["kind"] == "ended", "a branch that is told to finish ends"
        # Only now is it known: an input may be asked for at the very last tick.
        unused = (self._outcome or {})["branch"]["unused"]
        if unused and must_use:
            # A file that was at the path before stays: no record is published.
            raise UsageError(
                f"The run never asked for the input {', '.join(unused)} at tick {self.fork}.",
                "Expected the name of an input that the program asks for there.",
                f"See which there are: twice show {self._parent} --tick {self.fork}",
            )
        if self._child is not None:
            self._child.read_keeper_report()  # its files are copied when its process has ended
            try:
                self._require_free()  # somebody may have taken the path while the program ran
                self._publish()
            except OutputExists:
                self.close()
                raise
            except OSError as error:
                self.close()
                raise unwritable(self._target, error) from error
        self.close()
        return RunRecord.open(self.out)

    def _publish(self) -> None:
        """Put the record and its files where they belong: both, or neither if a signal ends this process."""
        # Files first: a record without its files would claim that the run wrote none.
        try:
            if any(self._files.iterdir()):
                if self._beside.exists():
                    shutil.rmtree(self._beside)
                self._files.replace(self._beside)
            self._record.replace(self._target)
        except BaseException:
            if self._record.exists() and not self._files.exists():
                shutil.rmtree(self._beside)
            raise

    def _require_free(self) -> None:
        """Refuse paths that are taken: E-OUTPUT-001."""
        refuse_existing(self.out, force=self._force, is_record=True)
        # exists() raises where a name is too long.
        if os.path.lexists(self._beside) and not self._force:
            raise OutputExists(
                f"{self._beside} is there already: files of an older branch.",
                "Expected a path that is free, for the files that this branch writes.",
                "Choose another record with -o, or replace both with --force (in Python: force=True).",
                path=str(self._beside),
            )

    def close(self) -> None:
        """Stop; without ``finish`` the branch is given up and leaves no file."""
        if self._child is not None:
            self._child.close()
            self._child = None
            BranchingSession.open_count -= 1
        # Also after an error: a branch that was not finished leaves nothing beside its parent.
        shutil.rmtree(self._folder, ignore_errors=True)

    def _command(
        self, until: int | None, inputs: Mapping[str, Any] | None, *, onwards: bool
    ) -> Mapping[str, Any]:
        command = {
            "do": "go",
            "until": until,
            "inputs": encode(dict(inputs)) if inputs else b"",
            "onwards": onwards,
        }
        message = self._live().ask(command)
        if message["kind"] == "ended":
            self._outcome = message
        return message

    def _live(self) -> Worker:
        if self._child is None or self._outcome is not None:
            raise SessionMisuse(
                "This branch has ended.",
                "Expected calls before finish or close.",
                f"Open its record: twice.open({str(self.out)!r})",
            )
        return self._child


def decode_states(encoded: Mapping[str, bytes], component: str | None) -> Any:
    """Return plain values of all components, or of one.

    Raises:
        SessionMisuse: E-REPLAY-002, when there is no component of that name.
    """
    if component is None:
        return {name: decode(encoded[name]) for name in sorted(encoded)}
    if component not in encoded:
        raise SessionMisuse(
            f"There is no component {component!r}.",
            f"Components: {', '.join(sorted(encoded)) or 'none'}.",
            "Name one of them.",
        )
    return decode(encoded[component])


def branch(
    path: str | os.PathLike[str],
    *,
    at: int,
    inputs: Mapping[str, Any] | None = None,
    onwards: bool = False,
    out: str | os.PathLike[str],
    force: bool = False,
    sealed: bool = False,
    informational: bool = False,
    show: bool = False,
) -> RunRecord:
    """Leave a record before a tick and run to the end.

    Args:
        path: the parent.
        at: first tick that may differ, 0 to its last.
        inputs: name -> value that replaces the input of that name at tick ``at``; none at all
            resumes the run from its snapshot.
        onwards: replace it at every later tick too.
        out: path of the branch's record.
        force: replace an existing output.
        sealed: refuse reads of the world that the record cannot answer, instead of going live.
        informational: go on although the code differs.
        show: pass the program's output on.

    Raises:
        UsageError: E-USE-001, when no input of a given name is ever asked for from ``at`` on.
        ReplayRefused: E-REPLAY-001, when the run does not replay up to the fork.
    """
    with RunRecord.open(path) as record:
        record.reader.check()
        require_same_code(record, informational=informational)
        start = partial(start_child, show=show)
        with BranchingSession(
            record, at, out, force=force, sealed=sealed, start=start
        ) as branching:
            return branching.finish(inputs, onwards=onwards, must_use=True)


def _require_branch(record: RunRecord, fork: int, out: Path) -> None:
    """Refuse a record or an output that no branch can use, before anything starts."""
    require_rerunnable(record)
    if record.setup.records_loop:
        raise SessionMisuse(
            f"The event loop of {record.path} is recorded, and a branch goes on where its record ends.",
            "Expected a run with its own loop or a simulated one.",
            "Record the program again with --loop own, and branch that.",
        )
    folder = out.absolute().parent
    if not folder.is_dir():
        raise OutputUnwritable(
            f"There is no folder {folder}.",
            "Expected a folder that takes files.",
            "Make it, or choose another with -o.",
        )
    if not 0 <= fork < max(record.ticks, 1):
        raise RecordOutOfRange(
            f"Tick {fork} lies outside of {record.path}.",
            f"It holds {record.ticks_held}.",
            f"See: twice show {record.path}",
            tick=fork,
        )
    # A tick that was rolled back exists twice in the record, with different pasts.
    if any(back.to <= fork <= back.tick for back in record.rollbacks()):
        raise SessionMisuse(
            f"Tick {fork} of {record.path} was rolled back: it happened more than once.",
            "Expected a tick that happened once, so that it is clear where the branch leaves.",
            f"Choose another tick: twice show {record.path}",
            tick=fork,
        )


def prefix_proof(branch_record: RunRecord, parent: RunRecord) -> bool:
    """Return whether a branch's chain up to its fork equals its parent's."""
    named = branch_record.parent
    if named is None or named["run_id"] != parent.run_id:
        return False
    index, chain = named["fork"]["point"], bytes.fromhex(named["fork"]["chain"])
    return index < 0 or all(
        each.reader.points.point(index).chain == chain for each in (branch_record, parent)
    )
