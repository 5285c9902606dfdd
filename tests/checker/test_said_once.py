"""What two rules or two places could say is said once."""

from __future__ import annotations

from files import found
from test_rules import findings


def test_the_text_of_a_thread_is_said_once() -> None:
    text = """
import threading

def run(self, work):
    worker = str(threading.current_thread())
    self.pending[worker] = work
"""
    assert set(found(text)) == {"identity-key"}


def test_a_function_of_libm_is_said_once_for_a_step_and_where_it_matters() -> None:
    text = """
import math

def step(state):
    print(math.sin(state))
    speed = math.cos(state)
    return speed + math.exp(state)
"""
    rules = [(each.found.rule, each.found.place.line) for each in findings(text)]
    assert [line for rule, line in rules if rule == "libm-transcendental"] == [6]
