"""A review in the report form: each section comes from its document, and says so where there is nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from programs import call
from twice.report.review_assessment import assess_review

BROKEN = """
import os

import numpy as np


class World:
    def __init__(self, folder):
        self.rng = np.random.default_rng()
        self.names = [name for name in os.listdir(folder)]

    def step(self):
        return self.rng.normal()
"""
SOUND = """
def main(run):
    rng = run.rng("world")
    for _ in run.ticks(3):
        rng.normal()
"""


def review(folder: Path, *options: str, **sources: str) -> dict[str, Any]:
    """Return the document of a review of these sources."""
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text)
    document: dict[str, Any] = json.loads(
        call("review", ".", "--json", *options, cwd=folder).stdout
    )
    return document


def test_each_section_of_a_broken_project_comes_from_its_facts(tmp_path: Path) -> None:
    document = review(tmp_path, world=BROKEN)
    told = assess_review(document)
    findings = [each for each in document["findings"] if each["severity"] == "high"]

    assert told.summary == document["verdict"]["text"]
    assert [each.quote for each in told.evidence if each.text.startswith("high, ")] == [
        f"{each['path']}:{each['line']}" for each in findings
    ]
    assert [each.value for each in told.confidence] == [
        document["verdict"]["confidence"],
        None,
        1.0,
    ]
    assert "world.py:9" in told.confidence[0].reason
    assert "which is assumed" in told.confidence[1].reason
    assert sum(each["risk"] in " ".join(told.risk) for each in findings) == len(findings)
    assert "The step that solves most: " in told.risk[-1]
    assert [each.text.partition(". ")[0] for each in told.next] == [
        each["title"] for each in document["steps"]
    ]
    assert told.sentence == (
        "Running the program again with the same seed and running the program on another machine cannot be relied "
        "on: twice read 1 of 1 file and found 2 places that break this."
    )


def test_files_that_could_not_be_read_are_listed(tmp_path: Path) -> None:
    broken = {f"broken{n}": "def (:\n" for n in range(5)}
    document = review(tmp_path, sound=SOUND, **broken)
    told = assess_review(document)

    assert [each["path"] for each in document["unread"]] == [f"{name}.py" for name in broken]
    assert [each.partition(".py")[0] for each in told.gaps[:5]] == [
        f"Not read: {each}" for each in broken
    ]
    assert told.confidence[2].value == round(1 / 6, 2)
    assert told.confidence[2].reason == "1 of 6 files could be read."
    assert told.sentence.startswith("twice read 1 of 6 files and found nothing")


def test_of_files_that_are_no_python_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "design.md").write_text("# A design\nIt draws numbers.\n")
    done = call("review", "design.md", "--report", cwd=tmp_path)

    assert done.returncode == 2
    assert done.stdout.endswith("twice could read none of 1 file, so nothing is known.\n")


def test_a_review_without_findings_claims_no_fault_and_no_proof(tmp_path: Path) -> None:
    document = review(tmp_path, sound=SOUND)
    told = assess_review(document)

    assert told.evidence == []
    assert told.confidence[0].value == document["verdict"]["confidence"] < 0.7
    assert (
        told.risk[-1] == "No finding of medium severity or above, so no cost of a fault is known."
    )
    assert told.sentence.endswith("No run was made, so this is no proof.")
    assert "## Evidence\n\nNone reported." in told.to_markdown()
    assert len(told.gaps) == len(document["unknowns"])


def test_a_doubtful_review_names_no_severe_finding(tmp_path: Path) -> None:
    generator = "import numpy as np\n\nrng = np.random.default_rng(1234)\nprint(rng.normal() > 0)\n"
    document = review(tmp_path, walk=generator)
    told = assess_review(document)

    assert document["verdict"]["result"] == "doubtful"
    assert told.confidence[0].reason.startswith("The findings are of medium severity")
    assert told.sentence.startswith("It is not certain that two runs with one seed give one result")
    assert f"{document['seeds']['orphans']} places" in told.evidence[-1].text


def test_a_declared_class_and_hidden_findings_are_caveats(tmp_path: Path) -> None:
    hidden = BROKEN.replace(
        "default_rng()", "default_rng()  # twice: ignore[unseeded-generator] a demonstration"
    )
    told = assess_review(review(tmp_path, "--class", "logical", world=hidden))

    assert told.basis[0] == "Class: logical (host), declared."
    assert "Severities are those of logical (host)." in told.caveats[0]
    assert "1 finding is hidden by comments in the source or by the baseline." in told.caveats
    assert "which is declared" in told.confidence[1].reason


def test_findings_of_one_rule_are_one_row(tmp_path: Path) -> None:
    drawn = (
        "import numpy as np\n\n\ndef f(w):\n" + "    w.x = np.random.default_rng().normal()\n" * 9
    )
    told = assess_review(review(tmp_path, walk=drawn))
    (row,) = (each for each in told.evidence if each.text.startswith("high, "))

    assert row.quote == ", ".join(f"walk.py:{n}" for n in range(5, 11)) + " and 3 more"


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "json"]])
def test_the_command_prints_the_report_form(tmp_path: Path, options: list[str]) -> None:
    told = assess_review(review(tmp_path, world=BROKEN))
    done = call("review", ".", "--report", *options, cwd=tmp_path)

    assert done.returncode == 1
    if options:
        assert json.loads(done.stdout) == told.to_json()
    else:
        assert done.stdout == told.to_markdown() + "\n"


def test_a_report_is_written_to_a_file_and_is_no_page(tmp_path: Path) -> None:
    told = assess_review(review(tmp_path, sound=SOUND))

    assert call("review", ".", "--report", "-o", "r.md", cwd=tmp_path).returncode == 0
    assert (tmp_path / "r.md").read_text() == told.to_markdown() + "\n"
    refused = call("review", ".", "--report", "-o", "r.html", cwd=tmp_path)
    assert (refused.returncode, refused.stderr[:9]) == (2, "E-USE-001")
