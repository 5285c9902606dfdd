"""What goes into the modules of the wiring: streams, effects, components, compare-points, policies.

Invariant: every name in a module stands in a sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from twice.specifying.scaffolding.facts import Facts
from twice.specifying.scaffolding.literals import assigned, shown
from twice.specifying.scaffolding.piece import Piece, filled
from twice.specifying.scaffolding.places import Places
from twice.specifying.scaffolding.recording import environment, recording, switches
from twice.specifying.scaffolding.regions import Layer

_DOORS: Final = {
    "numpy": (
        "rng(run: twice.Run, name: str) -> np.random.Generator",
        "Give the numpy stream of a name.",
        'return run.rng(_named(name, "numpy"))',
        "import numpy as np",
    ),
    "python": (
        "python(run: twice.Run, name: str) -> random.Random",
        "Give the stream of Python's own kind of a name.",
        'return run.python(_named(name, "python"))',
        "import random",
    ),
    "torch": (
        'torch(run: twice.Run, name: str, device: str = "cpu") -> Any',
        "Give the torch generator of a name on a device.",
        'return run.streams.torch(_named(name, "torch"), device)',
        "from typing import Any",
    ),
    "jax": (
        "jax(run: twice.Run, name: str) -> Any",
        "Give the jax keys of a name.",
        'return run.streams.jax(_named(name, "jax"))',
        "from typing import Any",
    ),
    "other": (
        "adopt(run: twice.Run, name: str, generator: Any) -> None",
        "Govern a generator that a library has made, under a name.",
        'run.streams.adopt(_named(name, "other"), generator)',
        "from typing import Any",
    ),
}
_SOURCES: Final = {
    "clock": "clock",
    "entropy": "entropy",
    "environment": "env",
    "filesystem": "fs",
    "network": "net",
    "process": "process",
    "stdin": "stdin",
}
_SWITCHES: Final = {
    "use_deterministic_algorithms": (
        "torch.use_deterministic_algorithms({})",
        "torch.are_deterministic_algorithms_enabled()",
    ),
    **{
        name: (f"torch.backends.{name} = {{}}", f"torch.backends.{name}")
        for name in (
            "cudnn.deterministic",
            "cudnn.benchmark",
            "cudnn.allow_tf32",
            "cuda.matmul.allow_tf32",
        )
    },
}
"""Switches of torch that can be set and read back: how each is done."""
_TRUTHS: Final = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


def _package(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    return {"component": shown(facts.text("00", "component"))}


def _specified(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    return {
        "component": assigned("COMPONENT", facts.text("00", "component")),
        "record": assigned("RECORD", recording(facts)),
    }


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"    {each}" for each in lines)


def _seeds(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    facts.rows("02", "names")
    slots = facts.rows("03", "slots")
    kinds = {str(row["stream"]): str(row["kind"]) for row in slots}
    used = [each for each in _DOORS if each in kinds.values()]
    imports = sorted(
        {_DOORS[each][3] for each in used},
        key=lambda each: (each.startswith("from"), each),
    )
    plain = [each for each in imports if not each.startswith(("import numpy", "from"))]
    outer = [each for each in imports if each.startswith("import numpy")]
    typing = ["from typing import Any"] if "from typing import Any" in imports else []
    groups = [*plain, *typing, *([""] if plain or typing else []), *outer, "import twice"]
    doors = "".join(
        f'\n\ndef {signature}:\n    """{says}"""\n    {call}\n'
        for signature, says, call, _ in (_DOORS[each] for each in used)
    )
    return {
        "imports": "\n".join(f"    {each}".rstrip() for each in groups),
        "streams": assigned("STREAMS", kinds, "Final[dict[str, str]]"),
        "owners": assigned(
            "OWNERS",
            {str(row["stream"]): str(row["owner"]) for row in slots},
            "Final[dict[str, str]]",
        ),
        "doors": doors,
    }


def _effects(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    rows = [row for row in facts.rows("10", "inventory") if row.get("substitutable") is True]
    inventory = tuple((str(row["source"]), str(row["what"]), str(row["pattern"])) for row in rows)
    sources = list(dict.fromkeys(source for source, _, _ in inventory))
    calls = "call" in sources
    doors = [
        f"self.{_SOURCES[each]} = run.effects.{_SOURCES[each]}"
        for each in sources
        if each in _SOURCES
    ]
    doors += ["self._effects = run.effects"] if calls else []
    return {
        "component": shown(facts.text("00", "component")),
        "imports": _indented(
            [*(["from collections.abc import Callable", ""] if calls else []), "import twice"]
        ).replace("    \n", "\n"),
        "names": "TYPE_CHECKING, Any, Final, TypeVar" if calls else "TYPE_CHECKING, Final",
        "variable": '\nT = TypeVar("T")\n' if calls else "",
        "inventory": assigned("INVENTORY", inventory, "Final[tuple[tuple[str, str, str], ...]]"),
        "doors": "\n".join(f"        {each}" for each in doors or ["del run"]),
        "call": filled("effects_call.py", {}).rstrip("\n") if calls else "",
    }


def _components(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    names = tuple(str(row["name"]) for row in facts.rows("04", "components"))
    return {"components": assigned("COMPONENTS", names)}


def _compare(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    digest = facts.text("05", "hash")
    return {
        "granularity": assigned("GRANULARITY", facts.text("05", "granularity")),
        "projection": assigned("PROJECTION", facts.listed("05", "projection")),
        "digest": assigned("DIGEST", digest),
    }


def _policies(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    pins = {str(row["library"]): str(row["version"]) for row in facts.rows("08", "pins")}
    named = {name.removeprefix("torch.backends.").removeprefix("torch."): (name, value)
             for name, value in switches(facts).items()}  # fmt: skip
    held = {
        short: _TRUTHS[value.lower()]
        for short, (_, value) in named.items()
        if short in _SWITCHES and value.lower() in _TRUTHS
    }
    not_held = tuple(name for short, (name, _) in named.items() if short not in held)
    setting = [_SWITCHES[short][0].format(value) for short, value in held.items()]
    reading = [
        line
        for short, value in held.items()
        for line in (
            f"now = str({_SWITCHES[short][1]})",
            f'found.append(("{short}", now, "{value}"))',
        )
    ]
    torch = ["import torch", ""]
    return {
        "environment": assigned("ENVIRONMENT", environment(facts), "Final[dict[str, str]]"),
        "versions": assigned("VERSIONS", pins, "Final[dict[str, str]]"),
        "threads": assigned("THREADS", facts.whole("08", "threads") or 0, "Final[int]"),
        "not_held": assigned("NOT_HELD", not_held, "Final[tuple[str, ...]]"),
        "switched": _block([*torch, *reading]) if held else "",
        "set": _block([*torch, *setting, ""]) if held else "",
    }


def _block(lines: Iterable[str]) -> str:
    return "".join(f"    {each}".rstrip() + "\n" for each in lines)


PIECES: Final = (
    Piece(Layer.BASE, "{package}/__init__.py", "package.py", _package),
    Piece(Layer.BASE, "{package}/specified.py", "specified.py", _specified),
    Piece(Layer.SEEDS, "{package}/seeds.py", "seeds.py", _seeds),
    Piece(Layer.EFFECTS, "{package}/effects.py", "effects.py", _effects),
    Piece(Layer.SNAPSHOT, "{package}/components.py", "components.py", _components),
    Piece(Layer.COMPARE, "{package}/compare.py", "compare.py", _compare),
    Piece(Layer.POLICIES, "{package}/policies.py", "policies.py", _policies),
)
"""Modules of the wiring."""
