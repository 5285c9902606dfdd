"""What goes into the suite of properties: which of them, on which configurations.

Generators are read from 12 where they are written as ranges, ``n=1..50, ticks=2..8``; a key without a
range keeps the value that 00 gives it.

Invariant: nothing is drawn that no sheet names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Final

from twice.specifying.scaffolding.facts import Facts
from twice.specifying.scaffolding.literals import literal, shown
from twice.specifying.scaffolding.piece import Piece
from twice.specifying.scaffolding.places import TESTS, Places
from twice.specifying.scaffolding.regions import Layer, Mode

_RANGE: Final = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_STRATEGIES: Final = {"lockstep": "A", "recorded-schedule": "B", "schedule-independent": "C"}


def _properties(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    config: dict[str, str] = {}
    for each in facts.listed("00", "config"):
        key, _, said = each.partition("=")
        config[key.strip()] = literal(_value(said.strip()))
    ranges = _ranges(facts.text("12", "generators"))
    config |= {key: f"st.integers({low}, {high})" for key, (low, high) in ranges.items()}
    names = tuple(each.replace("-", "_") for each in facts.listed("12", "properties"))
    claimed = {str(row.get("strategy")) for row in facts.rows("07", "subsystems")}
    letters = [letter for word, letter in _STRATEGIES.items() if word in claimed]
    program = literal(facts.text("00", "program"))
    arguments = [
        f"str(ROOT / {program})" if ".py:" in program else program,
        f"config={_config(config)}",
        f"tier={literal(facts.text('01', 'tier'))}",
        f"only={literal(names, before=79, depth=1)}",
        *([f"concurrency={literal(letters[-1])}"] if letters else []),
        f"examples_in=str(ROOT / {literal(facts.text('12', 'database'))})",
    ]
    given = "".join(f"    {each},\n" for each in arguments)
    stateful = [
        each for each in arguments if not each.startswith(("tier=", "only=", "concurrency="))
    ]
    sessions = "".join(f"    {each},\n" for each in stateful)
    return {
        "component": shown(facts.text("00", "component")),
        "imports": "\nfrom hypothesis import strategies as st" if ranges else "",
        "suite": f"TestDeterminism = properties.suite(\n{given})",
        "stateful": f"\nTestSessions = properties.stateful(\n{sessions})\n"
        if facts.flag("12", "stateful")
        else "",
    }


def _ranges(said: str) -> dict[str, tuple[int, int]]:
    """Read ranges; none where any part of the text is something else."""
    found = [_RANGE.fullmatch(each) for each in said.split(",")]
    named = {match[1]: (int(match[2]), int(match[3])) for match in found if match}
    whole = len(named) == len(found) and all(low <= high for low, high in named.values())
    return named if whole else {}


def _value(said: str) -> object:
    """Read a value as ``--set`` does: as TOML, else as text."""
    try:
        return tomllib.loads(f"value = {said}")["value"]
    except tomllib.TOMLDecodeError:
        return said


def _config(fields: Mapping[str, str]) -> str:
    """Write the strategy of configurations; keys with dots are maps in maps."""
    tree: dict[str, object] = {}
    for key, said in sorted(fields.items()):
        *outer, last = key.split(".")
        place = tree
        for each in outer:
            inner = place.setdefault(each, {})
            assert isinstance(inner, dict), "a key is a value or a map"
            place = inner
        place[last] = said
    lines = "".join(f"        {name}={_field(each)},\n" for name, each in tree.items())
    return f"strategies.config(\n{lines}    )" if tree else "strategies.config()"


def _field(each: object) -> str:
    if not isinstance(each, dict):
        return str(each)
    inner = ", ".join(f"{name}={_field(one)}" for name, one in each.items())
    return f"strategies.config({inner})"


PIECES: Final = (
    Piece(
        Layer.PROPERTIES,
        f"{TESTS}/test_determinism.py",
        "test_properties.py",
        _properties,
        mode=Mode.SHARED,
        name="properties",
    ),
    Piece(
        Layer.PROPERTIES,
        "{examples}/README.md",
        "examples.md",
        lambda _facts, _places: {},
        mode=Mode.ONCE,
    ),
)
"""The suite, and the folder that its counterexamples are kept in."""
