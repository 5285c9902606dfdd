"""The specification of a record's program, where that room is installed: cited by commands that execute the program.

Invariant: without the room, and without a workspace, nothing is loaded and nothing refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twice.cli.group import has_wing
from twice.errors import SurroundingsRefused
from twice.recorder.runrecord import RunRecord


def cite(
    record: RunRecord, *, judges_recorded_class: bool = False
) -> tuple[dict[str, Any] | None, Sequence[str]]:
    """Find the specification of a record's program; return it as JSON, and what it promises and is not so."""
    if not has_wing("specification"):
        return None, ()
    from twice.specification.location import find_workspace

    if find_workspace(record.setup.program.folder()) is None:
        return None, ()
    from twice.specification.citation import cite_specification

    cited = cite_specification(record, judges_recorded_class=judges_recorded_class)
    return (None, ()) if cited is None else (cited.to_json(), cited.mismatches)


def require_pins(path: Path, *, informational: bool) -> None:
    """Refuse to restore a run on other versions than its specification pins.

    Raises:
        SurroundingsRefused: E-ENV-001, unless the caller goes on anyway.
    """
    with RunRecord.open(path) as record:
        _, mismatches = cite(record)
    if mismatches and not informational:
        raise SurroundingsRefused(
            f"{'; '.join(mismatches)}.",
            "Expected what the specification of the program pins.",
            "Install it, or add --informational to go on.",
            path=str(path),
        )
