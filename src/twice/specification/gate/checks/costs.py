"""Check 17: costs were measured, and nothing came about that brings them up again.

Invariant: a trigger that passed says what came about, and what is done then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from twice.foundation.printable import pluralize
from twice.specification.gate.model import (
    GateFacts,
    Observed,
    Undecided,
    check,
    is_complete,
    optional,
    require,
    shorten,
)
from twice.specification.sheet import Sheet

_CROSSES_AS: Final = frozenset({"effect", "input"})


def find_due(sheet: Sheet, today: date) -> Iterator[tuple[str, str]]:
    """Yield the days of sheet 13 that are gone by: the key, and what is to be done."""
    for row in sheet.rows("reevaluate"):
        if "by" in row and date.fromisoformat(str(row["by"])) < today:
            passed = f"the costs were to be looked at again by {row['by']}"
            yield "reevaluate", f"{passed}: {_say_remedy(row)}"
    for row in sheet.rows("relaxations"):
        if "until" in row and date.fromisoformat(str(row["until"])) < today:
            ended = f"{row.get('rule')} was relaxed for {row.get('part')} until {row['until']}"
            yield "relaxations", f"{ended}: hold it again and remove the row, or give another day"


def _say_remedy(row: Mapping[str, object]) -> str:
    return f"{row.get('do', 'decide anew')}, then change the row of reevaluate"


def _judge_versions(facts: GateFacts) -> Iterator[str]:
    """Yield the libraries of 13.reevaluate of which another version is installed."""
    rows = facts.workspace.rows("13", "reevaluate")
    pinned = [row for row in rows if {"library", "version"} <= row.keys()]
    installed = optional(facts.installed)
    if installed is None:
        yield from [Undecided("nobody looked which libraries are installed")] * bool(pinned)
        return
    for row in pinned:
        name, now = str(row["library"]), installed.get(str(row["library"])) or "not installed"
        if now != row["version"]:
            moved = f"{name} was {row['version']} when the costs were decided, and is {now}"
            yield facts.tell("13", "reevaluate", f"{moved}: {_say_remedy(row)}")


@check(17, "Cost record", "13", needs=("costs",), wants=("trial", "installed"))
def check_cost_record(facts: GateFacts) -> Iterator[str]:
    """Check each rule's measured cost and the budget; outside data must be effects or inputs."""
    sheet, gaps = facts.workspace.get("13"), facts.find_gaps("13")
    yield from gaps
    if sheet is None:
        return
    yield from (facts.tell(sheet.number, key, told) for key, told in find_due(sheet, facts.today))
    yield from _judge_versions(facts)
    for row in sheet.rows("boundary") if is_complete(gaps) else ():
        words = set(str(row.get("crosses_as", "")).lower().replace(":", " ").split())
        if not words & _CROSSES_AS:
            crosses = f"{row.get('what')} crosses as {row.get('crosses_as')!r}"
            yield facts.tell("13", "boundary", f"{crosses}; what crosses is an effect or an input")
    costs, named = require(facts.costs), sheet.text("measured")
    excused = {each.partition(":")[0].strip() for each in sheet.strings("unmeasured")}
    rules = [str(row.get("rule")) for row in sheet.rows("rules")]
    for rule in rules:
        if rule not in costs.rules and rule not in excused:
            guessed = f"the cost of {rule!r} is in no measurement: it was guessed"
            yield facts.tell("13", "rules", guessed)
    for rule, is_measured in costs.rules.items():
        if is_measured and rule not in rules:
            unnamed = f"{rule!r} was measured, and sheet 13 does not name it"
            yield facts.tell("13", "rules", unnamed)
    found: list[str] = []
    trial, program = optional(facts.trial), facts.workspace.text("00", "program")
    missing = [each for each in trial.files if each not in costs.code] if trial else []
    if program and costs.program != program:
        found.append(f"{named} is of {costs.program or 'no program'}, and 00 specifies {program}")
    if not costs.code:
        found.append(f"{named} names no code that it was measured on")
    elif missing:
        found.append(f"{named} was measured without {shorten(missing)}, which the trial executed")
    if not costs.result:
        found.append(f"{named} does not say what became of the budget")
    if costs.changed:
        found.append(f"measured on other code: {shorten(costs.changed)} differ since")
    yield from (facts.tell("13", "measured", each) for each in found)
    budget, total = sheet.get("budget_percent"), costs.total_percent
    if total is None:
        yield facts.tell("13", "measured", f"{named} holds no total")
    elif costs.result == "breach" and costs.budget_percent in {None, budget}:
        broken = f"twice cost found the budget broken: {sheet.text('breach')}"
        yield facts.tell("13", "measured", broken)
    elif isinstance(budget, int) and total > budget and costs.result == "unknown":
        yield Undecided(f"{named} says that its percentages tell nothing: measure a longer run")
    elif isinstance(budget, int) and total > budget:
        agreed = f"{budget} % was agreed: {sheet.text('breach')}"
        slower = f"a recorded run is {total:g} % slower, and {agreed}"
        yield facts.tell("13", "budget_percent", slower)
    for row in sheet.rows("reevaluate"):
        most = row.get("over_percent")
        if isinstance(most, int) and total is not None and total > most:
            over = f"a recorded run is {total:g} % slower, over {most} %, which brings the costs up again"
            yield facts.tell("13", "reevaluate", f"{over}: {_say_remedy(row)}")
    yield Observed(f"{pluralize(sum(costs.rules.values()), 'rule')} measured in {named}")
    yield Observed(f"how much slower a recorded run may be, as agreed: {budget} %")
