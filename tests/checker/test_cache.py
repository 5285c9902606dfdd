"""The cache never changes what is said: it is used when nothing changed, and else as good as none."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
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
    first, second = project.check("--json"), project.check("--json")
    project.check("a.py")
    project.check()  # A check of a part kept the rest.
    project.write(b=f"{CLOCK}\nx = 1\n")
    third = project.check("--json")
    assert reads == ["a.py", "b.py", "b.py"]
    assert first.out == second.out
    assert first.rules == third.rules == ["unsorted-listing", "clock"]
    (project.folder / "b.py").unlink()
    project.check()
    assert "b.py" not in the_pack(project).read_text()


def test_it_keeps_itself_out_of_version_control(project: Project) -> None:
    project.write(a=LISTING)
    project.check("--no-cache")
    assert not (project.folder / ".twice_cache").exists()
    project.check()
    assert (project.folder / ".twice_cache" / ".gitignore").read_text() == "*\n"
    assert [each.suffix for each in the_pack(project).parent.iterdir()] == [".pack"]


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
    project: Project, reads: list[str], damage: Callable[[bytes], bytes]
) -> None:
    project.write(a=LISTING)
    sound = project.check("--json")
    path = the_pack(project)
    path.write_bytes(damage(path.read_bytes()))
    again = project.check("--json")
    project.check()
    assert (again.out, again.code) == (sound.out, sound.code)
    assert reads == ["a.py", "a.py"]  # and it was written anew


def test_a_folder_that_cannot_be_made_is_passed_over(project: Project) -> None:
    project.write(a=LISTING)
    (project.folder / ".twice_cache").write_text("a file is in the way")
    said = project.check("--json")
    assert (said.rules, said.err) == (["unsorted-listing"], "")


def test_suppressions_come_from_the_cache_and_days_do_not(project: Project) -> None:
    project.write(a=CLOCK.replace("time()", "time()  # twice: ignore[clock] why", 1))
    once, again = project.check("--json"), project.check("--json")
    assert once.out == again.out
    assert once.document["summary"]["suppressed"] == 1


def test_what_a_file_gave_goes_through_json_and_back() -> None:
    text = LISTING.replace("folder)]", "folder)]  # twice: ignore[clock] a, until 2027-01")
    config = AnalysisConfig()
    for source in (text, CLOCK, "def broken(:\n", "# twice: boundary all of it\nx = 1\n"):
        result = analyzer.analyze_bytes("a.py", source.encode(), "", config, config.index())
        kept = json.loads(json.dumps(result.to_json()))
        assert FileResult.from_json(kept) == replace(result, facts={})


def lengthen(path: Path) -> None:
    status = path.stat()
    path.write_text("longer\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def touch_later(path: Path) -> None:
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1))


def replace_by_another(path: Path) -> None:
    """Put another version of the same size and time in its place."""
    status, new = path.stat(), path.with_suffix(".new")
    new.write_text("two\n")
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.replace(path)
    assert path.stat().st_size == status.st_size


def compile_it(path: Path) -> None:
    (path.parent / "__pycache__").mkdir()
    (path.parent / "__pycache__" / f"{path.stem}.pyc").write_text("compiled")


@pytest.mark.parametrize("name", ["driver.py", "rules/clock.py", "catalogue/clock.toml"])
@pytest.mark.parametrize(
    ("change", "anew"),
    [
        (lengthen, True),
        (touch_later, True),
        (replace_by_another, True),
        (Path.unlink, True),
        (lambda path: (path.parent / "another.py").write_text("one\n"), True),
        (compile_it, False),
    ],
)
def test_a_change_of_the_checker_reads_everything_anew(
    project: Project, monkeypatch: pytest.MonkeyPatch, reads: list[str], name: str,
    change: Callable[[Path], None], anew: bool,
) -> None:  # fmt: skip
    room = project.folder / "room"
    for each in ("driver.py", "rules/clock.py", "catalogue/clock.toml"):
        (room / each).parent.mkdir(parents=True, exist_ok=True)
        (room / each).write_text("one\n")
    monkeypatch.setattr(cache, "_SOURCES", room)
    project.write(a=LISTING)
    project.check("a.py")
    project.check("a.py")
    change(room / name)
    project.check("a.py")
    assert reads == ["a.py"] * (1 + anew)


@pytest.mark.parametrize(
    ("config", "times"),
    [
        ('catalogues = ["mine.toml"]\n', 3),
        ('ban = [{name = "os.listdir", reason = "why"}]\n', 2),
        ('allow = ["os.listdir"]\n', 2),
    ],
)
def test_names_in_force_are_part_of_what_it_depends_on(
    project: Project, reads: list[str], config: str, times: int
) -> None:
    (project.folder / "mine.toml").write_text('[listing]\n"tools.listed" = ""\n')
    project.write(a=LISTING)
    project.check("a.py")
    project.write(config=config)
    project.check("a.py")
    (project.folder / "mine.toml").write_text('[listing]\n"tools.listing" = ""\n')
    project.check("a.py")
    assert reads == ["a.py"] * times


def test_a_promise_is_weighed_anew_and_nothing_is_read(project: Project, reads: list[str]) -> None:
    project.write(a=LISTING)
    (strict,) = project.findings()
    assert (strict["severity"], project.findings("--class", "logical")) == ("high", [])
    assert reads == ["a.py"]
    project.check("--no-follow")  # What is followed, though, is read.
    assert reads == ["a.py", "a.py"]


def test_a_file_that_came_into_a_package_is_read_anew(project: Project, reads: list[str]) -> None:
    project.write(inner__a=LISTING)
    project.check("inner/a.py")
    (project.folder / "inner" / "__init__.py").touch()
    files._PACKAGES.clear()  # A new process knows none.
    project.check("inner/a.py")
    assert reads == ["inner/a.py", "inner/a.py"]


def test_facts_of_a_file_go_with_what_it_held(project: Project) -> None:
    project.write(a="import random\n\n\ndef f():\n    return random.random()\n", b="x = 1\n")
    assert project.rules("--select", "unseeded-global") == ["unseeded-global"]
    project.write(a="x = 1\n")
    assert project.rules("--select", "unseeded-global", "--min", "informational") == []
