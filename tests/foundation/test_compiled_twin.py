"""The compiled twin writes what the reference writes, refuses what it refuses, and survives what a program does meanwhile."""

from __future__ import annotations

import dataclasses
import enum
import gc
import os
import random
import sys
import threading
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from blake3 import blake3

from twice.errors import EncodingCycle, EncodingRefused, EncodingTextRefused
from twice.foundation.compiled import load_twin
from twice.foundation.digests import Algorithm, short_digest
from twice.foundation.encoding import Registry, encode, encode_parts
from twice.foundation.encoding.encoder import FALLBACK_ERRORS, PythonEncoder, make_compiled_encoder
from twice.foundation.encoding.reference_walk import walk
from twice.foundation.version import VERSION

TWIN, WHY_NOT = load_twin()


def needs_twin(test: Any) -> Any:
    """Mark a test that CI runs after the default tier, when the twin is built."""
    skip = pytest.mark.skipif(TWIN is None, reason=f"the compiled twin is not in force: {WHY_NOT}")
    return pytest.mark.integration(skip(test))


VALUES = int(os.environ.get("TWICE_VALUES", "10000"))


class Kind(enum.Enum):
    A = 1
    B = "b"


@dataclasses.dataclass
class Pair:
    left: object
    right: object


class Spot(NamedTuple):
    x: object
    y: object


def make_registry(*, compiled: bool = True) -> Registry:
    registry = Registry()
    registry.encoder = (
        make_compiled_encoder(registry, TWIN) if compiled else PythonEncoder(registry)
    )
    return registry


def draw_leaf(rng: random.Random) -> object:
    makers: list[Callable[[], object]] = [
        lambda: None,
        lambda: rng.random() < 0.5,
        lambda: rng.randrange(-9, 9),
        lambda: rng.randrange(-(2**63), 2**63),
        lambda: rng.choice((2**63, -(2**63) - 1, 2**64, -(2**200), 2**63 - 1, -(2**63))),
        lambda: rng.choice((0.0, -0.0, float("nan"), -float("nan"), float("inf"), 1e-310)),
        rng.random,
        lambda: "".join(rng.choices("abü\u0436\U0001f600\0", k=rng.randrange(5))),
        lambda: rng.randbytes(rng.choice((0, 1, 40, 200))),
        lambda: bytearray(rng.randbytes(rng.choice((0, 30, 200)))),
        lambda: complex(rng.random(), float("nan")),
        lambda: rng.choice(list(Kind)),
        lambda: Decimal(rng.randrange(99)) / 7,
        lambda: Fraction(rng.randrange(9), 7),
        lambda: range(rng.randrange(4)),
        lambda: np.float32(rng.random()),
        lambda: np.arange(rng.randrange(40)) * 1.5,
        lambda: np.arange(12, dtype=">i4").reshape(3, 4)[:, ::2],
    ]
    return rng.choice(makers)()


def draw_key(rng: random.Random) -> Any:
    plain = rng.choice((None, True, rng.randrange(-5, 5), 2**70, "k", "ü", 1.5, b"b", Kind.A))
    return plain if rng.random() < 0.8 else (plain, frozenset([rng.randrange(4), "x"]))


def draw(rng: random.Random, depth: int = 0) -> object:
    if depth > 3 or rng.random() < 0.4:
        return draw_leaf(rng)
    count = 70 if not depth and rng.random() < 0.02 else rng.randrange(5)
    inner = [draw(rng, depth + 1) for _ in range(count)]
    kind = rng.randrange(9)
    if kind == 0:
        return tuple(inner)
    if kind == 1:
        return [rng.choice((rng.random(), float("nan"))) for _ in range(count)]
    if kind == 2:
        return tuple(rng.randrange(-(2 ** rng.choice((5, 66))), 2**63) for _ in range(count))
    if kind == 3:
        return {f"key {rng.randrange(200)}": each for each in inner}
    if kind == 4:
        return {rng.randrange(-99, 99): each for each in inner}
    if kind == 5:
        return {draw_key(rng): each for each in inner}
    if kind == 6:
        return {draw_key(rng) for _ in range(count)}
    if kind == 7:
        return Pair(inner, Spot(draw_leaf(rng), draw_key(rng)))
    return inner


def outcome(write: Callable[[], bytes]) -> object:
    """Return the bytes, or the words of the refusal: a dict may have two keys of one form."""
    try:
        return write()
    except EncodingRefused as refused:
        return type(refused), str(refused)


@needs_twin
def test_generated_values_have_the_bytes_of_the_reference() -> None:
    compiled, rng = make_registry(), random.Random(49)
    for _ in range(VALUES):
        value, threshold = draw(rng), rng.choice((0, 1, 50, 4096))
        expected = outcome(lambda value=value: b"".join(walk(value, compiled)))
        assert outcome(lambda value=value: encode(value, registry=compiled)) == expected
        if isinstance(expected, bytes):
            parts = encode_parts(value, registry=compiled, threshold=threshold)
            assert b"".join(parts) == expected
            assert all(len(part) for part in parts)
            hashed = compiled.encoder.digest(value, 4096)
            is_short = isinstance(hashed, bytes)
            assert is_short == (len(expected) <= 1024)
            assert (hashed if is_short else b"".join(hashed)) == (
                blake3(expected).digest()[:16] if is_short else expected
            )


@needs_twin
def test_short_data_has_the_digest_of_blake3() -> None:
    digest, rng = short_digest(Algorithm.BLAKE3), random.Random(4)
    for size in range(1100):
        data = rng.randbytes(size)
        expected = blake3(data).digest()[:16]
        assert digest(data) == digest(memoryview(bytearray(data))) == expected
    with pytest.raises(TypeError):
        digest("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        TWIN.digest_short(b"")


def make_deep(depth: int, make: Callable[[object], object]) -> object:
    value: object = 1
    for _ in range(depth):
        value = make(value)
    return value


def make_cycle(make: Callable[[list[object]], object]) -> object:
    inner: list[object] = [1]
    inner.append(make(inner))
    return inner


REFUSED = {
    "text": ["a", {"b": "\ud800"}],
    "key": {"\ud800": 1},
    "type": {"a": [object()]},
    "cycle": make_cycle(lambda inner: {"a": inner}),
    "cycle through a dataclass": make_cycle(lambda inner: Pair(1, inner)),
    "cycle through a tuple": make_cycle(lambda inner: (1, inner)),
    "recursion bomb of sets": make_deep(100, lambda value: frozenset([value])),
    "recursion bomb of keys": {make_deep(1500, lambda value: (value,)): 1},
}


@pytest.mark.parametrize("name", REFUSED)
@needs_twin
def test_a_refusal_is_that_of_the_reference(name: str) -> None:
    told = []
    for registry in (make_registry(), make_registry(compiled=False)):
        with pytest.raises(EncodingRefused) as caught:
            encode(REFUSED[name], registry=registry)
        told.append((type(caught.value), str(caught.value), caught.value.fields))

    assert told[0] == told[1]
    assert ("cycle" in name) == (told[0][0] is EncodingCycle)
    assert (name in {"text", "key"}) == (told[0][0] is EncodingTextRefused)


@pytest.mark.parametrize("make", [lambda value: [value], lambda value: {"a": value}, lambda value: Pair(1, value)])  # fmt: skip
@needs_twin
def test_any_depth_is_encoded(make: Callable[[object], object]) -> None:
    deep = make_deep(2_000, make)

    assert encode(deep, registry=make_registry()) == encode(
        deep, registry=make_registry(compiled=False)
    )


class Restless:
    """A registered value that changes its surroundings whenever it is written."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def to_value(self) -> object:
        self.act()
        gc.collect()
        return [object.__name__ * 50, 1.5]


@needs_twin
def test_containers_that_change_while_they_are_written_crash_nothing() -> None:
    registry = make_registry()
    registry.register(Restless, "test.Restless", Restless.to_value, lambda _value: None)
    held: dict[str, Any] = {}
    acts: list[Callable[[Any], object]] = [
        lambda value: value.clear(),
        lambda value: value.pop() if isinstance(value, list) else value.popitem(),
        lambda value: value.extend(range(99)) if isinstance(value, list) else value.update(b=[2]),
        lambda _value: encode([{"a": held.get("inner")}], registry=registry),
    ]
    for act in acts:
        for make in (list, lambda items: dict(zip("abcdefgh", items, strict=False)), lambda items: dict(enumerate(items))):  # fmt: skip
            value = make([[1, "x" * 90], None, ["y" * 90, {}]])
            restless = Restless(lambda act=act, value=value: act(value))
            if isinstance(value, list):
                value[1] = restless
            else:
                value[[*value][1]] = restless
            try:
                form = encode(value, registry=registry)
            except (EncodingRefused, RuntimeError, IndexError, KeyError):
                continue
            assert form[:1] in b"ld"


@needs_twin
def test_a_value_may_be_encoded_within_another() -> None:
    registry = make_registry()
    inner = {"a": ["x" * 5000, 1.5]}
    expected = encode(inner, registry=registry)
    restless = Restless(lambda: encode(inner, registry=registry))
    registry.register(Restless, "test.Restless", Restless.to_value, lambda _value: None)

    form = encode({"first": "y" * 3000, "inner": restless, "z": inner}, registry=registry)

    assert form.endswith(expected)
    assert form == b"".join(walk({"first": "y" * 3000, "inner": restless, "z": inner}, registry))


@needs_twin
def test_a_lack_of_memory_is_an_error_wherever_it_happens() -> None:
    memory = pytest.importorskip("_testcapi", reason="this Python has no _testcapi")
    registry = make_registry()
    value = {"a": ["ü" * 9, {1: 2, 3: "x" * 9000}], **{f"key {n}": [n, "y"] for n in range(70)}}
    expected = encode(value, registry=registry)
    outcomes = set()
    for at in range(200):
        fresh = make_compiled_encoder(registry, TWIN)
        memory.set_nomemory(at, at + 1)
        try:
            form = fresh.join(value)
        except MemoryError:
            form = None
        finally:
            memory.remove_mem_hooks()
        outcomes.add(form)
    assert outcomes <= {None, expected}
    assert len(outcomes) == 2


@pytest.mark.parametrize(
    ("version", "pure", "why"),
    [
        ("9.9", "", f"twice-fast is of version 9.9, and twice of {VERSION}"),
        (VERSION, "1", "TWICE_PURE is set"),
        (None, "", "twice-fast is not installed"),
        (
            VERSION,
            "",
            "twice-fast was built from other sources of this version: pip install ./native",
        ),
    ],
)
def test_a_twin_that_does_not_fit_is_not_in_force(
    monkeypatch: pytest.MonkeyPatch, version: str | None, pure: str, why: str
) -> None:
    fake = None if version is None else types.SimpleNamespace(version=version)
    monkeypatch.setitem(sys.modules, "twice_fast", fake)  # type: ignore[arg-type]
    monkeypatch.setenv("TWICE_PURE", pure)

    assert load_twin.__wrapped__() == (None, why)


def test_a_file_that_is_no_module_is_not_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"twice_fast{EXTENSION_SUFFIXES[0]}").write_bytes(b"no shared object")
    monkeypatch.delitem(sys.modules, "twice_fast", raising=False)
    monkeypatch.setenv("TWICE_PURE", "")
    monkeypatch.syspath_prepend(tmp_path)

    twin, why = load_twin.__wrapped__()

    assert twin is None
    assert why.startswith("twice-fast does not load: ")


@needs_twin
def test_no_reference_is_lost_or_kept() -> None:
    registry = make_registry()
    leaves = [object.__name__ * 9, 2.5, 2**80, b"x" * 50, np.arange(9), "ü" * 9, Pair(1, [2])]
    values = [
        leaves,
        tuple(leaves),
        {f"key {at}": each for at, each in enumerate(leaves)},
        {f"key {at}": leaves[at % 7] for at in range(99)},
        dict(enumerate(leaves)),
        {(at, "x"): each for at, each in enumerate(leaves)},
        [*leaves, object()],
    ]
    counts = []
    for _ in range(3):
        for value in values:
            outcome(lambda value=value: encode(value, registry=registry))
        gc.collect()  # a refusal and its frames are a circle
        counts.append([sys.getrefcount(each) for each in leaves])

    assert counts[1] == counts[2]


class Bomb:
    """An object that changes a dict when it is collected."""

    def __init__(self, held: dict[Any, Any], keys: Callable[[int], object]) -> None:
        self.me, self.held, self.keys = self, held, keys

    def __del__(self) -> None:
        count = len(self.held)
        self.held.clear()
        self.held.update({self.keys(at): None for at in range(count)})


@needs_twin
@pytest.mark.parametrize("size", [6, 80])
@pytest.mark.parametrize("keys", [float, str])
def test_a_finaliser_in_the_middle_frees_nothing_that_is_written(
    size: int, keys: Callable[[int], object]
) -> None:
    encoder, before = make_compiled_encoder(Registry(), TWIN), gc.get_threshold()
    gc.collect()
    gc.disable()
    try:
        for number in range(100):
            held: dict[Any, Any] = {f"{number} {at}": [f"{at}" * 40, None] for at in range(size)}
            Bomb(held, keys)
            gc.set_threshold(1)
            gc.enable()
            try:
                form = encoder.join(held)
            except FALLBACK_ERRORS:
                form = b"d"  # the reference writes what is there now
            gc.disable()
            assert form[:1] == b"d"  # what fails here is the process: freed memory was written
    finally:
        gc.set_threshold(*before)
        gc.enable()


@needs_twin
@pytest.mark.parametrize("make", [lambda value: {"a": value}, lambda value: [value], lambda value: {1: value}])  # fmt: skip
def test_a_thread_with_a_small_stack_writes_deep_values(make: Callable[[object], object]) -> None:
    registry, deep, found = make_registry(), make_deep(99, make), list[bytes]()
    encode(make_deep(3, make), registry=registry)
    before = threading.stack_size(128 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(encode(deep, registry=registry)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)

    assert found == [b"".join(walk(deep, registry))]


@needs_twin
def test_what_lies_beside_a_cycle_is_written_once() -> None:
    registry, asked = make_registry(), []
    registry.register(Restless, "test.Restless", Restless.to_value, lambda _value: None)
    value: dict[str, object] = {"a": Restless(lambda: asked.append(1))}
    value["self"] = value

    with pytest.raises(EncodingCycle):
        encode(value, registry=registry)

    assert len(asked) == 2  # by the twin, and by the reference


@needs_twin
def test_an_encoder_that_was_not_made_refuses() -> None:
    with pytest.raises(TypeError, match="not initialised"):
        TWIN.Encoder.__new__(TWIN.Encoder).join(1)
    with pytest.raises(ValueError, match="made once"):
        make_compiled_encoder(Registry(), TWIN).__init__({}, 1, 2, 3, {}, 4, 5, 6)
