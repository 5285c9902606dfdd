"""What a host offers for a session contract, and how far its tools were tried, as the command line takes it.

Invariant: an option that is not given offers nothing, and the runtime fills in what there is.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from twice.cli.options import PATH, gather, several
from twice.errors import UsageError
from twice.foundation.printable import printable

python_option: Final = click.option(
    "--python", default="", metavar="FILE", help="the interpreter that the tools run in"
)


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The contract of a session, and the certificates of its tools."""

    session_seed: str | None
    allow: tuple[str, ...]
    contract: str | None
    certificates: Path | None

    def offer(self) -> dict[str, Any]:
        """Give the offer that the options make.

        Raises:
            UsageError: E-USE-001: the contract is no JSON object.
        """
        offer = {} if self.contract is None else read_object(self.contract, "--contract")
        if self.session_seed is not None:
            offer["session_seed"] = self.session_seed
        given = offer.get("permissions") or {}
        if self.allow and isinstance(given, dict):
            offer["permissions"] = {**given, **dict.fromkeys(sorted(self.allow), True)}
        return offer

    def levels(self, registry: str, python: str = "") -> dict[str, Any]:
        """Give the levels that the certificates give; what counts as nothing is said on standard error.

        Raises:
            UsageError: E-USE-001. RegistryRefused: E-TOOL-002.
        """
        if self.certificates is None:
            return {}
        from twice.tooling.verifying.verifying import session_levels

        found, said = session_levels(registry, self.certificates, python=python)
        for each in said:
            sys.stderr.write(f"certificate: {printable(each)}\n")
        return dict(found)


session_options: Final = gather(
    "session",
    SessionOptions,
    click.option("--session-seed", metavar="N", help="the seed of the contract"),
    several(
        "--allow", "allow", type=click.Choice(["network", "ui", "nondeterministic"]),
        help="a permission of the contract",
    ),
    click.option("--contract", metavar="JSON|@FILE", help="an offer for the whole contract"),
    click.option(
        "--certificates", type=PATH, metavar="DIR",
        help="how far the tools were tried, as twice tools verify wrote it there",
    ),
)  # fmt: skip


def read_object(text: str, option: str) -> dict[str, Any]:
    """Read a JSON object from the command line or a file; a key that stands twice is refused.

    Raises:
        UsageError: E-USE-001.
    """
    try:
        if text.startswith("@"):
            text = Path(text[1:]).read_text(encoding="utf-8")
        found = json.loads(text, object_pairs_hook=_refuse_twice)
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{option} cannot be read: {error}.",
            "Expected one JSON object, or @ and a file that holds one.",
            f"For example: {option} '{{\"n\": 3}}'",
        ) from error
    if not isinstance(found, dict):
        raise UsageError(
            f"{option} is a {type(found).__name__}.",
            "Expected one JSON object: values by name.",
            f"For example: {option} '{{\"n\": 3}}'",
        )
    return found


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found
