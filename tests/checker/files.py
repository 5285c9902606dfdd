"""What the rules find of weight in the text of one file or of several."""

from __future__ import annotations

from collections.abc import Mapping

from twice.checker.analyzer import analyze_file
from twice.checker.catalogue import shipped
from twice.checker.driver import judge
from twice.checker.policy import Policy
from twice.checker.rules.engine import every_rule, index
from twice.foundation.severity import Severity

INDEX = index(every_rule(), shipped())


def found(text: str | Mapping[str, str], path: str = "sim/core.py") -> dict[str, Severity]:
    """Return the rules with findings of medium or above, with their highest severity."""
    files = {path: text} if isinstance(text, str) else text
    looked = {
        name: analyze_file(name, one, package="sim", index=INDEX, catalogue=shipped(), follows=True)
        for name, one in files.items()
    }
    weighed: dict[str, Severity] = {}
    for each in judge(looked, Policy()):
        rule = each.found.rule
        weighed[rule] = max(each.severity, weighed.get(rule, Severity.INFORMATIONAL))
    return {rule: severity for rule, severity in weighed.items() if severity > Severity.LOW}
