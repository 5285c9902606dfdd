"""Check 17: what determinism costs was measured, and what lies outside of the promise is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

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


@check(17, "Cost record", sheets=("13",), needs=("costs",), wants=("trial",))
def check_cost_record(facts: GateFacts) -> Iterator[str]:
    """Was each rule's cost measured, is the budget kept, and does what is outside come in as effect or input?"""
    spec, sheet, gaps = facts.workspace, facts.workspace.get("13"), facts.find_gaps("13")
    yield from gaps
    if sheet is None:
        return
    if is_complete(gaps):
        yield from _check_boundary(facts, sheet)
    costs, where = require(facts.costs), spec.place("13", "measured")
    yield from _compare_rules(facts, sheet)
    yield from _compare_program(facts, sheet)
    if costs.changed:
        yield f"{where}: measured on other code: {shorten(costs.changed)} differ since"
    budget, total = sheet.get("budget_percent"), costs.total_percent
    if total is None:
        yield f"{where}: {sheet.text('measured')} holds no total"
    elif costs.result == "breach" and costs.budget_percent in {None, budget}:
        yield f"{where}: twice cost found the budget broken: {sheet.text('breach')}"
    elif isinstance(budget, int) and total > budget:
        agreed = f"{budget} % was agreed: {sheet.text('breach')}"
        yield f"{spec.place('13', 'budget_percent')}: a recorded run is {total:g} % slower, and {agreed}"
    count = sum("performance" in figures for figures in costs.rules.values())
    yield Observed(f"{count} rules measured in {sheet.text('measured')}")
    yield Observed(f"how much slower a recorded run may be, as agreed: {budget} %")


def _check_boundary(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    where = facts.workspace.place("13", "boundary")
    for row in sheet.rows("boundary"):
        words = set(str(row.get("crosses_as", "")).lower().replace(":", " ").split())
        if not words & _CROSSES_AS:
            said = row.get("crosses_as")
            yield f"{where}: {row.get('what')} crosses as {said!r}; what crosses is an effect or an input"


def _compare_program(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    """Hold what was measured against what is specified."""
    costs, trial = require(facts.costs), optional(facts.trial)
    where, named = facts.workspace.place("13", "measured"), sheet.text("measured")
    program = facts.workspace.text("00", "program")
    if program and costs.program != program:
        yield f"{where}: {named} is of {costs.program or 'no program'}, and 00 specifies {program}"
    if not costs.code:
        yield f"{where}: {named} names no code that it was measured on"
    elif trial is not None:
        missing = [each for each in trial.files if each not in costs.code]
        if missing:
            yield f"{where}: {named} was measured without {shorten(missing)}, which the trial executed"
    if not costs.result:
        yield f"{where}: {named} does not say what became of the budget"


def _compare_rules(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    """Compare the rules that the sheet names with those of the measurement, which alone has figures."""
    costs, where = require(facts.costs), facts.workspace.place("13", "rules")
    excused = {each.partition(":")[0].strip() for each in sheet.strings("unmeasured")}
    named = [str(row.get("rule")) for row in sheet.rows("rules")]
    for rule in named:
        if rule not in costs.rules and rule not in excused:
            yield f"{where}: the cost of {rule!r} is in no measurement: it was guessed"
    for rule, figures in costs.rules.items():
        if "performance" in figures and rule not in named:
            yield f"{where}: {rule!r} was measured, and sheet 13 does not name it"
