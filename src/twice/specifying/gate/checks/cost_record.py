"""Check 17: what determinism costs was measured, and what lies outside of the promise is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, gaps, place, shortened
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found

_CROSSES_AS: Final = frozenset({"effect", "input"})


def _said(facts: Facts) -> Found:
    found, sheet = gaps(facts, "13"), facts.sheet("13")
    if sheet is None or found.faults:
        return found
    return found + Found(tuple(_boundary(facts, sheet)))


def _boundary(facts: Facts, sheet: Artifact) -> Iterator[str]:
    where = place(facts, "13", "boundary")
    for row in sheet.rows("boundary"):
        words = set(str(row.get("crosses_as", "")).lower().replace(":", " ").split())
        if not words & _CROSSES_AS:
            said = row.get("crosses_as")
            yield f"{where}: {row.get('what')} crosses as {said!r}; what crosses is an effect or an input"


def _shown(facts: Facts) -> Found:
    sheet, costs = facts.sheet("13"), there(facts.costs)
    if sheet is None:
        return Found()
    faults = [*_measured(facts, sheet), *_of_this_program(facts, sheet)]
    if costs.changed:
        where = place(facts, "13", "measured")
        faults.append(f"{where}: measured on other code: {shortened(costs.changed)} differ since")
    budget, total = sheet.get("budget_percent"), costs.total_percent
    if total is None:
        faults.append(f"{place(facts, '13', 'measured')}: {sheet.said('measured')} holds no total")
    elif costs.result == "breach" and costs.budget_percent in {None, budget}:
        where = place(facts, "13", "measured")
        faults.append(f"{where}: twice cost found the budget broken: {sheet.said('breach')}")
    elif isinstance(budget, int) and total > budget:
        where = place(facts, "13", "budget_percent")
        faults.append(
            f"{where}: a recorded run is {total:g} % slower, and {budget} % was agreed: {sheet.said('breach')}"
        )
    count = sum("performance" in figures for figures in costs.rules.values())
    evidence = (
        f"{count} rules measured in {sheet.said('measured')}",
        f"how much slower a recorded run may be, as agreed: {budget} %",
    )
    return Found(tuple(faults), evidence)


def _of_this_program(facts: Facts, sheet: Artifact) -> Iterator[str]:
    """Hold what was measured against what is specified."""
    costs, scope, trial = there(facts.costs), facts.sheet("00"), facts.trial
    where, named = place(facts, "13", "measured"), sheet.said("measured")
    program = scope.said("program") if scope else ""
    if program and costs.program != program:
        yield f"{where}: {named} is of {costs.program or 'no program'}, and 00 specifies {program}"
    if not costs.code:
        yield f"{where}: {named} names no code that it was measured on"
    elif not isinstance(trial, Unavailable):
        missing = [each for each in trial.files if each not in costs.code]
        if missing:
            yield f"{where}: {named} was measured without {shortened(missing)}, which the trial executed"
    if not costs.result:
        yield f"{where}: {named} does not say what became of the budget"


def _measured(facts: Facts, sheet: Artifact) -> Iterator[str]:
    """Hold the rules that the sheet names against those of the measurement, which alone has figures."""
    costs, where = there(facts.costs), place(facts, "13", "rules")
    excused = {each.partition(":")[0].strip() for each in sheet.listed("unmeasured")}
    named = [str(row.get("rule")) for row in sheet.rows("rules")]
    for rule in named:
        if rule not in costs.rules and rule not in excused:
            yield f"{where}: the cost of {rule!r} is in no measurement: it was guessed"
    for rule, figures in costs.rules.items():
        if "performance" in figures and rule not in named:
            yield f"{where}: {rule!r} was measured, and sheet 13 does not name it"


CHECK: Final = Check(
    17,
    "Cost record",
    "Was each rule's cost measured, is the budget kept, and does what is outside come in as effect or input?",
    ("13",),
    ("costs",),
    _said,
    _shown,
    wants=("trial",),
)
