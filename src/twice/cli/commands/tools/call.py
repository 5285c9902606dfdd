"""Call one tool of a registry, from an empty state, and print what came of it.

  twice tools call tables table.create --args '{"name": "t", "columns": ["x"]}'
  twice tools call tables table.list --json
  twice tools call my/tools.py:registry scatter.points --args @points.json --seed 42

--json prints the envelope: {"ok": true, "result": …} or {"ok": false, "error": …}. What a tool raised goes to
standard error whole; a host is told its name alone. Exit code 0 the tool gave a result, 1 it was
refused or failed, 2 wrong use.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from twice.cli.commands.tools.session import SessionOptions, read_object, session_options
from twice.cli.group import make_command
from twice.cli.options import json_option
from twice.cli.output import tell
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.tooling.errors import CallRefused

if TYPE_CHECKING:
    from twice.tooling.observing import Note


@make_command(
    click.argument("registry"),
    click.argument("tool"),
    click.option(
        "--args", "given", default="{}", metavar="JSON|@FILE", help="arguments, as one JSON object"
    ),
    click.option("--seed", metavar="N", help="the call's seed, as among the arguments"),
    click.option("--call-key", metavar="TEXT", help="the call's key, as among the arguments"),
    click.option(
        "--require", metavar="CLASS", help="deterministic, seeded or nondeterministic"
    ),
    session_options,
    json_option,
)  # fmt: skip
def command(
    registry: str,
    tool: str,
    given: str,
    seed: str | None,
    call_key: str | None,
    require: str | None,
    session: SessionOptions,
    as_json: bool,
) -> int:
    """Negotiate, call, print."""
    from twice.tooling import Session, negotiate
    from twice.tooling.envelope import failure
    from twice.tooling.finding import find_registry

    arguments = read_object(given, "--args")
    _add(arguments, "seed", seed)
    _add(arguments, "call_key", call_key)
    offer = session.offer()
    with contextlib.redirect_stdout(sys.stderr):  # What a module or a tool prints is no result.
        found = find_registry(registry)
        backend, levels = found.open_backend(), session.levels(registry)
        try:
            contract = negotiate(offer, found, backend)
        except CallRefused as refusal:
            envelope = failure(refusal)
        else:
            opened = Session(found, backend, contract, observer=_Traces(), levels=levels)
            envelope = opened.call(tool, arguments, require=require)
    code = 0 if envelope["ok"] else 1
    return tell(envelope, _lines(envelope), as_json=as_json, code=code)


class _Traces:
    """Shows whoever calls by hand what a host is not told."""

    def began(self, note: Note) -> None:
        """Nothing is known of it yet."""

    def ended(self, note: Note) -> None:
        """Write where it was raised, once the whole call is over."""
        error = {} if note.path or note.envelope is None else note.envelope.get("error", {})
        if error.get("code") in {"execution_failed", "internal_error"}:
            own, _, _ = note.trace.partition("\n\nThe above exception was the direct")
            sys.stderr.write(f"{own}\n")


def _add(arguments: dict[str, Any], name: str, value: str | None) -> None:
    if value is not None and name in arguments:
        raise UsageError(
            f"The {name} is given twice: by --{name.replace('_', '-')} and in --args.",
            "Expected it once.",
            "Leave one of them out.",
        )
    if value is not None:
        arguments[name] = value


def _lines(envelope: dict[str, Any]) -> Iterator[str]:
    if not envelope["ok"]:
        error = envelope["error"]
        yield f"{error['code']}: {printable(error['message'])}"
        return
    told = envelope["determinism"]
    seed = "" if told["seed"] is None else f", seed {told['seed']} ({told['seed_source']})"
    key = "" if told["call_key"] is None else f", call key {printable(told['call_key'])}"
    claim = envelope["fingerprint"] or "equal within a tolerance"
    yield json.dumps(envelope["result"], indent=2)
    yield f"{told['class']}{seed}{key}; {claim}"
