"""Looking at a registry, and calling one of its tools under a session contract.

Invariant: an option that is not given offers nothing, and the runtime fills in what there is.
"""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from twice.cli.options import AsJson, Limit, argument, build_command, option, refuse_together
from twice.cli.output import align, limit_rows, print_beside, tell
from twice.errors import UsageError
from twice.foundation.printable import pluralize, printable

if TYPE_CHECKING:
    from twice.tools.call import Note

Python = Annotated[
    str, option("--python FILE", "the interpreter that the tools run in", default="")
]
_PERMISSIONS: Final = ("network", "ui", "nondeterministic")


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The contract of a session, and how far its tools were tried."""

    session_seed: Annotated[str | None, option("--session-seed N", "the seed of the contract")]
    allow: Annotated[tuple[str, ...], option(
        "--allow", "a permission of the contract", _PERMISSIONS)]  # fmt: skip
    contract: Annotated[str | None, option("--contract JSON|@FILE", "an offer for the whole contract")]  # fmt: skip
    verified: Annotated[tuple[Path, ...], option(
        "--verified FILE", "how far the tools were tried, as twice tools verify -o wrote it")]  # fmt: skip

    def to_offer(self) -> dict[str, Any]:
        """Give the offer that the options make.

        Raises:
            UsageError: E-USE-001: the contract is no JSON object.
        """
        offer = {} if self.contract is None else _read_object(self.contract, "--contract")
        if self.session_seed is not None:
            offer["session_seed"] = self.session_seed
        given = offer.get("permissions") or {}
        if self.allow and isinstance(given, dict):
            offer["permissions"] = {**given, **dict.fromkeys(sorted(self.allow), True)}
        return offer

    def find_levels(self, registry: str, python: str = "") -> dict[str, Any]:
        """Give the levels that verifications give; what counts as nothing is said on standard error.

        Raises:
            UsageError: E-USE-001. RegistryRefused: E-TOOL-002.
        """
        if not self.verified:
            return {}
        from twice.tools.verification.verify import find_levels

        found, said = find_levels(registry, self.verified, python=python)
        for each in said:
            print_beside(each)
        return dict(found)


@build_command
def list_tools(registry: Annotated[str, argument()], limit: Limit, as_json: AsJson) -> int:
    """List the tools of a registry: class, version, what each needs, its fingerprint.

      twice tools list memory
      twice tools list my/tools.py:registry --json

    --json prints every descriptor: schemas, defaults, needs, fingerprints.
    """
    from twice.tools.registry import find_registry

    with contextlib.redirect_stdout(sys.stderr):  # What a module prints is no part of the list.
        found = find_registry(registry)
    document = {
        "format": "twice.tools/1",
        "registry": registry,
        "fingerprint": found.fingerprint,
        "macros": found.macro_fingerprint,
        "tools": [{**each.descriptor, "fingerprint": each.fingerprint} for each in found],
    }
    rows = [
        (each.name, each.determinism.value, each.version, ", ".join(each.needs.world()) or "-", each.summary)
        for each in [*found][:limit]
    ]  # fmt: skip
    lines = [
        f"{registry}: {pluralize(len(found), 'tool')}, {found.fingerprint}",
        *align(rows),
        f"next: twice tools call {registry} TOOL --args '{{}}'",
    ]
    return tell(limit_rows(document, "tools", limit), lines, as_json=as_json)


@build_command
def call_tool(
    registry: Annotated[str, argument()],
    tool: Annotated[str, argument()],
    given: Annotated[str, option("--args JSON|@FILE", "arguments, as one JSON object", default="{}")],
    seed: Annotated[str | None, option("--seed N", "the call's seed, as among the arguments")],
    call_key: Annotated[str | None, option("--call-key TEXT", "the call's key, as among the arguments")],
    require: Annotated[str | None, option("--require CLASS", "deterministic, seeded or nondeterministic")],
    session: SessionOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    r"""Call one tool of a registry, from an empty state, and print its result.

      twice tools call memory mesh.primitive --args '{"kind":"cube"}'
      twice tools call memory scene.snapshot --json
      twice tools call my/tools.py:registry scatter.points \
          --args @points.json --seed 42

    --json prints the envelope: {"ok": true, "result": …} or {"ok": false, "error": …}. What a tool raised goes to
    standard error whole; a host is told its name alone. Exit code 0 the tool gave a result, 1 it was
    refused or failed, 2 wrong use.
    """
    from twice.tools import CallRefused, Session, negotiate
    from twice.tools.envelope import failure
    from twice.tools.registry import find_registry

    arguments = _read_object(given, "--args")
    for name, value in (("seed", seed), ("call_key", call_key)):
        flag = f"--{name.replace('_', '-')}"
        refuse_together({flag: value, f"{name} in --args": name in arguments}, "it once")
        if value is not None:
            arguments[name] = value
    offer = session.to_offer()
    with contextlib.redirect_stdout(sys.stderr):  # What a module or a tool prints is no result.
        found = find_registry(registry)
        backend, levels = found.open_backend(), session.find_levels(registry)
        try:
            contract = negotiate(offer, found, backend)
        except CallRefused as refusal:
            envelope = failure(refusal)
        else:
            opened = Session(found, backend, contract, observer=_Traces(), levels=levels)
            envelope = opened.call(tool, arguments, require=require)
    if not envelope["ok"]:
        error = envelope["error"]
        said = f"{error['code']}: {printable(error['message'])}"
        return tell(envelope, [said], as_json=as_json, code=1)
    told = envelope["determinism"]
    said = told["class"]
    said += "" if told["seed"] is None else f", seed {told['seed']} ({told['seed_source']})"
    said += "" if told["call_key"] is None else f", call key {printable(told['call_key'])}"
    said += f"; {envelope['fingerprint'] or 'equal within a tolerance'}"
    return tell(envelope, [json.dumps(envelope["result"], indent=2), said], as_json=as_json)


class _Traces:
    """Shows whoever calls by hand what a host is not told."""

    def on_begin(self, note: Note) -> None:
        """Nothing is known of it yet."""

    def on_end(self, note: Note) -> None:
        """Write where it was raised, once the whole call is over; what the runtime refuses was raised by no tool."""
        error = {} if note.path or note.envelope is None else note.envelope.get("error", {})
        if "error" in error.get("details", {}):
            own, _, _ = note.trace.partition("\n\nThe above exception was the direct")
            print_beside(own)


def _read_object(text: str, option: str) -> dict[str, Any]:
    """Read a JSON object from the command line or a file; a key that stands twice is refused."""
    try:
        said = Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
        found = json.loads(said, object_pairs_hook=_refuse_twice)
        if isinstance(found, dict):
            return found
        why = f"it is a {type(found).__name__}"
    except (OSError, ValueError, RecursionError) as error:
        why = str(error)
    raise UsageError(
        f"{option} cannot be read: {why}.",
        "Expected one JSON object, values by name, or @ and a file that holds one.",
        f"For example: {option} '{{\"n\": 3}}'",
    )


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found
