"""The text of ``twice show --secrets``: what which rule blanked, or where the record has given values.

Invariant: no value is printed, only the name given to it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from twice.cli.output import align, limit_rows, pick, tell
from twice.cli.secret_search import search
from twice.errors import UsageError
from twice.foundation.printable import pluralize, printable
from twice.recorder.redaction.mask import is_worth_finding
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.runrecord import RunRecord
from twice.report.values import mapping

_SEARCHED_MAX = 64 << 20
_NOTED_MAX = 5


def read_secrets(file: str, variables: Iterable[str]) -> dict[str, bytes]:
    """Return values to search for, by name: the lines of a file (``-`` is standard input), and variables.

    Raises:
        UsageError: E-USE-001, when a file cannot be read, a variable is not set, or there is no value.
    """
    data = b""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes() if file else b""
    except OSError as error:
        raise UsageError(
            f"The file of secrets {file} cannot be read: {error.strerror}.",
            "Expected a file with one secret a line, or - for standard input.",
            "Check the path given to --secrets.",
        ) from error
    where = "standard input" if file == "-" else file
    rows = enumerate(data.splitlines(), 1)
    found = {f"line {number} of {where}": line for number, line in rows if line.strip()}
    for name in variables:
        value = os.environb.get(os.fsencode(name))
        if not value:
            raise UsageError(
                f"The variable {name} is not set, or empty.",
                "Expected a variable whose value is the secret to search for.",
                f"For example: read -rs {name}; export {name}; then repeat the command.",
            )
        found[f"variable {name}"] = value
    if (file or variables) and not found:
        raise UsageError(
            "There is no secret to search for.",
            "Expected one a line, in a file or on standard input.",
            "For example: twice show RECORD --secrets secrets.txt",
        )
    return found


def still_in(path: Path, variables: Mapping[str, str], redaction: Redaction) -> list[str]:
    """Return a few places of a record that have the value of a secret variable all the same."""
    wanted = {
        f"variable {name}": value.encode("utf-8", "surrogateescape")
        for name, value in sorted(variables.items())
        if redaction.is_secret(name) and is_worth_finding(value.encode("utf-8", "surrogateescape"))
    }
    if not wanted or path.stat().st_size > _SEARCHED_MAX:
        return []
    found = dict.fromkeys(f"{one.name}: {one.place}" for one in search(path, wanted).sightings)
    return [*found][:_NOTED_MAX]


def show_secrets(
    path: Path, secrets: Mapping[str, bytes], limit: int | None, *, as_json: bool
) -> int:
    """Print what redaction blanked, or the places of secrets; 1 if one was found, 2 if not all could be read.

    Args:
        path: the record.
        secrets: to search for, by name; none to list what was blanked.
        limit: how many places, or rules, to list.
        as_json: whether to print JSON.
    """
    with RunRecord.open(path) as record:
        counts: Counter[tuple[str, str]] = Counter()
        for one in record.redactions():
            counts[one.rule, one.where] += one.count
        told: dict[str, Any] = {
            "format": "twice.secrets/1",
            "record": str(record.path),
            "run_id": record.run_id,
            "variables": sorted(
                mapping(mapping(record.identity.get("redaction")).get("variables"))
            ),
            "policy": record.setup.redaction.to_json(),
            "blanked": [
                {"rule": rule, "where": where, "count": counts[rule, where]}
                for rule, where in sorted(counts)
            ],
        }
    if not secrets:
        told = limit_rows(told, "blanked", limit)
        rows = [(one["rule"], one["where"], str(one["count"])) for one in told["blanked"]]
        lines = [f"{path}: {counts.total()} values blanked by redaction", *align(rows)]
        if told["variables"]:
            lines.append(f"  variables known to be secret: {', '.join(told['variables'])}")
        for name, given in told["policy"].items():
            said = (
                ", ".join(map(str, given)) if name != "shapes" else f"version {given} of the table"
            )
            lines.append(f"  {name}: {said}")
        lines.append("  states, snapshots and inputs are not blanked")
        step = (
            f"twice show {path} --secrets FILE  (one secret a line: searches the record for each)"
        )
        return tell(told, map(printable, [*lines, f"next: {step}"]), as_json=as_json)
    found = search(path, secrets)
    names = sorted({one.name for one in found.sightings})
    told |= {
        "found": bool(names),
        "sightings": [
            {"secret": one.name, **pick(one, "form", "place", "tick", "count")}
            for one in found.sightings
        ],
        "searched": pick(found, "secrets", "forms", "blocks", "file_bytes", "unread"),
    }
    told = limit_rows(told, "sightings", limit)
    looked = ", ".join(
        pluralize(getattr(found, name), word)
        for name, word in (
            ("secrets", "secret"),
            ("forms", "form"),
            ("blocks", "block"),
            ("file_bytes", "byte"),
        )
    )
    lines = [f"NOT FOUND in {path} ({looked})"]
    if names:
        lines = [f"FOUND in {path}: {', '.join(names)} ({looked})"]
        for row in told["sightings"]:
            tick = "" if row["tick"] is None else f", tick {row['tick']}"
            times = "" if row["count"] == 1 else f", {row['count']} times"
            lines.append(f"  {row['secret']}, {row['form']}: {row['place']}{tick}{times}")
        lines.append(
            "next: keep the value out of what is found there, record again, and change the secret"
        )
    elif found.unread:
        lines = [f"NOT FOUND in what can be read of {path} ({looked}): {found.unread}"]
    code = 1 if names else 2 if found.unread else 0
    return tell(told, map(printable, lines), as_json=as_json, code=code)
