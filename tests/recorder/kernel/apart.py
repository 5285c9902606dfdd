"""Run a function in a process that is thrown away, and bring back what it returns or raises."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from typing import TypeVar

import pytest

from namespace_probes import probe_network, probe_process_number, probe_world

Result = TypeVar("Result")

if sys.platform.startswith("linux"):
    needs_world = pytest.mark.skipif(not probe_world().available, reason=probe_world().reason)
    needs_number = pytest.mark.skipif(
        not probe_process_number().available, reason=probe_process_number().reason
    )
    needs_network = pytest.mark.skipif(not probe_network().available, reason=probe_network().reason)
else:
    needs_world = needs_number = needs_network = pytest.mark.skip(reason="Linux only")


def run_apart(function: Callable[[], Result]) -> Result:
    """Whatever the function does to its process, this one stays as it is."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            try:
                answer = pickle.dumps((True, function()))
            except BaseException:
                answer = pickle.dumps((False, traceback.format_exc()))
            with open(writing, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    assert answer, "the process ended without an answer"
    fine, value = pickle.loads(answer)
    if not fine:
        pytest.fail(f"in the other process:\n{value}")
    return value
