"""``twice spec``: from the first question to the sheet that others cite, and every wrong turn."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from programs import cli
from twice.specification.location import FOLDER

SWARM = Path(__file__).parents[2] / "examples" / "swarm.py"
BEGIN = (
    "init", "--component", "swarm", "--program", "swarm.py:main", "--seed", "42", "--set", "n=8", "--set", "ticks=4",
    "--source", "swarm.py", "--goal", "bugs come back", "--owner", "swarm team", "--class", "bit-exact",
)  # fmt: skip
MEDIUM = (
    "--yes", "state,replay,consumed,floating-point,hashed-snapshots,branching",
    "--no", "diverging,existing,cross-machine,concurrency,gpu,external-effects,audit-log,contested",
)  # fmt: skip


class Project:
    """A folder with a program, in which commands are run as a person would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(SWARM, folder / "swarm.py")

    def twice(self, *words: str, code: int = 0) -> str:
        ran = cli(*words, cwd=self.folder, env={"COLUMNS": "200"})
        assert ran.returncode == code, (words, ran.stdout, ran.stderr)
        assert code != 2 or ran.stdout == "", (words, ran.stdout, ran.stderr)
        return ran.stderr if code == 2 else ran.stdout

    def spec(self, *words: str, code: int = 0) -> str:
        return self.twice("spec", *words, code=code)

    def sheet(self, number: str) -> Path:
        return next((self.folder / FOLDER).glob(f"{number}-*.md"))

    def say(self, number: str, old: str, new: str) -> None:
        path = self.sheet(number)
        text = path.read_text("utf-8")
        assert f"\n{old}" in text, text
        path.write_text(text.replace(f"\n{old}", f"\n{new}", 1), encoding="utf-8")

    def bytes(self) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes()
            for path in (self.folder / FOLDER).iterdir()
            if path.is_file()
        }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def begun(project: Project) -> Project:
    project.spec(*BEGIN, *MEDIUM)
    return project


@pytest.mark.integration
def test_the_way_from_the_first_question_to_a_lock(begun: Project) -> None:
    vector = f"{FOLDER}/evidence/vector.twice"
    begun.twice(
        "record", "swarm.py:main", "--seed", "42", "--set", "n=8", "--set", "ticks=4", "-o", vector
    )

    told = json.loads(begun.spec("fill", "--record", vector, "--json", code=1))
    assert {(each["sheet"], each["key"]) for each in told["filled"]} >= {
        ("01", "predicate"), ("01", "vector_digest"), ("02", "names"), ("02", "vectors"), ("03", "slots"), ("03", "vectors"),
    }  # fmt: skip
    assert [(each["sheet"], each["key"]) for each in told["unknown"]] == [
        ("00", "traits"), ("02", "surface"), ("03", "adding"),
    ]  # fmt: skip
    begun.say("02", 'surface: "?"', 'surface: ["config"]')
    begun.say("03", 'adding: "?"', 'adding: "track it and take a stream of its own name"')
    text = begun.sheet("00").read_text("utf-8").replace('why: "?"', 'why: "it is a small example"')
    begun.sheet("00").write_text(text, encoding="utf-8")
    assert "04-snapshot-strategy.md" in begun.spec("add")
    assert "locked 00, 01, 02, 03" in begun.spec("bump", code=1)
    assert not list((begun.folder / FOLDER).glob("99-*"))


@pytest.mark.integration
def test_filling_twice_changes_nothing(begun: Project) -> None:
    begun.spec("fill", code=1)
    once = begun.bytes()

    assert "0 filled" in begun.spec("fill", code=1)
    assert begun.bytes() == once


@pytest.mark.integration
def test_a_dry_run_writes_nothing(begun: Project) -> None:
    begun.twice(
        "record",
        "swarm.py:main",
        "--seed",
        "42",
        "--set",
        "n=8",
        "--set",
        "ticks=4",
        "-o",
        "a.twice",
    )
    before = begun.bytes()

    assert "nothing was written" in begun.spec("fill", "--record", "a.twice", "--dry-run", code=1)
    assert begun.bytes() == before


@pytest.mark.integration
def test_a_value_of_another_kind_stops_everything_and_writes_nothing(begun: Project) -> None:
    begun.say("02", 'vectors: "?"', 'vectors: "many"')
    before = begun.bytes()

    said = begun.spec("bump", "02", code=2)

    assert "02-seed-governance-spec.md:" in said
    assert "vectors is 'many'" in said
    assert begun.bytes() == before


@pytest.mark.integration
@pytest.mark.parametrize(
    "words", [("spec", "status"), ("spec", "fill"), ("scaffold", "swarm"), ("gate",)]
)
@pytest.mark.sample(1)
def test_every_wrong_value_of_every_sheet_is_told_at_once(
    begun: Project, words: tuple[str, ...]
) -> None:
    begun.say("02", 'surface: "?"', 'surface: ["keyboard"]')
    begun.say("03", 'adding: "?"', "adding: by name")
    begun.say("01", 'class: "bit-exact"', 'class: "exact"')

    said = begun.twice(*words, code=2)

    assert "3 lines of the sheets cannot be taken" in said
    for number, key in (("01", "class"), ("02", "surface"), ("03", "adding")):
        lines = begun.sheet(number).read_text("utf-8").split("\n")
        at = next(at for at, line in enumerate(lines, 1) if line.startswith(f"{key}: "))
        assert f"{FOLDER}/{begun.sheet(number).name}:{at}: " in said


@pytest.mark.heavy
def test_a_change_is_told_bumped_followed_and_paid(begun: Project) -> None:
    begun.spec("bump", "02")
    begun.spec("bump", "03")
    begun.say("02", 'derivation: "?"', 'derivation: "rule 1"')

    told = begun.spec("changed", "02", code=1)
    assert "derivation: '?' -> 'rule 1'" in told
    assert "re-emit 03: a slot for the new generator" in told
    assert "twice spec bump 02 --major" in told
    assert "too small" in begun.spec("bump", "02", "--minor", code=2)
    assert "02: 0.1.0 -> 1.0.0, breaks the class" in begun.spec("bump", "02")
    assert "03 owes a new version" in begun.spec("status", code=1)
    assert "cannot be left as it is" in begun.spec("bump", "03", "--unchanged", "x", code=2)

    begun.spec("bump", "03")

    assert json.loads(begun.spec("changed", "02", "03", "--json"))["owed"] == []


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [("status",), ("changed",), ("fill",), ("bump",), ("add",), ("refresh",)],
)
@pytest.mark.sample(2)
def test_without_sheets_every_action_says_how_to_begin(
    project: Project, words: tuple[str, ...]
) -> None:
    assert "twice spec init" in project.spec(*words, code=2)


@pytest.mark.integration
def test_a_script_is_told_which_answers_are_missing(project: Project) -> None:
    said = project.spec(*BEGIN, code=2)

    assert "state, diverging, existing, replay" in said
    assert not (project.folder / FOLDER).exists()


@pytest.mark.integration
def test_a_system_without_state_gets_one_page_that_says_no(project: Project) -> None:
    said = project.spec(*BEGIN, "--no", "state", "--because", "it maps requests to answers")

    page = project.folder / FOLDER / "no-replay.md"
    assert "it maps requests to answers" in said
    assert "it maps requests to answers" in page.read_text("utf-8")
    assert [path.name for path in (project.folder / FOLDER).iterdir()] == ["no-replay.md"]
    page.write_text("we thought again", encoding="utf-8")
    project.spec(*BEGIN, "--no", "state", code=2)
    assert page.read_text("utf-8") == "we thought again"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("yes", "no", "step"),
    [
        ("state,diverging", "", "twice diagnose"),
        ("state,existing", "diverging,checked", "twice check swarm.py"),
    ],
)
def test_what_comes_before_a_design_is_sent_there(
    project: Project, yes: str, no: str, step: str
) -> None:
    said = project.spec(*BEGIN, "--yes", yes, *(("--no", no) if no else ()), code=1)

    assert step in said
    assert not (project.folder / FOLDER).exists()


@pytest.mark.integration
def test_a_contested_class_stops_after_01(project: Project) -> None:
    answers = [each.replace(",contested", "") for each in MEDIUM]

    project.spec(*BEGIN, *answers, "--yes", "contested")

    assert sorted(path.name[:2] for path in (project.folder / FOLDER).glob("*.md")) == ["00", "01"]
    assert "02 waits: 01 is contested" in project.spec("add", "02", code=1)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--yes", "statefulness"), "There is no question 'statefulness'"),
        (("--yes", "gpu", "--no", "gpu"), "answered with yes and with no"),
        ((*MEDIUM, "--tier", "S"), "--tier S is below M"),
    ],
)
def test_wrong_answers_are_refused(project: Project, words: tuple[str, ...], what: str) -> None:
    assert what in project.spec(*BEGIN, *words, code=2)
    assert not (project.folder / FOLDER).exists()


@pytest.mark.integration
def test_a_second_beginning_is_refused(begun: Project) -> None:
    before = begun.bytes()

    assert "has 4 sheets already" in begun.spec(*BEGIN, *MEDIUM, code=2)
    assert begun.bytes() == before


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("add", "77", "--template"), "There is no sheet '77'"),
        pytest.param(("add", "--template"), "Expected the number of one", marks=pytest.mark.heavy),
        pytest.param(
            ("bump", "05", "--unchanged", " "), "The reason is empty", marks=pytest.mark.heavy
        ),
        pytest.param(
            ("bump", "05", "--unchanged", "x"), "Sheet 05 owes nothing", marks=pytest.mark.heavy
        ),
        pytest.param(
            ("bump", "--major"),
            "--major was given without a sheet's number",
            marks=pytest.mark.heavy,
        ),
        (("bump", "02", "--promote"), "a sheet's number and --promote were given together"),
        pytest.param(
            ("status", "--project", "nowhere"), "nowhere is no folder", marks=pytest.mark.heavy
        ),
        pytest.param(
            ("fill", "--record", "nothing.twice"), "nothing.twice", marks=pytest.mark.heavy
        ),
    ],
)
def test_wrong_use_is_one_error_and_changes_nothing(
    begun: Project, words: tuple[str, ...], what: str
) -> None:
    before = begun.bytes()

    said = begun.spec(*words, code=2)

    assert what in said
    assert "Traceback" not in said
    assert begun.bytes() == before


@pytest.mark.integration
def test_the_first_sheet_comes_back_as_the_error_says(begun: Project) -> None:
    begun.sheet("00").unlink()

    assert "wrote" in begun.spec("add", "00")
    assert '\nowner: "swarm team"\n' in begun.sheet("00").read_text("utf-8")


@pytest.mark.integration
@pytest.mark.heavy
def test_a_lock_that_is_none_is_locked_again_as_the_error_says(begun: Project) -> None:
    begun.spec("bump", "02")
    (begun.folder / FOLDER / "spec.lock").write_text("<<<<<<<\n", encoding="utf-8")

    said = begun.spec("status", code=2)

    assert f"{FOLDER}/spec.lock is no lock" in said
    assert "rm " in said
    assert "twice spec bump" in said
    (begun.folder / FOLDER / "spec.lock").unlink()
    begun.spec("bump", code=1)


@pytest.mark.integration
@pytest.mark.heavy
def test_locking_tells_which_sheets_changed_since(begun: Project) -> None:
    begun.spec("bump", "02")
    begun.say("02", 'derivation: "?"', 'derivation: "rule 1"')
    before = begun.bytes()

    said = begun.spec("bump", code=1)

    assert "02 changed since it was locked: derivation" in said
    assert "twice spec bump 02" in said
    assert begun.bytes() == before


@pytest.mark.integration
@pytest.mark.heavy
def test_a_next_step_is_one_that_does_something(begun: Project) -> None:
    """Before a record is there, nothing can be filled, and later sheets wait for the first."""
    steps = json.loads(begun.spec("status", "--json", code=1))["next"]

    assert steps == [
        (
            f"twice record swarm.py:main --seed 42 --set n=8 --set ticks=4 --class bit-exact "
            f"-o {FOLDER}/evidence/vector.twice"
        ),
        f"twice spec fill --record {FOLDER}/evidence/vector.twice",
        "write what is open: twice spec status --open",
    ]
    begun.twice(*shlex.split(steps[0])[1:])
    begun.twice(*shlex.split(steps[1])[1:], code=1)
    assert json.loads(begun.spec("status", "--json", code=1))["next"] == [steps[2]]
    assert "wrote nothing" in begun.spec("add", code=1)


@pytest.mark.integration
@pytest.mark.heavy
def test_a_tier_that_is_forced_is_promoted(begun: Project) -> None:
    begun.say("01", 'scope: "?"', 'scope: "cross-host"')

    assert "forced L" in begun.spec("status", code=1)
    begun.spec("bump", "--promote")

    assert all('tier: "L"' in begun.sheet(number).read_text("utf-8") for number in ("00", "01"))


@pytest.mark.integration
@pytest.mark.heavy
def test_json_is_one_document(begun: Project) -> None:
    for words, code in ((("status",), 1), (("changed",), 1), (("add", "01", "--template"), 0)):
        assert json.loads(begun.spec(*words, "--json", code=code))["format"] == "twice.spec/1"
