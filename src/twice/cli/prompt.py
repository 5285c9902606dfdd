"""The prompt of ``twice replay``: walk through a record, forwards and back.

Commands come from a terminal or through a pipe. A command that cannot be done says why and leaves
the session where it was.

Invariant: the record that is looked at is never changed; ``branch`` writes one of its own.
"""

from __future__ import annotations

import cmd
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from twice.cli.output_file import refuse_own_source
from twice.errors import TwiceError, UsageError
from twice.foundation.printable import printable
from twice.replayer.branch_session import prefix_proof
from twice.replayer.replay_session import ReplaySession
from twice.report.values import inline, lines


class Prompt(cmd.Cmd):
    """Reads commands until ``quit`` or the end of the input.

    Args:
        session: read-only, open.
    """

    def __init__(self, session: ReplaySession) -> None:
        super().__init__()
        self._session = session
        self._failed = False
        self._terminal = sys.stdin.isatty()
        self.use_rawinput = self._terminal

    def talk(self) -> int:
        """Read commands; 0 when all of them could be done, else 2 (in a pipe)."""
        self._tell()
        self._place()
        self.cmdloop()
        return 2 if self._failed and not self._terminal else 0

    def onecmd(self, line: str) -> bool:
        """Do one command; an error is said and the next command is read."""
        try:
            return bool(super().onecmd(line))
        except TwiceError as error:
            self._failed = True
            print(error, file=sys.stderr)
            return False

    def postcmd(self, stop: bool, line: str) -> bool:
        """Say where the next command finds the session."""
        del line
        self._place()
        return stop

    def do_go(self, text: str) -> None:
        """Go T: stand before tick T."""
        self._session.seek(_number(text, "go"))
        self._tell()

    def do_forward(self, text: str) -> None:
        """Forward [N]: N ticks on, 1 when not given."""
        self._session.step(_number(text or "1", "forward"))
        self._tell()

    def do_back(self, text: str) -> None:
        """Back [N]: N ticks back, 1 when not given."""
        self._session.back(_number(text or "1", "back"))
        self._tell()

    def do_state(self, text: str) -> None:
        """State [COMPONENT]: the values here, of all components or of one."""
        name = text.strip()
        if name:
            print(*lines(self._session.state(name), printable(name)), sep="\n")
        else:
            print(*state_lines(self._session), sep="\n")

    def do_inputs(self, text: str) -> None:
        """inputs: what goes in at this tick, from the record."""
        del text
        events = self._session.inputs()
        for event in events:
            print(f"{printable(event.name)} = {inline(event.value)}")
        if not events:
            print(f"no inputs at tick {self._session.tick}")

    def do_branch(self, text: str) -> None:
        """Branch FILE [NAME=VALUE ...]: leave the record here, with other inputs, into FILE."""
        from twice.cli.commands.branch import parse_inputs

        words = _words(text)
        if not words:
            raise UsageError(
                "branch was given no file.",
                "Expected the path of the new record, then inputs.",
                "For example: branch c.twice push=0.3",
            )
        inputs, record = parse_inputs(words[1:]), self._session.record
        refuse_own_source(Path(words[0]), record.path)
        with (
            self._session.branch(words[0]) as branching,
            branching.finish(inputs) as made,
        ):
            identical = "identical" if prefix_proof(made, record) else "NOT identical"
            print(
                f"branched at tick {self._session.tick}: {made.path}, {made.ticks} ticks; "
                f"everything before is {identical}"
            )

    def do_quit(self, text: str) -> bool:
        """quit: leave."""
        del text
        return True

    def do_EOF(self, text: str) -> bool:  # noqa: N802  (the name that cmd looks for)
        """Leave at the end of the input."""
        if self._terminal:
            print()
        return self.do_quit(text)

    def emptyline(self) -> bool:
        """Nothing was said, so nothing is done."""
        return False

    def default(self, line: str) -> None:
        """A command that there is not."""
        raise UsageError(
            f"There is no command {line.split(maxsplit=1)[0]!r}.",
            "Commands: go T, forward [N], back [N], state [COMPONENT], inputs, branch FILE, quit.",
            "Say: help",
        )

    def _place(self) -> None:
        self.prompt = f"(tick {self._session.tick}) " if self._terminal else ""

    def _tell(self) -> None:
        ticks = self._session.record.ticks
        where = (
            "the end" if self._session.tick == ticks else f"tick {self._session.tick} of {ticks}"
        )
        print(f"before {where}" if where != "the end" else f"at {where}, after tick {ticks - 1}")


def state_lines(session: ReplaySession) -> Iterator[str]:
    """Where a session stands and the values there."""
    yield f"before tick {session.tick}"
    for name, value in session.state().items():
        yield from (f"  {row}" for row in lines(value, printable(name)))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} does not read as words: {error}.",
            "Expected quotes to be closed.",
            "For example: branch c.twice push=0.3",
        ) from error


def _number(text: str, command: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(
            f"{command} was given {text!r}.",
            "Expected a whole number.",
            f"For example: {command} 3",
        ) from None
