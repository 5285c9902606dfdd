"""Claims about the variables of a GPU's policy, and about the device that is told."""

from __future__ import annotations

import ctypes
import re
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import NumericPolicyRefused
from twice.recorder.environment import gpu_device, libraries
from twice.recorder.environment.gpu_device import describe_device, find_unknown_card
from twice.recorder.environment.gpu_policy import apply_gpu_policy
from twice.recorder.environment.knobs import AS_FOUND, judge_knobs, list_knobs, list_wanted
from twice.recorder.environment.policy_variables import decide_variables
from twice.recorder.environment.surroundings import Surroundings, is_relevant
from twice.recorder.program import Program
from twice.recorder.setup import GPU_POLICIES, Setup

POLICY = "deterministic"
VARIABLES = list_wanted(POLICY, "gpu", variable=True)
FLAGS = st.lists(
    st.sampled_from(
        ["--xla_cpu_max_isa=AVX", "--xla_gpu_deterministic_ops=false", "--xla_dump_to=there", "--xla_gpu_deterministic_ops=1"]
    )
)  # fmt: skip


def given_by(source: str, **variables: str) -> Surroundings:
    plain = Surroundings({})
    return (
        plain.with_variables(variables)
        if source == "explicit"
        else Surroundings.from_environ(variables)
    )


def values(surroundings: Surroundings) -> dict[str, str | None]:
    return {name: variable.value for name, variable in surroundings.variables.items()}


@pytest.mark.parametrize("policy", GPU_POLICIES)
def test_every_row_of_the_table_is_possible(policy: str) -> None:
    for knob, wanted in [*list_wanted(policy, "gpu", variable=True), *list_wanted(policy, "gpu")]:
        assert not knob.accepts or re.fullmatch(knob.accepts, wanted), knob.name
        assert knob.variable or (knob.read and knob.module), knob.name
        assert knob.variable or knob.set or wanted in {AS_FOUND, "ieee"}, knob.name
        assert not knob.means or wanted in knob.means, knob.name


def test_every_variable_is_set_and_stands_in_the_fingerprint() -> None:
    found = values(apply_gpu_policy(Surroundings({}), POLICY))

    assert found["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert found["XLA_FLAGS"] == "--xla_gpu_deterministic_ops=true"
    assert sorted(found) == sorted(knob.name for knob, _ in VARIABLES)
    assert all(map(is_relevant, found))
    assert apply_gpu_policy(Surroundings({}), "").variables == {}


def test_the_flags_of_both_policies_live_together() -> None:
    both = decide_variables(given_by("set", XLA_FLAGS="--xla_dump_to=there"), "x86-64-v3", "float")

    found = values(apply_gpu_policy(Surroundings(both), POLICY))

    assert found["XLA_FLAGS"] == (
        "--xla_dump_to=there --xla_cpu_max_isa=AVX2 --xla_gpu_deterministic_ops=true"
    )


@given(FLAGS)
def test_policies_that_are_applied_again_change_nothing(flags: list[str]) -> None:
    def apply(surroundings: Surroundings) -> Surroundings:
        decided = decide_variables(surroundings, "x86-64-v3", "float")
        return apply_gpu_policy(Surroundings(decided), POLICY)

    once = apply(given_by("set", XLA_FLAGS=" ".join(flags)))

    assert values(apply(once)) == values(once)
    own = [each for each in (values(once)["XLA_FLAGS"] or "").split() if "deterministic" in each]
    assert own[-1] in {"--xla_gpu_deterministic_ops=true", "--xla_gpu_deterministic_ops=1"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("CUBLAS_WORKSPACE_CONFIG", ":16:8"), ("NCCL_ALGO", "CollnetDirect"), ("NCCL_ALGO", "^NVLS")],
)
@pytest.mark.parametrize("source", ["set", "explicit"])
def test_another_value_that_keeps_the_policy_is_kept(source: str, name: str, value: str) -> None:
    found = apply_gpu_policy(given_by(source, **{name: value}), POLICY).variables[name]

    assert (found.value, found.source) == (value, source)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CUBLAS_WORKSPACE_CONFIG", "4096:8", "did you mean :4096:8?"),
        ("NCCL_ALGO", "Tree", "wants Ring"),
        ("NCCL_NVLS_ENABLE", "1", "wants 0"),
        ("NVIDIA_TF32_OVERRIDE", "1", "wants 0"),
        ("XLA_FLAGS", "--xla_gpu_deterministic_ops=false", "wants true"),
    ],
)
def test_a_value_that_breaks_it_is_refused_from_env_and_gives_way_from_outside(
    name: str, value: str, said: str
) -> None:
    with pytest.raises(NumericPolicyRefused, match=re.escape(said)) as refused:
        apply_gpu_policy(given_by("explicit", **{name: value}), POLICY)
    kept = values(apply_gpu_policy(given_by("set", **{name: value}), POLICY))

    assert f"{name}={value}" in refused.value.happened
    assert kept[name] == values(apply_gpu_policy(Surroundings({}), POLICY))[name]


def test_a_misspelt_variable_is_named() -> None:
    rows = {row.name: row for row in judge_knobs({"NCCL_ALGOS": "Ring"}, POLICY, "gpu")}

    assert rows["NCCL_ALGOS"].holds is False
    assert rows["NCCL_ALGOS"].why == "nothing reads it; did you mean NCCL_ALGO?"


def test_an_unknown_policy_is_refused_by_name() -> None:
    with pytest.raises(NumericPolicyRefused, match="'bitwise'") as refused:
        Setup(Program("file", "p.py"), seed=_seed(), gpu_policy="bitwise")

    assert "deterministic" in refused.value.expected


def test_a_policy_stands_in_the_setup_only_where_one_was_asked_for() -> None:
    plain = Setup(Program("file", "p.py"), seed=_seed())
    held = Setup(Program("file", "p.py"), seed=_seed(), gpu_policy=POLICY, audit_operations=True)

    assert not {"gpu_policy", "audit_operations"} & plain.to_json()["policies"].keys()  # type: ignore[attr-defined]
    assert Setup.from_json(held.to_json()) == held


@pytest.fixture
def cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two cards, as NVIDIA's driver lists them."""
    for at in range(2):
        (tmp_path / f"0000:0{at}:00.0").mkdir()
        (tmp_path / f"0000:0{at}:00.0" / "information").write_text(f"Model: \t\t Card {at}\n")
    monkeypatch.setattr(libraries, "_CARDS", tmp_path)
    return tmp_path


def test_a_gpu_that_is_not_here_is_refused_by_its_number(cards: Path) -> None:
    with pytest.raises(NumericPolicyRefused, match="GPU 2, which is not here") as refused:
        apply_gpu_policy(given_by("explicit", CUDA_VISIBLE_DEVICES="1,2"), POLICY)

    assert "0 Card 0, 1 Card 1" in refused.value.happened
    for chosen in ("0,1", "", "-1", "GPU-5b1d"):
        found = apply_gpu_policy(given_by("explicit", CUDA_VISIBLE_DEVICES=chosen), POLICY)
        assert values(found)["CUDA_VISIBLE_DEVICES"] == chosen
    assert describe_device()["cards"] == ["Card 0", "Card 1"]


def test_a_driver_that_lists_no_cards_refuses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "_CARDS", tmp_path / "nowhere")
    monkeypatch.setattr(libraries, "read_driver_version", lambda: "570.86.15")

    assert libraries.list_cards() is None
    assert apply_gpu_policy(given_by("explicit", CUDA_VISIBLE_DEVICES="5"), POLICY).variables


@pytest.mark.parametrize(
    ("name", "number", "version"),
    [
        ("nccl", 23203, "2.32.3"),
        ("nccl", 2804, "2.8.4"),
        ("cudnn", 91002, "9.10.2"),
        ("cudnn", 8907, "8.9.7"),
        ("cuda driver", 12080, "12.8"),
        ("cuda runtime", 11020, "11.2"),
    ],
)
def test_versions_are_written_as_their_libraries_do(name: str, number: int, version: str) -> None:
    assert gpu_device._to_text(name, number) == version


@pytest.mark.heavy
def test_a_loaded_library_tells_its_version_without_a_device() -> None:
    installed = pytest.importorskip("nvidia.nccl", reason="NVIDIA's NCCL is not installed")
    (library,) = Path(next(iter(installed.__path__)), "lib").glob("libnccl.so*")
    ctypes.CDLL(str(library))

    assert describe_device()["versions"]["nccl"] == metadata.version("nvidia-nccl-cu12")


def test_a_card_without_a_name_or_a_capability_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    # A stub: a card that tells nothing of itself is not to be had.
    def with_card(name: str, major: int) -> Any:
        card = SimpleNamespace(name=name, major=major, minor=0, multi_processor_count=132)
        cuda = SimpleNamespace(
            is_initialized=lambda: True,
            device_count=lambda: 1,
            get_device_properties=lambda _: card,
        )
        monkeypatch.setitem(gpu_device.sys.modules, "torch", SimpleNamespace(cuda=cuda))
        return describe_device()

    assert with_card("NVIDIA H200", 9)["used"] == [
        {"name": "NVIDIA H200", "capability": "9.0", "processors": 132}
    ]
    assert find_unknown_card(with_card("NVIDIA H200", 9)) == ""
    assert find_unknown_card(with_card("", 9)) == "GPU 0"
    assert find_unknown_card(with_card("NVIDIA H200", 0)) == "GPU 0"


def test_switches_of_the_table_are_read_by_no_import() -> None:
    before = {*gpu_device.sys.modules}

    judge_knobs({}, POLICY, "gpu")

    assert not {"torch", "jax", "tensorflow"} & ({*gpu_device.sys.modules} - before)
    assert len(list_knobs("gpu")) > len(VARIABLES)


def _seed() -> Any:
    from twice.foundation.seeds import Seed

    return Seed(1)
