"""A ledger hands out each key of JAX once, and a resumed one goes on as the first would have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.heavy

jax = pytest.importorskip("jax", reason="needs the extra twice[jax]")

from twice.errors import CheckpointUnfit, KeyUsedTwice  # noqa: E402
from twice.integrations.checkpoints import Checkpoint  # noqa: E402
from twice.integrations.checkpoints.jax_keys import KeyLedger  # noqa: E402

KINDS: list[Callable[[int], Any]] = [
    jax.random.key,
    jax.random.PRNGKey,
    lambda seed: jax.random.key(seed, impl="rbg"),
]


def draw(key: Any) -> list[float]:
    values: list[float] = np.asarray(jax.random.normal(key, (3,))).tolist()
    return values


@pytest.mark.parametrize("make", KINDS)
def test_a_ledger_continues(tmp_path: Path, make: Callable[[int], Any]) -> None:
    ledger = KeyLedger(make(3))
    ledger.next("init")
    ledger.next("dropout", 4)
    Checkpoint(tmp_path / "c", keys=ledger).save(4)
    expected = draw(ledger.next("dropout", 5))

    again = KeyLedger(make(9))
    Checkpoint(tmp_path / "c", keys=again).resume()
    with pytest.raises(KeyUsedTwice, match="'init' number 0"):
        again.next("init")
    with pytest.raises(KeyUsedTwice, match="'dropout' number 4 was asked for after number 4"):
        again.next("dropout", 4)
    assert draw(again.next("dropout", 5)) == expected


def test_a_key_depends_on_name_and_number_alone() -> None:
    first, second = KeyLedger(jax.random.key(3)), KeyLedger(jax.random.key(3))
    second.next("added")
    second.next("dropout", 1)

    assert draw(first.next("dropout", 2)) == draw(second.next("dropout", 2))


def test_no_two_keys_are_the_same() -> None:
    ledger = KeyLedger(jax.random.key(3))
    keys = [ledger.next(name, number) for name in ("a", "b", "") for number in range(4)]
    keys.append(jax.random.key(3))

    data = [tuple(np.asarray(jax.random.key_data(key)).tolist()) for key in keys]
    assert len(dict.fromkeys(data)) == len(keys)


def test_a_key_that_is_used_twice_is_named() -> None:
    ledger = KeyLedger(jax.random.key(3))
    ledger.next("shuffle", 7)

    with pytest.raises(
        KeyUsedTwice, match="'shuffle' number 6 was asked for after number 7"
    ) as caught:
        ledger.next("shuffle", 6)
    assert caught.value.id == "E-CHECKPOINT-007"


@pytest.mark.parametrize("number", [-1, 1 << 32])
def test_a_number_out_of_range_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="not 0 to"):
        KeyLedger(jax.random.key(3)).next("a", number)


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"key": np.zeros(3, np.uint32), "implementation": "", "last": {}},
        {"key": np.zeros(2, np.uint32), "implementation": "none", "last": {}},
        {"key": np.zeros(2, np.uint32), "implementation": "fry", "last": {"a": "b"}},
    ],
)
def test_what_is_no_state_of_a_ledger_is_refused(state: object) -> None:
    ledger = KeyLedger(jax.random.key(3))

    with pytest.raises(CheckpointUnfit, match="The state of the key ledger"):
        ledger.write(state)
