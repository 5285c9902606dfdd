from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import RecordVersion, SeedNameRefused, SeedRefused, StreamTaken
from twice.foundation.seeds import (
    Seed,
    SeedLedger,
    arm_seed,
    call_seed,
    derive,
    league_seed,
    sweep_seed,
    tool_seed,
    worker_seed,
)

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "seeds.json").read_text("utf-8"))

labels = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=20
)
paths = st.lists(labels, min_size=1, max_size=4).map("/".join)
masters = st.integers(0, 2**256 - 1).map(Seed)


def derived(parent: Seed, how: str, fields: list) -> Seed:
    makers = {
        "name": derive,
        "worker": worker_seed,
        "sweep": sweep_seed,
        "league": league_seed,
        "arm": arm_seed,
        "call": call_seed,
        "tool": tool_seed,
    }
    return makers[how](parent, *fields)


def written_out(parent: int, how: str, fields: list) -> int:
    """Rule 1 from RFC 2104 and the docstring, sharing nothing with the package."""

    def hmac_sha256(key: bytes, message: bytes) -> bytes:
        padded = key.ljust(64, b"\0")
        inner = hashlib.sha256(bytes(b ^ 0x36 for b in padded) + message).digest()
        return hashlib.sha256(bytes(b ^ 0x5C for b in padded) + inner).digest()

    def field(value: object) -> bytes:
        raw = str(value).encode("utf-8")
        return bytes([1 if isinstance(value, str) else 2]) + len(raw).to_bytes(4, "big") + raw

    def step(seed: int, domain: str, *values: object) -> int:
        message = b"twice/seed" + (1).to_bytes(4, "big") + field(domain)
        message += len(values).to_bytes(4, "big") + b"".join(map(field, values))
        return int.from_bytes(hmac_sha256(seed.to_bytes(32, "big"), message)[:16], "big")

    if how == "tool":  # a name, then a path: one field for each segment
        fields = [fields[0], *fields[1].split("/")]
    if how != "name":
        return step(parent, how, *fields)
    for segment in fields[0].split("/"):
        parent = step(parent, "name", segment)
    return parent


@pytest.mark.parametrize("row", VECTORS["vectors"])
def test_a_frozen_vector_holds_and_its_independent_computation_agrees(row):
    parent = int(row["parent"], 16)
    child = derived(Seed(parent), row["how"], row["fields"])

    assert child.hex == row["child"]
    assert child.value == written_out(parent, row["how"], row["fields"])


@given(masters, paths)
def test_derivation_follows_the_rule_as_it_is_written_down(master, path):
    assert derive(master, path).value == written_out(master.value, "name", [path])


@given(masters, paths, paths)
def test_a_path_is_one_step_per_segment(master, first, rest):
    assert derive(derive(master, first), rest) == derive(master, f"{first}/{rest}")


@given(masters, st.lists(paths, min_size=2, max_size=8, unique=True))
def test_two_paths_never_give_one_seed(master, names):
    assert len({derive(master, name).value for name in names}) == len(names)


@given(masters, labels, labels, st.integers(0, 100))
def test_the_kinds_of_derivation_never_meet(master, one, other, number):
    found = [
        derive(master, one),
        derive(master, str(number)),
        worker_seed(master, number),
        sweep_seed(master, number),
        sweep_seed(master, str(number)),
        league_seed(master, number, one),
        league_seed(master, number, one, other),
        arm_seed(master, one, number),
        call_seed(master, one),
        tool_seed(master, one, other),
        arm_seed(master, one, str(number)),
    ]

    different_paths = 11 if one != str(number) else 10
    assert len({seed.value for seed in found}) == different_paths


@given(st.permutations(["env", "policy", "buffer", "augment"]))
def test_the_order_of_taking_changes_no_seed(order):
    ledger = SeedLedger(Seed(1))
    taken = {name: ledger.take(name) for name in order}

    assert {name: seed.hex for name, seed in taken.items()} == ledger.as_map()
    assert list(ledger.as_map()) == ["augment", "buffer", "env", "policy"]
    assert taken["policy"] == derive(Seed(1), "policy")


@given(paths)
def test_a_derived_seed_has_128_bits(path):
    seed = derive(Seed(7), path)

    assert 0 <= seed.value < 2**128
    assert len(seed.hex) == 32


def test_names_are_compared_byte_by_byte():
    assert derive(Seed(1), "é") != derive(Seed(1), "e\u0301")


@pytest.mark.parametrize(
    "path", ["", "/", "a/", "/a", "a//b", "a" * 256, "a/" + "é" * 128, "\ud800", 3, None, b"a"]
)
def test_what_cannot_be_a_name_is_refused(path):
    with pytest.raises(SeedNameRefused) as caught:
        derive(Seed(1), path)

    assert caught.value.id == "E-SEED-002"


def test_a_segment_of_255_bytes_is_a_name():
    assert derive(Seed(1), "é" * 127 + "a").value >= 0


@pytest.mark.parametrize("value", [-1, 2**256, True, 1.0, "1", None])
def test_what_is_not_a_master_seed_is_refused(value):
    with pytest.raises(SeedRefused) as caught:
        Seed(value)

    assert caught.value.id == "E-SEED-003"


@pytest.mark.parametrize(("text", "value"), [("42", 42), (" 0x2A ", 42), (str(2**256 - 1), None)])
def test_a_seed_is_read_as_people_write_it(text, value):
    assert Seed.parse(text).value == (2**256 - 1 if value is None else value)


@pytest.mark.parametrize("text", ["", "4.2", "-1", "0x", "1_0", "٣", "random", str(2**256)])
def test_text_that_is_not_a_seed_is_refused(text):
    with pytest.raises(SeedRefused):
        Seed.parse(text)


@pytest.mark.parametrize("bad", [lambda s: s + 1, lambda s: 1 + s, lambda s: s ^ s, int, range])
def test_a_seed_has_no_arithmetic(bad):
    with pytest.raises(TypeError):
        bad(Seed(1))


def test_a_taken_name_is_refused_the_second_time():
    ledger = SeedLedger(Seed(1))
    ledger.take("env/0")

    with pytest.raises(StreamTaken, match="env/0"):
        ledger.take("env/0")
    assert "env/0" in ledger
    assert "env" not in ledger


def test_an_unknown_rule_is_refused():
    with pytest.raises(RecordVersion):
        derive(Seed(1), "a", rule=2)
    with pytest.raises(RecordVersion):
        SeedLedger(Seed(1), rule=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: worker_seed(Seed(1), -1),
        lambda: worker_seed(Seed(1), True),
        lambda: sweep_seed(Seed(1), ""),
        lambda: league_seed(Seed(1), 0),
        lambda: arm_seed(Seed(1), "a", -1),
    ],
)
def test_ranks_indices_and_players_are_checked(call):
    with pytest.raises(SeedNameRefused):
        call()
