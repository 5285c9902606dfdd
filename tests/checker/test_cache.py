"""The cache never changes what is said: it is used when nothing changed, and else as good as none."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from projects import CLOCK, LISTING, Project

from twice.checker import analyzer, cache, files
from twice.checker.config import AnalysisConfig
from twice.checker.findings import FileResult


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the paths that are read anew, in order."""
    found: list[str] = []
    original = analyzer.analyze_files

    def analyze_files(stale, config, jobs):
        found.extend(each.path for each in stale)
        return original(stale, config, jobs)

    monkeypatch.setattr(analyzer, "analyze_files", analyze_files)
    return found


def the_pack(project: Project) -> Path:
    (found,) = (project.folder / ".twice_cache" / "check").glob("*.pack")
    return found


def test_only_what_changed_is_read_anew(project: Project, reads: list[str]) -> None:
    project.write(a=LISTING, b=CLOCK)
    first = project.check("--json")
    second = project.check("--json")
    project.write(b=f"{CLOCK}\nx = 1\n")
    third = project.check("--json")

    assert reads == ["a.py", "b.py", "b.py"]
    assert first.out == second.out
    assert first.rules == third.rules == ["unsorted-listing", "clock"]


def test_it_keeps_itself_out_of_version_control(project: Project) -> None:
    project.write(a=LISTING)
    project.check()

    assert (project.folder / ".twice_cache" / ".gitignore").read_text() == "*\n"
    assert not list((project.folder / ".twice_cache" / "check").glob("*.[0-9]*"))


def test_without_a_cache_nothing_is_written(project: Project) -> None:
    project.write(a=LISTING)

    assert project.rules("--no-cache") == ["unsorted-listing"]
    assert not (project.folder / ".twice_cache").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"a.py", b"z.py"),
        lambda data: data.replace(b"listdir", b"LISTDIR", 1),
        lambda data: os.urandom(2000),
        lambda data: b"\n\n\n",
        lambda data: b'{"format": 9}\n{}\n{}\n',
        lambda data: b"\x80\x04\x95" + data,
    ],
)
def test_a_damaged_pack_is_as_good_as_none(
    project: Project, reads: list[str], damage: object
) -> None:
    project.write(a=LISTING)
    sound = project.check("--json")
    path = the_pack(project)
    path.write_bytes(damage(path.read_bytes()))
    reads.clear()

    again = project.check("--json")
    project.check()

    assert (again.out, again.code) == (sound.out, sound.code)
    assert reads == ["a.py"]  # and it was written anew


def test_another_reader_has_another_cache(project: Project, reads: list[str]) -> None:
    project.write(a=CLOCK)
    project.check()
    project.check("--no-follow")
    project.write(config='allow = ["time.time"]\n')

    assert project.rules() == []
    assert reads == ["a.py", "a.py", "a.py"]


def test_a_folder_that_cannot_be_made_is_passed_over(project: Project) -> None:
    project.write(a=LISTING)
    (project.folder / ".twice_cache").write_text("a file is in the way")

    said = project.check("--json")

    assert (said.rules, said.err) == (["unsorted-listing"], "")


def test_a_part_of_the_project_keeps_the_rest(project: Project, reads: list[str]) -> None:
    project.write(a=LISTING, b=CLOCK)
    project.check()
    project.check("a.py")
    project.check()

    assert reads == ["a.py", "b.py"]


def test_what_is_gone_is_forgotten(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK)
    project.check()
    (project.folder / "b.py").unlink()
    project.check()

    assert "b.py" not in the_pack(project).read_text()


def test_suppressions_come_from_the_cache_and_days_do_not(project: Project) -> None:
    project.write(a=CLOCK.replace("time()", "time()  # twice: ignore[clock] why", 1))

    once, again = project.check("--json"), project.check("--json")

    assert once.out == again.out
    assert once.document["summary"]["suppressed"] == 1


def test_what_a_file_gave_goes_through_json_and_back(project: Project) -> None:
    text = LISTING.replace("folder)]", "folder)]  # twice: ignore[clock] a, until 2027-01")
    config = AnalysisConfig()
    for source in (text, CLOCK, "def broken(:\n", "# twice: boundary all of it\nx = 1\n"):
        data = source.encode()
        result = analyzer.analyze_bytes("a.py", data, "", config, config.index())
        kept = json.loads(json.dumps(result.to_json()))
        assert FileResult.from_json(kept) == replace(result, facts={})


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a room in place of the checker's own, with a rule and a catalogue."""
    room = tmp_path / "room"
    for name in ("driver.py", "rules/clock.py", "catalogue/clock.toml"):
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_text("one\n")
    monkeypatch.setattr(cache, "_SOURCES", room)
    return room


@pytest.mark.parametrize("name", ["driver.py", "rules/clock.py", "catalogue/clock.toml"])
@pytest.mark.parametrize("change", ["longer", "newer", "gone", "another"])
def test_a_change_of_the_checker_reads_everything_anew(
    project: Project, reads: list[str], sources: Path, name: str, change: str
) -> None:
    project.write(a=LISTING)
    arguments = ("a.py", "--json")
    project.check(*arguments)
    project.check(*arguments)
    path = sources / name
    status = path.stat()
    if change == "longer":
        path.write_text("longer\n")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif change == "newer":
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    elif change == "gone":
        path.unlink()
    else:
        (path.parent / "another.py").write_text("one\n")

    project.check(*arguments)

    assert reads == ["a.py", "a.py"]


def test_compiled_files_say_nothing(project: Project, reads: list[str], sources: Path) -> None:
    project.write(a=LISTING)
    project.check("a.py")
    (sources / "rules" / "__pycache__").mkdir()
    (sources / "rules" / "__pycache__" / "clock.pyc").write_text("compiled")

    project.check("a.py")

    assert reads == ["a.py"]


def test_another_version_with_the_same_times_reads_everything_anew(
    project: Project, reads: list[str], sources: Path
) -> None:
    project.write(a=LISTING)
    project.check("a.py")
    old = sources / "rules" / "clock.py"
    status = old.stat()
    new = old.with_suffix(".new")
    new.write_text("two\n")
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.replace(old)

    project.check("a.py")

    assert old.stat().st_size == status.st_size
    assert reads == ["a.py", "a.py"]


@pytest.mark.parametrize(
    "config",
    [
        'catalogues = ["mine.toml"]\n',
        'ban = [{name = "os.listdir", reason = "why"}]\n',
        'allow = ["os.listdir"]\n',
    ],
)
def test_names_in_force_are_part_of_what_it_depends_on(
    project: Project, reads: list[str], config: str
) -> None:
    (project.folder / "mine.toml").write_text('[listing]\n"tools.listed" = ""\n')
    project.write(a=LISTING)
    project.check("a.py")
    project.write(config=config)
    project.check("a.py")
    (project.folder / "mine.toml").write_text('[listing]\n"tools.listing" = ""\n')
    project.check("a.py")

    assert len(reads) == (3 if "catalogues" in config else 2)


def test_a_promise_is_weighed_anew_and_nothing_is_read(project: Project, reads: list[str]) -> None:
    project.write(a=LISTING)

    severities = [
        [each["severity"] for each in said.document["findings"]]
        for said in (
            project.check("a.py", "--json", *more) for more in ((), ("--class", "logical"))
        )
    ]

    assert reads == ["a.py"]
    assert severities[0] == ["high"]
    assert severities[1] != severities[0]


def test_a_file_that_came_into_a_package_is_read_anew(project: Project, reads: list[str]) -> None:
    project.write(inner__a=LISTING)
    project.check("inner/a.py")
    (project.folder / "inner" / "__init__.py").touch()
    files._PACKAGES.clear()  # A new process knows none.

    project.check("inner/a.py")

    assert reads == ["inner/a.py", "inner/a.py"]


def test_facts_of_a_file_go_with_what_it_held(project: Project) -> None:
    project.write(a="import random\n\n\ndef f():\n    return random.random()\n", b="x = 1\n")
    before = project.rules("--select", "unseeded-global", "--min", "informational")
    project.write(a="x = 1\n")

    after = project.rules("--select", "unseeded-global", "--min", "informational")

    assert (before, after) == (["unseeded-global"], [])
