"""Claims about what is pinned around a child, written down and given back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from programs import cli, environ, verified
from twice.errors import ConfigError, SurroundingsRefused
from twice.recorder.environment.libraries import usual_counts
from twice.recorder.environment.surroundings import (
    THREAD_CAPS,
    Surroundings,
    environ_for_child,
    for_recording,
    is_governed,
    is_relevant,
)
from twice.recorder.redaction.fields import is_secret

UNSET = dict.fromkeys(THREAD_CAPS)


def decided(surroundings: Surroundings, name: str) -> tuple[str | None, str]:
    variable = surroundings.variables[name]
    return variable.value, variable.source


def written_and_read(surroundings: Surroundings) -> Surroundings:
    return Surroundings.from_json(json.loads(json.dumps(surroundings.to_json())))


def test_what_the_user_left_open_is_pinned() -> None:
    found = for_recording({"HOME": "/nowhere"})

    assert decided(found, "PYTHONHASHSEED") == ("0", "pinned")
    assert decided(found, "TZ") == ("UTC", "pinned")
    assert decided(found, "LC_ALL") == ("C.UTF-8", "pinned")
    assert decided(found, "LANG") == ("C.UTF-8", "pinned")
    assert [decided(found, name) for name in THREAD_CAPS] == [
        (usual_counts()[name], "kept") for name in THREAD_CAPS
    ]
    assert "HOME" not in found.variables


def test_what_the_user_has_set_is_respected() -> None:
    environ = {"PYTHONHASHSEED": "7", "OPENBLAS_NUM_THREADS": "2", "TZ": "CET", "LANG": "C"}

    found = for_recording(environ)

    assert {name: decided(found, name) for name in environ} == {
        name: (value, "set") for name, value in environ.items()
    }
    assert decided(found, "OMP_NUM_THREADS") == (usual_counts()["OMP_NUM_THREADS"], "kept")


def test_a_pinned_lc_all_never_overrides_the_users_lang() -> None:
    found = for_recording({"LANG": "de_DE.UTF-8"})

    assert "LC_ALL" not in found.variables


def test_libraries_follow_the_users_openmp_threads() -> None:
    found = for_recording({"OMP_NUM_THREADS": "4", "MKL_NUM_THREADS": "3"})

    assert decided(found, "OPENBLAS_NUM_THREADS") == ("4", "pinned")
    assert decided(found, "MKL_NUM_THREADS") == ("3", "set")


def test_cores_are_counted_where_two_processors_share_one(tmp_path: Path) -> None:
    for number in range(1024):
        topology = tmp_path / f"cpu{number}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{number // 2 * 2},{number // 2 * 2 + 1}\n")
    usable = os.sched_getaffinity(0)

    counts = usual_counts(tmp_path)

    assert int(counts["OPENBLAS_NUM_THREADS"]) == len(usable)
    assert int(counts["MKL_NUM_THREADS"]) == len({number // 2 for number in usable})
    assert usual_counts(tmp_path / "nowhere")["MKL_NUM_THREADS"] == counts["OPENBLAS_NUM_THREADS"]


@pytest.mark.integration
@pytest.mark.fresh
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds to processors")
def test_a_run_has_the_threads_that_the_program_would_have_and_keeps_them(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    (tmp_path / "program.py").write_text(
        "import numpy, threadpoolctl\n"
        "print(sorted({each['num_threads'] for each in threadpoolctl.threadpool_info()}))\n"
    )
    plain = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environ(UNSET), capture_output=True, text=True, check=True
    )  # fmt: skip

    made = cli("record", "program.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path, env=UNSET)
    bound = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(bound)})
    try:
        again = cli("verify", "a.twice", cwd=tmp_path, env=UNSET)
    finally:
        os.sched_setaffinity(0, bound)

    assert made.stdout.startswith(plain.stdout)
    assert again.returncode == 0, again.stdout + again.stderr


def test_a_fork_in_a_copy_of_the_files_knows_the_libraries_that_were_loaded_before(
    tmp_path: Path,
) -> None:
    """The loader finds them by path no more: the copy has another file there."""
    statement = verified(
        tmp_path,
        """
        from twice.recorder.environment.libraries import read_loaded_blas
        def main(run):
            run.compare("libraries", [(each.where, each.threads) for each in read_loaded_blas()])
        """,
    )

    assert statement.result == "PASS", statement.to_markdown()
    assert statement.environment == []


def test_explicit_variables_win() -> None:
    found = for_recording({"TZ": "CET"}, explicit={"TZ": "UTC", "MODE": "fast"})

    assert decided(found, "TZ") == ("UTC", "explicit")
    assert decided(found, "MODE") == ("fast", "explicit")


@pytest.mark.parametrize("seed", ["random", "-1", "4294967296", "0x10", "1.0", " 1", "٣"])
def test_a_hash_seed_that_is_no_number_in_range_is_refused(seed: str) -> None:
    with pytest.raises(SurroundingsRefused, match="PYTHONHASHSEED") as refused:
        for_recording({"PYTHONHASHSEED": seed})

    assert refused.value.id == "E-ENV-001"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert decided(for_recording({"PYTHONHASHSEED": ""}), "PYTHONHASHSEED") == ("0", "pinned")


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("A=B", "x"), ("A", "\0"), ("A", "\udc80")])
def test_what_no_process_can_be_given_is_refused(name: str, value: str) -> None:
    with pytest.raises(SurroundingsRefused, match="variable"):
        for_recording({}, explicit={name: value})


def test_a_child_gets_the_recorded_values_and_no_others() -> None:
    recorded = written_and_read(for_recording({"TZ": "CET"}, explicit={"MODE": "fast"}))
    caller = {"PATH": "/bin", "TZ": "UTC", "NPY_DISABLE_CPU_FEATURES": "X86_V4", "HOME": "/h"}

    child = environ_for_child(caller, recorded)

    assert child["TZ"] == "CET"
    assert child["MODE"] == "fast"
    assert "NPY_DISABLE_CPU_FEATURES" not in child
    assert (child["PATH"], child["HOME"]) == ("/bin", "/h")


def test_what_a_record_from_elsewhere_may_not_set_stays_as_it_is_here() -> None:
    """OpenBLAS dies on some virtual machines without the size of their cache."""
    recorded = {"OPENBLAS_L2_SIZE": "9", "OPENBLAS_CORETYPE": "Nehalem", "PYTHONDEVMODE": "1"}
    surroundings = Surroundings().with_variables(recorded)

    kept = surroundings.from_elsewhere({"OPENBLAS_L2_SIZE": "512", "PYTHONOPTIMIZE": "1"})

    values = {name: each.value for name, each in kept.variables.items()}
    assert values == {"OPENBLAS_L2_SIZE": "512", "OPENBLAS_CORETYPE": "Nehalem"}


@pytest.mark.integration
def test_a_child_process_really_runs_in_them() -> None:
    surroundings = for_recording({"PYTHONHASHSEED": "11", "TZ": "Asia/Tokyo"})
    code = "import os, time; print(hash('probe'), os.environ['TZ'], os.environ['LC_ALL'])"

    def child(caller: dict[str, str]) -> str:
        environ = environ_for_child({**os.environ, **caller}, surroundings)
        return subprocess.run(
            [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
        ).stdout

    one, other = child({"PYTHONHASHSEED": "1"}), child({"PYTHONHASHSEED": "2", "TZ": "UTC"})

    assert one == other
    assert one.split()[1:] == ["Asia/Tokyo", "C.UTF-8"]


def test_places_and_loaders_stay_the_callers() -> None:
    caller = {"PYTHONPATH": "src", "LD_LIBRARY_PATH": "lib", "CUDA_VISIBLE_DEVICES": "3"}

    surroundings = for_recording(caller)

    assert not [name for name in caller if name in surroundings.variables]
    assert caller.items() <= environ_for_child(caller, surroundings).items()


@pytest.mark.parametrize("source", ["explicit", "set", "pinned"])
@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "PYTHONSTARTUP", "PYTHONPATH", "OMP_TOOL_LIBRARIES"]
)
def test_a_record_cannot_choose_what_code_is_loaded(name: str, source: str) -> None:
    row = {"name": name, "value": "evil", "source": source}
    document = {"format": "twice.surroundings/1", "cwd": "caller", "variables": [row]}
    recorded = Surroundings.from_json(document)

    with pytest.raises(SurroundingsRefused, match=name):
        environ_for_child({}, recorded)

    assert environ_for_child({name: "evil"}, recorded)[name] == "evil"


def test_what_the_user_gives_while_recording_needs_no_confirmation() -> None:
    surroundings = for_recording({}, explicit={"PYTHONPATH": "src"})

    assert environ_for_child({}, surroundings)["PYTHONPATH"] == "src"


def test_code_that_runs_where_it_is_has_the_surroundings_it_finds() -> None:
    found = Surroundings.from_environ(
        {"TZ": "CET", "PYTHONHASHSEED": "random", "LC_X": "\udce9", "A": "b"}
    )

    assert {name: decided(found, name) for name in found.variables} == {
        "LC_X": ("\\udce9", "set"),
        "PYTHONHASHSEED": ("random", "set"),
        "TZ": ("CET", "set"),
    }


def test_a_secret_is_used_but_never_written() -> None:
    surroundings = for_recording({}, explicit={"API_TOKEN": "open-sesame"})
    text = json.dumps(surroundings.to_json())

    assert environ_for_child({}, surroundings)["API_TOKEN"] == "open-sesame"
    assert "sesame" not in text + repr(surroundings)


def test_a_secret_must_be_given_again_and_be_the_same() -> None:
    recorded = written_and_read(for_recording({}, explicit={"API_TOKEN": "open-sesame"}))

    with pytest.raises(SurroundingsRefused, match="was not given"):
        environ_for_child({}, recorded)
    with pytest.raises(SurroundingsRefused, match="another value"):
        environ_for_child({"API_TOKEN": "guess"}, recorded)
    again = environ_for_child({"API_TOKEN": "open-sesame"}, recorded)

    assert again["API_TOKEN"] == "open-sesame"


@pytest.mark.parametrize(
    "name",
    ["API_KEY", "GITHUBTOKEN", "DB_PASSWORD", "aws_secret_access_key", "MY_PASS", "KEYS"],
)
def test_secret_names_are_recognised(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["PYTHON_KEYRING", "TURKEY", "PWD", "OMP_NUM_THREADS", "PASSIVE"])
def test_other_names_are_not_taken_for_secrets(name: str) -> None:
    assert not is_secret(name)


def test_image_variables_are_neither_reported_nor_governed() -> None:
    assert not is_relevant("PYTHON_VERSION")
    assert is_relevant("LD_PRELOAD")
    assert not is_governed("LD_PRELOAD")


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (None, "format"),
        ({"format": "twice.surroundings/2"}, "format"),
        ({"format": "twice.surroundings/1", "cwd": "/tmp", "variables": []}, "cwd"),
        ({"format": "twice.surroundings/1", "cwd": "program", "variables": []}, "cwd"),
        ({"format": "twice.surroundings/1", "cwd": "caller", "variables": {}}, "variables"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(document: object, place: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Surroundings.from_json(document)

    assert refused.value.fields["place"] == place


@pytest.mark.parametrize(
    "row",
    [
        "TZ=UTC",
        {"name": "TZ", "source": "set"},
        {"name": "TZ", "value": "UTC", "redacted": "00", "source": "set"},
        {"name": "TZ", "value": "UTC", "source": "guess"},
        {"name": "TZ", "value": 3, "source": "set"},
    ],
)
def test_a_row_that_is_not_understood_is_refused(row: object) -> None:
    document = {"format": "twice.surroundings/1", "cwd": "caller", "variables": [row]}

    with pytest.raises(ConfigError, match=r"variables\[0\]"):
        Surroundings.from_json(document)


def test_what_a_library_sets_when_twice_imports_it_is_no_difference() -> None:
    assert not is_relevant("KMP_DUPLICATE_LIB_OK")
    assert not is_governed("KMP_DUPLICATE_LIB_OK")
    assert is_governed("KMP_BLOCKTIME")
