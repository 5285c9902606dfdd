"""What a host offers for a session contract, as the command line takes it.

Invariant: an option that is not given offers nothing, and the runtime fills in what there is.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from twice.errors import UsageError
from twice.foundation.printable import printable


def add_offer(parser: argparse.ArgumentParser) -> None:
    """Options of the contract, the same for every action that opens a session."""
    parser.add_argument("--session-seed", metavar="N", help="the seed of the contract")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        choices=("network", "ui", "nondeterministic"),
        help="a permission of the contract; repeatable",
    )
    parser.add_argument(
        "--contract", metavar="JSON|@FILE", help="an offer for the whole session contract"
    )


def add_certificates(parser: argparse.ArgumentParser) -> None:
    """The option that says how far tools were tried."""
    parser.add_argument(
        "--certificates",
        metavar="DIR",
        help="how far the tools were tried, as twice tools verify wrote it there",
    )


def levels_of(options: argparse.Namespace, python: str = "") -> dict[str, Any]:
    """The levels that the certificates give; what counts as nothing is said on standard error."""
    if options.certificates is None:
        return {}
    from twice.tooling.verifying.verifying import session_levels

    found, said = session_levels(options.registry, Path(options.certificates), python=python)
    for each in said:
        sys.stderr.write(f"certificate: {printable(each)}\n")
    return dict(found)


def offer_of(options: argparse.Namespace) -> dict[str, Any]:
    """The offer that the options make."""
    offer = {} if options.contract is None else read_object(options.contract, "--contract")
    if options.session_seed is not None:
        offer["session_seed"] = options.session_seed
    if options.allow:
        given = offer.get("permissions") or {}
        allowed = dict.fromkeys(sorted(options.allow), True)
        offer["permissions"] = {**given, **allowed} if isinstance(given, dict) else given
    return offer


def read_object(text: str, option: str) -> dict[str, Any]:
    """A JSON object from the command line or a file; a key that stands twice is refused.

    Raises:
        UsageError: E-USE-001.
    """
    try:
        if text.startswith("@"):
            text = Path(text[1:]).read_text(encoding="utf-8")
        found = json.loads(text, object_pairs_hook=_once)
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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found
