"""Sources of the tests, and of what calls them: the workflow, the hook, command files for coding agents.

Generators of configurations come from 12 if they are written as ranges, ``n=1..50, ticks=2..8``; a key
without a range keeps the value that 00 gives it.

Invariant: every test records the run of the specification itself, and none needs another.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from typing import Final

from twice.specifying.scaffold import package_sources
from twice.specifying.scaffold.lock import Layer
from twice.specifying.scaffold.package_sources import BRANCHING, READ_ONLY
from twice.specifying.scaffold.reader import SheetReader
from twice.specifying.scaffold.source import (
    TESTS,
    Places,
    Source,
    assign,
    fill,
    to_literal,
    to_quotable,
)

_RAW: Final = ("numpy", "python")  # kinds whose first draws are numbers of 64 bits
_RANGE: Final = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_STRATEGIES: Final = {"lockstep": "A", "recorded-schedule": "B", "schedule-independent": "C"}


def _only(*facts: str) -> Callable[[SheetReader, Places], Mapping[str, str]]:
    """Make a reader for a template that takes no values, and is made anew when a fact changes."""

    def read(reader: SheetReader, _: Places) -> Mapping[str, str]:
        for each in facts:
            reader.value(*each.split("."))
        return {}

    return read


def _conftest(reader: SheetReader, places: Places) -> Mapping[str, str]:
    reader.value("00", "sources")
    return {"below": f' / "{places.root}"' if places.root else ""}


def _seeds(reader: SheetReader, _: Places) -> Mapping[str, str]:
    kinds = reader.pairs("03", "slots", "stream", "kind")
    seeds = tuple(
        (row["master"], str(row["name"]), str(row["seed"])) for row in reader.rows("02", "vectors")
    )
    draws = tuple(
        (row["master"], str(row["stream"]), tuple(map(str, row["draws"])))
        for row in reader.rows("03", "vectors")
        if kinds.get(str(row["stream"])) in _RAW
    )
    kind = "Final[tuple[tuple[int, str, tuple[str, ...]], ...]]"
    return {
        "seeds": assign("SEEDS", seeds, "Final[tuple[tuple[int, str, str], ...]]"),
        "draws": assign("DRAWS", draws, kind) + "\n" if draws else "",
        "test_of_draws": fill("test_draws.py", {}) if draws else "",
    }


def _effects(reader: SheetReader, _: Places) -> Mapping[str, str]:
    reader.value("10", "inventory")
    accepted = reader.column("10", "accepted", "place")
    return {
        "audited": assign("AUDITED", reader.texts("10", "audit")),
        "accepted": assign("ACCEPTED", accepted, "Final[tuple[str, ...]]"),
    }


def _snapshots(reader: SheetReader, _: Places) -> Mapping[str, str]:
    restores = reader.text("04", "cadence") != "none"
    return {
        "imports": "import json\n" * restores + "import subprocess",
        "restores": fill("test_restores.py", {}) if restores else "",
    }


def _replay(reader: SheetReader, _: Places) -> Mapping[str, str] | None:
    claimed = set(reader.column("06", "operations", "operation"))
    tests = {
        "verify": {"verify"}, "read_only": READ_ONLY, "branching": BRANCHING, "rerun": {"rerun"},
    }  # fmt: skip
    filled = [fill(f"test_replay_{name}.py", {}) for name, of in tests.items() if claimed & of]
    return {"tests": "".join(filled)} if filled else None


def _vector(reader: SheetReader, _: Places) -> Mapping[str, str]:
    return {
        "vector": assign("VECTOR", reader.text("01", "vector")),
        "digest": assign("VECTOR_DIGEST", reader.text("01", "vector_digest")),
    }


def _properties(reader: SheetReader, _: Places) -> Mapping[str, str]:
    config: dict[str, str] = {}
    for each in reader.texts("00", "config"):
        key, _equals, said = each.partition("=")
        try:  # As TOML, else as text: so ``--set`` reads it.
            value = tomllib.loads(f"value = {said.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            value = said.strip()
        config[key.strip()] = to_literal(value)
    found = [_RANGE.fullmatch(each) for each in reader.text("12", "generators").split(",")]
    ranges = {match[1]: (int(match[2]), int(match[3])) for match in found if match}
    if len(ranges) < len(found) or any(low > high for low, high in ranges.values()):
        ranges = {}  # Prose: what it means, nobody can tell.
    config |= {key: f"st.integers({low}, {high})" for key, (low, high) in ranges.items()}
    names = tuple(each.replace("-", "_") for each in reader.texts("12", "properties"))
    claimed = reader.column("07", "subsystems", "strategy")
    letters = [letter for word, letter in _STRATEGIES.items() if word in claimed]
    program = to_literal(reader.text("00", "program"))
    fields = "".join(f"\n        {each}," for each in _write_config(config))
    fields += "\n    " * bool(fields)
    given = {
        "": f"str(ROOT / {program})" if ".py:" in program else program,
        "config=": f"strategies.config({fields})",
        "tier=": to_literal(reader.text("01", "tier")),
        "only=": to_literal(names, before=79, depth=1),
        "concurrency=": to_literal(letters[-1]) if letters else "",
        "examples_in=": f"str(ROOT / {to_literal(reader.text('12', 'database'))})",
    }
    lines = {name: f"    {name}{each},\n" for name, each in given.items() if each}
    stateful = "".join(lines[each] for each in ("", "config=", "examples_in="))
    has_sessions = reader.value("12", "stateful") is True
    return {
        "component": to_quotable(reader.text("00", "component")),
        "imports": "\nfrom hypothesis import strategies as st" if ranges else "",
        "suite": f"TestDeterminism = properties.suite(\n{''.join(lines.values())})",
        "stateful": f"\nTestSessions = properties.stateful(\n{stateful})\n" * has_sessions,
    }


def _write_config(fields: Mapping[str, str]) -> list[str]:
    """Write the arguments of ``strategies.config``; keys with dots become configurations in configurations."""
    groups: dict[str, dict[str, str]] = {}
    for key, said in sorted(fields.items()):
        outer, _, inner = key.partition(".")
        groups.setdefault(outer, {})[inner] = said
    return [
        f"{name}={group['']}"
        if "" in group
        else f"{name}=strategies.config({', '.join(_write_config(group))})"
        for name, group in groups.items()
    ]


def _ci(reader: SheetReader, _: Places) -> Mapping[str, str]:
    return {
        "sources": shlex.join(reader.texts("00", "sources")),
        "vector": shlex.quote(reader.text("01", "vector")),
    }


def _hook(reader: SheetReader, _: Places) -> Mapping[str, str]:
    checked = shlex.join(reader.texts("00", "sources"))
    return {"entry": json.dumps(f"python -m twice check {checked}", ensure_ascii=False)}


def _command(reader: SheetReader, _: Places) -> Mapping[str, str]:
    component = reader.text("00", "component")
    return {
        "component": to_quotable(component),
        "quoted": shlex.quote(component),
        "sources": shlex.join(reader.texts("00", "sources")),
        "arguments": "$ARGUMENTS",
    }


_TEST: Final = f"{TESTS}/test_determinism"
_SUITE: Final = f"{_TEST}.py"
_README: Final = "{examples}/README.md"
SOURCES: Final = (
    *package_sources.SOURCES,
    Source(Layer.BASE, f"{TESTS}/conftest.py", "conftest.py", _conftest, once=True),
    Source(Layer.SEEDS, f"{_TEST}_seeds.py", "test_seeds.py", _seeds),
    Source(Layer.EFFECTS, f"{_TEST}_effects.py", "test_effects.py", _effects),
    Source(Layer.SNAPSHOT, f"{_TEST}_snapshots.py", "test_snapshots.py", _snapshots),
    Source(Layer.COMPARE, f"{_TEST}_compare.py", "test_compare.py", _only("05.granularity")),
    Source(Layer.REPLAY, f"{_TEST}_replay.py", "test_replay.py", _replay),
    Source(Layer.REPLAY, f"{_TEST}_vector.py", "test_vector.py", _vector),
    Source(
        Layer.POLICIES, f"{_TEST}_policies.py", "test_policies.py", _only("08.pins", "09.knobs")
    ),
    Source(Layer.PROPERTIES, _SUITE, "test_properties.py", _properties),
    Source(Layer.PROPERTIES, _README, "examples.md", _only(), once=True),
    Source(Layer.CI, ".github/workflows/determinism.yml", "workflow.yml", _ci),
    Source(Layer.CI, ".pre-commit-config.yaml", "pre_commit.yaml", _hook, once=True),
    Source(Layer.CI, ".gitattributes", "gitattributes", _only("01.vector"), once=True),
    *(
        Source(Layer.COMMANDS, f"{{commands}}/twice-{each}.md", f"command_{each}.md", _command)
        for each in ("check", "review", "scaffold", "verify", "diagnose")
    ),
)
"""Everything that can be generated; no two with one path."""
