"""Stored probes of other machines: compared for the same versions of their libraries, and told as the same only then."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from twice.foundation.environment import BlasFacts, CpuFacts, Fingerprint, OsFacts, PythonFacts
from twice.recorder.environment import reference_probes
from twice.recorder.environment.reference_probes import (
    compare_with,
    compare_with_reference,
    make_table,
)

PROBES = {
    "libm.exp": "a" * 16,
    "numpy.exp.f64": "b" * 16,
    "blas.dot.f64": "c" * 16,
    "hash.text": "d" * 16,
}


def make(probes: Mapping[str, str] = PROBES, numpy: str = "2.4.6") -> Fingerprint:
    return Fingerprint(
        python=PythonFacts(version="3.11.7", implementation="CPython", build=""),
        os=OsFacts(system="Linux", release="6", libc="glibc 2.36"),
        cpu=CpuFacts(arch="x86_64", model="", features=()),
        libraries={"numpy": numpy},
        blas=(
            BlasFacts(
                library="blas",
                internal_api="openblas",
                version="0.3.31",
                architecture="Haswell",
                threads=1,
                where="numpy.libs/a.so",
            ),
        ),
        probes=probes,
    )


@pytest.fixture(autouse=True)
def stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that this machine's fingerprint gives."""
    monkeypatch.setattr(reference_probes, "_read_tables", lambda: {"x86-64-v3": make_table(make())})


def test_the_same_probes_of_the_same_versions_do_not_differ() -> None:
    found = compare_with_reference(make(), "x86-64-v3")

    assert found.compared == ("blas.dot.f64", "libm.exp", "numpy.exp.f64")
    assert found.differing == ()


def test_a_probe_with_another_result_is_named() -> None:
    found = compare_with_reference(make({**PROBES, "numpy.exp.f64": "0" * 16}), "x86-64-v3")

    assert found.differing == ("numpy.exp.f64",)


def test_probes_of_other_versions_are_not_compared() -> None:
    found = compare_with_reference(make(numpy="2.5.0"), "x86-64-v3")

    assert found.compared == ("libm.exp",)


def test_without_a_table_nothing_is_compared() -> None:
    found = compare_with_reference(make(), "native")

    assert (found.reference, found.compared) == ("", ())


def test_another_machine_is_compared_whatever_its_versions() -> None:
    there = make({**PROBES, "libm.exp": "0" * 16}, numpy="1.26.4")

    found = compare_with(make(), there, "there.json")

    assert found.differing == ("libm.exp",)
    assert len(found.compared) == 4


def test_hashes_of_texts_are_no_arithmetic_and_stand_in_no_table() -> None:
    assert "hash.text" not in make_table(make())["probes"]
