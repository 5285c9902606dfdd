"""A value that leaves its file is followed on: into functions of other files, and to their callers."""

from __future__ import annotations

import pytest
from projects import Project

READS = """
import time
from pkg.other import {name}

def advance(world):
    value = time.time()
    {name}({arguments})
"""
RETURNS = """
import time

def {name}():
    value = time.time()
    return value
"""
INTO = [
    (
        "keep(world, value)",
        "def keep(world, at):\n    world.at = at\n",
        "medium",
        "state in pkg/other.py:2",
    ),
    (
        "keep(at=value)",
        "class keep:\n    def __init__(self, at):\n        self.at = at\n",
        "medium",
        "py:3",
    ),
    ("keep(value)", "class keep:\n    at: float\n", "medium", "state in pkg/other.py:1"),
    (
        "keep(value)",
        "def keep(at):\n    print(at)\n",
        "informational",
        "telemetry in pkg/other.py:2",
    ),
    (
        "keep(value)",
        "def keep(at):\n    return 1\n",
        "informational",
        "nobody reads it in pkg/other.py:1",
    ),
    ("keep(value)", "from pkg.third import keep\n", "medium", "state in pkg/third.py:2"),
    ("keep(value)", "from pkg.third import *\n", "medium", "state in pkg/third.py:2"),
    ("keep(value)", "def keep(at):\n    return at\n", "informational", ""),
    ("keep(value)", "def keep(at):\n    return keep(at)\n", "low", ""),
    ("keep(*value)", "def keep(at):\n    print(at)\n", "low", ""),
    ("keep(value)", "def other():\n    pass\n", "low", ""),
    ("keep(value)", "def keep(at:\n", "low", ""),
]
"""The call, the other file, and what is said of the clock."""
OUT = [
    ("_read", "from pkg.clock import _read\nprint(_read())\n", "informational"),
    ("_read", "import pkg.clock as c\nseen.append(c._read())\nseen = []\n", "medium"),
    ("read", "from pkg.clock import read\nprint(read())\n", "low"),
    ("read", "import pkg\nprint(pkg.read())\n", "low"),
    ("read", "", "medium"),
]


def write(project: Project, init: str = "", **files: str) -> None:
    """Write modules of the package ``pkg``, whose ``__init__`` is given."""
    project.write(**files)
    (project.folder / "pkg" / "__init__.py").write_text(init, "utf-8")


def clock(project: Project, *arguments: object) -> tuple[str, str]:
    found = project.check("--json", "--min", "informational", *arguments).document["findings"]
    (one,) = [each for each in found if each["rule"] == "clock"]
    return one["severity"], one["why"]


@pytest.mark.parametrize(("call", "other", "severity", "why"), INTO)
def test_a_value_is_followed_into_another_file(
    project: Project, call: str, other: str, severity: str, why: str
) -> None:
    arguments = call.partition("(")[2].removesuffix(")")
    write(
        project,
        pkg__clock=READS.format(name="keep", arguments=arguments),
        pkg__other=other,
        pkg__third="def keep(at):\n    seen.append(at)\nseen = []\n",
    )
    said = clock(project)

    assert said[0] == severity
    assert why in said[1]
    assert clock(project) == said, "the same from the cache"
    assert clock(project, "--no-cache") == said


@pytest.mark.parametrize(("name", "caller", "severity"), OUT)
def test_a_value_is_followed_to_the_callers(
    project: Project, name: str, caller: str, severity: str
) -> None:
    write(
        project,
        init="from .clock import *\n",
        pkg__clock=RETURNS.format(name=name),
        pkg__use=caller,
    )

    assert clock(project)[0] == severity


def test_tests_make_nothing_quieter(project: Project) -> None:
    write(
        project,
        pkg__clock=RETURNS.format(name="_read"),
        tests__test_clock="from pkg.clock import _read\n\ndef test_it():\n    print(_read())\n",
    )

    assert clock(project)[0] == "medium"


def test_an_edit_of_the_other_file_changes_the_verdict(project: Project) -> None:
    write(
        project,
        pkg__clock=READS.format(name="keep", arguments="value"),
        pkg__other="def keep(at):\n    print(at)\n",
    )
    before = clock(project)[0]
    write(project, pkg__other="def keep(at):\n    seen.append(at)\nseen = []\n")

    assert (before, clock(project)[0]) == ("informational", "medium")


def test_functions_that_hand_a_value_round_come_to_an_end(project: Project) -> None:
    write(
        project,
        pkg__clock=READS.format(name="ping", arguments="value"),
        pkg__other="from pkg.third import pong\ndef ping(at):\n    pong(at)\n",
        pkg__third="from pkg.other import ping\ndef pong(at):\n    ping(at)\n",
    )

    assert clock(project)[0] == "informational"


def test_a_method_of_an_unknown_object_is_looked_for_by_its_name(project: Project) -> None:
    write(
        project,
        pkg__clock="import time\n\ndef advance(store):\n    store.keep_moment(time.time())\n",
        pkg__other="class Store:\n    def keep_moment(self, at):\n        self.at = at\n",
    )

    assert clock(project)[0] == "medium"
