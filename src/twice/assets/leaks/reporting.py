"""A scan as text, as JSON and as SARIF.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0.

Invariant: everything printed is printable; the JSON says all that the text does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from twice.assets.leaks.findings import Finding, Leaks
from twice.assets.leaks.rules import EVERY
from twice.foundation.printable import pluralize, printable
from twice.foundation.severity import Severity

FORMAT: Final = "twice.leaks/1"
_LEVELS: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFORMATIONAL: "note",
}


def to_json(leaks: Leaks, shown: Severity) -> dict[str, object]:
    """Return the scan as one JSON document; count findings below ``shown`` without listing them."""
    return {
        "format": FORMAT,
        "result": leaks.result,
        "files": leaks.files,
        "bytes": leaks.size,
        "findings": [each.to_json() for each in leaks.findings if each.severity >= shown],
        "unread": [each.to_json() for each in leaks.unread],
        "summary": {
            each.word: sum(found.severity is each for found in leaks.findings) for each in Severity
        },
    }


def to_text(leaks: Leaks, shown: Severity, limit: int | None = None) -> Iterator[str]:
    """Yield the scan as lines: the answer, then at most ``limit`` findings with their remedies."""
    leaking = len(leaks.leaking)
    match leaks.result:
        case "leaks":
            yield f"LEAKS  {leaking} in {pluralize(leaks.files, 'file')}"
        case "unread":
            yield f"CANNOT TELL  twice could not look into {pluralize(len(leaks.unread), 'part')} of {pluralize(leaks.files, 'file')}"
        case _:
            other = sum(each.severity is Severity.MEDIUM for each in leaks.findings)
            also = f"; {other} to look at" if other else ""
            yield f"CLEAN  {pluralize(leaks.files, 'file')}, {pluralize(leaks.size, 'byte')}{also}"
    listed = [each for each in leaks.findings if each.severity >= shown]
    for each in listed[:limit]:
        yield ""
        yield f"{each.severity.word}  {each.rule}  {printable(each.message)}"
        yield f"  at   {printable(place_of(each))}"
        yield f"  says {printable(each.excerpt)}"
        yield f"  do   {each.remedy}"
    if limit is not None and len(listed) > limit:
        yield ""
        yield f"and {len(listed) - limit} more: --limit {len(listed)} lists them"
    for unread in leaks.unread:
        where = " > ".join(unread.path)
        yield ""
        yield f"not looked into  {printable(where)}: {printable(unread.why)}"


def place_of(finding: Finding) -> str:
    """Return the nesting path and the offset on one line."""
    where = " > ".join(finding.path)
    return where if finding.offset is None else f"{where}, byte {finding.offset}"


def to_sarif(leaks: Leaks, shown: Severity, *, version: str) -> str:
    """Return the scan as a SARIF log with one run."""
    names = [rule.id for rule in EVERY]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "twice asset leaks",
                "semanticVersion": version,
                "rules": [
                    {
                        "id": rule.id,
                        "shortDescription": {"text": rule.title},
                        "help": {"text": rule.remedy},
                        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
                    }
                    for rule in EVERY
                ],
            }
        },
        "results": [
            _result(each, names.index(each.rule))
            for each in leaks.findings
            if each.severity >= shown
        ],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {
                        "level": "warning",
                        "message": {
                            "text": f"Not looked into: {' > '.join(each.path)}: {each.why}"
                        },
                    }
                    for each in leaks.unread
                ],
            }
        ],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(found: Finding, index: int) -> dict[str, Any]:
    uri = quote(found.path[0].encode("utf-8", "surrogateescape"), safe="/-_.~")
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if found.offset is not None and len(found.path) == 1:
        physical["region"] = {"byteOffset": found.offset}
    return {
        "ruleId": found.rule,
        "ruleIndex": index,
        "level": _LEVELS[found.severity],
        "message": {"text": f"{found.message} {place_of(found)}: {found.excerpt} {found.remedy}"},
        "locations": [
            {
                "physicalLocation": physical,
                "logicalLocations": [{"fullyQualifiedName": " > ".join(found.path)}],
            }
        ],
        "properties": {"severity": found.severity.word},
    }
