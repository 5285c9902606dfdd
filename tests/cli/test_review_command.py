"""``twice review`` and ``twice audit`` on small real projects."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from programs import call, environ

BROKEN = """
import os
import random
import threading

import numpy as np


class World:
    def __init__(self, folder):
        self.rng = np.random.default_rng()
        self.names = [name for name in os.listdir(folder)]

    def step(self):
        return self.rng.normal() + random.random()
"""
FORMATS = """
from twice.cli import dispatch

for form in ("markdown", "json", "html"):
    assert dispatch(["review", "sim", "--format", form]) == 1
"""
SOUND = """
def main(run):
    rng = run.rng("world")
    for _ in run.ticks(3):
        rng.normal()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a folder with a package that has a defect."""
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "__init__.py").touch()
    (tmp_path / "sim" / "world.py").write_text(BROKEN)
    return tmp_path


def told(folder: Path, *arguments: object) -> dict[str, Any]:
    """Return the JSON document of a review."""
    done = call("review", *arguments, "--json", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_first_line_answers_and_high_findings_fail(project: Path) -> None:
    done = call("review", "sim", cwd=project)

    assert done.returncode == 1
    assert done.stdout.startswith("# Determinism review\n\n**Not bit-exact (host): ")
    for heading in ("What to do", "The ten channels", "Findings", "Seed audit", "Effects audit"):
        assert f"## {heading}" in done.stdout


def test_nothing_of_weight_exits_with_zero_and_promises_nothing(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SOUND)
    done = call("review", "program.py", cwd=tmp_path)

    assert done.returncode == 0
    assert "Reading alone does not prove it" in done.stdout
    assert "`twice record PROGRAM --seed 1 -o a.twice && twice verify a.twice`" in done.stdout


def test_json_has_ten_channels_and_findings_by_severity(project: Path) -> None:
    document = told(project, "sim")
    order = ["critical", "high", "medium", "low", "informational"]

    assert document["format"] == "twice.review/1"
    assert [each["artifact"] for each in document["channels"]] == [
        f"{number:02}" for number in range(2, 12)
    ]
    ranks = [order.index(each["severity"]) for each in document["findings"]]
    assert ranks == sorted(ranks)
    by_channel = {each["channel"]: each for each in document["channels"]}
    assert by_channel["seeds"]["state"] == "broken"
    assert by_channel["rng"]["audited"] == 2
    assert by_channel["gpu"]["touched"] is False


def test_a_review_counts_the_lines_that_a_check_counts(tmp_path: Path) -> None:
    (tmp_path / "ended.py").write_text("x = 1\ny = 2\n")
    (tmp_path / "unfinished.py").write_text("x = 1\r\ny = 2")
    (tmp_path / "empty.py").touch()

    assert told(tmp_path, ".")["lines"] == 4


def test_every_finding_says_what_kind_of_gap_it_is_and_what_it_risks(project: Path) -> None:
    for each in told(project, "sim")["findings"]:
        assert each["classification"]
        assert each["specification"] == "no-specification"
        assert each["risk"].endswith(".")
        assert 0 < each["confidence"] <= 1


def test_the_specification_decides_between_missing_and_contradicted(project: Path) -> None:
    spec = project / "determinism-and-replay"
    spec.mkdir()
    (spec / "01-determinism-class.md").write_text("---\nclass: logical\ntier: M\n---\n# Class\n")
    (spec / "02-seed-governance-spec.md").write_text("# Seeds\n")
    document = told(project, "sim")
    standing = {each["channel"]: each["specification"] for each in document["findings"]}

    assert document["class"] == {
        "class": "logical", "scope": "host", "tier": "M", "declared": True
    }  # fmt: skip
    assert standing["seeds"] == "spec-code-mismatch"
    assert standing["concurrency"] == "unspecified-channel"
    assert document["steps"][-1]["artifact"] != "01"


def test_a_class_that_is_none_is_refused(project: Path) -> None:
    spec = project / "determinism-and-replay"
    spec.mkdir()
    (spec / "01-determinism-class.md").write_text("class: mostly\n")
    refused = call("review", "sim", cwd=project)

    assert refused.returncode == 2
    assert "'mostly'" in refused.stderr
    assert call("review", "sim", "--class", "logical", cwd=project).returncode == 1


def test_a_tier_that_is_none_is_refused(project: Path) -> None:
    spec = project / "determinism-and-replay"
    spec.mkdir()
    (spec / "00-scope-and-goals.md").write_text("tier: huge\n")
    refused = call("review", "sim", cwd=project)

    assert refused.returncode == 2
    assert "'huge'" in refused.stderr


def test_the_projects_own_settings_hold(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.twice.check]\nclass = "statistical"\nexclude = ["legacy"]\n'
    )
    (project / "sim" / "legacy").mkdir()
    (project / "sim" / "legacy" / "old.py").write_text(BROKEN)
    document = told(project, "sim")

    assert document["class"]["class"] == "statistical"
    assert document["class"]["declared"] is True
    assert document["files"] == 2
    assert document["verdict"]["result"] == "nothing-found"
    assert {each["severity"] for each in document["findings"]} == {"informational"}


def test_comments_in_the_source_hold_in_reviews_and_audits(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import os\nimport numpy as np\n\n"
        "rng = np.random.default_rng()  # twice: ignore[unseeded-generator] a demonstration\n\n\n"
        "# twice: boundary the one place that reads the variable\n"
        "def level():\n    return os.environ['LEVEL']\n"
    )
    document = told(tmp_path, "a.py")

    assert "unseeded-generator" not in {each["rule"] for each in document["findings"]}
    assert document["set_aside"] == 1
    assert document["verdict"]["result"] == "doubtful"
    assert document["effects"]["gaps"] == 0
    assert [each["zone"] for each in document["effects"]["places"]] == ["boundary"]


def test_where_a_project_lies_says_nothing_of_its_zones(tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "tests" / "sim"
    folder.mkdir(parents=True)
    (folder / "world.py").write_text(BROKEN)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    assert call("review", folder, cwd=elsewhere).returncode == 1
    assert {each["zone"] for each in told(elsewhere, folder)["findings"]} == {"core"}


def test_patterns_name_the_places_they_were_found_by(project: Path) -> None:
    found = {each["pattern"]: each for each in told(project, "sim")["patterns"]}

    assert "shared-stream-and-threads" in found
    assert "unseeded-and-untested" in found
    signs = found["shared-stream-and-threads"]["signs"]
    assert {sign["what"] for sign in signs} == {"random.random()", "import threading"}


def test_one_stream_seeded_and_another_not_is_a_pattern_of_one_file(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import random\nrandom.seed(1)\n")
    (tmp_path / "two.py").write_text("import numpy as np\nprint(np.random.normal() > 0)\n")
    apart = {each["pattern"] for each in told(tmp_path, ".")["patterns"]}
    (tmp_path / "one.py").write_text(
        "import random\nimport numpy as np\nrandom.seed(1)\nx = np.random.normal()\n"
    )
    together = {each["pattern"] for each in told(tmp_path, ".")["patterns"]}

    assert "seeded-in-part" not in apart
    assert "seeded-in-part" in together


def test_the_order_of_work_follows_the_spine(project: Path) -> None:
    steps = told(project, "sim")["steps"]

    assert steps[0]["title"] == "Apply the safe fixes"
    numbers = [each["artifact"] for each in steps[1:]]
    assert numbers == ["01", "02", "07", "12"]


def test_what_could_not_be_read_is_said(project: Path) -> None:
    (project / "sim" / "broken.py").write_text("def (:\n")
    (project / "sim" / "binary.py").write_bytes(b"\x00\x01")
    first = told(project, "sim")["unknowns"][0]

    assert first["what"].startswith("2 files could not be read")
    assert [each.split(":")[0] for each in first["places"]] == ["sim/binary.py", "sim/broken.py"]


def test_the_page_runs_nothing_and_escapes_what_it_shows(project: Path) -> None:
    (project / "sim" / "odd.py").write_text(
        'import random\nrandom.seed()\nrandom.choice("<script>alert(1)</script>")\n'
    )
    done = call("review", "sim", "-o", "review.html", cwd=project)
    page = (project / "review.html").read_text()

    assert done.returncode == 1
    assert done.stdout.startswith("wrote review.html: Not bit-exact")
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "sim/world.py:11" in page
    assert call("review", "sim", "-o", "review.html", cwd=project).returncode == 2


@pytest.mark.integration
def test_the_same_bytes_whatever_the_hash_seed(project: Path) -> None:
    def written(hash_seed: int) -> bytes:
        return subprocess.run(
            [sys.executable, "-c", FORMATS], cwd=project, capture_output=True, check=True,
            env=environ({"PYTHONHASHSEED": str(hash_seed)}),
        ).stdout  # fmt: skip

    pages = {written(seed) for seed in (0, 1, 2)}
    assert len(pages) == 1
    (page,) = pages
    assert len(page) > 3000
    assert str(project).encode() not in page


def test_a_review_from_elsewhere_shows_no_machine_path(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = call("review", project / "sim", cwd=elsewhere)

    assert done.returncode == 1
    assert str(tmp_path) not in done.stdout
    assert "`world.py:11`" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["nowhere"], ["."], [], ["sim", "--class", "exact"], ["sim", "--tier", "XXL"]]
)
def test_wrong_use_exits_with_two(tmp_path: Path, arguments: list[str]) -> None:
    done = call("review", *arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("E-USE-001")


def test_orphans_fail_the_seed_audit(project: Path) -> None:
    done = call("audit", "seeds", "sim", cwd=project)
    document = json.loads(call("audit", "seeds", "sim", "--json", cwd=project).stdout)

    assert done.returncode == 1
    assert "sim/world.py:11  ORPHAN" in done.stdout
    assert document["format"] == "twice.seed-audit/1"
    assert document["orphans"] == 3
    assert [each["stream"] for each in document["streams"]] == ["random", "self.rng"]


def test_named_streams_pass_the_seed_audit(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SOUND)
    done = call("audit", "seeds", "program.py", cwd=tmp_path)

    assert done.returncode == 0
    assert "named-stream" in done.stdout
    assert "seed world" in done.stdout


def test_raw_questions_fail_the_effects_audit(project: Path) -> None:
    done = call("audit", "effects", "sim", cwd=project)
    document = json.loads(call("audit", "effects", "sim", "--json", cwd=project).stdout)

    assert done.returncode == 1
    assert document["format"] == "twice.effects-audit/1"
    assert [(each["kind"], each["through"], each["use"]) for each in document["places"]] == [
        ("listing", "raw", "state")
    ]


def test_an_audit_of_nothing_passes(tmp_path: Path) -> None:
    (tmp_path / "empty.py").touch()

    assert call("audit", "seeds", ".", cwd=tmp_path).returncode == 0
    assert call("audit", "effects", ".", cwd=tmp_path).returncode == 0
    assert call("audit", "clocks", ".", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("arguments", [("review",), ("audit", "seeds"), ("audit", "effects")])
def test_no_text_of_a_program_steers_a_terminal(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    folder = tmp_path / "a\x1b[31m\n`|"
    folder.mkdir()
    (folder / "a.py").write_text(
        "import os, random\n\n\ndef f(x):\n"
        "    return os.listdir('\x7f`|'), random.random(), open('\u202e' + x).read()\n",
        encoding="utf-8",
    )
    (folder / "b\x9b.py").write_text("def broken('\x1b[31m':\n", encoding="utf-8")

    ran = call(*arguments, ".", cwd=tmp_path)

    assert ran.returncode in {1, 2}, ran.stderr
    assert "a\\x1b[31m" in ran.stdout
    assert [each for each in ran.stdout if not each.isprintable() and each != "\n"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("review",), ("review", "--json"), ("review", "-o", "out.html"),
        ("audit", "seeds"), ("audit", "effects"), ("audit", "seeds", "--json"),
    ],
)  # fmt: skip
def test_a_file_that_could_not_be_read_exits_with_two(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "clean.py").write_text("x = 1\n", encoding="utf-8")
    before = call(*arguments, "clean.py", cwd=tmp_path)
    (tmp_path / "broken.py").write_text("def broken(:\n", encoding="utf-8")

    after = call(*arguments, ".", *(["--force"] if "-o" in arguments else []), cwd=tmp_path)

    assert (before.returncode, after.returncode) == (0, 2)
    if "-o" not in arguments:
        assert "broken.py" in after.stdout
