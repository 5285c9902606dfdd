"""A clock or a stream that is kept as a function is still one where it is called."""

from __future__ import annotations

import pytest
from files import found

KEPT = """
import functools
import random
import time

class World:
    def __init__(self):
        self.tick = {kept}

    def step(self):
        self.now = self.tick()
        return self.now
"""


@pytest.mark.parametrize("kept", ["time.time", "functools.partial(time.time)"])
def test_a_clock_in_an_attribute_is_read_where_it_is_called(kept: str) -> None:
    assert "clock" in found(KEPT.format(kept=kept))


def test_a_partial_of_a_clock_is_that_clock() -> None:
    text = "import functools\nimport time\n\ntick = functools.partial(time.time)\n\n"

    assert "clock" in found(text + 'def event():\n    return {"at": tick()}\n')


def test_an_attribute_that_is_set_twice_is_not_taken_for_a_clock() -> None:
    again = "\n    def fix(self, tick):\n        self.tick = tick\n"

    assert found(KEPT.format(kept="time.time") + again) == {}


@pytest.mark.parametrize(
    "text",
    [
        "import time\n\ndef now(clock=time.time):\n    return {'at': clock()}\n",
        """
import time

class World:
    def __init__(self, clock=time.time):
        self.clock = clock

    def step(self):
        self.now = self.clock()
        return self.now
""",
    ],
)
def test_a_clock_that_a_caller_can_replace_is_a_note(text: str) -> None:
    assert "clock" not in found(text)


def test_a_subclass_of_a_generator_wants_a_seed_as_well() -> None:
    text = "import random\n\nclass Dice(random.Random):\n    sides = 6\n\nroll = {}.randint(1, 6)\n"

    assert "unseeded-generator" in found(text.format("Dice()"))
    assert "unseeded-generator" not in found(text.format("Dice(3)"))


def test_a_subclass_with_a_stream_of_its_own_is_not_taken_for_a_generator() -> None:
    text = """
import random

class Fixed(random.Random):
    def random(self):
        return 0.5

roll = Fixed().random()
"""
    assert "unseeded-generator" not in found(text)
