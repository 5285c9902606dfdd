"""The property suite as the gate runs it: what settings and conftests leave out is told of."""

from __future__ import annotations

from pathlib import Path

import pytest
from gatefacts import good_heads
from gatesystems import laid

from twice.specification.gate.evidence.context import EvidenceContext, SourceFacts
from twice.specification.gate.evidence.suite import SuiteRun, gather_suite, list_pytest_files
from twice.specification.workspace import open_workspace
from twice.testing import counterexamples
from twice.testing.counterexamples import Example, KeptExample

LAWS = "def test_one():\n    pass\n\n\nclass TestLaws:\n    def test_two(self):\n        pass\n"


def suite(project: Path, **files: str) -> SuiteRun:
    """Run the suite of a project with two tests and some files, named with ``__`` for a slash."""
    for name, text in {"tests__test_laws.py": LAWS, **files}.items():
        path = project / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    heads = good_heads("M")
    heads["12"]["tests"] = ["tests"]
    laid(project, heads)
    scratch = project.parent / "scratch"
    scratch.mkdir()
    workspace = open_workspace(project)
    return gather_suite(
        EvidenceContext(workspace, scratch, lambda *_: SourceFacts(), lambda _: None)
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "herd"
    (made / "tests" / "examples").mkdir(parents=True)
    return made


@pytest.mark.integration
def test_a_suite_that_is_run_whole_leaves_nothing_out(project: Path) -> None:
    found = suite(project)

    assert (found.passed, found.found, found.exit_code, found.failed) == (2, 2, 0, ())
    assert (found.left_out, found.skipped, found.passed_over) == ((), (), ())
    assert "tests/test_laws.py" in found.loaded


@pytest.mark.integration
def test_options_in_settings_do_not_choose_what_is_run(project: Path) -> None:
    found = suite(project, **{"pytest.ini": "[pytest]\naddopts = -k one --deselect tests\n"})

    assert (found.passed, found.left_out) == (2, ())


@pytest.mark.integration
@pytest.mark.heavy
def test_settings_above_the_project_and_of_the_machine_do_not_count(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    (project.parent / "pytest.ini").write_text("[pytest]\npython_functions = nothing\n")
    (project.parent / "conftest.py").write_text("collect_ignore_glob = ['*']\n")

    assert suite(project).passed == 2


@pytest.mark.integration
@pytest.mark.parametrize(
    ("files", "left_out"),
    [
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\npython_functions = 'check_*'\n"},
            {"tests/test_laws.py::test_one", "tests/test_laws.py::TestLaws::test_two"},
        ),
        (
            {"setup.cfg": "[tool:pytest]\npython_classes = Law*\n"},
            {"tests/test_laws.py::TestLaws::test_two"},
        ),
        ({"tox.ini": "[pytest]\npython_files = law_*.py\n"}, {"tests/test_laws.py"}),
        ({"conftest.py": "collect_ignore_glob = ['*laws*']\n"}, {"tests/test_laws.py"}),
        (
            {"tests__conftest.py": "def pytest_collection_modifyitems(items):\n    items.pop()\n"},
            {"tests/test_laws.py::TestLaws::test_two"},
        ),
    ],
)
@pytest.mark.sample(2)
def test_what_was_left_out_is_named(
    project: Path, files: dict[str, str], left_out: set[str]
) -> None:
    assert set(suite(project, **files).left_out) == left_out


@pytest.mark.integration
@pytest.mark.heavy
def test_what_was_skipped_is_named(project: Path) -> None:
    marked = f"import pytest\n\n\n@pytest.mark.skip\n{LAWS}\n\n@pytest.mark.xfail\ndef test_x():\n    assert 0\n"

    found = suite(project, **{"tests__test_laws.py": marked})

    assert set(found.skipped) == {"tests/test_laws.py::test_one", "tests/test_laws.py::test_x"}
    assert (found.passed, found.failed) == (1, ())


@pytest.mark.integration
def test_a_suite_that_cannot_be_collected_has_failed(project: Path) -> None:
    found = suite(project, **{"tests__test_laws.py": "raise ValueError\n"})

    assert found.failed == ("tests/test_laws.py",)


@pytest.mark.integration
@pytest.mark.heavy
def test_a_kept_counterexample_that_no_test_asks_for_is_named(project: Path) -> None:
    folder = project / "tests" / "examples"
    counterexamples.keep(
        folder, KeptExample("seed_isolation", "herd:main", Example({}, 0, {"at": 1}))
    )

    assert suite(project).passed_over == ("tests/examples/counterexamples.jsonl:1",)


def test_every_file_that_could_settle_what_is_run_is_rested_on(tmp_path: Path) -> None:
    found = set(list_pytest_files(tmp_path, ("tests/laws/test_laws.py::test_one",)))

    assert {"conftest.py", "pytest.ini", "tests/conftest.py", "tests/laws/tox.ini"} <= found
