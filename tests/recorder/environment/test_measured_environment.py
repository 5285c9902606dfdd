"""Claims about measuring: what is told is true, stable, and never costs the run."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys

import pytest

from twice.foundation.environment import Fingerprint, diff_fingerprints
from twice.recorder.environment import libraries
from twice.recorder.environment.fingerprint import measure

PRINT = "import json; from twice.recorder.environment.fingerprint import measure as m; print(json.dumps(m().to_json()))"


def measured_elsewhere(**variables: str) -> Fingerprint:
    ran = subprocess.run(
        [sys.executable, "-c", PRINT],
        env={**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return Fingerprint.from_json(json.loads(ran.stdout))


@pytest.fixture(scope="module")
def fresh() -> Fingerprint:
    return measured_elsewhere()


@pytest.mark.integration
def test_equal_settings_give_equal_fingerprints(fresh: Fingerprint) -> None:
    assert diff_fingerprints(fresh, measured_elsewhere()) == []


def test_it_tells_what_the_interpreter_and_the_system_tell(fresh: Fingerprint) -> None:
    assert fresh.python.version == platform.python_version()
    assert fresh.os.system == platform.system()
    assert fresh.cpu.arch == platform.machine()


def test_versions_are_those_of_the_metadata(fresh: Fingerprint) -> None:
    told = {name: importlib.metadata.version(name) for name in fresh.libraries}

    assert dict(fresh.libraries) == told
    assert "numpy" in fresh.libraries


def test_a_thread_cap_reads_back_from_the_library(fresh: Fingerprint) -> None:
    assert [one.threads for one in fresh.blas if one.internal_api == "openblas"] in ([], [1])


@pytest.mark.integration
def test_a_set_variable_is_reported_and_reads_back() -> None:
    fresh = measured_elsewhere(NPY_DISABLE_CPU_FEATURES="", OMP_NUM_THREADS="1", TZ="CET")

    assert fresh.variables["TZ"] == "CET"
    assert fresh.variables["OMP_NUM_THREADS"] == "1"


@pytest.mark.integration
def test_a_changed_knob_is_a_difference_that_names_its_probe(fresh: Fingerprint) -> None:
    found = diff_fingerprints(fresh, measured_elsewhere(PYTHONHASHSEED="3"))

    assert [one.what for one in found] == ["variable PYTHONHASHSEED", "probe hash.text"]


def test_secrets_and_places_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_API_TOKEN", "open-sesame")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/private")
    text = json.dumps(measure(probes=False).to_json())

    assert "open-sesame" not in text
    assert "/somewhere/private" not in text


def test_bytes_that_are_no_text_do_not_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_NAME", "caf\udce9")

    assert measure(probes=False).variables["LC_NAME"] == "caf\\xe9"


def test_without_probes_there_are_none() -> None:
    assert dict(measure(probes=False).probes) == {}


def test_a_system_that_tells_little_is_measured_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "confstr", raising=False)
    monkeypatch.setattr(libraries, "_read_cpuinfo", lambda _path: {})

    found = measure(probes=False)

    assert found.cpu.model == os.environ.get("PROCESSOR_IDENTIFIER", "")
    assert len(found.cpu.features) > 0


def test_a_missing_description_of_the_processor_is_empty(tmp_path) -> None:
    assert libraries._read_cpuinfo(tmp_path / "none") == {}


def test_only_the_first_processor_is_read(tmp_path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text("model name\t: A  B\nflags\t: fma avx2\n\nmodel name\t: C\n")

    assert libraries._read_cpuinfo(path) == {"model name": "A B", "flags": "fma avx2"}


@pytest.mark.integration
def test_measuring_imports_nothing_heavy_but_numpy() -> None:
    code = (
        "import sys; from twice.recorder.environment.fingerprint import measure; measure();"
        "print([m for m in ('torch', 'scipy', 'pandas', 'jax', 'gymnasium') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"
