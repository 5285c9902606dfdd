"""Causes of failure: what one run failed of, and the runs of a sweep that failed of the same.

A run that raised is known by the type of its exception and the innermost line of the user's code in the traceback. The
message plays no part, because it tends to name values that differ from seed to seed. A record that does not verify is
known by the first differing line, or by the compare-point and its columns where no line was found.

Not told apart: two defects that raise one type at one line. Not brought together: one defect that shows at two lines.

Invariant: the groups and their representatives follow from the runs, whatever order they ended in.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from twice.foundation.printable import printable
from twice.recorder.program import Program

Kind = Literal["raised", "exited", "died", "refused", "differs"]


@dataclass(frozen=True, slots=True, order=True)
class FailureCause:
    """What runs fail of: equal for those that are grouped.

    Attributes:
        kind: how a run failed.
        what: type of the exception, exit code, end of the process, id of the refusal, or what differs.
        file: of the line, relative to the folder that the program was named from; empty where no line is known.
        line: its number, from 1; 0 where it is not known.
        function: that it stands in.
    """

    kind: Kind
    what: str
    file: str = ""
    line: int = 0
    function: str = ""

    def __str__(self) -> str:
        said = {"exited": "exit code ", "refused": "refused: "}.get(self.kind, "") + self.what
        place = f"{self.file}:{self.line}" if self.file else ""
        if self.kind == "differs":
            return printable(f"differs first at {place or said}{f', {said}' if place else ''}")
        inside = f" in {self.function}" if self.function else ""
        return printable(f"{said} at {place}{inside}" if place else said)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)


def find_cause(ending: Mapping[str, Any], program: Program) -> FailureCause | None:
    """Return what a run failed of, by its ending; None where it ended well."""
    how, code = ending["how"], ending.get("exit_code")
    if how == "completed" or (how == "exit" and code == 0):
        return None
    exception = ending.get("exception")
    if exception is None:
        return FailureCause("exited", str(code)) if how == "exit" else FailureCause("died", how)
    kind: Kind = "refused" if how == "refused" else "raised"
    what = str(exception["type"]).removeprefix("builtins.")
    if not exception["frames"]:
        return FailureCause(kind, what)
    place = exception["frames"][-1]
    return FailureCause(
        kind, what, name_file(program, place["file"]), place["line"], place["function"]
    )


def find_difference(statement: Mapping[str, Any], program: Program) -> FailureCause | None:
    """Return what a record differs in, by the document of its verification; None where it does not fail.

    The line is that of the diagnosis, if it found one, else the one where the difference shows.
    """
    failure = statement["first_failure"]
    if statement["result"] != "FAIL" or failure is None:
        return None
    found = statement.get("divergence", {}).get("operation")
    if found is not None:
        file = name_file(program, found["file"])
        return FailureCause("differs", found["name"], file, found["line"], found["function"])
    file, _, line = failure["at"].rpartition(":")
    what = f"{failure['name']}: {', '.join(failure['columns'])}"
    return FailureCause("differs", what, *((file, int(line)) if line.isdecimal() else ()))


def name_file(program: Program, path: str) -> str:
    """Name a file of a program relative to the folder that the program was named from, or to its own; others by their whole path."""
    beside, root = program.locate()
    for folder in (root, beside):
        if path.startswith(folder + os.sep):
            return os.path.relpath(path, folder)
    return path


@dataclass(slots=True)
class CauseGroup:
    """The runs that fail of one cause: how many of each arm, and the first of them.

    Attributes:
        cause: of all of them.
        first: number of the first run in the order of the sweep.
        record: its record; empty where it left none.
        arms: how many there are, by arm.
    """

    cause: FailureCause
    first: int
    record: str
    arms: Counter[str] = field(default_factory=Counter)

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.arms.total()


class CauseGroups:
    """Failures, grouped as they are added."""

    def __init__(self) -> None:
        self._groups: dict[FailureCause, CauseGroup] = {}

    def add(self, cause: FailureCause, number: int, record: str, arm: str) -> None:
        """Count one failed run."""
        group = self._groups.setdefault(cause, CauseGroup(cause, number, record))
        group.arms[arm] += 1
        if number < group.first:
            group.first, group.record = number, record

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[CauseGroup]:
        """Yield the groups, those with the most runs first."""
        return iter(sorted(self._groups.values(), key=lambda group: (-group.runs, group.first)))
