"""A time or an id that becomes an attribute weighs by what the files of a project do with it."""

from __future__ import annotations

import pytest
from files import found, places

WORLD = """
import time
import uuid

class World:
    def __init__(self):
        self.{name} = {value}
"""


def project(name: str, value: str, reader: str) -> dict[str, object]:
    reads = f"from sim.core import World\n\ndef use(world, table):\n    {reader}\n"
    return dict(found({"sim/core.py": WORLD.format(name=name, value=value), "sim/b.py": reads}))


@pytest.mark.parametrize(
    ("name", "value"), [("start_time", "time.time()"), ("world_uid", "str(uuid.uuid4())")]
)
def test_what_nobody_reads_is_a_note(name: str, value: str) -> None:
    assert project(name, value, "return world.size") == {}


@pytest.mark.parametrize("read", ["world.{}", "getattr(world, '{}')"])
@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("start_time", "time.time()", "clock"),
        ("world_uid", "str(uuid.uuid4())", "entropy"),
    ],
)
def test_what_another_file_returns_is_found(read: str, name: str, value: str, rule: str) -> None:
    assert rule in project(name, value, f"return {read.format(name)}")


def test_a_private_id_is_for_telling_objects_apart() -> None:
    assert project("_uid", "uuid.uuid4()", "table[world._uid] = world") == {}


@pytest.mark.parametrize(
    "reader", ["print(world.start_time)", "return 3.0 - world.start_time > 10", "pass"]
)
def test_what_is_shown_or_measured_from_is_a_note(reader: str) -> None:
    assert "clock" not in project("start_time", "time.time()", reader)


def test_an_id_that_another_file_looks_things_up_by_is_found() -> None:
    assert "entropy" in project("world_uid", "str(uuid.uuid4())", "table[world.world_uid] = world")


def test_a_generator_that_others_replace_is_doubted() -> None:
    game = "import numpy as np\n\nclass Game:\n    def __init__(self):\n        self.np_random = np.random.RandomState()\n"
    other = "def begin(env, seed):\n    env.game.np_random = env.make(seed)\n"

    assert "unseeded-generator" in found({"sim/game.py": game})
    assert "unseeded-generator" not in found({"sim/game.py": game, "sim/env.py": other})


GIVING = "import time\n\ndef {}():\n    return int(time.time() * 1000)\n"
WRAPPED = "\ndef due_time():\n    return now_millis() + 5\n"


@pytest.mark.parametrize(
    ("given", "called", "expected"),
    [
        (GIVING.format("now_millis"), "now_millis", True),
        (GIVING.format("now_millis") + WRAPPED, "due_time", True),
        ("def now_millis():\n    return 5\n", "now_millis", False),
    ],
)
def test_a_function_that_gives_a_time_is_a_clock_in_other_files(
    given: str, called: str, expected: bool
) -> None:
    caller = f"from sim.when import {called}\n\ndef put(item):\n    item.due = {called}()\n"

    said = places({"sim/when.py": given, "sim/queue.py": caller})

    assert (("sim/queue.py", "clock") in said) is expected
