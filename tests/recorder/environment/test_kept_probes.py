"""Claims about kept probes: nothing runs twice, and nothing is used where anything that it follows from is another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import twice
from twice.foundation.environment import BlasFacts, Fingerprint
from twice.recorder.environment import probes
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probes import (
    PROBES,
    KeptProbes,
    keep_probes,
    read_known_probes,
)


@pytest.fixture(scope="module")
def facts() -> Fingerprint:
    return measure(probes=False)


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    """Collect the groups that are run, in order; each gives one result."""
    ran: list[tuple[str, ...]] = []

    def run_probes(groups: tuple[str, ...]) -> dict[str, str]:
        ran.append(groups)
        return {
            f"{name}.one": f"{len(ran):016x}" for name in groups if name not in probes._EVERY_TIME
        }

    monkeypatch.setattr(probes, "run_probes", run_probes)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return ran


def known_after(facts: Fingerprint) -> dict[str, dict[str, str]]:
    first = KeptProbes({})
    first.run(facts)
    keep_probes(first.message())
    return read_known_probes()


def test_what_was_computed_once_is_not_computed_again(
    facts: Fingerprint, cheap: list[tuple[str, ...]]
) -> None:
    first = KeptProbes({})
    computed = first.run(facts)
    keep_probes(first.message())

    second = KeptProbes({PROBES: read_known_probes()})

    assert second.run(facts) == computed
    assert second.message() == {}
    assert [groups for groups in cheap if "blas" in groups] == [probes._KEPT]


def test_modes_of_the_thread_and_the_hash_seed_are_probed_every_time(
    facts: Fingerprint, cheap: list[tuple[str, ...]]
) -> None:
    known = known_after(facts)
    cheap.clear()

    KeptProbes({PROBES: known}).run(facts)

    assert cheap == [("float", "hash", "torch")]


def test_a_variable_that_no_kernel_reads_and_another_hash_seed_make_no_difference(
    facts: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = known_after(facts)
    ran: list[tuple[str, ...]] = []

    def run_probes(groups: tuple[str, ...]) -> dict[str, str]:
        ran.append(groups)
        return {"hash.text": "another"}

    monkeypatch.setattr(probes, "run_probes", run_probes)
    variables = {**facts.variables, "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7"}
    KeptProbes({PROBES: known}).run(replace(facts, variables=variables))

    assert ran == [probes._EVERY_TIME]


BLAS = BlasFacts(
    library="blas", internal_api="openblas", version="0", architecture="Zen", threads=3, where=""
)


@pytest.mark.parametrize(
    "other",
    [
        {"variables": {"OPENBLAS_CORETYPE": "Prescott"}},
        {"blas": (BLAS,)},
        {"dispatch": {"numpy": "SSE2"}},
        {"libraries": {"numpy": "1.0"}},
        {"settings": {"libm": "00000000"}},
        {"cpu": replace(measure(probes=False).cpu, features=("avx2",))},
    ],
    ids=lambda other: next(iter(other)),
)
def test_nothing_is_used_where_something_is_another(
    facts: Fingerprint, other: dict[str, object]
) -> None:
    known = known_after(facts)

    second = KeptProbes({PROBES: known})
    second.run(replace(facts, **other))

    assert len(second.message()) == 1, "computed anew"


def test_a_flag_of_the_floating_point_unit_is_part_of_the_key(
    facts: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = known_after(facts)
    monkeypatch.setattr(
        probes,
        "run_probes",
        lambda groups: {"float.rounding": "other"} if "float" in groups else {"blas.one": "new"},
    )

    assert KeptProbes({PROBES: known}).run(facts) == {"blas.one": "new", "float.rounding": "other"}


def test_a_library_that_was_replaced_is_part_of_the_key(
    facts: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = known_after(facts)
    monkeypatch.setattr(probes, "list_mapped_files", lambda _: [__file__])

    second = KeptProbes({PROBES: known})
    second.run(facts)

    assert second.message()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [("_read_boot", ""), ("list_mapped_files", None), ("list_mapped_files", ["/not/there.so"])],
)
def test_where_the_system_does_not_tell_nothing_is_kept(
    facts: Fingerprint, monkeypatch: pytest.MonkeyPatch, asked: str, answer: object
) -> None:
    monkeypatch.setattr(probes, asked, lambda *_: answer)
    first = KeptProbes({})
    first.run(facts)

    assert first.message() == {}
    assert read_known_probes() == {}


def test_a_machine_that_was_started_again_has_nothing_kept(
    facts: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert known_after(facts)

    monkeypatch.setattr(probes, "_read_boot", lambda: "another")

    assert read_known_probes() == {}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\x00",
        b"[]",
        b"{}",
        b'{"boot": "%b"}',
        b'{"boot": "%b", "by_key": []}',
        b'{"boot": "%b", "by_key": {"a": {"b": 1}, "c": 2}}',
    ],
)
def test_a_file_that_holds_something_else_holds_nothing(facts: Fingerprint, text: bytes) -> None:
    path = probes._path()
    path.parent.mkdir(parents=True)
    path.write_bytes(text.replace(b"%b", probes._read_boot().encode()))

    assert read_known_probes() == {}
    assert known_after(facts), "and is replaced"


def test_the_oldest_go_first(facts: Fingerprint) -> None:
    keep_probes({"fresh_probes": {f"k{number}": {"p": "x"} for number in range(12)}})

    assert list(read_known_probes()) == [f"k{number}" for number in range(4, 12)]


def test_a_folder_that_takes_no_files_keeps_nothing(
    facts: Fingerprint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    assert known_after(facts) == {}


@pytest.mark.fresh  # a fork has more libraries mapped than an interpreter, which is another key
@pytest.mark.integration
def test_records_hold_the_same_whether_probes_were_kept_or_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "word.py"
    program.write_text("print(1)\n")

    def probes_of(name: str) -> dict[str, str]:
        with twice.record(str(program), seed=1, out=tmp_path / f"{name}.twice") as record:
            return dict(record.identity["environment"]["probes"])

    computed = probes_of("first")
    path = probes._path()
    stored = json.loads(path.read_text())
    assert probes_of("second") == computed
    (key,) = stored["by_key"]
    stored["by_key"][key]["blas.fma"] = "planted"
    path.write_text(json.dumps(stored))

    assert probes_of("third") == {**computed, "blas.fma": "planted"}, "it is what is used"
