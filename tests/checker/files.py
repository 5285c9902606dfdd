"""The findings and the audits of the text of one file or of several."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import dedent

from twice.checker.analyzer import analyze_file
from twice.checker.audits.audit import Audit
from twice.checker.catalogue import shipped
from twice.checker.driver import Checked, judge
from twice.checker.findings import FileResult, Finding
from twice.checker.policy import Policy
from twice.checker.rules.engine import every_rule, index
from twice.foundation.determinism_class import Scope
from twice.foundation.severity import Severity

INDEX = index(every_rule(), shipped())
STRICT = Policy(scope=Scope.CROSS_HOST)


def analyze(files: Mapping[str, str], package: str = "") -> dict[str, FileResult]:
    """Return the results of files, all of one package."""
    return {
        path: analyze_file(
            path, dedent(text), package=package, index=INDEX, catalogue=shipped(), follows=True
        )
        for path, text in files.items()
    }


def findings(
    given: str | Mapping[str, str],
    path: str = "example.py",
    *,
    package: str = "",
    policy: Policy = STRICT,
) -> tuple[Finding, ...]:
    """Return the findings of a check of one text or of files, under the strictest promise."""
    return judge(analyze({path: given} if isinstance(given, str) else given, package), policy)


def found(given: str | Mapping[str, str], path: str = "sim/core.py") -> dict[str, Severity]:
    """Return the rules with findings of medium or above, with their highest severity."""
    said = findings(given, path, package="sim", policy=Policy())
    ordered = sorted(said, key=lambda each: each.severity)
    return {each.found.rule: each.severity for each in ordered if each.severity > Severity.LOW}


def audit_of(files: Mapping[str, str]) -> Audit:
    """Return the audits of files, named without their ending, from facts as a cache gives them back."""
    results = {}
    for name, text in files.items():
        folder = name.rpartition("/")[0]
        package = folder.replace("/", ".") if f"{folder}/__init__" in files else ""
        results |= analyze({f"{name}.py": text}, package)
    facts = json.loads(json.dumps({path: each.facts for path, each in results.items()}))
    return Audit.from_check(
        Checked((), len(files), 0, results=results, facts=lambda: facts), Policy()
    )
