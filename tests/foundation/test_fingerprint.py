"""Claims about environments as values and how two of them differ."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from twice.errors import ConfigError
from twice.foundation.environment import (
    BlasFacts,
    CpuFacts,
    Fingerprint,
    OsFacts,
    PythonFacts,
    diff_fingerprints,
)

OPENBLAS = BlasFacts(
    library="blas",
    internal_api="openblas",
    version="0.3.31",
    architecture="Haswell",
    threads=1,
    where="numpy.libs/libopenblas-1f.so",
)
ONE = Fingerprint(
    python=PythonFacts(version="3.12.1", implementation="CPython", build="main GCC 12"),
    os=OsFacts(system="Linux", release="6.1.0", libc="glibc 2.36"),
    cpu=CpuFacts(arch="x86_64", model="A processor", features=("fma", "avx2")),
    libraries={"numpy": "2.4.6", "gymnasium": "1.0"},
    blas=(OPENBLAS,),
    dispatch={"numpy": "AVX2 FMA3"},
    variables={"TZ": "UTC", "OMP_NUM_THREADS": "1"},
    probes={"libm.exp": "00112233aabbccdd", "hash.text": "ffeeddccbbaa0099"},
)

texts = st.text(st.characters(codec="utf-8"), max_size=8)
text_maps = st.dictionaries(texts, texts, max_size=4)
blas_facts = st.builds(
    BlasFacts,
    library=texts,
    internal_api=texts,
    version=texts,
    architecture=texts,
    threads=st.integers(0, 512),
    where=texts,
)
fingerprints = st.builds(
    Fingerprint,
    python=st.builds(PythonFacts, version=texts, implementation=texts, build=texts),
    os=st.builds(OsFacts, system=texts, release=texts, libc=texts),
    cpu=st.builds(CpuFacts, arch=texts, model=texts, features=st.lists(texts).map(tuple)),
    libraries=text_maps,
    blas=st.lists(blas_facts, max_size=3).map(tuple),
    dispatch=text_maps,
    variables=text_maps,
    probes=text_maps,
)


@given(fingerprints)
def test_a_fingerprint_survives_json(fingerprint: Fingerprint) -> None:
    text = json.dumps(fingerprint.to_json())

    assert Fingerprint.from_json(json.loads(text)) == fingerprint


@given(fingerprints)
def test_an_environment_does_not_differ_from_itself(fingerprint: Fingerprint) -> None:
    assert diff_fingerprints(fingerprint, Fingerprint.from_json(fingerprint.to_json())) == []


@example(
    ONE, replace(ONE, cpu=replace(ONE.cpu, features=(*ONE.cpu.features, "", ONE.cpu.features[0])))
)
@given(fingerprints, fingerprints)
def test_differences_are_none_exactly_when_the_json_forms_are_equal(
    a: Fingerprint, b: Fingerprint
) -> None:
    assert (diff_fingerprints(a, b) == []) == (a.to_json() == b.to_json())


@given(fingerprints, fingerprints)
def test_differences_seen_from_the_other_side_are_the_same_ones_turned_round(
    a: Fingerprint, b: Fingerprint
) -> None:
    there = [(one.what, one.recorded, one.now) for one in diff_fingerprints(a, b)]
    back = [(one.what, one.now, one.recorded) for one in diff_fingerprints(b, a)]

    assert there == back


def test_the_order_of_construction_does_not_show() -> None:
    turned = replace(
        ONE,
        libraries=dict(reversed(ONE.libraries.items())),
        probes=dict(reversed(ONE.probes.items())),
        cpu=replace(ONE.cpu, features=("avx2", "fma")),
    )

    assert json.dumps(turned.to_json()) == json.dumps(ONE.to_json())


@pytest.mark.parametrize(
    ("other", "what", "affects"),
    [
        (replace(ONE, probes={**ONE.probes, "libm.exp": "0"}), "probe libm.exp", "numerics"),
        (replace(ONE, probes={**ONE.probes, "hash.text": "0"}), "probe hash.text", "identity"),
        (replace(ONE, probes={**ONE.probes, "torch.exp": "0"}), "probe torch.exp", "note"),
        (replace(ONE, probes={"libm.exp": "00112233aabbccdd"}), "probe hash.text", "identity"),
        (replace(ONE, os=replace(ONE.os, release="6.2.0")), "os release", "note"),
        (replace(ONE, os=replace(ONE.os, libc="glibc 2.39")), "os libc", "numerics"),
        (replace(ONE, cpu=replace(ONE.cpu, model="B")), "cpu model", "note"),
        (replace(ONE, python=replace(ONE.python, version="3.13.0")), "python version", "identity"),
        (replace(ONE, libraries={**ONE.libraries, "numpy": "3"}), "library numpy", "numerics"),
        (replace(ONE, libraries={"numpy": "2.4.6"}), "library gymnasium", "identity"),
        (replace(ONE, variables={**ONE.variables, "TZ": "CET"}), "variable TZ", "identity"),
        (
            replace(ONE, variables={"TZ": "UTC"}),
            "variable OMP_NUM_THREADS",
            "numerics",
        ),
        (
            replace(ONE, blas=(replace(OPENBLAS, threads=2),)),
            "blas openblas in numpy.libs threads",
            "numerics",
        ),
        (
            replace(ONE, blas=(replace(OPENBLAS, where="numpy.libs/libopenblas-2e.so"),)),
            "blas openblas in numpy.libs where",
            "note",
        ),
        (replace(ONE, blas=()), "blas openblas in numpy.libs", "numerics"),
    ],
)
def test_each_difference_says_what_it_can_move(other: Fingerprint, what: str, affects: str) -> None:
    found = diff_fingerprints(ONE, other)

    assert [(one.what, one.affects) for one in found] == [(what, affects)]


def test_features_show_only_what_the_other_side_lacks() -> None:
    other = replace(ONE, cpu=replace(ONE.cpu, features=("avx2", "avx512f", "amx")))

    (found,) = diff_fingerprints(ONE, other)

    assert (found.what, found.recorded, found.now) == ("cpu features", "fma", "amx avx512f")


def _changed(**changes: object) -> dict[str, object]:
    return {**ONE.to_json(), **changes}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ("text", "the environment"),
        (_changed(format="twice.environment/2"), "format"),
        (_changed(python=None), "python"),
        (_changed(python={"version": 3}), "python.version"),
        (_changed(cpu={"arch": "x", "model": "y", "features": "avx"}), "cpu.features"),
        (_changed(cpu={"arch": "x", "model": "y", "features": [1]}), "cpu.features"),
        (_changed(libraries={"numpy": 2}), "libraries.numpy"),
        (_changed(blas={}), "blas"),
        (_changed(blas=[{**ONE.to_json()["blas"][0], "threads": True}]), "blas[0].threads"),
        (_changed(probes=None), "probes"),
        ({name: each for name, each in ONE.to_json().items() if name != "blas"}, "blas"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(document: object, place: str) -> None:
    with pytest.raises(ConfigError, match="environment description") as refused:
        Fingerprint.from_json(document)

    assert refused.value.fields["place"] == place


def test_settings_that_an_earlier_version_did_not_measure_are_none() -> None:
    document = ONE.to_json()
    del document["settings"]

    assert Fingerprint.from_json(document) == ONE


def test_members_that_a_later_version_adds_are_passed_over() -> None:
    assert Fingerprint.from_json(_changed(devices=[], cpu={**ONE.to_json()["cpu"], "n": 1})) == ONE
