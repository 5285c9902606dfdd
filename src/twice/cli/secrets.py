"""The text of ``twice show --secrets``: what which rule blanked, or where the record has given values.

Invariant: no value is printed, only the name given to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from twice.cli.output import align
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.recording.redaction.mask import worth_looking_for
from twice.recording.redaction.redaction import Redaction
from twice.recording.redaction.searching import Search, search
from twice.recording.runrecord import RunRecord
from twice.report.values import mapping

FORMAT = "twice.secrets/1"
_SEARCHED_MAX = 64 << 20
_NOTED_MAX = 5


def secrets_given(file: str, variables: Iterable[str]) -> dict[str, bytes]:
    """Return values to search for, by name: the lines of a file (``-`` is standard input), and variables.

    Raises:
        UsageError: E-USE-001, when a file cannot be read, a variable is not set, or there is no value.
    """
    found: dict[str, bytes] = {}
    if file:
        where = "standard input" if file == "-" else file
        for number, line in enumerate(_read(file).splitlines(), 1):
            if line.strip():
                found[f"line {number} of {where}"] = line
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


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(
            f"The file of secrets {file} cannot be read: {error.strerror}.",
            "Expected a file with one secret a line, or - for standard input.",
            "Check the path given to --secrets.",
        ) from error


def still_in(path: Path, variables: Mapping[str, str], redaction: Redaction) -> list[str]:
    """Return a few places of a record that have the value of a secret variable all the same.

    Args:
        path: the record.
        variables: the environment that the run had.
        redaction: of the run's policy: which variables are secret.
    """
    wanted = {
        f"variable {name}": value.encode("utf-8", "surrogateescape")
        for name, value in sorted(variables.items())
        if redaction.is_secret(name) and worth_looking_for(value.encode("utf-8", "surrogateescape"))
    }
    if not wanted or path.stat().st_size > _SEARCHED_MAX:
        return []
    found = dict.fromkeys(f"{one.name}: {one.place}" for one in search(path, wanted).sightings)
    return [*found][:_NOTED_MAX]


def summary(record: RunRecord) -> dict[str, Any]:
    """Return what redaction did in a run, as JSON."""
    stated = mapping(record.identity.get("redaction"))
    counts: dict[tuple[str, str], int] = {}
    for one in record.redactions():
        counts[one.rule, one.where] = counts.get((one.rule, one.where), 0) + one.count
    return {
        "variables": sorted(mapping(stated.get("variables"))),
        "policy": record.setup.redaction.to_json(),
        "blanked": [
            {"rule": rule, "where": where, "count": counts[rule, where]}
            for rule, where in sorted(counts)
        ],
    }


def summary_lines(record: RunRecord, told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the same for people."""
    rows = [(one["rule"], one["where"], str(one["count"])) for one in told["blanked"]]
    total = sum(one["count"] for one in told["blanked"])
    yield f"{record.path}: {total} values blanked by redaction"
    yield from align([tuple(map(printable, row)) for row in rows])
    if told["variables"]:
        yield printable(f"  variables known to be secret: {', '.join(told['variables'])}")
    for name, given in told["policy"].items():
        said = f"version {given} of the table" if name == "shapes" else ", ".join(map(str, given))
        yield printable(f"  {name}: {said}")
    yield "  states, snapshots and inputs are not blanked"
    yield f"next: twice show {record.path} --secrets FILE  (one secret a line: searches the record for each)"


def search_json(found: Search) -> dict[str, Any]:
    """Return the result of a search, as JSON."""
    return {
        "found": bool(found.sightings),
        "sightings": [
            {
                "secret": one.name,
                "form": one.form,
                "place": one.place,
                "tick": one.tick,
                "count": one.count,
            }
            for one in found.sightings
        ],
        "searched": {
            "secrets": found.secrets,
            "forms": found.forms,
            "blocks": found.blocks,
            "file_bytes": found.file_bytes,
            "unread": found.unread,
        },
    }


def search_lines(path: Path, found: Search) -> Iterator[str]:
    """Yield the same for people; the first line answers."""
    looked = (
        f"{found.secrets} secrets, {found.forms} forms, {found.blocks} blocks, "
        f"{found.file_bytes:,} bytes"
    )
    if found.sightings:
        names = sorted({one.name for one in found.sightings})
        yield printable(f"FOUND in {path}: {', '.join(names)} ({looked})")
        for one in found.sightings:
            tick = "" if one.tick is None else f", tick {one.tick}"
            times = "" if one.count == 1 else f", {one.count} times"
            yield printable(f"  {one.name}, {one.form}: {one.place}{tick}{times}")
        yield "next: keep the value out of what is found there, record again, and change the secret"
        return
    if found.unread:
        yield printable(f"NOT FOUND in what can be read of {path} ({looked}): {found.unread}")
    else:
        yield printable(f"NOT FOUND in {path} ({looked})")


def exit_code(found: Search) -> int:
    """Return 1 if a value was found, 2 if a part could not be read, else 0."""
    if found.sightings:
        return 1
    return 2 if found.unread else 0
