"""A clock's time reaches what the run computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules import lasting
from twice.checker.rules.default_argument_clock import frozen
from twice.checker.rules.measuring import (
    is_handed_in,
    is_named_span,
    is_presence,
    is_span,
    is_steady,
    measures,
    starts,
)
from twice.checker.rules.roles import advances
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import NAMING, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "clock"
_MOMENTS: Final = frozenset(
    [
        "time",
        "start",
        "started",
        "began",
        "begin",
        "stamp",
        "timestamp",
        "date",
        "created",
        "clock",
        "last",
        "previous",
        "prev",
    ]
)
_WINDOWS: Final = frozenset({"Tkinter", "tkinter", "wx", "PyQt5", "PyQt6", "PySide2", "PySide6"})
"""Packages of windows: what a program shows there goes by the time at which people see it."""
_AROUND: Final = frozenset(
    [
        "finish",
        "finished",
        "completed",
        "ended",
        "start",
        "started",
        "begin",
        "began",
        "visit",
        "accessed",
    ]
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a reading of a clock."""
    outcome = _reached(site)
    if outcome is not None and not lasting.attribute_of(outcome, _MOMENTS):
        yield _found(site, outcome)


def gather(module: Module) -> dict[str, Any] | None:
    """Give the readings that end in an attribute, and what the file does with such attributes."""
    return lasting.gathered(module, "clock", _MOMENTS, _reached, _found)


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report the readings that end in attributes, by what all files do with those."""
    return lasting.weighed(facts)


def _found(site: Site, outcome: Outcome) -> Violation:
    return site.found(
        NAME,
        f"{site.called}() reads a clock.",
        "Two runs read two times.",
        outcome=outcome,
        confidence=0.8,
    )


def _reached(site: Site) -> Outcome | None:
    """Give where a reading of a clock ends; None where nothing is to be said of it."""
    if site.call.args and site.called != "datetime.datetime.now" and not _is_now(site):
        return None  # strftime and the like of a time that is given
    if frozen(site) is not None or starts(site):
        return None  # default-argument-clock says the first.
    aside = measures(site)
    if aside and not _is_step(site):
        return None
    outcome = _outcome(site)
    if aside and outcome.use is not Use.RETURNED:
        return None
    if outcome.use is Use.SEED:
        return None  # time-seed says it.
    if is_handed_in(site) or not site.module.imported.isdisjoint(_WINDOWS):
        return Outcome(min(outcome.use, Use.UNSEEN), outcome.node, outcome.way)
    return outcome


def _is_step(site: Site) -> bool:
    """Whether it is a step's: what that returns is the run's, whatever its class is called."""
    function = site.scope.method
    return function is not None and function.name in {"step", "reset"}


def _is_now(site: Site) -> bool:
    """Whether what is called gives the present in spite of its arguments: a zone, a format."""
    called = site.called or ""
    if called == "time.strftime":
        return len(site.call.args) == 1
    return called not in {"time.gmtime", "time.localtime", "time.ctime", "time.asctime"}


def _outcome(site: Site) -> Outcome:
    """Where the time ends; a duration that says that it is one, or a decision by the time, is quieter."""
    span, steady = is_span(site), is_steady(site.called)
    function = site.scope.method
    decides = function is not None and advances(function.name) and not span and not steady
    quieter = []
    for each in site.ends():
        use = Use.DROPPED if is_presence(each) else each.use
        if span and is_named_span(site, each):
            use = min(use, Use.TELEMETRY)
        elif (
            (use is Use.BRANCH and not (decides and _is_direct(each)))
            or (use is Use.RETURNED and _is_stamp(site, each))
            or (use in {Use.RETURNED, Use.STATE} and _is_in_a_name(site, each))
            or (use <= Use.STORED and _says_when_it_was(each))
        ):
            use = min(use, Use.UNSEEN)
        elif steady and not span and use in {Use.STATE, Use.RETURNED, Use.KEY}:
            use = Use.TIMING  # A mark to measure from: it tells nothing by itself.
        quieter.append(replace(each, use=use))
    return gravest(quieter, Outcome(Use.UNSEEN, site.node))


def _is_direct(outcome: Outcome) -> bool:
    """Whether it decides where it is read: what is kept meets a later reading, found itself."""
    return not any(isinstance(each, ast.Attribute) for each in outcome.way)


def _is_stamp(site: Site, outcome: Outcome) -> bool:
    """Whether a function gives the date as a text and nothing else: for names, mostly."""
    returned = getattr(outcome.node, "value", None)
    if site.scope.parent is not None and isinstance(returned, (ast.Tuple, ast.Dict, ast.List)):
        return False
    module = site.module
    return any("strftime" in module.statement_text(each) for each in (*outcome.way, outcome.node))


def _is_in_a_name(site: Site, outcome: Outcome) -> bool:
    """Whether a time is put into a text beside other text, or behind what is called a name."""
    survey = site.module.survey
    node = outcome.node
    if isinstance(node, ast.Attribute) and about(node.attr, NAMING):
        return True
    for each in (*outcome.way, node):
        for inner in ast.walk(survey.statement(each)):
            if _has_own_text(inner) and _holds(inner, outcome):
                return True
    return False


def _has_own_text(node: ast.AST) -> bool:
    """Whether it is a formatted text with more in it than the value alone."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.Constant) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    func = node.func if isinstance(node, ast.Call) else None
    return (
        isinstance(func, ast.Attribute)
        and func.attr == "format"
        and isinstance(func.value, ast.Constant)
    )


def _holds(text: ast.AST, outcome: Outcome) -> bool:
    """Whether a value passed through a text: its source, or a name that it got, stands in it."""
    passed = {each.id for each in outcome.way if isinstance(each, ast.Name)}
    return any(
        inner is outcome.way[0] or (isinstance(inner, ast.Name) and inner.id in passed)
        for inner in ast.walk(text)
    )


def _says_when_it_was(outcome: Outcome) -> bool:
    """Whether it is an entry beside results that says when work on them began or ended, or who looked last."""
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and about(each.value, _AROUND)
        for each in outcome.way
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Take the time from the run (run.effects.clock, a tick counter), or record the read.",
        __doc__ or "",
    ),
    calls=("clock",),
    look=look,
    gather=gather,
    conclude=conclude,
)
