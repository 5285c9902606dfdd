"""What the checker says of the line that a diagnosis named: its remedy, which knows the code around it.

Invariant: the file is read and nothing of it is executed; a file that cannot be read has no findings.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from twice.diagnosis.divergence import Divergence, OperationFound

if TYPE_CHECKING:
    from twice.checking.findings import Finding


def add_findings(found: Divergence) -> Divergence:
    """Say the remedies of the checker's findings at the named line, where it has some of that channel."""
    line = found.operation or next(iter(found.candidates), None)
    if line is None or line.name.startswith("inputs[") or not Path(line.file).is_file():
        return found  # an input that differs is no fault of its line
    channel = found.attribution[0].channel.value if found.attribution else ""
    said = [each for each in _at(line) if each.channel == channel]
    remedies = [f"{each.remedy} (twice check: {each.found.rule})" for each in said]
    return replace(found, remedies=remedies or found.remedies)


def _at(line: OperationFound) -> list[Finding]:
    from twice.checking.checking import check
    from twice.checking.policy import Policy

    findings = check([line.file], Policy()).findings
    return [each for each in findings if each.found.place.line == line.line]
