"""A value that leaves its file is followed on: into functions of other files, and to their callers."""

from __future__ import annotations

import pytest
from projects import Project

READS = "import time\nfrom pkg.other import {0}\n\ndef advance(world):\n    value = time.time()\n    {0}{1}\n"
RETURNS = "import time\n\ndef {}():\n    value = time.time()\n    return value\n"
SEEN = "def keep(at):\n    seen.append(at)\nseen = []\n"
INTO = [
    ("(world, value)", "def keep(world, at):\n    world.at = at\n", "medium", "state in pkg/other.py:2"),
    ("(at=value)", "class keep:\n    def __init__(self, at):\n        self.at = at\n", "medium", "py:3"),
    ("(value)", "class keep:\n    at: float\n", "medium", "state in pkg/other.py:1"),
    ("(value)", "def keep(at):\n    print(at)\n", "informational", "telemetry in pkg/other.py:2"),
    ("(value)", "def keep(at):\n    return 1\n", "informational", "nobody reads it in pkg/other.py:1"),
    ("(value)", "from pkg.third import keep\n", "medium", "state in pkg/third.py:2"),
    ("(value)", "from pkg.third import *\n", "medium", "state in pkg/third.py:2"),
    ("(value)", "from pkg.third import ping\ndef keep(at):\n    ping(at)\n", "informational", ""),
    ("(value)", "def keep(at):\n    return at\n", "informational", ""),
    ("(value)", "def keep(at):\n    return keep(at)\n", "low", ""),
    ("(*value)", "def keep(at):\n    print(at)\n", "low", ""),
    ("(value)", "def other():\n    pass\n", "low", ""),
    ("(value)", "def keep(at:\n", "low", ""),
]  # fmt: skip
"""The arguments, the other file, and what is said of the clock."""
OUT = [
    ("_read", {"pkg__use": "from pkg.clock import _read\nprint(_read())\n"}, "informational"),
    ("_read", {"pkg__use": "import pkg.clock as c\nseen.append(c._read())\nseen = []\n"}, "medium"),
    ("read", {"pkg__use": "from pkg.clock import read\nprint(read())\n"}, "low"),
    ("read", {"pkg__use": "import pkg\nprint(pkg.read())\n"}, "low"),
    ("read", {}, "medium"),
    # Tests make nothing quieter.
    ("_read", {"tests__test_clock": "from pkg.clock import _read\n\ndef test_it():\n    print(_read())\n"}, "medium"),
]  # fmt: skip


def write(project: Project, init: str = "", **files: str) -> None:
    """Write modules of the package ``pkg``, whose ``__init__`` is given."""
    project.write(**files)
    (project.folder / "pkg" / "__init__.py").write_text(init, "utf-8")


def clock(project: Project, *arguments: object) -> tuple[str, str]:
    found = project.findings("--min", "informational", *arguments)
    (one,) = [each for each in found if each["rule"] == "clock"]
    return one["severity"], one["why"]


@pytest.mark.parametrize(("arguments", "other", "severity", "why"), INTO)
def test_a_value_is_followed_into_another_file(
    project: Project, arguments: str, other: str, severity: str, why: str
) -> None:
    third = f"{SEEN}from pkg.other import keep as on\ndef ping(at):\n    on(at)\n"
    write(project, pkg__clock=READS.format("keep", arguments), pkg__other=other, pkg__third=third)
    said = clock(project)
    assert said[0] == severity
    assert why in said[1]
    assert clock(project) == said, "the same from the cache"
    assert clock(project, "--no-cache") == said


@pytest.mark.parametrize(("name", "callers", "severity"), OUT)
def test_a_value_is_followed_to_the_callers(
    project: Project, name: str, callers: dict[str, str], severity: str
) -> None:
    write(project, "from .clock import *\n", pkg__clock=RETURNS.format(name), **callers)
    assert clock(project)[0] == severity


def test_an_edit_of_the_other_file_changes_the_verdict(project: Project) -> None:
    quiet = "def keep(at):\n    print(at)\n"
    write(project, pkg__clock=READS.format("keep", "(value)"), pkg__other=quiet)
    before = clock(project)[0]
    project.write(pkg__other=SEEN)
    assert (before, clock(project)[0]) == ("informational", "medium")


def test_a_method_of_an_unknown_object_is_looked_for_by_its_name(project: Project) -> None:
    write(
        project,
        pkg__clock="import time\n\ndef advance(store):\n    store.keep_moment(time.time())\n",
        pkg__other="class Store:\n    def keep_moment(self, at):\n        self.at = at\n",
    )
    assert clock(project)[0] == "medium"


def test_a_hash_that_a_function_returns_is_followed_to_the_callers(project: Project) -> None:
    write(
        project,
        pkg__keys="def mix(*parts):\n    return hash(parts)\n",
        pkg__use="import random\nfrom pkg.keys import mix\n\ndef start(name):\n    random.seed(mix(name))\n",
    )
    found = project.check("--json").document["findings"]

    (one,) = [each for each in found if each["rule"] == "salted-hash"]
    assert one["why"].endswith("it seeds a generator in pkg/use.py:5.")
