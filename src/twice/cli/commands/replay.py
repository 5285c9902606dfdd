"""Look around in a record, tick by tick; nothing is changed and no record is written.

  twice replay a.twice --at 120
  twice replay a.twice --at 100 --to 120 --step 5 --json

With --at, the state before that tick is printed; with --to and --step, at every step on the way. On
a terminal, and when commands come through a pipe, there is a prompt that can go forwards and back;
its command `help` lists the others.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from twice.cli.group import make_command
from twice.cli.options import informational_option, json_option, record_argument
from twice.cli.output import print_json
from twice.cli.prompt import Prompt, state_lines
from twice.cli.run_options import TrustOptions, trust_options
from twice.errors import UsageError
from twice.replayer.replay_session import ReplaySession, replay
from twice.report.values import as_json as to_plain


@make_command(
    record_argument,
    click.option("--at", type=int, metavar="T", help="stand before this tick"),
    click.option("--to", type=int, metavar="T", help="go on to this tick"),
    click.option("--step", type=int, metavar="N", help="print every Nth tick on the way"),
    informational_option,
    trust_options,
    json_option,
)
def command(
    record: Path,
    at: int | None,
    to: int | None,
    step: int | None,
    informational: bool,
    trust: TrustOptions,
    as_json: bool,
) -> int:
    """Print states, or hand over to the prompt."""
    with (
        trust.trusting(record),
        replay(record, at=at or 0, informational=informational) as session,
    ):
        if session.informational:
            print("informational: the code differs from the recorded one", file=sys.stderr)
        walks = to is not None or step is not None
        if not (as_json or walks or (at is not None and not sys.stdin.isatty())):
            return Prompt(session).talk()
        states = []
        for tick in _ticks(session, to, step):
            session.seek(tick)
            if as_json:
                states.append(_state_json(session))
            else:
                print(*state_lines(session), sep="\n", flush=True)
        if as_json:
            head = {"record": str(session.record.path), "informational": session.informational}
            print_json(
                {
                    "format": "twice.replay/1",
                    **head,
                    "ticks": session.record.ticks,
                    "states": states,
                }
            )
        return 0


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


def _state_json(session: ReplaySession) -> dict[str, Any]:
    return {
        "tick": session.tick,
        "state": {name: to_plain(value) for name, value in session.state().items()},
        "inputs": [
            {"name": each.name, "value": to_plain(each.value), "substituted": each.substituted}
            for each in session.inputs()
        ],
    }
