"""The rule for names that a project does not want: they, the reasons and severities are its own.

It looks at calls, and at attributes that are passed on without being called.

Invariant: without bans in the configuration it is not looked with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.catalogue.own import BANNED as GROUP
from twice.checker.findings import Violation
from twice.checker.housekeeping import BANNED_NAME
from twice.checker.rule import Rule
from twice.checker.syntax.module import Site


def look(site: Site) -> Iterator[Violation]:
    """Look at a call, or at a name that is passed on."""
    node = site.node
    if isinstance(node, ast.Call):
        name, shown = site.called, "is called"
    else:
        around = site.module.survey.parents.get(node)
        if isinstance(around, ast.Call) and around.func is node:
            return  # The call says it.
        name, shown = site.qualified(node), "is used"
    notes = site.catalogue.names(GROUP)
    if name is None or name not in notes:
        return
    yield site.violation(
        f"{name} {shown}, and it is banned here.",
        f"The project says: {notes[name].rstrip('.')}.",
        confidence=1.0,
    )


BANNED: Final = Rule(BANNED_NAME.facts, calls=(GROUP,), nodes=(ast.Attribute,), look=look)
