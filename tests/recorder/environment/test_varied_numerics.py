"""Numeric modes that an experiment asks for, and readings of libraries that do not tell."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

from twice.recorder.environment import varied_numerics
from twice.recorder.environment.fingerprint import settings_at_start
from twice.recorder.environment.varied_numerics import (
    can_flush_denormals,
    flush_denormals,
    lower_matmul_precision,
    read_kernels,
)


def read_denormals() -> str:
    return settings_at_start()["denormals"]


@pytest.mark.skipif(not can_flush_denormals(), reason="known for glibc on x86-64 only")
def test_denormals_are_flushed_in_the_thread_that_asks_and_the_reading_shows_it() -> None:
    """In a thread, because the mode is the thread's own and nothing sets it back."""

    def flush() -> tuple[str, bool, str]:
        before = read_denormals()
        flush_denormals()
        return before, sys.float_info.min * float("0.5") == 0.0, read_denormals()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(flush).result() == ("kept", True, "flushed")
    assert read_denormals() == "kept"


def test_where_the_mode_is_unknown_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(varied_numerics, "can_flush_denormals", lambda: False)

    with pytest.raises(OSError, match="x86-64"):
        flush_denormals()


def test_the_precision_of_products_is_lowered_once_torch_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch, asked = ModuleType("torch"), []
    torch.set_float32_matmul_precision = asked.append  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setitem(sys.modules, "torch", torch)

    lower_matmul_precision()

    assert asked == ["medium"]


def test_no_kernel_is_read_in_a_process_that_did_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(varied_numerics, "_asked", [])
    assert read_kernels() == {}


def test_a_library_in_a_state_that_cannot_compute_gives_no_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(varied_numerics, "_asked", [True])
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "jax", ModuleType("jax"))

    assert read_kernels() == {}


@pytest.mark.heavy  # it loads torch, or JAX
@pytest.mark.parametrize(("reading", "library"), [("onednn", "torch"), ("xla", "jax")])
def test_kernels_of_a_loaded_library_are_read_from_a_result(
    reading: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library)
    monkeypatch.setattr(varied_numerics, "_asked", [True])

    first, second = read_kernels()[reading], read_kernels()[reading]

    assert first == second
    assert len(first) == 8
