"""A program that calls tools is a run like any other, and lies are refused in both modes alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import verified

pytestmark = pytest.mark.integration

SOURCE = """
import os
import time

from twice.tools import Registry, Session, negotiate, tool
from table_tools import Tables
from table_tools import registry as tables


READS = {
    "clock": time.time,
    "variable": lambda: os.environ["HOME"],
    "listing": lambda: os.listdir("."),
    "entropy": lambda: os.urandom(1),
}


def declared(name, read):
    def body() -> int:
        return len(repr(read()))

    return tool(name, determinism="deterministic")(body)


@tool("guess", determinism="nondeterministic")
def guess() -> float:
    return time.time()


REGISTRY = Registry([*(declared(*each) for each in READS.items()), guess, *tables])


def main(run):
    backend = Tables()
    offer = {"session_seed": 3, "permissions": {"nondeterministic": True}}
    session = Session(REGISTRY, backend, negotiate(offer, REGISTRY, backend))
    for name in READS:
        found = session.call(name)
        assert found["error"]["code"] == "nondeterministic_refused", found
        run.compare(name, found)
    run.compare("guess", session.call("guess"))
    session.call("table.create", {"name": "t", "columns": ["x"], "rows": [[n] for n in range(9)]})
    run.compare("holdout", session.call("table.holdout", {"table": "t", "rows": 4, "into": "u"}))
    run.compare("state", backend.fingerprint())
"""


def test_its_replay_refuses_the_same_reads_and_serves_the_permitted_one(tmp_path: Path) -> None:
    verification = verified(tmp_path, SOURCE)

    assert str(verification.result) == "PASS", verification
