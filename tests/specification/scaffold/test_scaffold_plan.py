"""What becomes of files: written, left alone, listed, archived; nothing that a person wrote is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_system import build, lay_sheets, sheets, tree
from twice.errors import OutputUnwritable, UsageError
from twice.foundation.channels import Channel
from twice.specification.errors import ScaffoldUnfinished, SpecIncomplete
from twice.specification.scaffold.lock import Layer
from twice.specification.scaffold.plan import Action, Plan, apply_plan, eject, make_plan
from twice.specification.scaffold.readiness import find_layer

SEEDS = "swarm/determinism/seeds.py"
COMPARE = "swarm/determinism/compare.py"
EFFECTS = "swarm/determinism/effects.py"
SUITE = "tests/test_determinism.py"
CONFTEST = "tests/conftest.py"
HOOKS = ".pre-commit-config.yaml"
LOCK = "determinism-and-replay/scaffold.lock"
ARCHIVE = "determinism-and-replay/archive"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return build(tmp_path / "project")


def scaffold(project: Path, *layers: Layer, **options: object) -> Plan:
    """Plan something and do it; the plan."""
    plan = make_plan(project, "swarm", layers, **options)  # type: ignore[arg-type]
    apply_plan(plan)
    return plan


def actions(project: Path, **options: object) -> dict[str, Action]:
    """Return the planned action for each file."""
    plan = make_plan(project, "swarm", **options)  # type: ignore[arg-type]
    return {each.path: each.action for each in plan.changes}


def reasons(project: Path) -> dict[str, str]:
    """Return the plan's reason for each file."""
    return {each.path: each.why for each in make_plan(project, "swarm").changes}


def say_anew(project: Path, number: str, **values: object) -> None:
    """Change a sheet."""
    said = sheets()
    said[number] |= values  # type: ignore[arg-type]
    lay_sheets(project, said)


def lower_the_tier(project: Path) -> None:
    """Ask for fewer sheets."""
    said = sheets()
    said["00"]["tier"] = said["01"]["tier"] = "S"
    lay_sheets(project, said)
    for number in ("08", "10", "12"):
        next((project / "determinism-and-replay").glob(f"{number}-*.md")).unlink()


def edit(project: Path, path: str, before: str, after: str) -> None:
    """Change a file as a person would."""
    text = (project / path).read_text(encoding="utf-8")
    assert before in text
    write(project, path, text.replace(before, after))


def write(project: Path, path: str, text: str) -> None:
    """Write a file as a person would."""
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, encoding="utf-8")


class TestASecondRun:
    def test_changes_not_a_byte(self, project: Path) -> None:
        scaffold(project)
        before = tree(project)

        plan = make_plan(project, "swarm")
        changed = apply_plan(plan)

        assert not changed
        assert tree(project) == before
        assert {each.action for each in plan.changes} == {Action.SAME, Action.KEEP}

    def test_does_not_touch_files_that_stay(self, project: Path) -> None:
        scaffold(project)
        times = {each: each.stat().st_mtime_ns for each in project.rglob("*.py")}
        say_anew(project, "05", granularity="decision")

        scaffold(project)

        moved = {
            each.relative_to(project).as_posix()
            for each, then in times.items()
            if each.stat().st_mtime_ns != then
        }
        assert moved == {COMPARE, "swarm/determinism/specified.py", "scripts/determinism.py"}

    def test_writes_the_same_elsewhere(self, project: Path, tmp_path: Path) -> None:
        scaffold(project)
        other = build(tmp_path / "elsewhere")
        scaffold(other)

        assert tree(project) == tree(other)


class TestWhatAPersonWrote:
    def test_an_edited_file_is_left_while_the_others_follow_the_sheets(self, project: Path) -> None:
        scaffold(project)
        edit(project, SEEDS, "Each stream and the kind", "Mine: each stream and the kind")
        edit(project, COMPARE, "Where two runs", "Mine: where two runs")
        mine = [(project / each).read_bytes() for each in (SEEDS, COMPARE)]
        say_anew(project, "05", granularity="decision")

        plan = scaffold(project)

        left = {each.path: each.why for each in plan.changes if each.is_left}
        cause = "it was changed, and so was 05.granularity"
        assert left == {SEEDS: "it was changed", COMPARE: cause}
        assert [(project / each).read_bytes() for each in (SEEDS, COMPARE)] == mine
        assert '"decision"' in (project / "swarm/determinism/specified.py").read_text("utf-8")

    def test_a_file_in_the_way_is_left(self, project: Path) -> None:
        write(project, SEEDS, "mine = 1\n")

        plan = scaffold(project)

        assert [each.path for each in plan.changes if each.is_left] == [SEEDS]
        assert (project / SEEDS).read_text(encoding="utf-8") == "mine = 1\n"
        assert (project / COMPARE).is_file()
        assert actions(project)[SEEDS] == Action.CONFLICT

    def test_an_equal_file_in_the_way_is_taken_over(self, project: Path, tmp_path: Path) -> None:
        other = build(tmp_path / "other")
        scaffold(other)
        write(project, SEEDS, (other / SEEDS).read_text(encoding="utf-8"))

        assert actions(project)[SEEDS] == Action.SAME

    def test_line_ends_that_version_control_converts_are_no_edit(self, project: Path) -> None:
        scaffold(project)
        (project / SEEDS).write_bytes((project / SEEDS).read_bytes().replace(b"\n", b"\r\n"))

        assert actions(project)[SEEDS] == Action.SAME

    def test_a_file_that_is_removed_comes_back(self, project: Path) -> None:
        scaffold(project)
        before = tree(project)
        (project / SEEDS).unlink()

        assert actions(project)[SEEDS] == Action.CREATE
        scaffold(project)
        assert tree(project) == before

    def test_a_file_of_the_users_is_told_once_what_it_lacks(self, project: Path) -> None:
        own = "repos:\n- repo: other\n  rev: v1\n  hooks:\n  - id: x\n"
        write(project, HOOKS, own)
        write(project, CONFTEST, "# mine\n")

        plan = scaffold(project)

        pasted = {each.path: each.paste for each in plan.changes if each.paste}
        assert set(pasted) == {HOOKS, CONFTEST}
        assert "      - id: twice-check\n" in pasted[HOOKS]
        assert pasted[CONFTEST].endswith("sys.path.insert(0, str(Path(__file__).parents[1]))\n")
        assert not any(each.is_left for each in plan.changes)
        assert (project / HOOKS).read_text(encoding="utf-8") == own
        assert not any(each.paste for each in scaffold(project).changes)

    def test_a_file_of_the_users_that_has_it_all_is_told_nothing(self, project: Path) -> None:
        write(project, ".gitattributes", "*.png binary\n*.twice binary\n")

        assert reasons(project)[".gitattributes"] == "it was there already"

    def test_a_file_written_once_is_never_touched_again(self, project: Path) -> None:
        scaffold(project)
        write(project, CONFTEST, "# mine\n")
        (project / HOOKS).unlink()

        scaffold(project, replaces=True)

        assert (project / CONFTEST).read_text(encoding="utf-8") == "# mine\n"
        assert not (project / HOOKS).exists()

    def test_links_and_folders_are_not_written_through(self, project: Path, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (project / "scripts").symlink_to(tmp_path / "outside")
        (project / SUITE).mkdir()
        write(project, ".github", "no folder\n")

        found = actions(project, replaces=True)

        inside = ("scripts/determinism.py", SUITE, ".github/workflows/determinism.yml")
        assert {found[each] for each in inside} == {Action.CONFLICT}
        scaffold(project, replaces=True)
        assert not list((tmp_path / "outside").iterdir())


class TestReplacing:
    def test_archives_what_it_replaces(self, project: Path) -> None:
        scaffold(project)
        edit(project, SEEDS, "Each stream and the kind", "Mine: each stream and the kind")
        mine = (project / SEEDS).read_bytes()

        scaffold(project, replaces=True)
        archived = project / ARCHIVE / "0001" / SEEDS

        assert archived.read_bytes() == mine
        assert (project / SEEDS).read_bytes() != mine
        edit(project, SEEDS, "Each stream", "Mine again: each stream")
        scaffold(project, replaces=True)
        assert (project / ARCHIVE / "0002" / SEEDS).is_file()
        assert archived.read_bytes() == mine

    def test_archives_bytes_that_are_no_text(self, project: Path) -> None:
        (project / "scripts").mkdir()
        (project / "scripts/determinism.py").write_bytes(b"\xff\xfe")

        scaffold(project, replaces=True)

        assert (project / ARCHIVE / "0001/scripts/determinism.py").read_bytes() == b"\xff\xfe"

    def test_archives_nothing_that_was_generated(self, project: Path) -> None:
        scaffold(project)
        say_anew(project, "05", granularity="decision")

        scaffold(project, replaces=True)

        assert not (project / ARCHIVE).exists()


class TestLayers:
    def test_one_alone_leaves_the_others_as_they_are(self, project: Path) -> None:
        scaffold(project, Layer.SEEDS)
        first = {each for each in tree(project) if "determinism" in each}

        scaffold(project, Layer.COMPARE)

        assert (project / COMPARE).is_file()
        assert first <= set(tree(project))
        assert not (project / SUITE).exists()

    def test_one_needs_only_its_own_sheets(self, project: Path) -> None:
        for number in ("04", "05", "06", "10", "12"):
            next((project / "determinism-and-replay").glob(f"{number}-*.md")).unlink()

        scaffold(project, Layer.SEEDS)

        assert (project / SEEDS).is_file()
        with pytest.raises(SpecIncomplete) as refused:
            make_plan(project, "swarm")
        for layer, number in (("snapshot", "04"), ("compare", "05"), ("effects", "10")):
            assert f"{layer}: determinism-and-replay/{number}-" in str(refused.value)
        assert "seeds:" not in str(refused.value)
        assert "--layer seeds" in str(refused.value)

    def test_a_gap_is_named_with_its_line(self, project: Path) -> None:
        say_anew(project, "05", projection="?")
        before = tree(project)

        with pytest.raises(SpecIncomplete) as refused:
            make_plan(project, "swarm", [Layer.COMPARE])

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
            make_plan(project, "swarm", [Layer.SEEDS])

    def test_what_the_sheets_do_not_ask_for_any_more_is_removed(self, project: Path) -> None:
        scaffold(project)
        edit(project, EFFECTS, "What a program asks", "Mine: what it asks")
        lower_the_tier(project)

        plan = scaffold(project)

        assert set(plan.left_out) == {Layer.EFFECTS, Layer.POLICIES, Layer.PROPERTIES}
        assert "tier S" in plan.left_out[Layer.EFFECTS]
        assert not (project / "tests/test_determinism_effects.py").exists()
        assert not (project / SUITE).exists()
        assert (project / "tests/examples/README.md").exists()
        assert [each.path for each in plan.changes if each.is_left] == [EFFECTS]
        scaffold(project, replaces=True)
        assert not (project / EFFECTS).exists()
        assert b"Mine: what it asks" in (project / ARCHIVE / "0001" / EFFECTS).read_bytes()


class TestEjecting:
    def test_makes_a_file_the_users_own(self, project: Path) -> None:
        scaffold(project)
        edit(project, SEEDS, "Each stream and the kind", "Mine: each stream and the kind")

        eject(project, "swarm", SEEDS)

        assert actions(project)[SEEDS] == Action.EJECTED
        before = tree(project)
        scaffold(project, replaces=True)
        assert tree(project) == before

    def test_settles_a_file_that_was_in_the_way(self, project: Path) -> None:
        write(project, SEEDS, "mine = 1\n")

        eject(project, "swarm", SEEDS)

        assert not any(each.is_left for each in scaffold(project).changes)
        assert (project / SEEDS).read_text(encoding="utf-8") == "mine = 1\n"

    def test_of_nothing_is_refused(self, project: Path) -> None:
        scaffold(project)

        with pytest.raises(UsageError, match="Nothing was laid down"):
            eject(project, "swarm", "swarm/flock.py")


class TestBlockedLayers:
    @pytest.mark.parametrize("channel", Channel)
    def test_are_not_touched(self, project: Path, channel: Channel) -> None:
        layer = find_layer(channel.artifact)

        plan = make_plan(project, "swarm", blocked=[layer])

        layers = {each.layer for each in plan.changes}
        assert layers == set(Layer) - {layer}


class TestWriting:
    def test_refuses_a_file_that_changed_since_the_plan(self, project: Path) -> None:
        plan = make_plan(project, "swarm")
        write(project, SEEDS, "mine = 1\n")
        before = tree(project)

        with pytest.raises(ScaffoldUnfinished, match="was changed while the plan was made"):
            apply_plan(plan)

        assert tree(project) == before

    def test_goes_on_after_a_kill(self, project: Path, tmp_path: Path) -> None:
        other = build(tmp_path / "other")
        scaffold(other)
        for path in (SEEDS, COMPARE):  # Renamed before the kill; the lock was not.
            write(project, path, (other / path).read_text(encoding="utf-8"))
        write(project, "determinism-and-replay/.scaffold/7", "half of a file")

        scaffold(project)

        assert tree(project) == tree(other)

    def test_says_what_cannot_be_written_and_goes_on_afterwards(self, project: Path) -> None:
        write(project, "determinism-and-replay/.scaffold", "a file of this name")

        with pytest.raises(OutputUnwritable, match="it goes on from there"):
            scaffold(project)

        (project / "determinism-and-replay/.scaffold").unlink()
        assert not (project / LOCK).exists()
        assert not any(each.is_left for each in scaffold(project).changes)

    def test_keeps_the_mode_of_a_file(self, project: Path) -> None:
        scaffold(project)
        (project / COMPARE).chmod(0o640)
        say_anew(project, "05", granularity="decision")

        scaffold(project)

        assert (project / COMPARE).stat().st_mode & 0o777 == 0o640


class TestPlaces:
    @pytest.mark.parametrize("folder", ["..", "/tmp/x"])
    def test_a_folder_of_examples_outside_of_the_project(self, project: Path, folder: str) -> None:
        say_anew(project, "12", database=folder)

        assert actions(project)[f"{folder}/README.md"] == Action.CONFLICT
        scaffold(project)
        assert not (project / folder / "README.md").exists()

    @pytest.mark.parametrize("folder", ["../outside", "/tmp", "swarm/not-a-name"])
    def test_a_folder_that_cannot_be(self, project: Path, folder: str) -> None:
        with pytest.raises(UsageError):
            make_plan(project, "swarm", package=folder)
