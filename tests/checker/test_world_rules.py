"""What was seen in real programs is found by the rules about effects, encoding, snapshots and replay."""

from __future__ import annotations

import pytest

from twice.checker.analyzer import analyze_file
from twice.checker.catalogue import shipped
from twice.checker.driver import judge
from twice.checker.policy import Policy
from twice.checker.rules.engine import every_rule, index
from twice.foundation.severity import Severity

INDEX = index(every_rule(), shipped())


def found(text: str, path: str = "sim/core.py") -> dict[str, Severity]:
    """Return the rules with findings of medium or above in a file, with their highest severity."""
    looked = analyze_file(path, text, package="sim", index=INDEX, catalogue=shipped(), follows=True)
    weighed: dict[str, Severity] = {}
    for each in judge({path: looked}, Policy()):
        rule = each.found.rule
        weighed[rule] = max(each.severity, weighed.get(rule, Severity.INFORMATIONAL))
    return {rule: severity for rule, severity in weighed.items() if severity > Severity.LOW}


HASHES_IN_A_SNAPSHOT = """
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
            self._rows.append(text)

    def get_state(self):
        with self._lock:
            return {"hashes": list(self._stored_hashes), "rows": list(self._rows)}

    def set_state(self, state):
        with self._lock:
            self._stored_hashes = set(state["hashes"])
            self._rows = list(state["rows"])
"""


def test_a_salted_hash_in_a_snapshot_is_found() -> None:
    assert found(HASHES_IN_A_SNAPSHOT)["salted-hash"] is Severity.HIGH


def test_a_hash_that_stays_in_the_process_is_left_alone() -> None:
    text = HASHES_IN_A_SNAPSHOT.replace('"hashes": list(self._stored_hashes), ', "")
    assert "salted-hash" not in found(text)


def test_the_time_that_an_episode_took_is_found_in_what_a_step_returns() -> None:
    text = """
import time

class Recorder:
    def reset(self):
        self.began = time.perf_counter()

    def step(self, action):
        observation, info = self.env.step(action)
        took = round(time.perf_counter() - self.began, 6)
        info[self.key] = {"r": self.total, "t": took}
        self.time_queue.append(took)
        return observation, info
"""
    assert found(text) == {"clock": Severity.MEDIUM}


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
    text = f"""
import os
import time

times, results = [], {{}}

def train(model, began, limit, work):
    model.fit()
    {line}
"""
    assert "clock" not in found(text)


def test_a_default_is_frozen_at_import_and_is_said_once() -> None:
    text = """
from datetime import datetime

class World:
    def __init__(self, now=datetime.now()):
        self.now = now
"""
    assert found(text) == {"default-argument-clock": Severity.HIGH}


def test_a_pattern_of_none_and_true_is_read() -> None:
    text = """
def kind(value):
    match value:
        case None | True:
            return 1
        case _:
            return 2
"""
    assert found(text) == {}


def test_a_digest_of_an_object_that_says_what_its_text_is_is_left_alone() -> None:
    text = """
import hashlib

class Place:
    def __str__(self):
        return f"{self.x},{self.y}"

def digest(x, y):
    return hashlib.sha256(str(Place(x, y)).encode()).hexdigest()
"""
    assert found(text) == {}
    assert "text-digest" in found(text.replace("__str__", "shown"))


def test_tests_of_other_things_may_be_tolerant() -> None:
    text = """
import numpy as np

def test_same_seed_gives_the_same_weights():
    np.testing.assert_allclose(train(seed=1), train(seed=1))
"""
    assert found(text, "tests/test_core.py") == {"tolerant-determinism-test": Severity.MEDIUM}
    other = text.replace("same_seed_gives_the_same_weights", "loss_goes_down")
    other = other.replace("train(seed=1))", "expected)")
    assert found(other, "tests/test_core.py") == {}
