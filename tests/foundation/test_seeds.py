from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import RecordVersion, SeedNameRefused, SeedRefused, StreamTaken
from twice.foundation.seeds import (
    Seed,
    SeedLedger,
    assign_arm,
    derive,
    derive_in,
    pair_players,
    path_segments,
)

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "seeds.json").read_text("utf-8"))

ARMS = ["control", "half", "full"]
rosters = st.lists(st.sampled_from("abcdefghij"), min_size=2, max_size=10, unique=True)
labels = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=20
)
paths = st.lists(labels, min_size=1, max_size=4).map("/".join)
masters = st.integers(0, 2**256 - 1).map(Seed)


def derived(parent: Seed, how: str, fields: list) -> Seed:
    if how == "name":
        return derive(parent, *fields)
    if how == "tool":
        fields = [fields[0], *path_segments(fields[1])]
    return derive_in(parent, how, *fields)


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
        derive_in(master, "worker", number),
        derive_in(master, "sweep", number),
        derive_in(master, "sweep", str(number)),
        derive_in(master, "league", number, one),
        derive_in(master, "league", number, one, other),
        derive_in(master, "arm", one, number),
        derive_in(master, "call", one),
        derive_in(master, "tool", one, other),
        derive_in(master, "arm", one, str(number)),
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
        lambda: derive_in(Seed(1), "worker", -1),
        lambda: derive_in(Seed(1), "worker", True),
        lambda: derive_in(Seed(1), "sweep", ""),
        lambda: derive_in(Seed(1), "league", 0),
        lambda: derive_in(Seed(1), "arm", "a", -1),
        lambda: derive_in(Seed(1), "arm", 1, "a"),
        lambda: derive_in(Seed(1), "worker", "1"),
        lambda: derive_in(Seed(1), "worker", 1, 2),
        lambda: derive_in(Seed(1), "name", "a"),
    ],
)
def test_ranks_indices_and_players_are_checked(call):
    with pytest.raises(SeedNameRefused):
        call()


@given(st.integers(0, 10**6), st.permutations(ARMS))
def test_an_arm_does_not_depend_on_the_order_of_arms(unit, arms):
    assert assign_arm(Seed(1), unit, arms) == assign_arm(Seed(1), unit, ARMS)


@given(st.integers(0, 10**6))
def test_removing_an_arm_moves_only_its_own_units(unit):
    before = assign_arm(Seed(1), unit, ARMS)
    after = assign_arm(Seed(1), unit, ["control", "half"])

    assert before in {after, "full"}


def test_an_arm_is_the_one_with_the_smallest_derived_seed_and_arms_are_even():
    found = [assign_arm(Seed(7), unit, ARMS) for unit in range(900)]
    expected = [
        min((derive_in(Seed(7), "arm", arm, unit).value, arm) for arm in ARMS)[1]
        for unit in range(900)
    ]

    assert found == expected
    assert all(250 < count < 350 for count in Counter(found).values())


@given(rosters, st.integers(0, 50), st.randoms(use_true_random=False))
def test_a_round_depends_on_who_plays_and_not_on_how_they_are_listed(players, round_, shuffler):
    listed = list(players)
    shuffler.shuffle(listed)
    pairs = pair_players(Seed(3), round_, players)
    seated = [player for pair in pairs for player in pair]

    assert pair_players(Seed(3), round_, listed) == pairs
    assert len(pairs) == len(players) // 2
    assert len(set(seated)) == len(seated)


def test_rounds_differ():
    players = list("abcdefgh")

    assert len({tuple(pair_players(Seed(3), round_, players)) for round_ in range(20)}) == 20


@pytest.mark.parametrize("names", [[], ["a", "a"], "ab", ["", "b"], ["a"]])
def test_names_that_cannot_be_scheduled_are_refused(names):
    with pytest.raises(SeedNameRefused):
        pair_players(Seed(1), 0, names)
    if names != ["a"]:
        with pytest.raises(SeedNameRefused):
            assign_arm(Seed(1), 0, names)
