"""Look around in a record, tick by tick; nothing is changed and no record is written.

  twice replay a.twice --at 120
  twice replay a.twice --at 100 --to 120 --step 5 --json

With --at, the state before that tick is printed; with --to and --step, at every step on the way. On
a terminal, and when commands come through a pipe, there is a prompt that can go forwards and back;
its command `help` lists the others.
"""

from __future__ import annotations

import cmd
import sys
from typing import Annotated, Any

from twice.cli.citations import require_pins
from twice.cli.options import AsJson, Informational, RecordPath, build_command, option
from twice.cli.output import print_beside, print_json
from twice.cli.run_options import TrustOptions
from twice.errors import TwiceError, UsageError
from twice.foundation.printable import printable
from twice.replayer.replay_session import ReplaySession, replay
from twice.report.values import as_json as to_plain
from twice.report.values import inline, lines


@build_command
def command(
    record: RecordPath,
    at: Annotated[int | None, option("--at T", "stand before this tick")],
    to: Annotated[int | None, option("--to T", "go on to this tick")],
    step: Annotated[int | None, option("--step N", "print every Nth tick on the way")],
    informational: Informational,
    trust: TrustOptions,
    as_json: AsJson,
) -> int:
    """Print states, or hand over to the prompt."""
    require_pins(record, informational=informational)
    with (
        trust.trusting(record),
        replay(record, at=at or 0, informational=informational) as session,
    ):
        if session.informational:
            print("informational: the code differs from the recorded one", file=sys.stderr)
        walks = to is not None or step is not None
        if not (as_json or walks or (at is not None and not sys.stdin.isatty())):
            code = Prompt(session).talk()
            return _tell_caveats(session, code)
        states = []
        for tick in _ticks(session, to, step):
            session.seek(tick)
            if as_json:
                state = {name: to_plain(value) for name, value in session.state().items()}
                inputs = [
                    {
                        "name": each.name,
                        "value": to_plain(each.value),
                        "substituted": each.substituted,
                    }
                    for each in session.inputs()
                ]
                states.append({"tick": session.tick, "state": state, "inputs": inputs})
            else:
                print(*_format_state(session), sep="\n", flush=True)
        if as_json:
            told: dict[str, Any] = {"format": "twice.replay/1", "record": str(session.record.path)}
            told |= {"informational": session.informational, "ticks": session.record.ticks}
            told["caveats"] = session.caveats
            print_json({**told, "states": states})
        return _tell_caveats(session, 0)


def _tell_caveats(session: ReplaySession, code: int) -> int:
    """Say beside the states what restricts them; the exit code."""
    for each in session.caveats:
        print_beside(f"caveat: {each}")
    return code


def _ticks(session: ReplaySession, to: int | None, step: int | None) -> range:
    first = session.tick
    if to is None and step is None:
        return range(first, first + 1)
    last = session.record.ticks if to is None else session.seek(to)
    every = 1 if step is None else step
    if every < 1 or last < first:
        raise UsageError(
            f"Going from tick {first} to {last} by {every} leads nowhere.",
            "Expected --to at or after --at, and --step of at least 1.",
            "Going back is for the prompt: twice replay RECORD",
        )
    return range(first, last + 1, every)


class Prompt(cmd.Cmd):
    """The prompt of a session: it reads commands from a terminal or a pipe, until ``quit`` or the end.

    A command that cannot be done says why, and leaves the session where it was.
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
        self.postcmd(stop=False, line="")
        self.cmdloop()
        return 2 if self._failed and not self._terminal else 0

    def onecmd(self, line: str) -> bool:
        """Do one command; an error is printed, and the next command is read."""
        try:
            return bool(super().onecmd(line))
        except TwiceError as error:
            self._failed = True
            print_beside(error)
            return False

    def postcmd(self, stop: bool, line: str) -> bool:
        """Show the tick in the prompt of the next command."""
        del line
        self.prompt = f"(tick {self._session.tick}) " if self._terminal else ""
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
        state = (
            lines(self._session.state(name), printable(name))
            if name
            else _format_state(self._session)
        )
        print(*state, sep="\n")

    def do_inputs(self, text: str) -> None:
        """Show the inputs of this tick, from the record."""
        del text
        events = self._session.inputs()
        for event in events:
            print(f"{printable(event.name)} = {inline(event.value)}")
        if not events:
            print(f"no inputs at tick {self._session.tick}")

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
        """Do nothing."""
        return False

    def default(self, line: str) -> None:
        """Refuse an unknown command."""
        raise UsageError(
            f"There is no command {line.split(maxsplit=1)[0]!r}.",
            "Commands: go T, forward [N], back [N], state [COMPONENT], inputs, quit.",
            "Say: help",
        )

    def _tell(self) -> None:
        tick, ticks = self._session.tick, self._session.record.ticks
        print(
            f"at the end, after tick {ticks - 1}"
            if tick == ticks
            else f"before tick {tick} of {ticks}"
        )


def _format_state(session: ReplaySession) -> list[str]:
    rows = [row for name, value in session.state().items() for row in lines(value, printable(name))]
    return [f"before tick {session.tick}", *(f"  {row}" for row in rows)]


def _number(text: str, command: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(
            f"{command} was given {text!r}.",
            "Expected a whole number.",
            f"For example: {command} 3",
        ) from None
