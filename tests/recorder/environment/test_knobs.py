"""A knob holds only where the library itself says so; one that is misspelt, unknown or too late says why it does not."""

from __future__ import annotations

import re

import pytest

from twice.recorder.environment import knob_readers, knobs
from twice.recorder.environment.knobs import Knob, KnobReading, judge_knobs, list_knobs
from twice.recorder.setup import FLOAT_PROFILES


def judged(environ: dict[str, str], policy: str = "") -> dict[str, KnobReading]:
    return {row.name: row for row in judge_knobs(environ, policy)}


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    """What libraries say in place of those that this process happens to have loaded."""
    said: dict[str, dict[str, str]] = {}
    monkeypatch.setattr(knob_readers, "read", lambda name: said.get(name, {}))
    monkeypatch.setattr(
        knobs, "read_numpy_dispatch", lambda: (["X86_V3", "X86_V4", "NEW"], ["X86_V3"])
    )
    monkeypatch.setattr(knobs, "read_loaded_blas", list)
    return said


def test_every_value_of_a_profile_is_one_that_the_library_knows() -> None:
    for knob in list_knobs():
        assert {*knob.by} <= {*FLOAT_PROFILES}
        for value in knob.by.values():
            assert not knob.accepts or not value or re.fullmatch(knob.accepts, value), knob.name


def test_a_variable_holds_where_every_copy_of_the_library_says_the_same(
    answers: dict[str, dict[str, str]],
) -> None:
    answers["openblas kernels"] = {"numpy.libs/a.so": "Haswell", "scipy.libs/b.so": "Haswell"}

    row = judged({"OPENBLAS_CORETYPE": "haswell"})["OPENBLAS_CORETYPE"]

    assert (row.wanted, row.read_back, row.holds, row.why) == ("haswell", "Haswell", True, "")


def test_of_two_copies_of_blas_the_one_that_differs_is_named(
    answers: dict[str, dict[str, str]],
) -> None:
    answers["openblas kernels"] = {"numpy.libs/a.so": "Haswell", "scipy.libs/b.so": "Zen"}

    row = judged({"OPENBLAS_CORETYPE": "Haswell"})["OPENBLAS_CORETYPE"]

    assert row.holds is False
    assert row.why == "scipy.libs/b.so has Zen"
    assert row.read_back == "Haswell (numpy.libs/a.so), Zen (scipy.libs/b.so)"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("OPENBLAS_CORETYPE", "bogus", "its library knows no bogus and ignores it"),
        ("ONEDNN_MAX_CPU_ISA", "AVX3", "its library knows no AVX3 and ignores it; did you mean AVX2?"),
        ("MKL_CBWR", "COMPATIBEL", "its library knows no COMPATIBEL and ignores it; did you mean COMPATIBLE?"),
        ("ATEN_CPU_CAPABILITY", "AVX2", "its library knows no AVX2 and ignores it"),
        ("NPY_DISABLE_CPU_FEATURES", "AVX512F X86_V4", "numpy here knows no AVX512F and ignores it; it knows X86_V3, X86_V4, NEW"),
        ("OPENBLAS_NUM_THREAD", "1", "nothing reads it; did you mean OPENBLAS_NUM_THREADS?"),
        ("ONEDNN_MAX_CPU_ISAS", "AVX2", "nothing reads it; did you mean ONEDNN_MAX_CPU_ISA?"),
        ("omp_num_threads", "2", "nothing reads it; did you mean OMP_NUM_THREADS?"),
    ],
)  # fmt: skip
def test_what_a_library_ignores_without_a_word_is_told(
    answers: dict[str, dict[str, str]], name: str, value: str, why: str
) -> None:
    del answers

    row = judged({name: value})[name]

    assert (row.holds, row.why) == (False, why)


@pytest.mark.parametrize("name", ["OMP_DYNAMIC", "NUMEXPR_MAX_THREADS", "HOME", "MKL_VERBOSE"])
def test_a_variable_that_something_else_reads_is_no_misspelling(
    answers: dict[str, dict[str, str]], name: str
) -> None:
    del answers

    assert name not in judged({name: "1"})


def test_a_value_that_came_too_late_shows_by_what_is_in_force(
    answers: dict[str, dict[str, str]],
) -> None:
    answers["openblas threads"] = {"numpy.libs/a.so": "2"}
    answers["numpy features"] = {"numpy": "X86_V3"}

    rows = judged({"OPENBLAS_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"})

    assert rows["OPENBLAS_NUM_THREADS"].why == "numpy.libs/a.so has 2"
    assert rows["NPY_DISABLE_CPU_FEATURES"].holds is False
    assert "X86_V3" in rows["NPY_DISABLE_CPU_FEATURES"].why


def test_what_no_interface_tells_does_not_count_as_held(
    answers: dict[str, dict[str, str]],
) -> None:
    del answers

    rows = judged({"ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_CBWR": "AUTO"})

    assert [rows[name].holds for name in ("ONEDNN_MAX_CPU_ISA", "MKL_CBWR")] == [None, None]
    assert "probes" in rows["ONEDNN_MAX_CPU_ISA"].why
    assert "no library" in rows["MKL_CBWR"].why


def test_a_profile_wants_its_values_whatever_the_variables_say(
    answers: dict[str, dict[str, str]],
) -> None:
    answers["openblas kernels"] = {"numpy": "Haswell"}
    answers["libm branch"] = {"libm": "FMA"}
    told = {"GLIBC_TUNABLES": "glibc.malloc.check=1:glibc.cpu.hwcaps=-FMA"}

    rows = judged(told, "x86-64-v2")

    assert rows["OPENBLAS_CORETYPE"].why == "the variable says nothing, and x86-64-v2 wants Nehalem"
    assert rows["GLIBC_TUNABLES"].why == "the variable says -FMA, and x86-64-v2 wants -AVX2,-FMA"


def test_a_processor_that_lacks_what_the_profile_needs_does_not_hold(
    answers: dict[str, dict[str, str]],
) -> None:
    answers["numpy features"] = {"numpy": "baseline"}

    row = judged({"NPY_DISABLE_CPU_FEATURES": "X86_V4 NEW"}, "x86-64-v3")[
        "NPY_DISABLE_CPU_FEATURES"
    ]

    assert (row.holds, row.why) == (False, "the processor lacks X86_V3, or it is switched off")


def test_a_part_of_a_list_is_put_in_and_taken_out_and_the_rest_stays() -> None:
    knob = Knob("GLIBC_TUNABLES", within="glibc.cpu.hwcaps=", between=":")
    text = "glibc.malloc.check=1:glibc.cpu.hwcaps=-FMA"

    assert knob.part_of(text) == "-FMA"
    assert knob.put_into(text, "-AVX2") == "glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX2"
    assert knob.put_into(text, "") == "glibc.malloc.check=1"
    assert knob.put_into("", "-AVX2") == "glibc.cpu.hwcaps=-AVX2"


def test_modes_of_the_thread_are_those_of_ieee_754() -> None:
    assert knob_readers.read("denormals") == {"this thread": "kept"}
    assert knob_readers.read("rounding") == {"this thread": "to nearest"}


def test_the_c_library_is_known_by_its_results_or_not_at_all() -> None:
    assert knob_readers.read_libm() in {"FMA", "SSE2", ""}


def test_an_attribute_that_a_module_lacks_gives_no_row() -> None:
    assert knob_readers.read("no_such_module:path") == {}
    assert knob_readers.read("sys:no_such_attribute()") == {}
    assert knob_readers.read("sys:flags.utf8_mode") != {}
