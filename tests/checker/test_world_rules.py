"""What was seen in real programs is found by the rules about effects, encoding, snapshots and replay."""

from __future__ import annotations

import pytest
from files import findings, found

from twice.checker.policy import Policy
from twice.foundation.severity import Severity

HASHES = """
import threading

class Memory:
    def __init__(self):
        self._lock = threading.Lock()
        self._stored_hashes = set()
        self._rows = []

    def add(self, text, tags):
        contents = {"text": text, "tags": tags}
        hashed = hash(tuple(contents.values()))
        with self._lock:
            if hashed in self._stored_hashes:
                return
            self._stored_hashes.add(hashed)

    def get_state(self):
        return {"hashes": list(self._stored_hashes), "rows": list(self._rows)}

    def set_state(self, state):
        self._stored_hashes = set(state["hashes"])
        self._rows = list(state["rows"])
"""
EPISODE = (
    "import time\nclass Recorder:\n    def reset(self):\n        self.began = time.perf_counter()\n"
    "    def step(self, action):\n        observation, info = self.env.step(action)\n"
    "        took = round(time.perf_counter() - self.began, 6)\n        info[self.key] = {'r': self.total, 't': took}\n"
    "        self.time_queue.append(took)\n        return observation, info\n"
)
KEPT = (
    "import functools, random, time\nclass World:\n    def __init__(self):\n        self.tick = {kept}\n"
    "    def step(self):\n        self.now = self.tick()\n        return self.now\n"
)
EVENT = "import functools\nimport time\ntick = functools.partial(time.time)\ndef event():\n    return {'at': tick()}\n"
DEFAULT = "from datetime import datetime\nclass World:\n    def __init__(self, now=datetime.now()):\n        self.now = now\n"
THREAD = "import threading\ndef run(self, work):\n    worker = str(threading.current_thread())\n    self.pending[worker] = work\n"
MATCH = "def kind(value):\n    match value:\n        case None | True:\n            return 1\n        case _:\n            return 2\n"
CALLER = "import time\nclass World:\n    def __init__(self, clock=time.time):\n        self.clock = clock\n    def step(self):\n        self.now = self.clock()\n        return self.now\n"
PLACE = (
    "import hashlib\nclass Place:\n    def __str__(self):\n        return f'{self.x},{self.y}'\n"
    "def digest(x, y):\n    return hashlib.sha256(str(Place(x, y)).encode()).hexdigest()\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HASHES, {"salted-hash": Severity.HIGH}),
        (HASHES.replace('"hashes": list(self._stored_hashes), ', ""), {}),
        (EPISODE, {"clock": Severity.MEDIUM}),
        (DEFAULT, {"default-argument-clock": Severity.HIGH}),
        (MATCH, {}),
        (PLACE, {}),
        (PLACE.replace("__str__", "shown"), {"text-digest": Severity.MEDIUM}),
        (THREAD, {"identity-key": Severity.HIGH}),
        # A clock that is kept as a function is still one where it is called, unless a caller can replace it.
        (KEPT.format(kept="time.time"), {"clock": Severity.MEDIUM}),
        (KEPT.format(kept="functools.partial(time.time)"), {"clock": Severity.MEDIUM}),
        (KEPT.format(kept="time.time") + "\n    def fix(self, tick):\n        self.tick = tick\n", {}),
        (EVENT, {"clock": Severity.MEDIUM}),
        ("import time\ndef now(clock=time.time):\n    return {'at': clock()}\n", {}),
        (CALLER, {}),
    ],
)  # fmt: skip
def test_a_program_has_these_findings_and_no_others(
    text: str, expected: dict[str, Severity]
) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "line",
    [
        'print("took", time.time() - began)',
        "times.append(time.time() - began)",
        'results["duration"] = time.time() - began',
        'run_name = f"{model}-{time.time()}"; os.makedirs(f"runs/{run_name}")',
        "deadline = time.time() + 5; return work(deadline)",
        "if time.time() - began > limit: raise TimeoutError",
    ],
)
def test_a_clock_that_names_measures_or_limits_is_left_alone(line: str) -> None:
    head = "import os\nimport time\ntimes, results = [], {}\ndef train(model, began, limit, work):\n    model.fit()\n"
    assert "clock" not in found(f"{head}    {line}\n")


def test_tests_of_other_things_may_be_tolerant() -> None:
    text = "import numpy as np\ndef test_same_seed():\n    np.testing.assert_allclose(train(seed=1), train(seed=1))\n"
    assert found(text, "tests/test_core.py") == {"tolerant-determinism-test": Severity.MEDIUM}
    other = text.replace("same_seed", "loss_goes_down").replace("train(seed=1))", "[1.5, 2.5])")
    assert found(other, "tests/test_core.py") == {}


def test_a_function_of_libm_is_said_once_for_a_step_and_where_it_matters() -> None:
    text = "import math\ndef step(state):\n    print(math.sin(state))\n    speed = math.cos(state)\n    return speed + math.exp(state)\n"
    said = [each.found for each in findings(text) if each.found.rule == "libm-transcendental"]
    assert [each.place.line for each in said] == [4]


WORLD = "import time\nimport uuid\nclass World:\n    def __init__(self):\n        self.{} = {}\n"
TIME, IDENTITY = ("start_time", "time.time()"), ("world_uid", "str(uuid.uuid4())")


@pytest.mark.parametrize(
    ("kept", "reader", "rules"),
    [
        (TIME, "return world.size", set()),
        (IDENTITY, "return world.size", set()),
        (TIME, "return world.start_time", {"clock"}),
        (TIME, "return getattr(world, 'start_time')", {"clock"}),
        (IDENTITY, "return world.world_uid", {"entropy"}),
        (IDENTITY, "return getattr(world, 'world_uid')", {"entropy"}),
        (IDENTITY, "table[world.world_uid] = world", {"entropy"}),
        (("_uid", "uuid.uuid4()"), "table[world._uid] = world", set()),
        (TIME, "print(world.start_time)", set()),
        (TIME, "return 3.0 - world.start_time > 10", set()),
    ],
)
def test_an_attribute_weighs_by_what_another_file_does_with_it(
    kept: tuple[str, str], reader: str, rules: set[str]
) -> None:
    use = f"from sim.core import World\n\ndef use(world, table):\n    {reader}\n"
    said = found({"sim/core.py": WORLD.format(*kept), "sim/b.py": use})
    assert said.keys() & {"clock", "entropy"} == rules


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
    said = findings({"sim/when.py": given, "sim/queue.py": caller}, package="sim", policy=Policy())
    assert (
        any((each.path, each.found.rule) == ("sim/queue.py", "clock") for each in said) is expected
    )
