"""The findings of weight and the audits of the text of one file or of several."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping

from twice.checker.analyzer import analyze_file
from twice.checker.audits.audit import Audit
from twice.checker.catalogue import shipped
from twice.checker.driver import Checked, judge
from twice.checker.policy import Policy
from twice.checker.rules.engine import every_rule, index
from twice.foundation.severity import Severity

INDEX = index(every_rule(), shipped())


def found(text: str | Mapping[str, str], path: str = "sim/core.py") -> dict[str, Severity]:
    """Return the rules with findings of medium or above, with their highest severity."""
    weighed: dict[str, Severity] = {}
    for (_, rule), severity in places({path: text} if isinstance(text, str) else text).items():
        weighed[rule] = max(severity, weighed.get(rule, Severity.INFORMATIONAL))
    return weighed


def places(files: Mapping[str, str]) -> dict[tuple[str, str], Severity]:
    """Return the files and rules with findings of medium or above, with their highest severity."""
    looked = {
        name: analyze_file(name, one, package="sim", index=INDEX, catalogue=shipped(), follows=True)
        for name, one in files.items()
    }
    weighed: dict[tuple[str, str], Severity] = {}
    for each in judge(looked, Policy()):
        key = each.path, each.found.rule
        weighed[key] = max(each.severity, weighed.get(key, Severity.INFORMATIONAL))
    return {key: severity for key, severity in weighed.items() if severity > Severity.LOW}


def audit_of(files: Mapping[str, str]) -> Audit:
    """Return the audits of files, named without their ending, from facts as a cache gives them back."""
    results = {}
    for name, text in files.items():
        folder = name.rpartition("/")[0]
        package = folder.replace("/", ".") if f"{folder}/__init__" in files else ""
        results[f"{name}.py"] = analyze_file(
            f"{name}.py", textwrap.dedent(text), package=package, index=INDEX, catalogue=shipped(),
            follows=True,
        )  # fmt: skip
    facts = json.loads(json.dumps({path: each.facts for path, each in results.items()}))
    return Audit.from_check(
        Checked((), len(files), 0, results=results, facts=lambda: facts), Policy()
    )
