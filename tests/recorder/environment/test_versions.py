"""Versions of libraries by the names that pins use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import twice
from twice.errors import UsageError
from twice.foundation.environment import BlasFacts, Fingerprint
from twice.recorder.environment.libraries import measure_versions

HERE = measure_versions()


def blas(author: str, version: str, where: str, library: str = "blas") -> BlasFacts:
    return BlasFacts(
        library=library,
        internal_api=author,
        version=version,
        architecture="",
        threads=1,
        where=where,
    )


def test_a_run_and_its_record_have_numpy_its_blas_and_libm(tmp_path: Path) -> None:
    with twice.recording(tmp_path / "a.twice", seed=0) as run:
        there = twice.read_versions(run, HERE.arithmetic)
    with twice.open(tmp_path / "a.twice") as record:
        recorded = twice.read_versions(record, HERE.arithmetic)

    assert there == recorded == {name: HERE.versions[name] for name in HERE.arithmetic}
    assert there["numpy"] == np.__version__
    assert "".join(HERE.os.libc.split()) in {name + version for name, version in there.items()}


def test_a_name_of_nothing_is_one_error_that_says_which_names_there_are(tmp_path: Path) -> None:
    with twice.recording(tmp_path / "a.twice", seed=0) as run, pytest.raises(UsageError) as refused:
        twice.read_versions(run, ["numpy", "openblaz", "libmm"])

    assert refused.value.id == "E-USE-001"
    assert "'openblaz', 'libmm'" in refused.value.happened
    assert "numpy" in refused.value.expected
    assert "08.pins" in refused.value.remedy
    assert refused.value.fields["names"] == ["openblaz", "libmm"]


def with_blas(*loaded: BlasFacts) -> Fingerprint:
    return replace(HERE, blas=loaded)


def test_of_two_copies_of_one_blas_that_of_numpy_counts() -> None:
    numpy, scipy = (
        blas("openblas", "0.3.31", "numpy.libs/a"),
        blas("openblas", "0.3.30", "scipy.libs/a"),
    )

    assert with_blas(numpy, scipy).versions["openblas"] == "0.3.31"
    assert with_blas(scipy).versions["openblas"] == "0.3.30"


def test_what_tells_no_version_and_what_is_no_blas_is_not_asked_for() -> None:
    found = with_blas(blas("blis", "", "lib/b"), blas("openmp", "5.0", "lib/o", "openmp"))

    assert "blis" not in found.versions
    assert found.versions["openmp"] == "5.0"
    assert "BLAS" not in found.arithmetic.values()
    assert replace(found, os=replace(HERE.os, libc="")).arithmetic == {"numpy": "NumPy"}
