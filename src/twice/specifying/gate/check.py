"""What a check of the gate is, and what checks share: looking up what a sheet does not say.

Invariant: a check is a pure function of the facts, and names the sheets and the evidence it looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from twice.specifying.gate.facts import Facts
from twice.specifying.gate.outcome import Found
from twice.specifying.schema import COMMON
from twice.specifying.tiers import Trait, may_be_memo


def nothing(facts: Facts) -> Found:
    """Find nothing: a check that has only one side."""
    del facts
    return Found()


def always(facts: Facts) -> str:
    """Apply to every system."""
    del facts
    return ""


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Args:
        id: its number, 1 to 17.
        title: for people.
        question: what it answers.
        sheets: the sheets it judges; a waiver of it stands in the first.
        needs: kinds of evidence, by their names in ``Facts``.
        said: judges what the sheets say.
        shown: judges the evidence; called when everything it needs is there.
        precondition: why the check is not about this system; "" when it is.
        is_waivable: whether a waiver helps.
        wants: kinds of evidence that it looks at where they are there.
    """

    id: int
    title: str
    question: str
    sheets: tuple[str, ...]
    needs: tuple[str, ...]
    said: Callable[[Facts], Found]
    shown: Callable[[Facts], Found] = nothing
    precondition: Callable[[Facts], str] = always
    is_waivable: bool = True
    wants: tuple[str, ...] = ()


_COMMON = frozenset(item.key for item in COMMON)


def place(facts: Facts, number: str, key: str) -> str:
    """Give ``file:line`` of a key."""
    sheet = facts.sheet(number)
    assert sheet is not None, "a place is given of a sheet that is there"
    return f"{sheet.path}:{sheet.line_of(key)}"


def gaps(facts: Facts, number: str, *, but: Collection[str] = ()) -> Found:
    """Find what a sheet has to say of its own and does not; common keys belong to check 1.

    Args:
        facts: what is known.
        number: the sheet.
        but: keys that another check asks for.
    """
    sheet = facts.sheet(number)
    if sheet is None:
        return Found(open=(f"sheet {number} is not there; see check 1",))
    if sheet.is_memo and may_be_memo(number, facts.tier):
        return Found(evidence=(f"{sheet.path} is one page, which does at tier {facts.tier}",))
    wrong = tuple(
        f"{sheet.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"
        for gap in sheet.gaps(facts.situation)
        if gap.key not in _COMMON and gap.key not in but
    )
    said = () if wrong else (f"sheet {number} says what tier {facts.tier} asks for",)
    return Found(wrong, said)


def absent(facts: Facts, trait: Trait) -> str:
    """Give the reason for which a system has not something, as sheet 00 says it; "" where it gives none."""
    why = _why(facts, trait)
    if facts.situation.traits.get(trait) is not False or not why:
        return ""
    return f"by sheet 00 the system has no {trait}: {why}"


def unexplained(facts: Facts, trait: Trait) -> Found:
    """Find that a system is said not to have something, and that nobody said why."""
    if facts.situation.traits.get(trait) is not False or _why(facts, trait):
        return Found()
    where = place(facts, "00", "traits")
    return Found(open=(f"{where}: by sheet 00 the system has no {trait}, without a reason",))


def _why(facts: Facts, trait: Trait) -> str:
    scope = facts.sheet("00")
    rows = scope.rows("traits") if scope else []
    return next((str(row.get("why", "")) for row in rows if row.get("name") == trait), "")


def shortened(many: Collection[str], most: int = 4) -> str:
    """Join some texts; of many, the first and how many more."""
    listed = list(many)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return "; ".join(listed[:most]) + more


def outside(facts: Facts, number: str, key: str, files: Collection[str]) -> list[str]:
    """Tell of executed files that a sheet does not have read: what is left out could hold anything."""
    sheet = facts.sheet(number)
    folders = sheet.listed(key) if sheet else []
    where = f"{sheet.path}:{sheet.line_of(key)}" if sheet else number
    return [
        f"{where}: the run executed {each}, which is not in {key}"
        for each in files
        if not within(each, folders)
    ]


def within(path: str, folders: Collection[str]) -> bool:
    """Whether a path is, or lies in, one of some files and folders of the project."""
    tops = [each.removeprefix("./").rstrip("/") for each in folders]
    return any(top in {"", "."} or path == top or path.startswith(f"{top}/") for top in tops)
