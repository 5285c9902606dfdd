"""Check 9: versions move as far as what changed, and nothing is owed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specifying.changes import compare_sheet
from twice.specifying.gate.check import Check
from twice.specifying.gate.facts import Facts, there
from twice.specifying.gate.outcome import Found

_WHOLE: Final = "99"  # made from the others when it is consolidated, not written by hand


def _said(facts: Facts) -> Found:
    faults = (*_sheets(facts), *_owed(facts), *_whole(facts))
    same = ", ".join(
        f"{number} {sheet.version}"
        for number, sheet in facts.workspace.artifacts.items()
        if number != _WHOLE and compare_sheet(facts.workspace, facts.lock, number).state == "same"
    )
    told = [f"as they were when their versions moved: {same}"] if same else []
    return Found(faults, tuple(told), firm=True)


def _sheets(facts: Facts) -> Iterator[str]:
    for number in sorted({*facts.workspace.artifacts, *facts.lock.sheets} - {_WHOLE}):
        sheet = facts.sheet(number)
        if sheet is not None and not sheet.version:
            yield f"{sheet.path}:{sheet.line_of('version')}: it has no version"
            continue
        told = compare_sheet(facts.workspace, facts.lock, number)
        where = f"sheet {number}" if sheet is None else f"{sheet.path}:{sheet.line_of('version')}"
        keys = ", ".join(dict.fromkeys(each.key for each in told.found))
        if told.state == "new":
            yield f"{where}: it is in no lock yet: twice spec bump"
        elif told.state == "gone":
            yield f"{where}: it is gone since version {told.locked}"
        elif told.state == "changed":
            yield f"{where}: {keys} changed, and the version is still {told.version}: twice spec bump {number}"
        elif told.state == "bumped":
            step = "is too small a step" if not told.is_honest else "is not in the lock"
            yield f"{where}: {keys} changed, and {told.locked} to {told.version} {step}; needed is a {told.needed.word} one"


def _owed(facts: Facts) -> Iterator[str]:
    for each in facts.lock.owed:
        yield f"sheet {each.sheet} has to be written anew because {each.because} changed: {each.what}"


def _shown(facts: Facts) -> Found:
    """Judge what was laid down from the sheets: code that is behind them is owed like a sheet."""
    regions = there(facts.laid)
    faults = []
    for each in regions:
        if each.moved and not each.holds:
            said = f"was made of {', '.join(each.moved)}, which changed since: twice scaffold NAME"
        else:
            said = f"is {each.state}: twice scaffold NAME --replace lays it anew, --eject {each.path} keeps yours"
        if not each.holds:
            faults.append(f"{each.path}: what the scaffold laid down {said}")
    if not regions:
        return Found()
    seen = f"{len(regions)} files of the scaffold, {len(faults)} not as the sheets say"
    return Found(tuple(faults), (seen,), firm=True)


def _whole(facts: Facts) -> Iterator[str]:
    whole = facts.sheet(_WHOLE)
    if whole is None:
        return
    if not whole.said("rule"):
        yield f"{whole.path}:{whole.line_of('rule')}: nobody said how versions move"
    for row in whole.rows("sheets"):
        sheet = facts.sheet(str(row.get("id")))
        if sheet is None or sheet.version != row.get("version"):
            continue  # An older state of the whole: consolidating comes after the gate.
        if row.get("digest") != str(sheet.digest()):
            where = f"{whole.path}:{whole.line_of('sheets')}"
            yield f"{where}: {sheet.number} {sheet.version} says something else than when it was consolidated"


CHECK: Final = Check(
    9,
    "Versioning rule",
    "Does every change move a version as far as it has to, and is nothing owed, in sheets and scaffolded code?",
    ("99", "01"),
    ("laid",),
    _said,
    _shown,
    is_waivable=False,
)
