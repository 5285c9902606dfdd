"""Calls of JAX are traced with what they read and give, and the trace changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.heavy

jax = pytest.importorskip("jax", reason="needs the extra twice[jax]")

import jax.numpy as jnp  # noqa: E402

from twice.diagnosis.operations.stream import OperationStream, compare_streams  # noqa: E402
from twice.integrations import jax_trace  # noqa: E402

PROGRAM = """
import jax
import jax.numpy as jnp


@jax.jit
def step(w, x, y):
    def loss(w):
        h = jnp.tanh(x @ w["a"])
        return jnp.mean((h @ w["b"] - y) ** 2)

    value, grads = jax.value_and_grad(loss)(w)
    return jax.tree.map(lambda p, g: p - 0.1 * g, w, grads), value


key = jax.random.key(0)
a, b, c = jax.random.split(key, 3)
w = {"a": jnp.ones((64, 64)) * 0.013, "b": jnp.ones((64, 1)) * 0.017}
x = jnp.arange(64.0 * 64).reshape(64, 64) / 3777.0
y = jnp.sin(jnp.arange(64.0)).reshape(64, 1)
for _ in range(5):
    w, value = step(w, x, y)
print(float(value), float(w["a"].sum()))
"""


@jax.jit
def layer(x: Any) -> Any:
    return jnp.tanh(x @ x).sum()


def trace(program: Callable[[], object], *asked: int) -> OperationStream:
    started = jax_trace.begin(asked or (0,))
    try:
        program()
    finally:
        started.end()
    return OperationStream.from_message({"traced": started.describe(), "reproduces": True})


def list_names(stream: OperationStream) -> list[str]:
    return [stream.name(at) for at in range(len(stream))]


def test_calls_that_were_compiled_before_are_traced_as_well() -> None:
    x = jnp.ones((3, 3))
    layer(x)
    stream = trace(lambda: (layer(x), layer(x), jnp.dot(x, x), x + 1))

    assert list_names(stream) == ["jit(layer)", "jit(layer)", "jit(dot)", "jit(add)"]
    assert stream.inputs[0] == stream.inputs[1] != 0
    assert stream.outputs[0] == stream.outputs[1]
    assert not stream.notes


def test_results_are_what_they_are_without_a_trace() -> None:
    x = jnp.arange(9.0).reshape(3, 3)
    found: list[Any] = []
    trace(lambda: found.append(jax.grad(layer)(x)))

    assert (found[0] == jax.grad(layer)(x)).all()


def test_another_value_parts_where_it_comes_in() -> None:
    one, two = jnp.ones((3, 3)), jnp.full((3, 3), 2.0)
    parting = compare_streams(
        trace(lambda: (layer(one), layer(one))),
        trace(lambda: (layer(one), layer(two))),
        (frozenset(), frozenset()),
    )

    assert parting.operation is None
    assert parting.other is not None
    assert parting.other.a == 1


def test_keys_of_generators_count_by_their_words() -> None:
    one, two = jax.random.key(0), jax.random.key(1)
    streams = [trace(lambda key=key: jax.random.normal(key, (2,))) for key in (one, one, two)]

    assert streams[0].inputs[0] == streams[1].inputs[0] != streams[2].inputs[0]


def test_what_is_captured_has_line_values_and_equations() -> None:
    x = jnp.ones((3, 3))
    (captured,) = trace(lambda: layer(x), 0).captured
    names = [each["name"] for each in captured["equations"]]

    assert captured["name"] == "jit(layer)"
    assert captured["inputs"][0]["form"] == "float32 [3, 3]"
    assert names == ["dot_general", "tanh", "reduce_sum"]
    assert captured["equations"][0]["line"].startswith(f"{__file__}:")
    assert captured["outputs"][0]["bytes"] == captured["equations"][2]["results"][0]["bytes"]


def test_a_call_with_effects_is_executed_once() -> None:
    seen: list[int] = []

    @jax.jit
    def tells(x: Any) -> Any:
        jax.debug.callback(lambda: seen.append(1))
        return x + 1

    (captured,) = trace(lambda: jax.block_until_ready(tells(jnp.ones(2))), 0).captured
    jax.effects_barrier()

    assert seen == [1]
    assert captured["equations"] == []


def test_memory_that_is_given_away_is_read_before() -> None:
    gives = jax.jit(lambda x: x + 1, donate_argnums=0)
    stream = trace(lambda: gives(jnp.ones(4)), 1)

    assert len(stream.captured) == 1
    assert stream.captured[0]["outputs"][0]["shape"] == [4]


def test_the_equation_and_the_line_in_a_compiled_step_are_named(tmp_path: Path) -> None:
    """In processes: a flag of XLA is read when JAX begins."""
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")

    def run(*words: str, **variables: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "twice", *words], cwd=tmp_path, capture_output=True, text=True,
            check=False, env={**os.environ, **variables},
        )  # fmt: skip
        assert done.returncode in {0, 1}, done.stderr
        return " ".join(done.stdout.split())

    run("record", "train.py", "--seed", "1", "-o", "a.twice")
    flag = "--xla_cpu_max_isa=SSE4_2"
    run("record", "train.py", "--seed", "1", "-o", "b.twice", XLA_FLAGS=flag)
    said = run("diagnose", "a.twice", "b.twice")

    assert "inside: jit(step) > " in said
    assert "at train.py:9, through" in said
    assert f"made by: env XLA_FLAGS (unset / XLA_FLAGS={flag})" in said
