"""How right ``twice check`` is: on labelled sites, and how much it says of ordinary code.

Usage: python benchmarks/findings.py [--labels FILE.jsonl --repositories FOLDER] [--noise FOLDER]
                                     [--small] [--output FILE.jsonl]

``--labels`` names sites in public repositories that somebody judged by hand: JSON lines with ``repo``,
``path``, ``line``, ``channel``, ``also``, ``verdict`` (true or benign) and ``min_class`` (L1 logical, L2 bit-exact on
one host, L3 across hosts). The repositories lie in FOLDER as owner/name. A true site is found when a
finding of medium or above, under bit-exact on one host, lies within two lines of it and in its
channel or one in ``also``; a benign one is a false alarm when a finding in its channel does, and no true
site is nearer. ``--noise`` counts findings for each thousand lines in every owner/name below FOLDER.

With neither, the examples of the rules' own pages are the labels: which shows that this runs, and
nothing else. Goals: precision 0.95, recall 0.85; at most 2 findings of medium or above, and 0.5 of high
or above, for each 1,000 lines.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import measuring

from twice.checker.driver import check
from twice.checker.files import find_files
from twice.checker.findings import Finding
from twice.checker.policy import Policy
from twice.checker.rules.engine import every_rule
from twice.foundation.severity import Severity

LINES_APART = 2
STRICTER = {"L3"}  # than bit-exact on one host
CHANNELS = {"isolation": "rng", "float": "floating-point"}  # in the labels' words


def arrange(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--repositories", type=Path)
    parser.add_argument("--noise", type=Path)


def findings_below(folder: Path) -> tuple[tuple[Finding, ...], int]:
    """Return the findings below a folder under bit-exact on one host, and its number of lines."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        checked = check(find_files([Path()], ()), Policy())
    finally:
        os.chdir(before)
    return checked.findings, checked.lines


class Labels:
    """Labelled sites of one repository against what was found there."""

    def __init__(self, sites: Sequence[Mapping[str, object]], findings: Sequence[Finding]) -> None:
        self._sites = sites
        self._found: dict[str, list[Finding]] = {}
        for each in findings:
            if each.severity >= Severity.MEDIUM:
                self._found.setdefault(each.path, []).append(each)

    def count(self) -> dict[str, int]:
        counts = {"found": 0, "missed": 0, "false": 0, "silent": 0}
        for site in self._sites:
            near = [
                each
                for each in self._found.get(str(site["path"]), ())
                if self._distance(each, site) <= LINES_APART
            ]
            if is_true(site):
                channels = channels_of(site)
                hit = any(each.channel in channels for each in near)
                counts["found" if hit else "missed"] += 1
            else:
                own = CHANNELS.get(str(site["channel"]), site["channel"])
                wrong = any(each.channel == own and not self._other(each, site) for each in near)
                counts["false" if wrong else "silent"] += 1
        return counts

    @staticmethod
    def _distance(finding: Finding, site: Mapping[str, object]) -> int:
        return abs(finding.found.place.line - int(str(site["line"])))

    def _other(self, finding: Finding, site: Mapping[str, object]) -> bool:
        """Whether a true site is nearer to a finding than this benign one."""
        return any(
            is_true(each)
            and each["path"] == site["path"]
            and self._distance(finding, each) < self._distance(finding, site)
            for each in self._sites
        )


def is_true(site: Mapping[str, object]) -> bool:
    return site["verdict"] == "true" and site["min_class"] not in STRICTER


def channels_of(site: Mapping[str, object]) -> set[str]:
    also = site["also"]
    assert isinstance(also, list), "labels list other channels"
    return {CHANNELS.get(each, each) for each in [str(site["channel"]), *also]}


def labelled(labels: Path, repositories: Path) -> Iterator[dict[str, object]]:
    sites = [json.loads(line) for line in labels.read_text("utf-8").splitlines()]
    total = {"found": 0, "missed": 0, "false": 0, "silent": 0}
    for repository in sorted({site["repo"] for site in sites}):
        own = [site for site in sites if site["repo"] == repository]
        found, _ = findings_below(repositories / repository)
        for key, count in Labels(own, found).count().items():
            total[key] += count
    yield from rates(labels.stem, total)


def rates(name: str, total: Mapping[str, int]) -> Iterator[dict[str, object]]:
    said = total["found"] + total["false"]
    true = total["found"] + total["missed"]
    precision = total["found"] / said if said else 0.0
    recall = total["found"] / true if true else 0.0
    sites = {"unit": "of sites", **total}
    yield {"figure": f"{name}: precision"} | measuring.spread([precision]) | sites
    yield {"figure": f"{name}: recall"} | measuring.spread([recall]) | sites


def noise(folder: Path) -> Iterator[dict[str, object]]:
    for place in sorted(path for path in folder.glob("*/*") if path.is_dir()):
        found, lines = findings_below(place)
        for least in (Severity.MEDIUM, Severity.HIGH):
            count = sum(each.severity >= least for each in found)
            yield {
                "figure": f"{place.relative_to(folder)}: {least.word} or above",
                "unit": "per kLOC",
                **measuring.spread([1000 * count / lines]),
                "findings": count,
                "lines": lines,
            }


def own_pages(folder: Path) -> Iterator[dict[str, object]]:
    """Labels made of the rules' own examples: a bad one must be found, a good one must not."""
    total = {"found": 0, "missed": 0, "false": 0, "silent": 0}
    for rule in every_rule():
        name = "tests/test_example.py" if rule.facts.channel == "divergence" else "example.py"
        for verdict, examples in (("true", rule.page.bad), ("benign", rule.page.good)):
            for number, text in enumerate(examples):
                place = folder / rule.name / f"{verdict}{number}"
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_text(text, "utf-8")
                found, _ = findings_below(place)
                said = any(each.found.rule == rule.name and each.severity for each in found)
                hit, miss = ("found", "missed") if verdict == "true" else ("false", "silent")
                total[hit if said else miss] += 1
    yield from rates("the rules' own pages", total)


def figures(chosen: argparse.Namespace) -> Iterator[dict[str, object]]:
    if chosen.labels is not None:
        yield from labelled(chosen.labels, chosen.repositories)
    if chosen.noise is not None:
        yield from noise(chosen.noise)
    if chosen.labels is None and chosen.noise is None:
        with tempfile.TemporaryDirectory() as folder:
            yield from own_pages(Path(folder))


def main() -> None:
    summary = (__doc__ or "").splitlines()[0]
    chosen = measuring.options("findings", summary, rounds=1, arrange=arrange)
    measuring.tell("findings", figures(chosen), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
