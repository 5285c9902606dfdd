"""What stands for each placeholder of a template: constants by their names, and pieces of code.

Generators of configurations come from 12 if they are written as ranges, ``n=1..50, ticks=2..8``; a key
without a range keeps the value that 00 gives it.

Invariant: every name in generated code stands in a sheet.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from string import Template
from typing import Final

from twice.recorder.environment.knobs import list_knobs
from twice.specification.scaffold.reader import (
    VARIABLE,
    SheetReader,
    pinned_variables,
    record_arguments,
)

_WIDTH: Final = 79  # the narrowest usual setting of a formatter
_INDENT: Final = "    "


def to_literal(value: object, *, before: int = 0, depth: int = 0) -> str:
    """Write a value as Python does: flat if it fits, else one item a line with a comma after the last.

    Formatters leave such lines alone; otherwise a user's formatter would make every file an edited one.
    ``before`` counts the columns before it in its first line.
    """
    if isinstance(value, Mapping):
        opening, closing = "{}"
        items = [(f"{to_literal(key)}: ", each) for key, each in value.items()]
    elif isinstance(value, tuple | list):
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        items = [("", each) for each in value]
    else:
        text = repr(value)
        # Double quotes if that takes no more escapes, as formatters write.
        plain = isinstance(value, str) and text[0] == "'" and '"' not in value
        return f'"{text[1:-1]}"' if plain else text
    flat = ", ".join(head + to_literal(each) for head, each in items)
    flat = f"{opening}{flat}{',' * (opening == '(' and len(items) == 1)}{closing}"
    if not items or ("\n" not in flat and before + len(flat) < _WIDTH):
        return flat
    inner = _INDENT * (depth + 1)
    lines = [
        f"{inner}{head}{to_literal(each, before=len(inner + head) + 1, depth=depth + 1)},"
        for head, each in items
    ]
    return "\n".join([opening, *lines, _INDENT * depth + closing])


def to_quotable(text: str) -> str:
    """Return a text that can stand within double quotes of Python."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")


def fill(template: str, values: Mapping[str, str], reader: SheetReader) -> str | None:
    """Return a template's text; None if the sheets have nothing for it.

    Facts are read for the placeholders that the template has, and no others. ``values`` are for those that no
    sheet decides.
    """
    found = Template(_read(template))
    texts: dict[str, str] = {}
    for name in found.get_identifiers():
        if name in CONSTANTS:
            texts[name] = _assign(name, reader)
            continue
        text = values[name] if name in values else PIECES[name](reader)
        if text is None:
            return None
        texts[name] = text
    return found.substitute(texts).rstrip("\n") + "\n"


def _assign(name: str, reader: SheetReader) -> str:
    kind, read = CONSTANTS[name]
    head = f"{name}: {kind} = "
    return head + to_literal(read(reader), before=len(head))


def _read(template: str) -> str:
    source = files(__package__).joinpath("templates", f"{template}.tmpl")
    return source.read_text(encoding="utf-8").rstrip("\n") + "\n"


_STREAM_KINDS: Final = ("numpy", "python", "torch", "jax", "other")
_RAW_KINDS: Final = ("numpy", "python")  # Their first draws are numbers of 64 bits.


def _used_kinds(of: SheetReader) -> list[str]:
    kinds = of.column("03", "slots", "kind")
    return [each for each in _STREAM_KINDS if each in kinds]


def _stream_imports(of: SheetReader) -> str:
    used = _used_kinds(of)
    lines = ["import random"] if "python" in used else []
    lines += ["from typing import Any"] if {"torch", "jax", "other"} & {*used} else []
    lines += [""] if lines else []
    lines += ["import numpy as np"] if "numpy" in used else []
    return "\n".join(f"    {each}".rstrip() for each in [*lines, "import twice"])


def _known_seeds(of: SheetReader) -> object:
    rows = of.rows("02", "vectors")
    return tuple((row["master"], str(row["name"]), str(row["seed"])) for row in rows)


def _known_draws(of: SheetReader) -> object:
    kinds = of.pairs("03", "slots", "stream", "kind")
    return tuple(
        (row["master"], str(row["stream"]), tuple(map(str, row["draws"])))
        for row in of.rows("03", "vectors")
        if kinds.get(str(row["stream"])) in _RAW_KINDS
    )


_DOORS: Final = {
    "clock": "clock", "entropy": "entropy", "environment": "env", "filesystem": "fs",
    "network": "net", "process": "process", "stdin": "stdin", "call": "",
}  # fmt: skip
"""Sources of sheet 10, and the attribute of ``run.effects`` that each is asked through."""


def _inventory(of: SheetReader) -> tuple[tuple[str, ...], ...]:
    rows = [row for row in of.rows("10", "inventory") if row.get("substitutable") is True]
    return tuple(tuple(str(row[key]) for key in ("source", "what", "pattern")) for row in rows)


def _has_calls(of: SheetReader) -> bool:
    return any(source == "call" for source, *_ in _inventory(of))


def _effect_doors(of: SheetReader) -> str:
    sources = dict.fromkeys(source for source, *_ in _inventory(of))
    doors = [f"self.{_DOORS[each]} = run.effects.{_DOORS[each]}" for each in sources if _DOORS.get(each)]  # fmt: skip
    doors += ["self._effects = run.effects"] * _has_calls(of)
    return "\n".join(f"        {each}" for each in doors or ["del run"])


_TRUTHS: Final = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}
_DETERMINISM: Final = "torch deterministic algorithms"


def _list_held() -> list[str]:
    """Return the switches of torch that the policies can set and read back; 09 may write ``torch.backends.`` before them."""
    return [
        knob.name.removeprefix("torch.").removeprefix("backends.")
        for knob in list_knobs("gpu")
        if knob.set in {_DETERMINISM, knob.name.replace("torch.backends", "torch:backends", 1)}
    ]


def _switches(of: SheetReader, *, held: bool) -> dict[str, str]:
    """Return the knobs of 09 that are no variables: those that can be held by their short names, or the others."""
    found, known = {}, _list_held()
    for name, said in of.pairs("09", "knobs", "name", "value").items():
        short = name.removeprefix("torch.backends.").removeprefix("torch.")
        can_be = short in known and said.lower() in _TRUTHS
        if can_be == held and not VARIABLE.fullmatch(name):
            found[short if held else name] = said.lower()
    return found


def _list_offered(of: SheetReader) -> dict[str, str]:
    """Return the commands that replay as 06 claims, and how the script is called for each."""
    claimed = set(of.column("06", "operations", "operation"))
    uses = {
        "verify": ({"verify"}, "verify a.twice"),
        "replay": ({"start", "step", "seek", "observe", "end"}, "replay a.twice --at 0"),
        "branch": ({"branch", "step-with"}, "branch a.twice --at 0 -o b.twice"),
        "rerun": ({"rerun"}, "rerun a.twice -o c.twice"),
    }
    return {name: use for name, (operations, use) in uses.items() if claimed & operations}


_RANGE: Final = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_STRATEGIES: Final = {"lockstep": "A", "recorded-schedule": "B", "schedule-independent": "C"}


def _ranges(of: SheetReader) -> dict[str, tuple[int, int]]:
    """Read ranges; none if any part of the text is something else: what prose means, nobody can tell."""
    found = [_RANGE.fullmatch(each) for each in of.text("12", "generators").split(",")]
    ranges = {match[1]: (int(match[2]), int(match[3])) for match in found if match}
    whole = len(ranges) == len(found) and all(low <= high for low, high in ranges.values())
    return ranges if whole else {}


def _suite(of: SheetReader, *besides: str) -> str:
    """Write the arguments of the suite, one a line; of those for one kind of suite only the named ones."""
    config: dict[str, str] = {}
    for each in of.texts("00", "config"):
        key, _equals, said = (part.strip() for part in each.partition("="))
        try:  # As TOML, else as text: so ``--set`` reads it.
            config[key] = to_literal(tomllib.loads(f"value = {said}")["value"])
        except tomllib.TOMLDecodeError:
            config[key] = to_literal(said)
    config |= {key: f"st.integers({low}, {high})" for key, (low, high) in _ranges(of).items()}
    fields = "".join(f"\n        {each}," for each in _to_arguments(config))
    fields += "\n    " * bool(fields)
    names = tuple(each.replace("-", "_") for each in of.texts("12", "properties"))
    claimed = of.column("07", "subsystems", "strategy")
    letters = [letter for word, letter in _STRATEGIES.items() if word in claimed]
    program = to_literal(of.text("00", "program"))
    given = {
        "": f"str(ROOT / {program})" if ".py:" in program else program,
        "config=": f"strategies.config({fields})",
        "tier=": to_literal(of.text("01", "tier")),
        "only=": to_literal(names, before=79, depth=1),
        "concurrency=": to_literal(letters[-1]) if letters else "",
        "examples_in=": f"str(ROOT / {to_literal(of.text('12', 'database'))})",
    }
    kept = {"", "config=", "examples_in=", *besides}
    lines = [f"    {name}{each},\n" for name, each in given.items() if each and name in kept]
    return f"(\n{''.join(lines)})"


def _to_arguments(fields: Mapping[str, str]) -> list[str]:
    """Write the arguments of ``strategies.config``; keys with dots become configurations in configurations."""
    groups: dict[str, dict[str, str]] = {}
    for key, said in sorted(fields.items()):
        outer, _, inner = key.partition(".")
        groups.setdefault(outer, {})[inner] = said
    return [
        f"{name}={each['']}"
        if "" in each
        else f"{name}=strategies.config({', '.join(_to_arguments(each))})"
        for name, each in groups.items()
    ]


def _is_restored(of: SheetReader) -> bool:
    return of.text("04", "cadence") != "none"


_TEXTS: Final = "Final[tuple[str, ...]]"
_MAP: Final = "Final[dict[str, str]]"
_TRIPLES: Final = "Final[tuple[tuple[int, str, str], ...]]"
_DRAWS: Final = "Final[tuple[tuple[int, str, tuple[str, ...]], ...]]"
CONSTANTS: Final[Mapping[str, tuple[str, Callable[[SheetReader], object]]]] = {
    "ACCEPTED": (_TEXTS, lambda of: of.column("10", "accepted", "place")),
    "AUDITED": ("Final", lambda of: of.texts("10", "audit")),
    "COMPONENT": ("Final", lambda of: of.text("00", "component")),
    "COMPONENTS": ("Final", lambda of: of.column("04", "components", "name")),
    "DIGEST": ("Final", lambda of: of.text("05", "hash")),
    "DRAWS": (_DRAWS, _known_draws),
    "ENVIRONMENT": (_MAP, pinned_variables),
    "GRANULARITY": ("Final", lambda of: of.text("05", "granularity")),
    "INVENTORY": ("Final[tuple[tuple[str, str, str], ...]]", _inventory),
    "NOT_HELD": (_TEXTS, lambda of: tuple(_switches(of, held=False))),
    "OFFERED": (_TEXTS, lambda of: tuple(_list_offered(of))),
    "OWNERS": (_MAP, lambda of: of.pairs("03", "slots", "stream", "owner")),
    "PROJECTION": ("Final", lambda of: of.texts("05", "projection")),
    "RECORD": ("Final", record_arguments),
    "SEEDS": (_TRIPLES, _known_seeds),
    "STREAMS": (_MAP, lambda of: of.pairs("03", "slots", "stream", "kind")),
    "SWITCHES": ("Final[dict[str, bool]]", lambda of: {name: _TRUTHS[said] for name, said in _switches(of, held=True).items()}),
    "THREADS": ("Final[int]", lambda of: of.number("08", "threads") or 0),
    "VECTOR": ("Final", lambda of: of.text("01", "vector")),
    "VECTOR_DIGEST": ("Final", lambda of: of.text("01", "vector_digest")),
    "VERSIONS": (_MAP, lambda of: of.pairs("08", "pins", "library", "version")),
}  # fmt: skip
"""Constants: the annotation, and how the value is read."""
PIECES: Final[Mapping[str, Callable[[SheetReader], str | None]]] = {
    "component": lambda of: to_quotable(of.text("00", "component")),
    "sources": lambda of: shlex.join(of.texts("00", "sources")),
    "vector": lambda of: shlex.quote(of.text("01", "vector")),
    "hook_entry": lambda of: json.dumps("python -m twice check " + shlex.join(of.texts("00", "sources")), ensure_ascii=False),
    "uses": lambda of: "\n".join(f"python scripts/determinism.py {each}" for each in _list_offered(of).values()),
    "stream_imports": _stream_imports,
    "stream_functions": lambda of: "".join(_read(f"seeds_{each}.py") for each in _used_kinds(of)),
    "known_draws": lambda of: _assign("DRAWS", of) + "\n" if _known_draws(of) else "",
    "test_of_draws": lambda of: _read("test_draws.py") if _known_draws(of) else "",
    "effect_imports": lambda of: "    from collections.abc import Callable\n\n" * _has_calls(of) + "    import twice",
    "effect_names": lambda of: f"TYPE_CHECKING, {'Any, Final, TypeVar' if _has_calls(of) else 'Final'}",
    "effect_variable": lambda of: '\nT = TypeVar("T")\n' * _has_calls(of),
    "effect_doors": _effect_doors,
    "effect_call": lambda of: _read("effects_call.py").rstrip("\n") * _has_calls(of),
    "snapshot_imports": lambda of: "import json\n" * _is_restored(of) + "import subprocess",
    "test_of_restores": lambda of: _read("test_restores.py") * _is_restored(of),
    "tests_of_replay": lambda of: "".join(_read(f"test_replay_{each}.py") for each in _list_offered(of)) or None,
    "run": lambda _: _read("run_of_tests.py").rstrip("\n"),
    "suite_imports": lambda of: "\nfrom hypothesis import strategies as st" * bool(_ranges(of)),
    "suite": lambda of: "TestDeterminism = properties.suite" + _suite(of, "tier=", "only=", "concurrency="),
    "stateful_suite": lambda of: f"\nTestSessions = properties.stateful{_suite(of)}\n" * (of.value("12", "stateful") is True),
}  # fmt: skip
"""Pieces of code; None leaves the file out."""
