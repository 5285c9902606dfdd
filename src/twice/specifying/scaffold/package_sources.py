"""Sources of the generated package: streams, effects, components, compare-points, policies, the script.

Invariant: every name in a generated module stands in a sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from twice.specifying.scaffold.lock import Layer
from twice.specifying.scaffold.reader import (
    SheetReader,
    library_switches,
    pinned_variables,
    record_arguments,
)
from twice.specifying.scaffold.source import Places, Source, assign, fill, to_quotable

READ_ONLY: Final = frozenset({"start", "step", "seek", "observe", "end"})
BRANCHING: Final = frozenset({"branch", "step-with"})
_KINDS: Final = {
    "numpy": "import numpy as np",
    "python": "import random",
    "torch": "from typing import Any",
    "jax": "from typing import Any",
    "other": "from typing import Any",
}
"""Kinds of streams in the order of their functions, and what each function imports."""
_EFFECTS: Final = {
    "clock": "clock",
    "entropy": "entropy",
    "environment": "env",
    "filesystem": "fs",
    "network": "net",
    "process": "process",
    "stdin": "stdin",
}
"""Sources of sheet 10, and the attribute of ``run.effects`` that each is asked through."""
_BACKENDS: Final = ("cudnn.deterministic", "cudnn.benchmark", "cudnn.allow_tf32", "cuda.matmul.allow_tf32")  # fmt: skip
_ALGORITHMS: Final = "use_deterministic_algorithms"
_TRUTHS: Final = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


def _package(reader: SheetReader, _: Places) -> Mapping[str, str]:
    return {"component": to_quotable(reader.text("00", "component"))}


def _specified(reader: SheetReader, _: Places) -> Mapping[str, str]:
    return {
        "component": assign("COMPONENT", reader.text("00", "component")),
        "record": assign("RECORD", record_arguments(reader)),
    }


def _seeds(reader: SheetReader, _: Places) -> Mapping[str, str]:
    reader.value("02", "names")  # Streams come from 03; 02 has to name the same.
    kinds = reader.pairs("03", "slots", "stream", "kind")
    owners = reader.pairs("03", "slots", "stream", "owner")
    used = [each for each in _KINDS if each in kinds.values()]
    imports = {_KINDS[each] for each in used}
    inner = [each for each in ("import random", "from typing import Any") if each in imports]
    outer = [each for each in ("import numpy as np",) if each in imports]
    lines = [*inner, *[""][: len(inner)], *outer, "import twice"]
    return {
        "imports": "\n".join(f"    {each}".rstrip() for each in lines),
        "streams": assign("STREAMS", kinds, "Final[dict[str, str]]"),
        "owners": assign("OWNERS", owners, "Final[dict[str, str]]"),
        "doors": "".join(fill(f"seeds_{each}.py", {}) for each in used),
    }


def _effects(reader: SheetReader, _: Places) -> Mapping[str, str]:
    rows = [row for row in reader.rows("10", "inventory") if row.get("substitutable") is True]
    inventory = tuple((str(row["source"]), str(row["what"]), str(row["pattern"])) for row in rows)
    sources = list(dict.fromkeys(source for source, _, _ in inventory))
    calls = "call" in sources
    doors = [f"self.{_EFFECTS[each]} = run.effects.{_EFFECTS[each]}" for each in sources if each in _EFFECTS]  # fmt: skip
    doors += ["self._effects = run.effects"] * calls
    return {
        "component": to_quotable(reader.text("00", "component")),
        "imports": "    from collections.abc import Callable\n\n" * calls + "    import twice",
        "names": "TYPE_CHECKING, Any, Final, TypeVar" if calls else "TYPE_CHECKING, Final",
        "variable": '\nT = TypeVar("T")\n' * calls,
        "inventory": assign("INVENTORY", inventory, "Final[tuple[tuple[str, str, str], ...]]"),
        "doors": "\n".join(f"        {each}" for each in doors or ["del run"]),
        "call": fill("effects_call.py", {}).rstrip("\n") * calls,
    }


def _components(reader: SheetReader, _: Places) -> Mapping[str, str]:
    return {"components": assign("COMPONENTS", reader.column("04", "components", "name"))}


def _compare(reader: SheetReader, _: Places) -> Mapping[str, str]:
    return {
        "granularity": assign("GRANULARITY", reader.text("05", "granularity")),
        "projection": assign("PROJECTION", reader.texts("05", "projection")),
        "digest": assign("DIGEST", reader.text("05", "hash")),
    }


def _policies(reader: SheetReader, _: Places) -> Mapping[str, str]:
    setting, reading, not_held = [], [], []
    for name, said in library_switches(reader).items():
        short = name.removeprefix("torch.backends.").removeprefix("torch.")
        value = _TRUTHS.get(said.lower())
        if value is None or short not in {*_BACKENDS, _ALGORITHMS}:
            not_held.append(name)
            continue
        place = f"torch.backends.{short}"
        setting.append(f"{place} = {value}")
        if short == _ALGORITHMS:
            setting[-1] = f"torch.{short}({value})"
            place = "torch.are_deterministic_algorithms_enabled()"
        reading += [f"now = str({place})", f'found.append(("{short}", now, "{value}"))']
    imported = ["import torch", ""]
    return {
        "environment": assign("ENVIRONMENT", pinned_variables(reader), "Final[dict[str, str]]"),
        "versions": assign("VERSIONS", reader.pairs("08", "pins", "library", "version"), "Final[dict[str, str]]"),
        "threads": assign("THREADS", reader.number("08", "threads") or 0, "Final[int]"),
        "not_held": assign("NOT_HELD", tuple(not_held), "Final[tuple[str, ...]]"),
        "switched": _indent([*imported, *reading]) if reading else "",
        "set": _indent([*imported, *setting, ""]) if setting else "",
    }  # fmt: skip


def _indent(lines: list[str]) -> str:
    return "".join(f"    {each}".rstrip() + "\n" for each in lines)


def _script(reader: SheetReader, _: Places) -> Mapping[str, str]:
    claimed = set(reader.column("06", "operations", "operation"))
    uses = {
        "verify": ({"verify"}, "verify a.twice"),
        "replay": (READ_ONLY, "replay a.twice --at 0"),
        "branch": (BRANCHING, "branch a.twice --at 0 -o b.twice"),
        "rerun": ({"rerun"}, "rerun a.twice -o c.twice"),
    }
    offered = {name: use for name, (operations, use) in uses.items() if claimed & operations}
    return {
        "component": to_quotable(reader.text("00", "component")),
        "uses": "\n".join(f"python scripts/determinism.py {use}" for use in offered.values()),
        "record": assign("RECORD", record_arguments(reader)),
        "vector": assign("VECTOR", reader.text("01", "vector")),
        "offered": assign("OFFERED", tuple(offered), "Final[tuple[str, ...]]"),
    }


SOURCES: Final = (
    Source(Layer.BASE, "{package}/__init__.py", "package.py", _package),
    Source(Layer.BASE, "{package}/specified.py", "specified.py", _specified),
    Source(Layer.SEEDS, "{package}/seeds.py", "seeds.py", _seeds),
    Source(Layer.EFFECTS, "{package}/effects.py", "effects.py", _effects),
    Source(Layer.SNAPSHOT, "{package}/components.py", "components.py", _components),
    Source(Layer.COMPARE, "{package}/compare.py", "compare.py", _compare),
    Source(Layer.POLICIES, "{package}/policies.py", "policies.py", _policies),
    Source(Layer.REPLAY, "scripts/determinism.py", "replay.py", _script),
)
