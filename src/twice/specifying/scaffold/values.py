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

from twice.specifying.scaffold.reader import (
    SheetReader,
    library_switches,
    pinned_variables,
    record_arguments,
)

_WIDTH: Final = 79  # the narrowest usual setting of a formatter
_INDENT: Final = "    "


def to_literal(value: object, *, before: int = 0, depth: int = 0) -> str:
    """Write a value as Python does: flat if it fits, else one item a line with a comma after the last.

    Formatters leave such lines alone; otherwise a user's formatter would make every file an edited one.

    Args:
        value: a text, number, truth, None, or a tuple, list or map of them.
        before: columns before it in its first line.
        depth: steps of four by which the line is indented.
    """
    flat = _to_flat(value)
    fits = before + len(flat) < _WIDTH
    if fits or not value or not isinstance(value, Mapping | tuple | list):
        return flat
    inner = _INDENT * (depth + 1)
    if isinstance(value, Mapping):
        items = [(f"{inner}{_to_flat(key)}: ", each) for key, each in value.items()]
    else:
        items = [(inner, each) for each in value]
    lines = [
        f"{head}{to_literal(each, before=len(head) + 1, depth=depth + 1)}," for head, each in items
    ]
    return "\n".join([flat[0], *lines, _INDENT * depth + flat[-1]])


def _to_flat(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_to_flat(k)}: {_to_flat(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_to_flat, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_to_flat, value)) + "," * (len(value) == 1) + ")"
    text = repr(value)
    # Double quotes if that takes no more escapes, as formatters write.
    plain = isinstance(value, str) and text[0] == "'" and '"' not in value
    return f'"{text[1:-1]}"' if plain else text


def to_quotable(text: str) -> str:
    """Return a text that can stand within double quotes, in Python and in YAML."""
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
_BACKENDS: Final = ("cudnn.deterministic", "cudnn.benchmark", "cudnn.allow_tf32", "cuda.matmul.allow_tf32")  # fmt: skip


def _held_switches(of: SheetReader) -> dict[str, tuple[str, str, str, bool]]:
    """Return switches of torch by the names in 09: short name, how it is set and read back, its value."""
    held = {}
    for name, said in library_switches(of).items():
        short = name.removeprefix("torch.backends.").removeprefix("torch.")
        value = _TRUTHS.get(said.lower())
        if value is not None and short == "use_deterministic_algorithms":
            read = "torch.are_deterministic_algorithms_enabled()"
            held[name] = (short, f"torch.{short}({value})", read, value)
        elif value is not None and short in _BACKENDS:
            place = f"torch.backends.{short}"
            held[name] = (short, f"{place} = {value}", place, value)
    return held


def _to_block(lines: list[str]) -> str:
    """Write lines of a function that uses torch; "" for no lines."""
    used = ["import torch", "", *lines] if lines else []
    return "".join(f"    {each}".rstrip() + "\n" for each in used)


def _switches_read(of: SheetReader) -> str:
    return _to_block([
        line
        for short, _, read, value in _held_switches(of).values()
        for line in (f"now = str({read})", f'found.append(("{short}", now, "{value}"))')
    ])  # fmt: skip


def _switches_set(of: SheetReader) -> str:
    lines = [each for _, each, _, _ in _held_switches(of).values()]
    return _to_block([*lines, ""] if lines else [])


def _offered(of: SheetReader) -> dict[str, str]:
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
    written = []
    for name, inner_fields in groups.items():
        inner = (
            f"strategies.config({', '.join(_to_arguments(inner_fields))})"
            if "" not in inner_fields
            else inner_fields[""]
        )
        written.append(f"{name}={inner}")
    return written


def _hook_entry(of: SheetReader) -> str:
    command = f"python -m twice check {shlex.join(of.texts('00', 'sources'))}"
    return json.dumps(command, ensure_ascii=False)


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
    "NOT_HELD": (_TEXTS, lambda of: tuple(each for each in library_switches(of) if each not in _held_switches(of))),
    "OFFERED": (_TEXTS, lambda of: tuple(_offered(of))),
    "OWNERS": (_MAP, lambda of: of.pairs("03", "slots", "stream", "owner")),
    "PROJECTION": ("Final", lambda of: of.texts("05", "projection")),
    "RECORD": ("Final", record_arguments),
    "SEEDS": (_TRIPLES, _known_seeds),
    "STREAMS": (_MAP, lambda of: of.pairs("03", "slots", "stream", "kind")),
    "THREADS": ("Final[int]", lambda of: of.number("08", "threads") or 0),
    "VECTOR": ("Final", lambda of: of.text("01", "vector")),
    "VECTOR_DIGEST": ("Final", lambda of: of.text("01", "vector_digest")),
    "VERSIONS": (_MAP, lambda of: of.pairs("08", "pins", "library", "version")),
}  # fmt: skip
"""Constants: the annotation, and how the value is read."""
PIECES: Final[Mapping[str, Callable[[SheetReader], str | None]]] = {
    "component": lambda of: to_quotable(of.text("00", "component")),
    "component_word": lambda of: shlex.quote(of.text("00", "component")),
    "sources": lambda of: shlex.join(of.texts("00", "sources")),
    "vector": lambda of: shlex.quote(of.text("01", "vector")),
    "hook_entry": _hook_entry,
    "uses": lambda of: "\n".join(f"python scripts/determinism.py {each}" for each in _offered(of).values()),
    "stream_imports": _stream_imports,
    "stream_functions": lambda of: "".join(_read(f"seeds_{each}.py") for each in _used_kinds(of)),
    "known_draws": lambda of: _assign("DRAWS", of) + "\n" if _known_draws(of) else "",
    "test_of_draws": lambda of: _read("test_draws.py") if _known_draws(of) else "",
    "effect_imports": lambda of: "    from collections.abc import Callable\n\n" * _has_calls(of) + "    import twice",
    "effect_names": lambda of: f"TYPE_CHECKING, {'Any, Final, TypeVar' if _has_calls(of) else 'Final'}",
    "effect_variable": lambda of: '\nT = TypeVar("T")\n' * _has_calls(of),
    "effect_doors": _effect_doors,
    "effect_call": lambda of: _read("effects_call.py").rstrip("\n") * _has_calls(of),
    "switches_read": _switches_read,
    "switches_set": _switches_set,
    "snapshot_imports": lambda of: "import json\n" * _is_restored(of) + "import subprocess",
    "test_of_restores": lambda of: _read("test_restores.py") * _is_restored(of),
    "tests_of_replay": lambda of: "".join(_read(f"test_replay_{each}.py") for each in _offered(of)) or None,
    "run": lambda _: _read("run_of_tests.py").rstrip("\n"),
    "suite_imports": lambda of: "\nfrom hypothesis import strategies as st" * bool(_ranges(of)),
    "suite": lambda of: "TestDeterminism = properties.suite" + _suite(of, "tier=", "only=", "concurrency="),
    "stateful_suite": lambda of: f"\nTestSessions = properties.stateful{_suite(of)}\n" * (of.value("12", "stateful") is True),
}  # fmt: skip
"""Pieces of code; None leaves the file out."""
