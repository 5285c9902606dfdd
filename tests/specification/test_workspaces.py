"""All sheets together: found, read, refused; which wait, what forces a tier, what the questions lead to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sheets_written import artifact, workspace, write

from twice.specification.create import find_blocker
from twice.specification.errors import SheetRefused, SpecForeign, WorkspaceRefused
from twice.specification.location import FOLDER, find_workspace
from twice.specification.questionnaire import Question, Way, decide, next_question
from twice.specification.tiers import Tier, Trait
from twice.specification.workspace import (
    Workspace,
    find_cap,
    find_forced_tier,
    find_tier_requirements,
    open_workspace,
)


def test_a_workspace_is_found_from_below(tmp_path: Path) -> None:
    project = write(tmp_path / "p", {"00": {}})
    (project / "src" / "deep").mkdir(parents=True)

    assert find_workspace(project / "src" / "deep") == project.resolve()
    assert list(open_workspace(project).sheets) == ["00"]


def test_files_without_a_number_are_left_alone(tmp_path: Path) -> None:
    project = write(tmp_path, {"00": {}})
    (project / FOLDER / "README.md").write_text("hello", encoding="utf-8")
    (project / FOLDER / "notes-01.md").write_text("hello", encoding="utf-8")

    assert list(open_workspace(project).sheets) == ["00"]


def test_two_files_with_one_number_are_refused(tmp_path: Path) -> None:
    project = write(tmp_path, {"02": {}})
    (project / FOLDER / "02-seeds.md").write_text(artifact("02").source, encoding="utf-8")

    with pytest.raises(
        WorkspaceRefused,
        match=r"Sheet 02 is there twice: .*02-seed-governance-spec\.md.*02-seeds|02-seeds",
    ):
        open_workspace(project)


def test_a_number_that_is_none_is_refused(tmp_path: Path) -> None:
    project = write(tmp_path, {"02": {}})
    (project / FOLDER / "42-answer.md").write_text("---\n---\n", encoding="utf-8")

    with pytest.raises(WorkspaceRefused, match="there is no sheet 42"):
        open_workspace(project)


def test_a_broken_sheet_is_told_with_its_file_and_line(tmp_path: Path) -> None:
    project = write(tmp_path, {"02": {}})
    (project / FOLDER / "03-rng.md").write_text("---\nid: 03\n---\n", encoding="utf-8")

    with pytest.raises(SheetRefused, match=rf"{FOLDER}/03-rng\.md:2: "):
        open_workspace(project)


def test_a_sheet_that_is_no_file_is_told(tmp_path: Path) -> None:
    project = write(tmp_path, {"02": {}})
    (project / FOLDER / "03-rng.md").mkdir()
    (project / FOLDER / "04-state.md").symlink_to("nowhere")

    with pytest.raises(
        SheetRefused, match=r"(?s)03-rng\.md:1: it cannot.*04-state\.md:1: it "
    ) as told:
        open_workspace(project)

    assert "Expected a text file" in str(told.value)


def test_a_folder_without_sheets_says_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / FOLDER / "evidence").mkdir(parents=True)

    with pytest.raises(WorkspaceRefused, match="has no sheet in it") as told:
        open_workspace(tmp_path)

    assert "twice spec init" in told.value.remedy


def test_sheets_of_two_components_are_refused(tmp_path: Path) -> None:
    project = write(tmp_path, {"00": {}})
    other = artifact("01").source.replace('component: "swarm"', 'component: "market"')
    (project / FOLDER / "01-x.md").write_text(other, encoding="utf-8")

    with pytest.raises(SpecForeign, match=r"01-x\.md:5: it specifies 'market', and .*00.* 'swarm'"):
        open_workspace(project)


@pytest.mark.parametrize(
    ("number", "rests", "way"),
    [
        ("01", ["02"], "01 -> 02 -> 01"),
        ("00", ["13"], "00 -> 13 -> 01 -> 00"),
        ("03", ["03"], "03 -> 03"),
    ],
)
def test_sheets_that_rest_on_each_other_are_refused(
    tmp_path: Path, number: str, rests: list[str], way: str
) -> None:
    project = write(tmp_path, {number: {}})
    path = project / artifact(number).path
    path.write_text(artifact(number).with_value("depends_on", rests).source, encoding="utf-8")

    with pytest.raises(WorkspaceRefused, match=f"in a circle: {way}"):
        open_workspace(project)


def test_no_workspace_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceRefused) as caught:
        open_workspace(tmp_path)

    assert "twice spec init" in caught.value.remedy


def test_later_sheets_wait_for_the_first_ones() -> None:
    begun = workspace(Path(), {"00": {"tier": "S"}, "01": {"tier": "S", "contested": False}})

    held = find_blocker(begun, "04")

    assert held is not None
    assert held.startswith("sheet 01 does not say class")
    assert find_blocker(begun, "02") is None


def test_everything_after_01_waits_while_it_is_contested() -> None:
    begun = workspace(Path(), {"00": {}, "01": {"contested": True}})

    for number in ("02", "03", "04", "13"):
        held = find_blocker(begun, number)
        assert held is not None
        assert "contested" in held
    assert find_blocker(begun, "01") is None


@pytest.mark.parametrize(
    ("number", "key", "value", "forced"),
    [
        ("01", "scope", "cross-host", Tier.L),
        ("04", "ownership", "each process its own", Tier.M),
        ("05", "cross_process", "joined by rank", Tier.M),
        ("07", "model", ["threads", "processes"], Tier.M),
        ("07", "model", ["threads"], Tier.S),
        ("08", "threads", 1, Tier.S),
        ("11", "rule", "xx", Tier.S),
        ("12", "stateful", True, Tier.XL),
    ],
)
def test_a_sheet_forces_its_tier(number: str, key: str, value: object, forced: Tier) -> None:
    said = {"00": {"tier": "S"}, "01": {"tier": "S"}}
    said[number] = {**said.get(number, {}), key: value}  # type: ignore[dict-item]

    assert find_forced_tier(workspace(Path(), said)) is forced


TRAITS = [
    ("concurrency", "bit-exact", "XS", Tier.M, "07"),
    ("concurrency", "logical", "S", Tier.M, "07"),
    ("gpu", "bit-exact", "M", Tier.L, "09"),
    ("audit-log", "bit-exact", "S", Tier.L, "11"),
]


def with_trait(name: str, kind: str, tier: str, *, here: bool = True, also: str = "") -> Workspace:
    rows = [
        {"name": each.value, "here": here and each == name, "why": "looked at"} for each in Trait
    ]
    said = {"00": {"tier": tier, "traits": rows}, "01": {"tier": tier, "class": kind}}
    return workspace(Path(), {**said, **({also: {}} if also else {})})  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "kind", "tier", "forced", "sheet"), TRAITS)
def test_a_trait_forces_the_tier_that_asks_for_its_sheet(
    name: str, kind: str, tier: str, forced: Tier, sheet: str
) -> None:
    made = with_trait(name, kind, tier)

    (found,) = find_tier_requirements(made)

    assert find_forced_tier(made) is forced
    assert (found.sheet, found.key, found.caps) == ("00", "traits", False)
    assert f"in sheet {sheet}" in found.why


@pytest.mark.parametrize(("name", "kind", "tier", "forced", "sheet"), TRAITS)
def test_a_trait_forces_nothing_where_its_sheet_is_there_or_it_is_denied(
    name: str, kind: str, tier: str, forced: Tier, sheet: str
) -> None:
    for made in (
        with_trait(name, kind, tier, also=sheet),
        with_trait(name, kind, tier, here=False),
        with_trait(name, kind, forced.value),
    ):
        assert find_forced_tier(made) is made.situation().tier


@pytest.mark.parametrize(
    "name", ["floating-point", "external-effects", "hashed-snapshots", "branching"]
)
def test_what_runs_show_at_every_tier_forces_none(name: str) -> None:
    assert find_forced_tier(with_trait(name, "bit-exact", "S")) is Tier.S


def test_a_gpu_under_a_class_with_a_tolerance_forces_none() -> None:
    assert find_forced_tier(with_trait("gpu", "logical", "S")) is Tier.S


def test_an_effect_that_cannot_be_substituted_caps_the_tier() -> None:
    row = {"source": "network", "what": "a", "pattern": "record-and-replay", "substitutable": False}
    small = workspace(
        Path(), {"00": {"tier": "L"}, "01": {"tier": "L"}, "10": {"inventory": [row]}}
    )

    found = find_cap(small)

    assert found is not None
    assert (found.tier, found.sheet, found.caps) == (Tier.S, "10", True)
    assert find_cap(replace(small, sheets={"00": small.sheets["00"]})) is None


ANSWERS = st.dictionaries(st.sampled_from(Question), st.booleans())


@given(ANSWERS)
def test_the_questions_end_and_lead_somewhere(answers: dict[Question, bool]) -> None:
    asked = []
    while (question := next_question(answers)) is not None:
        assert question not in asked
        asked.append(question)
        answers = {**answers, question: False}

    assert decide(answers).reasons


@pytest.mark.parametrize(
    ("yes", "way", "tier"),
    [
        ("", Way.NO, Tier.XS),
        ("state diverging", Way.DIAGNOSE, Tier.XS),
        ("state existing", Way.CHECK, Tier.XS),
        ("state existing checked", Way.SPECIFY, Tier.XS),
        ("state replay", Way.SPECIFY, Tier.S),
        ("state replay consumed", Way.SPECIFY, Tier.M),
        ("state replay cross-machine", Way.SPECIFY, Tier.L),
        ("state replay cross-machine obliged", Way.SPECIFY, Tier.XL),
        ("state replay cross-machine external-effects", Way.SPECIFY, Tier.S),
        ("state replay cross-machine external-effects substitutable", Way.SPECIFY, Tier.L),
    ],
)
def test_answers_lead_to_a_tier_or_away(yes: str, way: Way, tier: Tier) -> None:
    answers = {question: question.value in yes.split() for question in Question}

    decision = decide(answers)

    assert (decision.way, decision.tier) == (way, tier)


@pytest.mark.parametrize("stop", ["", "state diverging", "state existing"])
def test_nothing_more_is_asked_once_the_way_is_clear(stop: str) -> None:
    answers: dict[Question, bool] = {}
    asked = []
    while (question := next_question(answers)) is not None:
        asked.append(question)
        answers[question] = question.value in stop.split()

    assert Question.REPLAY not in asked
    assert Question.CONTESTED not in asked
