"""A statement cites the specification of the program, and judges nothing that the specification excludes.

Recordings and replays are processes of their own; the specification is read in this one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import twice
from programs import cli
from small_system import build, lay_sheets, sheets
from twice.foundation.determinism_class import Predicate
from twice.recorder.environment.libraries import measure_versions
from twice.recorder.runrecord import RunRecord
from twice.specification import citation
from twice.specification.citation import Citation, cite_specification
from twice.specification.location import FOLDER

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A specified system beside a record of its program, by the class of its sheets."""
    project = build(tmp_path_factory.mktemp("project"))
    (project / "other.py").write_text("def main(run):\n    run.compare('x', 1)\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        settings = {"n": 4, "ticks": 6}
        twice.record("swarm/flock.py:main", seed=42, config=settings, out="a.twice").close()
        twice.record("other.py:main", seed=42, out="other.twice").close()
    return project


def cite(
    project: Path, changed: Mapping[str, Mapping[str, object]] | None = None, name: str = "a.twice"
) -> Citation | None:
    for sheet in (project / FOLDER).glob("09-*"):
        sheet.unlink()  # of a test before
    said = sheets()
    for number, values in (changed or {}).items():
        said[number] = {**said.get(number, {}), **values}  # type: ignore[dict-item]
    lay_sheets(project, said)
    with RunRecord.open(project / name) as record:
        return cite_specification(record)


def test_the_specification_of_the_program_is_cited(project: Path) -> None:
    cited = cite(project)

    assert cited is not None
    assert (cited.path, cited.mismatches, cited.unread) == (str(project / FOLDER), (), "")
    statement = twice.verify(project / "a.twice", mismatches=cited.mismatches)
    assert statement.result == "PASS"


def test_another_class_and_another_version_are_mismatches_and_nothing_is_executed(
    project: Path,
) -> None:
    pins = [{"library": "openblas", "version": "0.0.1"}]
    cited = cite(project, {"01": {"class": "logical"}, "08": {"pins": pins}})

    assert cited is not None
    of_class, of_pin = cited.mismatches
    assert of_class.startswith("sheet 01 promises logical (two runs are equivalent iff ")
    assert ", and the record was made for bit-exact (two runs are equivalent iff " in of_class
    assert of_pin.startswith("sheet 08 pins openblas to 0.0.1, and here is ")
    statement = twice.verify(project / "a.twice", mismatches=cited.mismatches)
    assert (statement.result, statement.exit_code) == ("UNKNOWN", 2)
    assert [*cited.mismatches] == [each for each in statement.caveats if "sheet 0" in each]


def test_a_pin_that_is_not_decided_is_no_mismatch(project: Path) -> None:
    cited = cite(project, {"08": {"pins": [{"library": "openblas", "version": "?"}]}})

    assert cited is not None
    assert cited.mismatches == ()


@pytest.mark.parametrize(
    ("here", "said"),
    [
        ({"driver": "550.54.14"}, []),
        ({"driver": "560.35"}, ["sheet 09 states the driver 550.54, and here is 560.35"]),
        ({}, ["sheet 09 states the driver 550.54, and here is none"]),
    ],
)
def test_another_driver_is_a_mismatch_and_a_longer_version_of_it_is_not(
    project: Path, monkeypatch: pytest.MonkeyPatch, here: dict[str, str], said: list[str]
) -> None:
    measured = replace(measure_versions(), gpu=here)
    monkeypatch.setattr(citation, "measure_versions", lambda: measured)
    cited = cite(project, {"09": {"driver": "550.54"}})

    assert cited is not None
    assert [*cited.mismatches] == said


def test_the_class_that_the_user_chose_is_not_held_against_the_sheet(project: Path) -> None:
    cite(project, {"01": {"class": "logical"}})
    with RunRecord.open(project / "a.twice") as record:
        cited = cite_specification(record, judges_recorded_class=False)
    assert cited is not None
    assert cited.mismatches == ()


def test_the_specification_of_another_program_is_not_cited(project: Path) -> None:
    assert cite(project, name="other.twice") is None


def test_of_several_components_the_one_of_the_program_is_cited(project: Path) -> None:
    cite(project)
    top, said = (
        project / FOLDER,
        {path: path.read_text() for path in (project / FOLDER).glob("*.md")},
    )
    for component, program in (("swarm", "swarm/flock.py:main"), ("other", "lost.py:main")):
        (top / component).mkdir()
        for path, text in said.items():
            own = text.replace('component: "swarm"', f'component: "{component}"', 1)
            own = own.replace('program: "swarm/flock.py:main"', f'program: "{program}"')
            (top / component / path.name).write_text(own)
    for path in said:
        path.unlink()
    found = []
    for name in ("a.twice", "other.twice"):
        with RunRecord.open(project / name) as record:
            found.append(cite_specification(record))
    for component in ("swarm", "other"):
        shutil.rmtree(top / component)

    assert found[0] is not None
    assert (found[0].path, found[0].component) == (str(top / "swarm"), "swarm")
    assert found[1] is None


def test_sheets_that_cannot_be_read_are_cited_with_the_reason(project: Path) -> None:
    cite(project)
    place = next((project / FOLDER).glob("01-*.md"))
    place.write_text("Two runs should be equal, more or less.\n")
    with RunRecord.open(project / "a.twice") as record:
        cited = cite_specification(record)
    assert cited is not None
    assert cited.unread.startswith("E-SPEC-001")
    assert cited.mismatches == ()


def test_a_statement_says_whether_there_is_a_specification(project: Path) -> None:
    cited = cite(project)
    assert cited is not None
    statement = twice.verify(project / "a.twice", predicate=Predicate())
    assert statement.to_json()["specification"] is None
    assert "specification: none was found: the class is the recorded one" in statement.to_markdown()


def test_the_command_cites_it_and_refuses_to_judge_against_it(project: Path) -> None:
    cite(project)
    done = cli("verify", "a.twice", "--json", "--no-statement", cwd=project)
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["specification"]["component"] == "swarm"
    cite(project, {"01": {"class": "logical"}})
    refused = cli("verify", "a.twice", "--no-statement", cwd=project)
    assert refused.returncode == 2
    assert "sheet 01 promises logical" in refused.stdout


@pytest.mark.parametrize(
    "words",
    [["replay", "a.twice", "--at", "2"], ["branch", "a.twice", "--at", "2", "-o", "c.twice"]],
)
def test_a_run_is_not_restored_on_versions_that_the_sheets_do_not_pin(
    project: Path, words: list[str]
) -> None:
    cite(project, {"08": {"pins": [{"library": "openblas", "version": "0.0.1"}]}})

    refused = cli(*words, cwd=project)
    anyway = cli(*words, "--informational", cwd=project)

    assert refused.returncode == 2
    assert "E-ENV-001  sheet 08 pins openblas to 0.0.1, and here is " in refused.stderr
    assert anyway.returncode == 0, anyway.stderr
