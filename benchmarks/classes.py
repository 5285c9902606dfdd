"""What a class of values costs when it is made, as every start does, and what an instance costs.

Usage: python benchmarks/classes.py [--rounds N] [--small] [--output FILE.jsonl]

One class of six fields, two of them with defaults, frozen and with slots, made by the standard library's decorator, by
`twice.foundation.dataclass`, as a named tuple and as msgspec's Struct; and how long fresh processes need to import
what these come from, beside what twice imports anyway. CPU time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import measuring
from commands import OWN, cpu_ms

FIELDS = "(Base):\n first: int\n second: str\n third: object\n fourth: bool\n fifth: int = 0\n sixth: object = None\n"
WAYS = {
    "dataclasses.dataclass": (
        "from dataclasses import dataclass; Base = object",
        f"@dataclass(frozen=True, slots=True)\nclass Value{FIELDS}",
    ),
    "twice.foundation.dataclass": (
        "from twice.foundation.dataclass import dataclass; Base = object",
        f"@dataclass(frozen=True, slots=True)\nclass Value{FIELDS}",
    ),
    "typing.NamedTuple": ("from typing import NamedTuple as Base", f"class Value{FIELDS}"),
    "msgspec.Struct": (
        "from msgspec import Struct as Base",
        f"class Value{FIELDS.replace('(Base)', '(Base, frozen=True)')}",
    ),
}
IMPORTED = "import twice.recorder.__main__"


def each_us(act: Callable[[], object], times: int) -> float:
    """CPU microseconds of one call."""
    begun = time.process_time()
    for _ in range(times):
        act()
    return (time.process_time() - begun) / times * 1e6


def figures(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    """Yield figures of each way that is installed."""
    makings, instances = (10, 100) if small else (300, 20_000)
    for name, (imports, source) in WAYS.items():
        if find_spec(name.split(".", 1)[0]) is None:
            continue
        space: dict[str, object] = {"__name__": "__main__"}
        exec(imports, space)
        # Its docstring is there, as classes of this project have one.
        made = source.replace(":\n first", ":\n '''What it is.'''\n first")
        code = compile(f"from __future__ import annotations\n{made}", "classes", "exec")
        taken = [each_us(lambda: exec(code, space), makings) for _ in range(rounds)]  # noqa: B023
        yield {"figure": f"{name}: a class", "unit": "us"} | measuring.spread(taken, 0)
        value = space["Value"]
        for how, act in {
            "all six values": lambda: value(1, "b", None, True, 0, None),  # noqa: B023
            "four of six values": lambda: value(1, "b", None, True),  # noqa: B023
        }.items():
            taken = [each_us(act, instances) for _ in range(rounds)]
            yield {"figure": f"{name}: {how}", "unit": "us"} | measuring.spread(taken)
    if find_spec("msgspec"):
        commands = [[sys.executable, "-c", IMPORTED + more] for more in ("", ", msgspec")]
        times = [[cpu_ms(each, ".", OWN) for each in commands] for _ in range(rounds + 1)][1:]
        taken = [more - plain for plain, more in times]
        yield {"figure": "import of msgspec, after twice", "unit": "ms"} | measuring.spread(taken)


def main() -> None:
    """Measure and print."""
    chosen = measuring.options("classes", __doc__.splitlines()[0], rounds=15)
    measuring.tell("classes", figures(chosen.rounds, small=chosen.small), chosen.output)


if __name__ == "__main__":
    main()
