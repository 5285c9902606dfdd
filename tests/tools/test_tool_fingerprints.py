"""A fingerprint changes with everything that a caller relies on, and with nothing else."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field
from table_tools import registry as tables

from twice.foundation.comparison import Abs
from twice.tools import Needs, Registry, Tool, tool


def base(n: int = 1) -> int:
    """Count."""
    return n


def other_default(n: int = 2) -> int:
    """Count."""
    return n


def other_limit(n: Annotated[int, Field(ge=0)] = 1) -> int:
    """Count."""
    return n


def other_result(n: int = 1) -> float:
    """Count."""
    return n


def other_source(n: int = 1) -> int:
    """Count."""
    return n + 0


def made(function: Callable[..., Any], **more: Any) -> Tool:
    given = {"determinism": "deterministic", "version": "1", **more}
    return tool("count", **given)(function)


def test_a_declaration_that_is_repeated_has_the_same_fingerprint() -> None:
    assert made(base).fingerprint == made(base).fingerprint
    assert made(base).fingerprint.startswith("sha256:")


@pytest.mark.parametrize(
    "changed",
    [
        made(other_default),
        made(other_limit),
        made(other_result),
        made(other_source),
        made(base, version="2"),
        made(base, determinism="nondeterministic"),
        made(base, determinism="seeded"),
        made(base, needs=Needs(listing=True)),
        made(base, needs=Needs(backend=">=4.5")),
        made(base, tolerance=Abs(1e-9)),
        made(base, derives="steps"),
        made(base, reads_only=True),
        made(base, seconds=1),
    ],
)
def test_whatever_a_caller_relies_on_changes_it(changed: Tool) -> None:
    assert changed.fingerprint != made(base).fingerprint
    assert Registry([changed]).fingerprint != Registry([made(base)]).fingerprint


def test_the_order_of_tools_means_nothing() -> None:
    every = list(tables)
    shuffled = random.Random(3).sample(every, len(every))

    assert Registry(shuffled).fingerprint == Registry(every).fingerprint == tables.fingerprint


@pytest.mark.integration
def test_hash_seeds_mean_nothing() -> None:
    code = "from table_tools import registry as r; print(r.fingerprint)"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1", "12345")
    }

    assert found == {tables.fingerprint}


def test_macros_have_a_fingerprint_of_their_own() -> None:
    without = Registry([each for each in tables if not each.is_macro])

    assert without.macro_fingerprint != tables.macro_fingerprint
