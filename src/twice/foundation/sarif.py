"""SARIF 2.1.0, which code hosts and editors read: the parts that are the same for every command that finds something.

What a finding says, and where it is, is for the command.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0, sections 3.13 to 3.59.

Invariant: a log has one run, and there is no time in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from twice.foundation.severity import Severity
from twice.foundation.version import VERSION

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
# GitHub's own scale for security-severity is not used: nothing here speaks of security.
LEVELS: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFORMATIONAL: "note",
}
"""SARIF's word for each grade."""


def declare_rule(
    name: str, title: str, help_text: str, severity: Severity, **more: object
) -> dict[str, Any]:
    """Return the description of a rule; ``more`` are further keys of SARIF."""
    return {
        "id": name,
        "shortDescription": {"text": title},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": LEVELS[severity]},
        **more,
    }


def quote_path(path: str) -> str:
    """Return a path as a URI reference."""
    return quote(path.encode("utf-8", "surrogateescape"), safe="/-_.~")


def write_log(
    command: str, rules: Sequence[object], results: Sequence[object], **more: object
) -> str:
    """Return a SARIF log as text.

    Args:
        command: what found the results, as it is typed.
        rules: all rules, also those that found nothing, so that what was mended closes.
        results: in the order of the report.
        more: further keys of the run.
    """
    driver = {"name": command, "semanticVersion": VERSION, "rules": rules}
    run = {"tool": {"driver": driver}, **more, "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"
