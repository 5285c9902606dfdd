"""What the checker says of the line that a diagnosis named: its remedy, which knows the code around it.

Invariant: the file is read and nothing of it is executed; a file that cannot be read has no findings.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from twice.cli.group import has_wing
from twice.diagnosis.divergence import Divergence


def add_findings(found: Divergence) -> Divergence:
    """Say the remedies of the checker's findings at the named line, where it has some of that channel."""
    line = found.operation or next(iter(found.candidates), None)
    if (
        not has_wing("checking")
        or line is None
        or line.name.startswith("inputs[")
        or not Path(line.file).is_file()
    ):
        return found  # an input that differs is no fault of its line
    from twice.checking.checking import check
    from twice.checking.policy import Policy

    channel = found.attribution[0].channel.value if found.attribution else ""
    remedies = [
        f"{each.remedy} (twice check: {each.found.rule})"
        for each in check([line.file], Policy()).findings
        if each.found.place.line == line.line and each.channel == channel
    ]
    return replace(found, remedies=remedies or found.remedies)
