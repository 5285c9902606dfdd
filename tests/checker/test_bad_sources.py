"""Whatever stands in a file or a folder, the check ends with findings and an exit code."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import LISTING, Project

from programs import environ
from twice.checker import analyzer, files
from twice.checker.config import AnalysisConfig
from twice.checker.driver import check
from twice.checker.policy import Policy

CONFIG = AnalysisConfig()


def only(project: Project, *arguments: object) -> dict[str, object]:
    """Return the only finding; the check ends with 2, because it found nothing worse."""
    said = project.check("--json", *arguments)
    assert said.code == 2
    (finding,) = said.document["findings"]
    assert finding["rule"] == "unreadable-file"
    return finding


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x7fELF\x00\x00", "binary"),
        ("x = 'é'\n".encode("latin-1"), "not text"),
        (b"# coding: no-such-codec\nx = '\xe9'\n", "not text"),
        (b"# coding: ascii\nx = '\xe9'\n", "not text"),
        (b"# coding: utf-8\nx = '\xe9'\n", "not text"),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", "not text"),
        (b"def broken(:\n", "invalid syntax"),
        (b"x = (" * 3, "never closed"),
        (b"(" * 10_000 + b")" * 10_000, "nested"),
        (b"x = " + b"-" * 100_000 + b"1\n", "not checked"),
        (b"x\n  y\n", "indent"),
        (b"x = 1\n" * 3 + b"y = \x00\n", "not checked"),
    ],
    ids=range(12),
)
def test_a_file_that_cannot_be_read_is_a_finding(project: Project, data: bytes, words: str) -> None:
    (project.folder / "a.py").write_bytes(data)
    assert words in str(only(project)["message"])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        b"# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
        "\ufeffx = 1\n".encode(),
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"x = 1\n\x0c\ny = 2\n",
        b"x = 1",
        b"x = '\\ud800'\n",
        ("x = " + "+".join("1" * 300) + "\n").encode(),
        ("x = " + "f(" * 90 + ")" * 90 + "\n").encode(),
    ],
    ids=range(12),
)
def test_a_file_that_is_unusual_is_read(project: Project, data: bytes) -> None:
    (project.folder / "a.py").write_bytes(data)
    said = project.check("--json", "--min", "informational")
    assert (said.code, said.rules) == (0, [])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_the_parser_counts_them(project: Project, newline: str) -> None:
    text = f"x = 1\n\x0c\n{LISTING}".replace("\n", newline)
    (project.folder / "a.py").write_bytes(text.encode())
    (line,) = [each.lineno for each in ast.walk(ast.parse(text)) if isinstance(each, ast.ListComp)]
    (finding,) = project.findings()
    assert (finding["line"], finding["column"]) == (line, 30)


def make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (make_large, "104,857,600 bytes"),
        (lambda path: path.symlink_to("nowhere.py"), "cannot be read"),
        (os.mkfifo, "no regular file"),
    ],
)
def test_what_is_too_large_or_no_file_is_a_finding(
    project: Project, make: Callable[[Path], None], words: str
) -> None:
    make(project.folder / "a.py")
    (project.folder / "b.py").mkdir()
    assert words in str(only(project)["message"])


def test_links_in_a_circle_end(project: Project) -> None:
    (project.folder / "a.py").symlink_to("b.py")
    (project.folder / "b.py").symlink_to("a.py")
    (project.folder / "inner").mkdir()
    (project.folder / "inner" / "again").symlink_to(project.folder)
    said = project.check("--json")
    assert (said.code, said.rules) == (2, ["unreadable-file"] * 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_what_may_not_be_read_is_a_finding(project: Project) -> None:
    project.write(a="x = 1\n", inner__b="x = 1\n")
    (project.folder / "a.py").chmod(0)
    (project.folder / "inner").chmod(0)
    said = project.check("--json")
    assert (said.code, said.rules) == (2, ["unreadable-file"] * 2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_vanishes_is_a_finding(project: Project, jobs: int) -> None:
    project.write(a=LISTING)
    done = check(["a.py", "gone.py"], Policy(), jobs=jobs)
    rules = sorted(each.found.rule for each in done.findings)
    assert rules == ["unreadable-file", "unsorted-listing"]


def test_files_that_import_each_other_end(project: Project) -> None:
    draws = "import random\nfrom {} import f\n\n\ndef g():\n    return random.random() + f()\n"
    project.write(
        a=draws.format("b"), b=draws.format("c"), c=draws.format("a"), d="from d import d\n"
    )
    assert project.check("--json").code in {0, 1}


@pytest.mark.parametrize("path", ["nowhere", "nowhere.py", "a.py/inner", "\udcff"])
def test_a_path_that_is_not_there_is_one_error(project: Project, path: str) -> None:
    project.write(a="x = 1\n")
    said = project.check(path)
    assert (said.code, said.out, said.err.partition("  ")[0]) == (2, "", "E-USE-001")


def test_a_folder_without_python_is_no_clean_result(project: Project) -> None:
    said = project.check("--json")
    assert said.code == 2
    assert "There is no Python file" in said.err


def test_a_name_that_is_no_text_is_shown(project: Project) -> None:
    odd = Path(os.fsdecode(b"\xff.py"))
    odd.write_text(LISTING)
    try:
        for form in ("text", "json", "sarif", "github", "junit"):
            assert project.check("--format", form, "-o", f"out.{form}").code == 1
    finally:
        odd.unlink()  # Recordings of other programs list temporary folders, and cannot hold it.


def test_environments_and_caches_are_passed_over_unless_they_are_named(project: Project) -> None:
    project.write(own="", env__a=LISTING)  # A package may be called env.
    for folder in ("mine", ".hidden", "__pycache__", "node_modules", "venv", "conda/lib"):
        (project.folder / folder).mkdir(parents=True)
        (project.folder / folder / "a.py").write_text(LISTING)
    (project.folder / "mine" / "pyvenv.cfg").touch()
    (project.folder / "conda" / "conda-meta").mkdir()
    assert project.summary()["files"] == 2
    assert project.summary("mine")["files"] == 1


@pytest.mark.parametrize(("more", "code"), [(0, 0), (1, 2)])
def test_the_largest_file_that_is_read(
    project: Project, monkeypatch: pytest.MonkeyPatch, more: int, code: int
) -> None:
    monkeypatch.setattr(files, "SIZE_MAX", 1_000)
    project.write(a=f"#{'a' * (998 + more)}\n")
    assert project.check("--no-cache").code == code


@given(st.one_of(st.text(), st.binary()))
def test_no_text_makes_it_fail(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    assert analyzer.analyze_bytes("a.py", data, "", CONFIG, CONFIG.index()).lines >= 0


SHAPES = [
    "x = {}\n", "f({})\n", "def f():\n    return {}\n", "for x in {}:\n    y.append(x)\n",
    "class C:\n    def m(self):\n        self.v = {}\n        return list(self.v)\n",
]  # fmt: skip
SOURCES = [
    "os.listdir(p)", "set(a)", "{str(x) for x in a}", "random.random()", "time.time()",
    "hash(x)", "glob.glob(p)", "np.random.default_rng()", "np.random.rand(3)", "os.environ",
]  # fmt: skip
CALL = "from twice.cli import main; main()"


def bytes_of(folder: Path, seed: int, jobs: int) -> bytes:
    ran = subprocess.run(
        [sys.executable, "-c", CALL, "check", "--json", "--min", "informational", "--no-cache", "-j", str(jobs)],
        cwd=folder, env={**environ(), "PYTHONHASHSEED": str(seed)}, capture_output=True, check=False,
    )  # fmt: skip
    assert ran.returncode in {0, 1}, ran.stderr.decode()
    return ran.stdout


@pytest.mark.integration
def test_the_same_bytes_for_every_hash_seed_and_number_of_processes(tmp_path: Path) -> None:
    head = "import glob, os, random, time\nimport numpy as np\n\n\n"
    # Large files that are quickly read, so that two processes are worth it.
    filler = f"# {'-' * 97}\n" * 800
    for at, shape in enumerate(SHAPES):
        rows = [shape.format(source) for source in SOURCES]
        (tmp_path / f"m{at}.py").write_text(f"{head}{''.join(rows)}{filler}")
    found = [bytes_of(tmp_path, seed, jobs) for seed, jobs in ((0, 1), (1, 2))]
    assert found[0] == found[1]
    assert b'"unsorted-listing"' in found[0]
