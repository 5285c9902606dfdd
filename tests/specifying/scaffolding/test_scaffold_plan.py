"""What becomes of files: laid down, left alone, merged, reported; nothing a person wrote is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from small_system import build, lay_sheets, sheets, tree
from twice.errors import SheetRefused, SheetVersion, SpecForeign, SpecIncomplete, UsageError
from twice.foundation.channels import Channel
from twice.specifying.scaffolding.planning import Action
from twice.specifying.scaffolding.regions import Layer
from twice.specifying.scaffolding.scaffold import (
    Objection,
    Order,
    Prepared,
    carry_out,
    eject,
    prepared,
)
from twice.specifying.scaffolding.standing import standings
from twice.specifying.workspace import open_workspace

SEEDS = "swarm/determinism/seeds.py"
COMPARE = "swarm/determinism/compare.py"
SUITE = "tests/test_determinism.py"
LOCK = "determinism-and-replay/scaffold.lock"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return build(tmp_path / "project")


def laid_down(project: Path, *layers: Layer, **options: object) -> Prepared:
    """Lay something down; what was prepared."""
    what = prepared(project, Order("swarm", layers, **options))  # type: ignore[arg-type]
    assert what.may_be_applied, what.plan.in_the_way
    carry_out(project, what)
    return what


def actions(project: Path, **options: object) -> dict[str, Action]:
    """What would become of each file."""
    what = prepared(project, Order("swarm", **options))  # type: ignore[arg-type]
    return {each.path: each.action for each in what.plan.changes}


def say_anew(project: Path, number: str, **values: object) -> None:
    """Change a sheet."""
    said = sheets()
    said[number] |= values  # type: ignore[arg-type]
    lay_sheets(project, said)


def edit(project: Path, path: str, before: str, after: str) -> None:
    """Change a file as a person would."""
    file = project / path
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


class TestASecondRun:
    def test_changes_not_a_byte(self, project: Path) -> None:
        laid_down(project, commands="commands")
        before = tree(project)

        what = prepared(project, Order("swarm"))
        changed = carry_out(project, what)

        assert not changed
        assert tree(project) == before
        assert {each.action for each in what.plan.changes} == {Action.SAME, Action.KEEP}

    def test_does_not_touch_files_that_stay(self, project: Path) -> None:
        laid_down(project)
        times = {each: each.stat().st_mtime_ns for each in project.rglob("*.py")}

        say_anew(project, "05", granularity="decision")
        laid_down(project)

        moved = {
            each.relative_to(project).as_posix()
            for each, then in times.items()
            if each.stat().st_mtime_ns != then
        }
        assert moved == {COMPARE, "swarm/determinism/specified.py", "scripts/determinism.py"}

    def test_lays_down_the_same_elsewhere(self, project: Path, tmp_path: Path) -> None:
        laid_down(project)
        other = build(tmp_path / "elsewhere")
        laid_down(other)

        assert tree(project) == tree(other)


class TestWhatAPersonWrote:
    def test_an_edited_file_stops_everything_and_is_kept(self, project: Path) -> None:
        laid_down(project)
        edit(project, SEEDS, "Each stream and the kind", "Mine: each stream and the kind")
        before = tree(project)

        what = prepared(project, Order("swarm"))

        assert not what.may_be_applied
        assert [(each.path, each.action) for each in what.plan.in_the_way] == [
            (SEEDS, Action.EDITED)
        ]
        assert tree(project) == before

    def test_a_file_in_the_way_is_never_written_over(self, project: Path) -> None:
        (project / "swarm/determinism").mkdir()
        (project / SEEDS).write_text("mine = 1\n", encoding="utf-8")
        before = tree(project)

        assert actions(project)[SEEDS] == Action.CONFLICT
        assert tree(project) == before

    def test_an_equal_file_in_the_way_is_taken_over(self, project: Path, tmp_path: Path) -> None:
        other = build(tmp_path / "other")
        laid_down(other)
        (project / "swarm/determinism").mkdir()
        (project / SEEDS).write_bytes((other / SEEDS).read_bytes())

        assert actions(project)[SEEDS] == Action.SAME

    def test_a_file_that_is_removed_comes_back(self, project: Path) -> None:
        laid_down(project)
        before = tree(project)
        (project / SEEDS).unlink()

        assert actions(project)[SEEDS] == Action.CREATE
        laid_down(project)
        assert tree(project) == before

    def test_lines_around_a_shared_region_are_kept(self, project: Path) -> None:
        laid_down(project)
        suite = project / SUITE
        suite.write_text(
            f"# mine above\n{suite.read_text(encoding='utf-8')}\n# mine below\n", encoding="utf-8"
        )
        say_anew(project, "12", generators="n=1..9, ticks=2..4")

        laid_down(project)

        text = suite.read_text(encoding="utf-8")
        assert text.startswith("# mine above\n")
        assert text.endswith("\n# mine below\n")
        assert "st.integers(1, 9)" in text

    def test_lines_within_a_shared_region_are_merged(self, project: Path) -> None:
        laid_down(project)
        edit(project, SUITE, "from pathlib import Path\n", "import os\nfrom pathlib import Path\n")
        say_anew(project, "12", generators="n=1..9, ticks=2..4")

        assert actions(project)[SUITE] == Action.MERGE
        laid_down(project)

        text = (project / SUITE).read_text(encoding="utf-8")
        assert "import os\n" in text
        assert "st.integers(1, 9)" in text
        assert actions(project)[SUITE] == Action.KEEP

    def test_lines_that_both_changed_stop_everything(self, project: Path) -> None:
        laid_down(project)
        edit(project, SUITE, "st.integers(1, 4)", "st.integers(1, 2)")
        say_anew(project, "12", generators="n=1..9, ticks=2..4")
        before = tree(project)

        what = prepared(project, Order("swarm"))

        assert [each.path for each in what.plan.in_the_way] == [SUITE]
        assert "12.generators" in what.plan.in_the_way[0].why
        assert tree(project) == before

    def test_a_workflow_of_a_person_is_added_to(self, project: Path) -> None:
        hooks = project / ".pre-commit-config.yaml"
        own = "exclude: old\nrepos:\n- repo: other\n  rev: v1\n  hooks:\n  - id: x\nci:\n  skip: [x]\n"
        hooks.write_text(own, encoding="utf-8")

        laid_down(project)

        text = hooks.read_text(encoding="utf-8")
        assert "  - id: x\n# twice:begin check" in text
        assert "\n- repo: local\n  hooks:\n    - id: twice-check\n" in text
        assert text.endswith("# twice:end check\nci:\n  skip: [x]\n")
        assert actions(project)[".pre-commit-config.yaml"] == Action.SAME

    def test_line_ends_of_a_file_are_kept(self, project: Path) -> None:
        attributes = project / ".gitattributes"
        attributes.write_bytes(b"*.png binary\r\n")

        laid_down(project)

        data = attributes.read_bytes()
        assert data.count(b"\r\n") == data.count(b"\n") == 4
        assert actions(project)[".gitattributes"] == Action.SAME

    def test_a_file_laid_down_once_is_never_touched_again(self, project: Path) -> None:
        laid_down(project)
        (project / "tests/conftest.py").write_text("# mine\n", encoding="utf-8")

        laid_down(project, replaces=True)

        assert (project / "tests/conftest.py").read_text(encoding="utf-8") == "# mine\n"

    def test_a_file_that_stood_there_is_told_what_it_lacks(self, project: Path) -> None:
        (project / "tests").mkdir(exist_ok=True)
        (project / "tests/conftest.py").write_text("# mine\n", encoding="utf-8")

        what = prepared(project, Order("swarm"))

        (why,) = [each.why for each in what.plan.changes if each.path == "tests/conftest.py"]
        assert why.startswith("it was there already, without: sys.path.insert(0, ")

    def test_markers_that_are_gone_stop_everything(self, project: Path) -> None:
        laid_down(project)
        edit(project, SUITE, "# twice:end properties\n", "")

        assert actions(project)[SUITE] == Action.CONFLICT

    def test_links_and_folders_are_not_written_through(self, project: Path, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (project / "scripts").symlink_to(tmp_path / "outside")
        (project / SUITE).mkdir()

        found = actions(project)

        assert found["scripts/determinism.py"] == found[SUITE] == Action.CONFLICT
        assert not list((tmp_path / "outside").iterdir())

    def test_what_is_no_text_is_left_alone(self, project: Path) -> None:
        (project / ".gitattributes").write_bytes(b"\xff\xfe")

        assert actions(project)[".gitattributes"] == Action.CONFLICT


class TestConflictsInFiles:
    def test_are_written_when_asked_for_and_not_taken_for_done(self, project: Path) -> None:
        laid_down(project)
        edit(project, SUITE, "st.integers(1, 4)", "st.integers(1, 2)")
        say_anew(project, "12", generators="n=1..9, ticks=2..4")

        laid_down(project, marks=True)

        text = (project / SUITE).read_text(encoding="utf-8")
        assert "<<<<<<< yours\n        n=st.integers(1, 2),\n=======\n" in text
        assert actions(project)[SUITE] == Action.CONFLICT
        states = {each.path: each.state for each in standings(open_workspace(project))}
        assert states[SUITE] == "conflicting"

    def test_that_are_settled_are_done(self, project: Path) -> None:
        laid_down(project)
        edit(project, SUITE, "st.integers(1, 4)", "st.integers(1, 2)")
        say_anew(project, "12", generators="n=1..9, ticks=2..4")
        laid_down(project, marks=True)
        text = (project / SUITE).read_text(encoding="utf-8")
        settled = text[: text.index("<<<<<<<")] + "        n=st.integers(1, 3),\n"
        rest = text[text.index(">>>>>>> new\n") + len(">>>>>>> new\n") :]
        (project / SUITE).write_text(settled + rest, encoding="utf-8")

        laid_down(project)

        assert "st.integers(1, 3)" in (project / SUITE).read_text(encoding="utf-8")
        assert all(each.holds for each in standings(open_workspace(project)))
        before = tree(project)
        laid_down(project)
        assert tree(project) == before


class TestReplacing:
    def test_archives_what_it_replaces(self, project: Path) -> None:
        laid_down(project)
        edit(project, SEEDS, "Each stream and the kind", "Mine: each stream and the kind")
        mine = (project / SEEDS).read_bytes()

        laid_down(project, replaces=True)
        archived = project / "determinism-and-replay/archive/0001" / SEEDS

        assert archived.read_bytes() == mine
        assert (project / SEEDS).read_bytes() != mine
        edit(project, SEEDS, "Each stream", "Mine again: each stream")
        laid_down(project, replaces=True)
        assert (project / "determinism-and-replay/archive/0002" / SEEDS).is_file()
        assert archived.read_bytes() == mine

    def test_archives_a_file_that_was_never_laid_down(self, project: Path) -> None:
        (project / "scripts").mkdir()
        (project / "scripts/determinism.py").write_text("mine = 1\n", encoding="utf-8")

        laid_down(project, replaces=True)

        archived = project / "determinism-and-replay/archive/0001/scripts/determinism.py"
        assert archived.read_text(encoding="utf-8") == "mine = 1\n"


class TestLayers:
    def test_one_alone_leaves_the_others_as_they_are(self, project: Path) -> None:
        laid_down(project, Layer.SEEDS)
        first = {each for each in tree(project) if "determinism" in each}

        laid_down(project, Layer.COMPARE)

        assert (project / COMPARE).is_file()
        assert first <= set(tree(project))
        assert not (project / SUITE).exists()

    def test_one_needs_only_its_own_sheets(self, project: Path) -> None:
        for number in ("04", "05", "06", "10", "12"):
            next((project / "determinism-and-replay").glob(f"{number}-*.md")).unlink()

        laid_down(project, Layer.SEEDS)

        assert (project / SEEDS).is_file()
        with pytest.raises(SpecIncomplete) as refused:
            prepared(project, Order("swarm"))
        for layer, number in (("snapshot", "04"), ("compare", "05"), ("effects", "10")):
            assert f"{layer}: determinism-and-replay/{number}-" in str(refused.value)
        assert "seeds:" not in str(refused.value)

    def test_a_gap_is_named_with_its_line(self, project: Path) -> None:
        say_anew(project, "05", projection="?")
        before = tree(project)

        with pytest.raises(SpecIncomplete) as refused:
            prepared(project, Order("swarm", (Layer.COMPARE,)))

        assert "compare: determinism-and-replay/05-divergence-protocol.md:" in str(refused.value)
        assert "projection is unknown" in str(refused.value)
        assert tree(project) == before

    def test_the_digest_of_a_vector_that_is_not_there_yet_is_no_gap(self, project: Path) -> None:
        text = next((project / "determinism-and-replay").glob("01-*.md")).read_text("utf-8")

        assert 'vector_digest: "?"' in text
        assert actions(project)["tests/test_determinism_vector.py"] == Action.CREATE

    def test_streams_that_only_one_sheet_knows_are_named(self, project: Path) -> None:
        say_anew(project, "02", names=[{"stream": "swarm", "component": "swarm"}])

        with pytest.raises(SpecIncomplete, match="names has no stream 'noise'"):
            prepared(project, Order("swarm", (Layer.SEEDS,)))

    def test_one_that_the_tier_does_not_need_is_left_out(self, project: Path) -> None:
        say_anew(project, "00", tier="S")
        say_anew_both = sheets()
        say_anew_both["00"]["tier"] = say_anew_both["01"]["tier"] = "S"
        lay_sheets(project, say_anew_both)
        for number in ("08", "10", "12"):
            next((project / "determinism-and-replay").glob(f"{number}-*.md")).unlink()

        what = laid_down(project)

        assert set(what.left_out) == {Layer.EFFECTS, Layer.POLICIES, Layer.PROPERTIES}
        assert "tier S" in what.left_out[Layer.EFFECTS]

    def test_what_the_sheets_do_not_ask_for_any_more_is_taken_away(self, project: Path) -> None:
        laid_down(project)
        self.test_one_that_the_tier_does_not_need_is_left_out(project)

        assert not (project / "swarm/determinism/effects.py").exists()
        assert not (project / "tests/test_determinism_effects.py").exists()
        assert not (project / SUITE).exists()

    def test_what_was_edited_is_not_taken_away(self, project: Path) -> None:
        laid_down(project)
        edit(project, "swarm/determinism/effects.py", "What a program asks", "Mine: what it asks")
        said = sheets()
        said["00"]["tier"] = said["01"]["tier"] = "S"
        lay_sheets(project, said)
        for number in ("08", "10", "12"):
            next((project / "determinism-and-replay").glob(f"{number}-*.md")).unlink()

        assert actions(project)["swarm/determinism/effects.py"] == Action.CONFLICT


class TestEjecting:
    def test_makes_a_file_its_readers_own(self, project: Path) -> None:
        laid_down(project)
        edit(project, SEEDS, "Each stream and the kind", "Mine: each stream and the kind")

        eject(project, SEEDS)

        assert actions(project)[SEEDS] == Action.EJECTED
        before = tree(project)
        laid_down(project, replaces=True)
        assert tree(project) == before

    def test_of_nothing_is_refused(self, project: Path) -> None:
        laid_down(project)

        with pytest.raises(UsageError, match="Nothing was laid down"):
            eject(project, "swarm/flock.py")


class TestAReview:
    def test_with_a_critical_finding_stops_everything(self, project: Path) -> None:
        def review(place: Path, sources: object) -> list[Objection]:
            assert (place, sources) == (project, ["swarm"])
            return [Objection(Channel.SEEDS, critical=True, place="a.py:1", says="unseeded")]

        what = prepared(project, Order("swarm"), review)

        assert not what.may_be_applied
        assert Layer.BASE in what.objections

    def test_with_a_high_finding_stops_its_layer(self, project: Path) -> None:
        found = Objection(Channel.RNG, critical=False, place="a.py:1", says="shared")

        what = prepared(project, Order("swarm"), lambda *_: [found])

        assert what.may_be_applied
        paths = {each.path for each in what.plan.changes}
        assert SEEDS not in paths
        assert COMPARE in paths


class TestWhatIsRefused:
    def test_a_component_that_the_sheets_are_not_of(self, project: Path) -> None:
        with pytest.raises(SpecForeign, match=r"specification is of 'swarm'"):
            prepared(project, Order("flock"))

    def test_a_lock_of_another_component(self, project: Path) -> None:
        laid_down(project)
        edit(project, LOCK, '"component": "swarm"', '"component": "flock"')

        with pytest.raises(SpecForeign, match=r"files were laid down of 'flock'"):
            prepared(project, Order("swarm"))

    @pytest.mark.parametrize(
        ("before", "after"),
        [("{", "["), ('"regions"', '"parts"'), (SEEDS, f"../{SEEDS}"), ("blake3:", "md5:")],
    )
    def test_a_lock_that_is_broken(self, project: Path, before: str, after: str) -> None:
        laid_down(project)
        edit(project, LOCK, before, after)

        with pytest.raises(SheetRefused, match="is no lock of a scaffold"):
            prepared(project, Order("swarm"))

    def test_a_lock_of_a_later_version(self, project: Path) -> None:
        laid_down(project)
        edit(project, LOCK, "twice.scaffold-lock/1", "twice.scaffold-lock/2")

        with pytest.raises(SheetVersion, match="scaffold-lock/2"):
            prepared(project, Order("swarm"))

    def test_a_text_that_is_not_kept_any_more(self, project: Path) -> None:
        laid_down(project)
        for each in (project / "determinism-and-replay/scaffold-bases").iterdir():
            each.write_text("another\n", encoding="utf-8")
        edit(project, SUITE, "import Path\n", "import Path  # mine\n")

        with pytest.raises(SheetRefused, match="cannot be used: its digest is another"):
            prepared(project, Order("swarm"))

    @pytest.mark.parametrize("folder", ["../outside", "/tmp", "swarm/not-a-name"])
    def test_a_folder_that_cannot_be(self, project: Path, folder: str) -> None:
        with pytest.raises(UsageError):
            prepared(project, Order("swarm", package=folder))


def test_the_lock_names_the_facts_of_each_region_and_nothing_of_the_moment(project: Path) -> None:
    laid_down(project)
    lock = json.loads((project / LOCK).read_bytes())
    region = next(each for each in lock["regions"] if each["path"] == SEEDS)

    assert sorted(region["facts"]) == ["02.names", "03.slots"]
    assert (project / LOCK).read_text("utf-8") == (
        json.dumps(lock, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    )
    assert all(each.holds for each in standings(open_workspace(project)))


def test_how_regions_stand_is_told(project: Path) -> None:
    laid_down(project)
    edit(project, SEEDS, "Each stream and the kind", "Mine: each stream and the kind")
    edit(project, SUITE, "import Path\n", "import Path  # mine\n")
    (project / COMPARE).unlink()
    say_anew(project, "10", audit=["swarm", "scripts"])

    stand = {each.path: each for each in standings(open_workspace(project))}

    assert (stand[SEEDS].state, stand[SEEDS].holds) == ("edited", False)
    assert (stand[SUITE].state, stand[SUITE].holds) == ("edited", True)
    assert stand[COMPARE].state == "gone"
    audit = stand["tests/test_determinism_effects.py"]
    assert (audit.state, audit.moved, audit.holds) == ("as-laid", ("10.audit",), False)
