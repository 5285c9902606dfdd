"""What a profile sets before a process begins: never against ``--env``, never what the processor lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from twice.errors import NumericPolicyRefused
from twice.foundation.seeds import Seed
from twice.recorder.environment import float_profile
from twice.recorder.environment.float_profile import apply_profile
from twice.recorder.environment.policy_variables import list_overruled
from twice.recorder.environment.surroundings import Surroundings, for_recording
from twice.recorder.program import Program
from twice.recorder.setup import FLOAT_PROFILES, Setup

MODERN = ("AVX2", "F16C", "FMA3", "POPCNT", "SSE42")


@pytest.fixture(autouse=True)
def modern(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that has every instruction of the profiles."""
    be(monkeypatch, "x86_64", MODERN)


def be(monkeypatch: pytest.MonkeyPatch, machine: str, features: Sequence[str]) -> None:
    monkeypatch.setattr(float_profile.platform, "machine", lambda: machine)
    monkeypatch.setattr(float_profile, "read_numpy_features", lambda: tuple(features))


def values(found: Surroundings) -> dict[str, str | None]:
    return {name: variable.value for name, variable in found.variables.items()}


def test_a_profile_says_kernels_threads_and_instruction_sets() -> None:
    found = values(apply_profile(for_recording({}), "x86-64-v2"))

    assert found["OPENBLAS_CORETYPE"] == "Nehalem"
    assert found["GLIBC_TUNABLES"] == "glibc.cpu.hwcaps=-AVX2,-FMA"
    assert found["XLA_FLAGS"] == "--xla_cpu_max_isa=SSE4_2"
    assert {found[name] for name in found if name.endswith("_NUM_THREADS")} == {"1"}


def test_native_leaves_the_kernels_and_the_number_of_threads() -> None:
    before = for_recording({"OPENBLAS_NUM_THREADS": "3"})

    changed = {*apply_profile(before, "native").variables.items()} - {*before.variables.items()}

    assert {name for name, _ in changed} == {"MKL_CBWR"}


def test_no_profile_changes_nothing() -> None:
    before = for_recording({"OPENBLAS_CORETYPE": "Zen"})

    assert apply_profile(before, "") == before


@pytest.mark.parametrize("profile", FLOAT_PROFILES)
def test_giving_a_profile_again_changes_nothing(profile: str) -> None:
    once = apply_profile(for_recording({"GLIBC_TUNABLES": "glibc.malloc.check=1"}), profile)

    assert apply_profile(once, profile) == once


def test_what_the_environment_said_gives_way_and_is_told() -> None:
    before = for_recording({"OPENBLAS_NUM_THREADS": "4", "NPY_ENABLE_CPU_FEATURES": "X86_V3"})
    after = apply_profile(before, "x86-64-v3")

    assert values(after)["OPENBLAS_NUM_THREADS"] == "1"
    assert "NPY_ENABLE_CPU_FEATURES" not in after.variables
    assert list_overruled(before, after) == [
        "note: NPY_ENABLE_CPU_FEATURES=X86_V3 of the environment gives way to none",
        "note: OPENBLAS_NUM_THREADS=4 of the environment gives way to 1",
    ]


def test_other_parts_of_a_list_stay() -> None:
    given = {
        "GLIBC_TUNABLES": "glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX512F",
        "XLA_FLAGS": "--a=1",
    }

    v2, v3 = (values(apply_profile(for_recording(given), f"x86-64-v{n}")) for n in (2, 3))

    assert v2["GLIBC_TUNABLES"] == "glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX2,-FMA"
    assert v3["GLIBC_TUNABLES"] == "glibc.malloc.check=1"
    assert v3["XLA_FLAGS"] == "--a=1 --xla_cpu_max_isa=AVX2"


def test_a_number_of_threads_of_ones_own_is_kept() -> None:
    given = for_recording({}, explicit={"OPENBLAS_NUM_THREADS": "4"})

    assert values(apply_profile(given, "x86-64-v3"))["OPENBLAS_NUM_THREADS"] == "4"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENBLAS_CORETYPE", "Zen"),
        ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-FMA"),
        ("NPY_ENABLE_CPU_FEATURES", "X86_V4"),
        ("MKL_CBWR", "AUTO"),
    ],
)
def test_a_value_that_contradicts_the_profile_is_refused(name: str, value: str) -> None:
    given = for_recording({}, explicit={name: value})

    with pytest.raises(NumericPolicyRefused, match=re.escape(f"--env gives {name}={value}")):
        apply_profile(given, "x86-64-v2")


@pytest.mark.parametrize(
    ("machine", "features", "has"),
    [
        ("x86_64", ("POPCNT", "SSE42"), "has no AVX2, FMA3, F16C"),
        ("aarch64", ("ASIMD",), "is aarch64"),
    ],
)
def test_a_profile_that_the_processor_lacks_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, machine: str, features: tuple[str, ...], has: str
) -> None:
    be(monkeypatch, machine, features)

    with pytest.raises(NumericPolicyRefused, match=has):
        apply_profile(for_recording({}), "x86-64-v3")


def test_native_is_possible_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    be(monkeypatch, "riscv64", ())

    assert apply_profile(for_recording({}), "native").variables


def test_an_unknown_profile_is_refused_by_the_setup() -> None:
    with pytest.raises(NumericPolicyRefused, match="no floating-point profile 'v3'"):
        Setup(Program("inline", "inline code"), Seed(1), float_profile="v3")


def test_a_setup_keeps_its_profile() -> None:
    setup = Setup(Program("inline", "inline code"), Seed(1), float_profile="native")

    assert Setup.from_json(setup.to_json()).float_profile == "native"
    assert "float_profile" not in str(Setup(Program("inline", "x"), Seed(1)).to_json())
