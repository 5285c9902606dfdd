"""Claims about the pytest plugin: records once, verifies after, and costs nothing until it is asked."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from programs import environ
from twice.errors import UsageError
from twice.testing import executor
from twice.testing.recorded_runs import RecordedRuns, safe_name

SWARM = Path(__file__).parents[2] / "examples" / "swarm.py"
SMALL = {"n": 3, "ticks": 2}
TESTS = """
import pytest

@pytest.mark.twice("swarm.py:main", seed=7, config={"n": 3, "ticks": 2}, cadence="tick")
def test_marked(twice_run):
    assert twice_run.record.ticks == 2
    assert twice_run.results[-1].failure is None

@pytest.mark.parametrize("name", ["a/b", ".."])
def test_called(twice_run, name):
    assert twice_run("swarm.py:main", seed=len(name), config={"n": 2, "ticks": 1}).ticks == 1

class TestClass:
    @pytest.mark.parametrize("n", [1, 2])
    @pytest.mark.twice("swarm.py:main", seed=7, config=lambda n: {"n": n, "ticks": 1})
    def test_by_parameters(self, n):
        pass

def test_without():
    pass
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(SWARM, tmp_path)
    (tmp_path / "test_runs.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def run(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    given = {name: value for name, value in environ().items() if name != "CI"}
    plugin = "-p no:twice -p twice.testing.plugin -p no:cacheprovider --basetemp=base".split()
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, *arguments],
        cwd=project,
        env={**given, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def kept(project: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((project / "__twice__").iterdir())}


@pytest.mark.heavy
def test_the_first_run_records_and_later_ones_verify(project: Path) -> None:
    first = run(project)
    made = kept(project)
    second = run(project, CI="1")
    side_by_side = run(project, "-n", "2")

    assert (first.returncode, second.returncode) == (0, 0), first.stdout + second.stdout
    assert "twice: 5 recorded" in first.stdout
    assert "twice: 5 verified" in second.stdout
    assert "twice: 5 verified" in side_by_side.stdout, side_by_side.stdout
    assert kept(project) == made
    assert len(made) == 5
    assert "test_runs.test_marked.twice" in made
    assert max(map(len, made.values())) < 16 * 1024


def runs_of(project: Path, *, require: bool = False, update: bool = False) -> RecordedRuns:
    file = project / "test_runs.py"
    node = f"{file.name}::test_it"
    return RecordedRuns(file, node, project, require=require, update=update)


def test_a_missing_record_fails_where_records_are_required(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    for require, variable in ((True, ""), (False, "true")):
        monkeypatch.setenv("CI", variable)
        with pytest.raises(pytest.fail.Exception) as caught:
            runs_of(project, require=require)("swarm.py:main", seed=7, config=SMALL)
        said.append(str(caught.value))

    assert all("there is no record at __twice__/test_runs.test_it.twice" in each for each in said)
    assert all("pytest test_runs.py::test_it --twice-update" in each for each in said)
    assert not (project / "__twice__").exists()


@pytest.mark.integration
def test_an_edit_that_changes_nothing_passes_and_one_that_does_says_what(project: Path) -> None:
    def run_again(*, update: bool = False) -> list[str]:
        runs = runs_of(project, update=update)
        runs("swarm.py:main", seed=7, config=SMALL, cadence="tick")
        runs.close()
        return [each.result for each in runs.results]

    run_again()
    source = (project / "swarm.py").read_text("utf-8")
    (project / "swarm.py").write_text(source + "\n# a comment\n", encoding="utf-8")
    harmless = run_again()
    (project / "swarm.py").write_text(source.replace("0.01 *", "0.02 *"), encoding="utf-8")
    with pytest.raises(pytest.fail.Exception) as changed:
        run_again()
    updated, after = run_again(update=True), run_again()

    assert harmless == ["UNKNOWN"], "executed for information only, and every point was the same"
    said = str(changed.value)
    assert said.startswith("twice: the run differs from its record at tick 0, in swarm\n")
    assert "compare-point 2, tick 0, tick: swarm" in said
    assert "field: swarm.position[" in said
    assert "channel: replay (swarm.py differs from the recorded program)" in said
    assert said.endswith("if that is intended: pytest test_runs.py::test_it --twice-update")
    assert not re.search("[0-9a-f]{32}", said), "two digests tell nobody anything"
    assert updated == after == ["PASS"]


@pytest.mark.integration
def test_a_library_that_was_changed_shows_fields_and_the_command_that_looks_again(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path_factory.mktemp("of_others") / "site-packages" / "changing.py"
    library.parent.mkdir()
    library.write_text("SIZE = 0.5\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(library.parent))
    (project / "user.py").write_text(
        "import changing\ndef main(run):\n    held = run.track('held', {'at': 0.0})\n"
        "    for _ in run.ticks(2):\n        held['at'] += changing.SIZE\n",
        encoding="utf-8",
    )
    runs_of(project)("user.py:main", seed=1, cadence="tick")
    library.write_text("SIZE = 0.25\n", encoding="utf-8")
    executor.close_servers()  # which have loaded the library

    with pytest.raises(pytest.fail.Exception) as differs:
        runs_of(project)("user.py:main", seed=1, cadence="tick")

    said = str(differs.value)
    assert "field: held.at (value): 0.5 / 0.25" in said
    assert said.endswith("see it again: twice verify __twice__/test_runs.test_it.twice --diagnose")


@pytest.mark.heavy
def test_a_run_that_does_not_repeat_itself_is_not_kept(project: Path) -> None:
    program = """
from time import time_ns
real = time_ns
def main(run):
    held = run.track("held", {"at": 0})
    for _ in run.ticks(1):
        held["at"] = id(object()) + hash(object())
"""
    (project / "odd.py").write_text(program, encoding="utf-8")
    (project / "test_runs.py").write_text(
        "def test_odd(twice_run):\n    twice_run('odd.py:main', seed=1)\n", encoding="utf-8"
    )

    ran = run(project)

    assert ran.returncode == 1, ran.stdout
    assert "odd.py:7" in ran.stdout
    assert "channel:" in ran.stdout
    assert "a run that does not repeat itself is no record" in ran.stdout
    assert not kept(project)


@pytest.mark.integration
def test_a_record_of_another_run_is_refused(project: Path) -> None:
    runs_of(project)("swarm.py:main", seed=7, config=SMALL)

    with pytest.raises(pytest.fail.Exception) as caught:
        runs_of(project)("swarm.py:main", seed=7, config={"n": 4, "ticks": 2})

    assert "is the record of another run" in str(caught.value)
    assert "its config is {'n': 3, 'ticks': 2}" in str(caught.value)


@pytest.mark.integration
def test_a_program_that_raises_leaves_no_record(project: Path) -> None:
    (project / "raises.py").write_text("def main(run):\n    raise OSError(5)\n", encoding="utf-8")

    with pytest.raises(pytest.fail.Exception) as caught:
        runs_of(project)("raises.py:main", seed=1)

    assert "the program raised builtins.OSError: 5" in str(caught.value)
    assert not kept(project)


def test_a_marker_without_a_seed_is_refused_and_its_functions_get_parameters(
    project: Path,
) -> None:
    with pytest.raises(UsageError, match="Expected one program, and a seed"):
        runs_of(project).run_marker(("swarm.py:main",), {}, {})
    given: dict[str, object] = {"seed": lambda n: n, "config": lambda n: {"n": n}}
    with pytest.raises(pytest.fail.Exception):
        runs_of(project, require=True).run_marker(("swarm.py:main",), given, {"n": 3})


@pytest.mark.integration
def test_nothing_is_imported_until_a_test_asks(project: Path) -> None:
    (project / "test_runs.py").write_text(
        "import json, sys\ndef test_nothing():\n    names = sorted(sys.modules)\n"
        "    open('modules.json', 'w').write(json.dumps(names))\n",
        encoding="utf-8",
    )

    ran = run(project, "-p", "no:hypothesispytest", "-p", "no:zarr")

    assert ran.returncode == 0, ran.stdout
    loaded = json.loads((project / "modules.json").read_text("utf-8"))
    front_door = {
        "twice", "twice.errors", "twice.foundation", "twice.foundation.version",
        "twice.testing", "twice.testing.plugin",
    }  # fmt: skip
    ours = {name for name in loaded if name.split(".")[0] == "twice"}
    assert ours <= front_door
    assert not {"numpy", "blake3", "yaml", "zstandard"} & {*loaded}


@pytest.mark.parametrize(
    "name", ["test[a/b]", "test[..]", "test[\ud800]", "test[" + "q" * 300 + "]", "test[A]", "é"]
)
def test_a_file_name_is_safe_and_its_own(name: str) -> None:
    safe = safe_name(name)

    assert safe.isascii()
    assert not {"/", "[", "]", "\\"} & {*safe}
    assert len(safe) < 140
    assert safe != safe_name(name + "x")
    assert safe_name("test_a.test_b") == "test_a.test_b"
