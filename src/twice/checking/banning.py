"""The rule for names that a project does not want: they, the reasons and severities are its own.

It looks at calls, and at attributes that are passed on without being called.

Invariant: without bans in the configuration it is not looked with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.catalogue.own import BANNED as GROUP
from twice.checking.findings import Found
from twice.checking.housekeeping import BANNED_NAME
from twice.checking.rule import Rule
from twice.checking.syntax.module import Site


def look(site: Site) -> Iterator[Found]:
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
    yield site.found(
        BANNED_NAME.name,
        f"{name} {shown}, and it is banned here.",
        f"The project says: {notes[name].rstrip('.')}.",
        confidence=1.0,
    )


BANNED: Final = Rule(
    name=BANNED_NAME.name,
    channel=BANNED_NAME.channel,
    breaks=BANNED_NAME.breaks,
    severity=BANNED_NAME.severity,
    remedy=BANNED_NAME.remedy,
    page=BANNED_NAME.page,
    calls=(GROUP,),
    nodes=(ast.Attribute,),
    look=look,
)
