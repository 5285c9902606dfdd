"""What was measured, in a specification: the evidence file, and the measured columns of sheet 13.

Of the sheet the cells ``performance`` and ``storage`` of measured rules, ``measured`` and ``unmeasured`` are
written; new rules come in as rows whose other cells are "?". Every other byte of the file stays.

Invariant: both files are made whole in memory before the first of them is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from twice.errors import OutputUnwritable
from twice.specifying.artifact import Artifact, decoded, read_artifact
from twice.specifying.costing.cost import Cost
from twice.specifying.costing.rules import NOT_SWITCHED, RULES
from twice.specifying.frontmatter import Row, Value, written
from twice.specifying.kinds import UNKNOWN, Rows
from twice.specifying.workspace import FOLDER, open_workspace
from twice.writing import write

EVIDENCE: Final = f"{FOLDER}/evidence/cost.json"
NUMBER: Final = "13"
_UNMEASURED: Final = "unmeasured"
_KNOWN: Final = frozenset(each.name for each in (*RULES, *NOT_SWITCHED))


@dataclass(frozen=True, slots=True)
class _Edit:
    """Lines of a file that others take the place of; ``first == last`` puts them in between.

    Args:
        first: from which line, from 0.
        last: up to which, not included.
        lines: what stands there instead.
    """

    first: int
    last: int
    lines: Sequence[str]


def evidence_bytes(cost: Cost) -> bytes:
    """Give the evidence file: the document of ``--json``, a newline at its end."""
    return (json.dumps(cost.to_json(), indent=2, ensure_ascii=False) + "\n").encode()


def write_evidence(project: Path, cost: Cost) -> tuple[str, ...]:
    """Write the evidence file and sheet 13, which is read anew; their paths, relative to the project.

    Raises:
        WorkspaceRefused: E-SPEC-002: there is no sheet 13, or no workspace. SheetRefused: E-SPEC-001.
        OutputUnwritable: E-OUTPUT-002: nothing was changed.
    """
    sheet = open_workspace(project).need(NUMBER, "that is where costs are written")
    place = project / sheet.path
    before = place.read_bytes()
    after = with_costs(
        before, read_artifact(decoded(before, sheet.path), sheet.sheet, sheet.path), cost
    )
    evidence = project / EVIDENCE
    old = evidence.read_bytes() if evidence.is_file() else None
    try:
        evidence.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"{evidence.parent} cannot be made: {error.strerror or error}.",
            "Expected a folder of the specification that can be written.",
            "Mend its permissions; nothing was changed.",
        ) from error
    write(evidence, evidence_bytes(cost))
    if after == before:
        return (EVIDENCE,)
    try:
        write(place, after)
    except OutputUnwritable:
        if old is None:
            with suppress(OSError):
                evidence.unlink()
        else:
            write(evidence, old)
        raise
    return (EVIDENCE, sheet.path)


def with_costs(data: bytes, sheet: Artifact, cost: Cost) -> bytes:
    """Give sheet 13's bytes with what was measured.

    Args:
        data: the file as it is.
        sheet: what was read from it.
        cost: what was measured.

    Raises:
        SheetRefused: E-SPEC-001: never for a sheet that could be read.
    """
    lines = data.decode("utf-8").split("\n")
    ending = "\r" if lines[0].endswith("\r") else ""
    edits = [
        *_of_rules(sheet, cost),
        *_of_key(sheet, "measured", EVIDENCE),
        *_of_key(sheet, "unmeasured", _reasons(sheet, cost)),
    ]
    # From the end on, so that lines before stay where they are; what comes in at a line after what takes
    # that line's place, and at one place the later first.
    ordered = sorted(enumerate(edits), key=lambda each: (each[1].first, each[1].last, each[0]))
    for _, edit in reversed(ordered):
        lines[edit.first : edit.last] = [line + ending for line in edit.lines]
    after = "\n".join(lines).encode()
    read_artifact(decoded(after, sheet.path), sheet.sheet, sheet.path)
    return after


def _of_key(sheet: Artifact, key: str, value: Value) -> Iterator[_Edit]:
    """Say a key anew where it says something else; a new one goes to the end of the head."""
    entry = sheet.head.entries.get(key)
    if (entry.value if entry else []) == value:
        return
    end = sheet.head.end_line - 1
    first, last = (entry.line - 1, entry.end_line - 1) if entry else (end, end)
    yield _Edit(first, last, _lines(key, value))


def _lines(key: str, value: Value) -> list[str]:
    return written(key, value).removesuffix("\n").split("\n")


def _of_rules(sheet: Artifact, cost: Cost) -> Iterator[_Edit]:
    cells: dict[str, Mapping[str, str]] = {
        each.rule.name: {"performance": each.performance, "storage": each.storage}
        for each in cost.rules
    }
    entry = sheet.head.entries.get("rules")
    value = entry.value if entry else UNKNOWN
    listed = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    there = {str(row.get("rule")) for row in listed}
    new = [_row(sheet, name, row) for name, row in cells.items() if name not in there]
    if entry is None or not listed:
        yield from _of_key(sheet, "rules", new) if new else ()
        return
    reasons = {each.name for each in cost.unmeasured}
    source = sheet.source.split("\n")
    for row, places in zip(listed, entry.rows, strict=True):
        name = str(row.get("rule"))
        said = cells.get(name)
        if said is None and name in reasons:
            said = {"performance": _UNMEASURED, "storage": _UNMEASURED}
        for column, cell in (said or {}).items():
            if row.get(column) != cell:
                at = places[column] - 1
                yield _Edit(at, at + 1, [_cell(source[at], column, cell)])
    if new:
        at = entry.end_line - 1
        yield _Edit(at, at, _lines("rules", new)[1:])


def _row(sheet: Artifact, name: str, cells: Mapping[str, str]) -> Row:
    """Give a new row: what was measured, and "?" for what people have to say."""
    item = sheet.sheet.item("rules")
    assert item is not None, "sheet 13 has rules"
    assert isinstance(item.kind, Rows), "and they are rows"
    return {
        column.name: name if column.name == "rule" else cells.get(column.name, UNKNOWN)
        for column in item.kind.columns
    }


def _cell(line: str, column: str, text: str) -> str:
    """Give a row's line with another value for its column."""
    match = re.match(rf"( *(?:- )?){column}:", line)
    assert match is not None, "a column's line begins with its name"
    return match[1] + _lines(column, text)[0]


def _reasons(sheet: Artifact, cost: Cost) -> list[str | int | bool]:
    """Give why rules have no figure: what people wrote of rules of their own, then ours."""
    kept = [each for each in sheet.listed("unmeasured") if each.partition(":")[0] not in _KNOWN]
    return [*kept, *(f"{each.name}: {each.why}" for each in cost.unmeasured)]
