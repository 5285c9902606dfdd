"""Call one tool of a registry, from an empty state, and print what came of it.

  twice tools call tables table.create --args '{"name": "t", "columns": ["x"]}'
  twice tools call tables table.list --json
  twice tools call my/tools.py:registry scatter.points --args @points.json --seed 42

--json prints the envelope: {"ok": true, "result": …} or {"ok": false, "error": …}. What a tool raised goes to
standard error whole; a host is told its name alone. Exit code 0 the tool gave a result, 1 it was
refused or failed, 2 wrong use.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.tools.offering import (
    add_certificates,
    add_offer,
    levels_of,
    offer_of,
    read_object,
)

if TYPE_CHECKING:
    from twice.tooling.observing import Note


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("registry", metavar="REGISTRY", help="built-in name or module:name")
    parser.add_argument("tool", metavar="TOOL", help="name of the tool")
    parser.add_argument(
        "--args", default="{}", metavar="JSON|@FILE", help="arguments, as one JSON object"
    )
    parser.add_argument("--seed", metavar="N", help="the call's seed, as among the arguments")
    parser.add_argument("--call-key", metavar="TEXT", help="the call's key, as among the arguments")
    parser.add_argument(
        "--require", metavar="CLASS", help="deterministic, seeded or nondeterministic"
    )
    add_offer(parser)
    add_certificates(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Negotiate, call, print."""
    from twice.tooling import Session, negotiate
    from twice.tooling.envelope import failure
    from twice.tooling.errors import CallRefused
    from twice.tooling.finding import find_registry

    arguments, offer = _arguments(options), offer_of(options)
    with contextlib.redirect_stdout(sys.stderr):  # What a module or a tool prints is no result.
        registry = find_registry(options.registry)
        backend, levels = registry.open_backend(), levels_of(options)
        try:
            contract = negotiate(offer, registry, backend)
        except CallRefused as refusal:
            envelope = failure(refusal)
        else:
            session = Session(registry, backend, contract, observer=_Traces(), levels=levels)
            envelope = session.call(options.tool, arguments, require=options.require)
    if options.json:
        print_json(envelope)
    else:
        print(*_lines(envelope), sep="\n")
    return 0 if envelope["ok"] else 1


class _Traces:
    """Shows whoever calls by hand what a host is not told."""

    def began(self, note: Note) -> None:
        """Nothing is known of it yet."""

    def ended(self, note: Note) -> None:
        """Write where it was raised, once the whole call is over."""
        error = {} if note.path or note.envelope is None else note.envelope.get("error", {})
        if error.get("code") in {"execution_failed", "internal_error"}:
            sys.stderr.write(
                note.trace.partition("\n\nThe above exception was the direct")[0] + "\n"
            )


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    found = read_object(options.args, "--args")
    for option, name in (("seed", "seed"), ("call_key", "call_key")):
        value = getattr(options, option)
        if value is None:
            continue
        if name in found:
            raise UsageError(
                f"The {name} is given twice: by --{name.replace('_', '-')} and in --args.",
                "Expected it once.",
                "Leave one of them out.",
            )
        found[name] = value
    return found


def _lines(envelope: dict[str, Any]) -> list[str]:
    if not envelope["ok"]:
        error = envelope["error"]
        return [f"{error['code']}: {printable(error['message'])}"]
    told = envelope["determinism"]
    seed = "" if told["seed"] is None else f", seed {told['seed']} ({told['seed_source']})"
    key = "" if told["call_key"] is None else f", call key {printable(told['call_key'])}"
    claim = envelope["fingerprint"] or "equal within a tolerance"
    return [json.dumps(envelope["result"], indent=2), f"{told['class']}{seed}{key}; {claim}"]
