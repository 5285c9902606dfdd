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


def declared(function):
    return tool(function.__name__, determinism="deterministic")(function)


@declared
def clock() -> float:
    return time.time()


@declared
def variable() -> str:
    return os.environ["HOME"]


@declared
def listing() -> int:
    return len(os.listdir("."))


@declared
def entropy() -> int:
    return os.urandom(1)[0]


@tool("guess", determinism="nondeterministic")
def guess() -> float:
    return time.time()


REGISTRY = Registry([clock, variable, listing, entropy, guess, *tables])


def main(run):
    backend = Tables()
    offer = {"session_seed": 3, "permissions": {"nondeterministic": True}}
    session = Session(REGISTRY, backend, negotiate(offer, REGISTRY, backend))
    for name in ("clock", "variable", "listing", "entropy"):
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
