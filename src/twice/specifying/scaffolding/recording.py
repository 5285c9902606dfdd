"""The arguments of ``twice record`` that make the run of a specification.

Invariant: an argument stands here only where a sheet says it.
"""

from __future__ import annotations

import re
from typing import Final

from twice.foundation.digests import Algorithm
from twice.recording.surroundings import THREAD_CAPS
from twice.specifying.scaffolding.facts import Facts

_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")


def recording(facts: Facts) -> tuple[str, ...]:
    """Give the arguments, ``record`` first."""
    arguments = ["record", facts.text("00", "program"), "--seed", str(facts.whole("00", "seed"))]
    for each in facts.listed("00", "config"):
        arguments += ["--set", each]
    arguments += _promise(facts)
    for option, sheet, key in (
        ("--compare", "05", "granularity"),
        ("--snapshots", "04", "cadence"),
        ("--strategy", "04", "strategy"),
    ):
        said = facts.text(sheet, key)
        arguments += [option, said] if said else []
    digest = facts.text("05", "hash")
    if digest in tuple(Algorithm):
        arguments += ["--digest", digest]
    for name, value in environment(facts).items():
        arguments += ["--env", f"{name}={value}"]
    return tuple(arguments)


def _promise(facts: Facts) -> list[str]:
    arguments: list[str] = []
    said = facts.text("01", "class")
    if said:
        arguments += ["--class", said]
    for row in facts.rows("01", "subsystems"):
        arguments += ["--class", f"{row['name']}={row['class']}"]
    scope = facts.text("01", "scope")
    arguments += ["--scope", scope] if scope else []
    measure = facts.text("01", "measure")
    if said == "logical" and measure not in {"", "exact"}:
        arguments += ["--measure", measure, "--epsilon", facts.text("01", "epsilon")]
    if said != "statistical":
        return arguments
    for option, key in (("--summary", "summary"), ("--test", "test"), ("--epsilon", "epsilon")):
        arguments += [option, facts.text("01", key)]
    return [
        *arguments,
        "--n",
        str(facts.whole("01", "seeds")),
        "--power",
        facts.text("01", "power"),
    ]


def environment(facts: Facts) -> dict[str, str]:
    """Give the variables that 08 and 09 pin, by name."""
    threads = facts.whole("08", "threads")
    pinned = {} if threads is None else dict.fromkeys(THREAD_CAPS, str(threads))
    switches = {str(row.get("name")): str(row.get("value")) for row in facts.rows("09", "knobs")}
    pinned |= {name: value for name, value in switches.items() if _VARIABLE.fullmatch(name)}
    return dict(sorted(pinned.items()))


def switches(facts: Facts) -> dict[str, str]:
    """Give the switches of 09 that are no variables, by name."""
    rows = facts.rows("09", "knobs")
    named = {str(row.get("name")): str(row.get("value")) for row in rows}
    return {name: value for name, value in named.items() if not _VARIABLE.fullmatch(name)}
