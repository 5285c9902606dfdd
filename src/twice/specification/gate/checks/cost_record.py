"""Check 17: what determinism costs was measured, and what lies outside of the promise is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specification.gate.evidence.costs import Costs
from twice.specification.gate.model import (
    GateFacts,
    Observed,
    check,
    is_complete,
    optional,
    require,
    shorten,
)
from twice.specification.sheet import Sheet

_CROSSES_AS: Final = frozenset({"effect", "input"})


@check(17, "Cost record", "13", needs=("costs",), wants=("trial",))
def check_cost_record(facts: GateFacts) -> Iterator[str]:
    """Was each rule's cost measured, is the budget kept, and does what is outside come in as effect or input?"""
    sheet, gaps = facts.workspace.get("13"), facts.find_gaps("13")
    yield from gaps
    if sheet is None:
        return
    for row in sheet.rows("boundary") if is_complete(gaps) else ():
        words = set(str(row.get("crosses_as", "")).lower().replace(":", " ").split())
        if not words & _CROSSES_AS:
            crosses = f"{row.get('what')} crosses as {row.get('crosses_as')!r}"
            yield facts.tell("13", "boundary", f"{crosses}; what crosses is an effect or an input")
    costs, named = require(facts.costs), sheet.text("measured")
    yield from (facts.tell("13", "rules", each) for each in _compare_rules(costs, sheet))
    for each in _compare_program(facts, costs, named):
        yield facts.tell("13", "measured", each)
    budget, total = sheet.get("budget_percent"), costs.total_percent
    if total is None:
        yield facts.tell("13", "measured", f"{named} holds no total")
    elif costs.result == "breach" and costs.budget_percent in {None, budget}:
        broken = f"twice cost found the budget broken: {sheet.text('breach')}"
        yield facts.tell("13", "measured", broken)
    elif isinstance(budget, int) and total > budget:
        agreed = f"{budget} % was agreed: {sheet.text('breach')}"
        slower = f"a recorded run is {total:g} % slower, and {agreed}"
        yield facts.tell("13", "budget_percent", slower)
    yield Observed(f"{sum(costs.rules.values())} rules measured in {named}")
    yield Observed(f"how much slower a recorded run may be, as agreed: {budget} %")


def _compare_rules(costs: Costs, sheet: Sheet) -> Iterator[str]:
    """Compare the rules that the sheet names with those of the measurement, which alone has figures."""
    excused = {each.partition(":")[0].strip() for each in sheet.strings("unmeasured")}
    named = [str(row.get("rule")) for row in sheet.rows("rules")]
    for rule in named:
        if rule not in costs.rules and rule not in excused:
            yield f"the cost of {rule!r} is in no measurement: it was guessed"
    for rule, is_measured in costs.rules.items():
        if is_measured and rule not in named:
            yield f"{rule!r} was measured, and sheet 13 does not name it"


def _compare_program(facts: GateFacts, costs: Costs, named: str) -> Iterator[str]:
    """Hold what was measured against what is specified, and against the code as it is."""
    trial, program = optional(facts.trial), facts.workspace.text("00", "program")
    if program and costs.program != program:
        yield f"{named} is of {costs.program or 'no program'}, and 00 specifies {program}"
    missing = [each for each in trial.files if each not in costs.code] if trial else []
    if not costs.code:
        yield f"{named} names no code that it was measured on"
    elif missing:
        yield f"{named} was measured without {shorten(missing)}, which the trial executed"
    if not costs.result:
        yield f"{named} does not say what became of the budget"
    if costs.changed:
        yield f"measured on other code: {shorten(costs.changed)} differ since"
