"""Look around in a record, tick by tick; nothing is changed and no record is written.

  twice replay a.twice --at 120
  twice replay a.twice --at 100 --to 120 --step 5 --json

With --at, the state before that tick is printed; with --to and --step, at every step on the way. On
a terminal, and when commands come through a pipe, there is a prompt that can go forwards and back;
its command `help` lists the others.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from twice.errors import UsageError
from twice.replayer.replay_session import ReplaySession, replay
from twice.surfaces.cli.prompt import Prompt, state_lines
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.trusting import add_trust, trust_records
from twice.surfaces.values import as_json

FORMAT = "twice.replay/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("record", type=Path, help="path of the record")
    parser.add_argument("--at", type=int, metavar="T", help="stand before this tick")
    parser.add_argument("--to", type=int, metavar="T", help="go on to this tick")
    parser.add_argument("--step", type=int, metavar="N", help="print every Nth tick on the way")
    parser.add_argument("--informational", action="store_true", help="go on though code differs")
    add_trust(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print states, or hand over to the prompt."""
    with trust_records(options, [options.record]):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    walking = options.to is not None or options.step is not None
    with replay(options.record, at=options.at or 0, informational=options.informational) as session:
        if session.informational:
            print("informational: the code differs from the recorded one", file=sys.stderr)
        if options.json or walking or (options.at is not None and not sys.stdin.isatty()):
            _print_states(session, options)
            return 0
        return Prompt(session).talk()


def _print_states(session: ReplaySession, options: argparse.Namespace) -> None:
    states = []
    for tick in _ticks(session, options):
        session.seek(tick)
        if options.json:
            states.append(_state_json(session))
        else:
            print(*state_lines(session), sep="\n", flush=True)
    if options.json:
        print_json(
            {
                "format": FORMAT,
                "record": str(session.record.path),
                "informational": session.informational,
                "ticks": session.record.ticks,
                "states": states,
            }
        )


def _ticks(session: ReplaySession, options: argparse.Namespace) -> range:
    first = session.tick
    step = 1 if options.step is None else options.step
    if options.to is None and options.step is None:
        return range(first, first + 1)
    last = session.record.ticks if options.to is None else session.seek(options.to)
    if step < 1 or last < first:
        raise UsageError(
            f"Going from tick {first} to {last} by {step} leads nowhere.",
            "Expected --to at or after --at, and --step of at least 1.",
            "Going back is for the prompt: twice replay RECORD",
        )
    return range(first, last + 1, step)


def _state_json(session: ReplaySession) -> dict[str, Any]:
    return {
        "tick": session.tick,
        "state": {name: as_json(value) for name, value in session.state().items()},
        "inputs": [
            {
                "name": event.name,
                "value": as_json(event.value),
                "substituted": event.substituted,
            }
            for event in session.inputs()
        ],
    }
