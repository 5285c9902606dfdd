"""A seed that is written into the program, or a default that a call relies on, leaves an orphan with its owner."""

from __future__ import annotations

import pytest
from files import audit_of, findings

from twice.checker.analysis.generators import StreamOwner, UseKind
from twice.checker.audits.streams import summarize_streams
from twice.checker.policy import Policy

WORLD = "import random\n\nclass World:\n    def __init__(self, size, seed=42):\n        self.rng = random.Random(seed)\n"
CONFIG = "from dataclasses import dataclass\n@dataclass\nclass Config:\n    size: int\n    seed: int = 7\n"
BUILD = "import random\nfrom config import Config\ndef build(config: Config):\n    return random.Random(config.seed)\n"
UNREACHED: dict[str, str | dict[str, str]] = {
    "written at the call": "import random\nrng = random.Random(42)\n",
    "a local name": "import random\ndef f():\n    seed = 40\n    return random.Random(seed + 2)\n",
    "a name of another file": {"settings": "SEED = 42\n", "a": "import random\nimport settings\nrng = random.Random(settings.SEED)\n"},
    "an entry of a table": "import random\nC = {'seed': 42}\nrng = random.Random(C['seed'])\n",
    "the stream of the process": "import random\nrandom.seed(42)\nx = random.random()\n",
    "children of a number": "import numpy as np\nrngs = [np.random.default_rng(s) for s in np.random.SeedSequence(42).spawn(2)]\n",
    "a number for each of a loop": "import random\nrngs = [random.Random(42 + i) for i in range(3)]\n",
    "words for all of them": (
        "import hashlib, random\ndef f(word):\n    key = hashlib.sha256(word.encode()).digest()\n"
        "    return random.Random(int.from_bytes(key[:8], 'big'))\nrngs = f('42'), f('7')\n"
    ),
    "a default that one caller relies on": "from world import World\ndef f(run):\n    return World(3, run.seed), World(3)\n",
    "a default, two calls away": "from world import World\ndef f(seed=42):\n    return World(3, seed=seed)\nf()\n",
    "a field's default": "from config import Config\nc = Config(3)\n",
    "a look-up": "import random\ndef f(config):\n    return random.Random(config.get('seed', 42))\n",
    "an or": "import random\ndef f(seed=None):\n    return random.Random(seed or 42)\nf()\n",
    "where None is given": "import random\ndef f(seed):\n    if seed is None:\n        seed = 42\n    return random.Random(seed)\nf(None)\n",
    "a generator by default": "import random\nclass A:\n    def __init__(self, rng=None):\n        self.rng = rng or random.Random(42)\nA()\n",
    "a random identifier": "import random, uuid\nrng = random.Random(uuid.uuid4().int)\n",
    "the process and the clock": "import os, random, time\nrandom.seed(os.getpid() * 1000 + int(time.time()))\nx = random.random()\n",
    "the moment": "import random\nfrom datetime import datetime\nrng = random.Random(datetime.now().timestamp())\n",
    "a counter": "import random\nCOUNT = 0\ndef f():\n    global COUNT\n    COUNT += 1\n    return random.Random(COUNT)\n",
    "the clock, from another file": {
        "settings": "import time\nSEED = int(time.time())\n",
        "a": "import random\nfrom settings import SEED\nrng = random.Random(SEED)\n",
    },
}  # fmt: skip
TEXTS = [
    "42", "7", "'42'", "seed + 2", "42 + i", "COUNT", "time.time_ns()",
    "uuid.uuid4().int", "os.getpid() * 1000 + int(time.time())",
    "datetime.now().timestamp()", "int(time.time())",
]  # fmt: skip
REACHED: dict[str, str | dict[str, str]] = {
    "every caller passes it": "from world import World\ndef f(run):\n    return World(3, run.seed)\n",
    "nobody is seen to call it": {"world": WORLD},
    "a caller with a star": "from world import World\ndef f(said):\n    return World(**said)\n",
    "only a test relies on it": {"tests/test_world": "from world import World\nw = World(3)\n"},
    "the command line may give it": (
        "import argparse, random\np = argparse.ArgumentParser()\np.add_argument('--seed', default=42)\nargs = p.parse_args()\n"
        "rng = random.Random(args.seed)\n"
    ),
    "a command": (
        "import click, random\n@click.command()\n@click.option('--seed', default=42)\ndef main(seed=42):\n    random.Random(seed)\nmain()\n"
    ),
    "the clock, where nobody gives one": "import random, time\ndef f(seed=None):\n    return random.Random(seed or time.time_ns())\n",
    "the clock, where an option is left out": (
        "import random, time\ndef f(config):\n    seed = config.seed\n    if seed is None:\n        seed = int(time.time())\n"
        "    return random.Random(seed)\n"
    ),
    "entropy, where no generator is given": (
        "import os, random\ndef f(rng=None):\n    if rng is None:\n        rng = random.Random(os.urandom(8))\n    return rng\n"
    ),
    "entropy, where the environment says nothing": (
        "import os, random\ntry:\n    seed = int(os.environ['SEED'])\nexcept KeyError:\n    seed = os.getpid()\nrng = random.Random(seed)\n"
    ),
    "a number that grows by a seed": "import random\nBASE = 0\ndef f(seed):\n    global BASE\n    BASE += seed\n    return random.Random(BASE)\n",
    "an argument may give it": "import random, sys\nseed = int(sys.argv[1]) if len(sys.argv) > 1 else 42\nrng = random.Random(seed)\n",
    "it is assigned from elsewhere": {
        "settings": "SEED = 42\n",
        "a": "import random\nimport settings\ndef f(args):\n    settings.SEED = args.seed\n    return random.Random(settings.SEED)\n",
    },
    "every instance gets it": "from config import Config\ndef f(run):\n    return Config(3, seed=run.seed)\n",
    "a part of it is the run's": "import random\ndef f(run):\n    return random.Random(42 + run.seed)\n",
}  # fmt: skip
SIGNATURE = "seed=42 of World seeds a generator."


def files_of(given: str | dict[str, str]) -> dict[str, str]:
    """Return the files of a case: the text of ``a``, and the modules that it imports."""
    files = {"a": given} if isinstance(given, str) else given
    imports = files.get("a", "")
    if "from world " in imports:
        files = {"world": WORLD, **files}
    return {"config": CONFIG, "build": BUILD, **files} if "from config " in imports else files


def named(given: str | dict[str, str]) -> list[tuple[str, int, str]]:
    """Return the findings of default-seed in files."""
    files = {f"{name}.py": text for name, text in files_of(given).items()}
    said = [each for each in findings(files, policy=Policy()) if each.found.rule == "default-seed"]
    return [(each.path, each.found.place.line, each.found.message) for each in said]


@pytest.mark.parametrize("case", UNREACHED)
def test_what_the_seed_of_the_run_never_reaches_is_an_orphan(case: str) -> None:
    orphans = [each for each in audit_of(files_of(UNREACHED[case])).uses if each.is_orphan]
    assert orphans
    assert all(each.origin.owner is not StreamOwner.NOBODY for each in orphans)
    assert {each.origin.note.partition(":")[0] for each in orphans} <= {
        f"seeded with {text}, which the run's seed never reaches" for text in TEXTS
    }


@pytest.mark.parametrize("case", REACHED)
def test_what_may_have_the_seed_of_the_run_is_none(case: str) -> None:
    uses = audit_of(files_of(REACHED[case])).uses
    assert not any(each.is_orphan and each.zone != "tests" for each in uses)
    # A signature that nobody is seen to call is noted all the same.
    assert all(each[2] == SIGNATURE for each in named(REACHED[case]))


def test_two_components_that_leave_the_seed_out_share_a_stream() -> None:
    said = named("from world import World\nboth = World(3), World(4)\n")
    shared = f"{SIGNATURE[:-1]}, and 2 calls of it take that: a.py:2."
    assert ("world.py", 4, shared) in said


def test_packages_that_lend_from_each_other_end_the_search() -> None:
    files = {
        "p/__init__": "from q import *\nfrom .world import *\n",
        "q/__init__": "from p import *\n",
        "p/world": WORLD,
        "a": "import p, q\nw = p.World(3)\nv = q.Nothing(3)\n",
    }
    assert [each.path for each in audit_of(files).uses if each.is_orphan] == ["p/world.py"]


def test_a_draw_is_an_orphan_with_its_generator_and_the_stream_says_both() -> None:
    made, drawn = audit_of({"a": "import random\nrng = random.Random(42)\nrng.random()\n"}).uses
    (stream,) = summarize_streams((made, drawn))
    assert (drawn.kind, drawn.is_orphan, drawn.where) == (UseKind.DRAWS, True, "a.py:2")
    assert stream.is_orphan
    seeded = "seeded with 42, which the run's seed never reaches"
    assert stream.whose == f"a generator made here, seed 42; {seeded}"


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("a default that one caller relies on", [(3, "World(3) leaves seed out, which is then 42.")]),
        ("a default, two calls away", [(4, "f() leaves seed out, which is then 42.")]),
        ("a field's default", [(2, "Config(3) leaves seed out, which is then 7.")]),
        ("a look-up", [(3, "The seed is 42 where none is given.")]),
        ("written at the call", []),
    ],
)  # fmt: skip
def test_the_call_that_relies_on_the_default_is_named_where_it_is(
    case: str, expected: list[tuple[int, str]]
) -> None:
    assert named(UNREACHED[case]) == [("a.py", *each) for each in expected]
