"""The document that opens a record, as it may be written down.

Arguments, configuration and variables stand in it. A replay is made from it, so it gives the program
what stands here: blanked arguments, blanked values of the configuration.

Invariant: what was blanked is counted in the document itself, by rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.recorder.redaction.redaction import Redaction


def redacted_identity(
    identity: Mapping[str, Any],
    redaction: Redaction,
    environ: Mapping[str, str],
    *,
    parent: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Blank the secrets of an identity, and add the facts about them that a replay needs.

    Args:
        identity: as it was built.
        redaction: told of the secrets among the arguments.
        environ: the variables that the program runs with.
        parent: identity of the record that a branch leaves, whose setup holds stars already.
    """
    inherited = (parent or {}).get("redaction") or {}
    program: dict[str, Any] = dict(identity["setup"]["program"])
    program["arguments"] = redaction.arguments(program["arguments"], "arguments")
    setup = {
        **identity["setup"],
        "program": program,
        "config": redaction.value(dict(identity["setup"]["config"]), "config"),
    }
    surroundings = redaction.value(dict(identity["surroundings"]), "surroundings")
    environment = dict(identity["environment"])
    environment["variables"] = redaction.value(
        dict(environment.get("variables", {})), "surroundings"
    )
    return {
        **identity,
        "setup": setup,
        "surroundings": surroundings,
        "environment": environment,
        "redaction": {
            "variables": {
                name: len(value.encode("utf-8", "surrogateescape"))
                for name, value in sorted(environ.items())
                if value and redaction.is_secret(name)
            },
            "blanked": [
                *inherited.get("blanked", ()),
                *(list(counted) for counted in redaction.take()),
            ],
        },
    }


def recorded_placeholders(identity: Mapping[str, Any]) -> dict[str, str]:
    """Return stars for every secret variable that a run had, by name."""
    redaction = identity.get("redaction")
    named = redaction.get("variables") if isinstance(redaction, Mapping) else None
    if not isinstance(named, Mapping):
        return {}
    return {
        str(name): "*" * size
        for name, size in named.items()
        if isinstance(size, int) and 0 < size <= _LONGEST
    }


_LONGEST = 1 << 16
