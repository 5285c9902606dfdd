"""A project under check: the promise, the files, and what takes findings away; from files to a report.

Invariant: a report is a function of the files, the configuration and the date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from twice.checker.baseline import Baseline
from twice.checker.cache import Cache
from twice.checker.config import AnalysisConfig, Selection
from twice.checker.driver import Checked, assign_severities, check, judge
from twice.checker.files import find_package, read_file
from twice.checker.findings import Finding, Remarks
from twice.checker.policy import Policy
from twice.checker.report import Accepted, Entry, Report
from twice.checker.rule import RuleFacts
from twice.checker.suppressions import apply_comments
from twice.foundation.severity import Severity
from twice.writing import write

if TYPE_CHECKING:
    from twice.checker.fixes import FixedFile


@dataclass(frozen=True, slots=True)
class Project:
    """A project under check.

    Args:
        policy: what was promised.
        today: as 2027-01-31.
        config: how files are analysed.
        selection: the rules that are reported.
        baseline: the path of the baseline; None without one.
        begins_baseline: whether there may be none yet at that path.
        folder: the project's folder, to which the baseline's paths are relative.
        cache: the results of the last check.
        jobs: how many processes read at most.
        fail_on: from which severity on the check fails.
        shown_from: from which severity on findings are shown.
    """

    policy: Policy
    today: str
    config: AnalysisConfig = field(default_factory=AnalysisConfig)
    selection: Selection = field(default_factory=Selection)
    baseline: Path | None = None
    begins_baseline: bool = False
    folder: Path = field(default_factory=Path)
    cache: Cache | None = None
    jobs: int = 1
    fail_on: Severity = Severity.HIGH
    shown_from: Severity = Severity.LOW

    def check(self, paths: Sequence[str]) -> Checked:
        """Check files; nothing is taken away."""
        return check(paths, self.policy, config=self.config, jobs=self.jobs, cache=self.cache)

    def report(self, paths: Sequence[str], checked: Checked | None = None) -> Report:
        """Check files, unless they were, and take away what comments and the baseline say.

        Raises:
            ConfigError: E-CONFIG-001: a rule or a catalogue is none, or the baseline cannot be read.
        """
        baseline = self._read_baseline()
        checked = checked or self.check(paths)
        self.selection.require_known(checked.rules)
        left, suppressed = self._suppress(checked.findings, checked.remarks, checked.rules)
        asked = frozenset(map(self.policy.to_project_path, paths))

        def is_judged(entry: Entry) -> bool:
            rule = checked.rules.get(entry.rule)
            if not self.config.follows or rule is None:
                return False
            is_asked = entry.path in asked or not (self.folder / entry.path).exists()
            return is_asked and self.selection.has(rule.name, rule.channel)

        left, baselined, stale = baseline.apply(left, is_judged)
        return Report(
            findings=tuple(left),
            files=checked.files,
            lines=checked.lines,
            policy=self.policy,
            rules=checked.rules,
            suppressed=tuple(suppressed),
            baselined=tuple(baselined),
            stale=tuple(stale),
            fail_on=self.fail_on,
            shown_from=self.shown_from,
            has_baseline=self.baseline is not None,
        )

    def _read_baseline(self) -> Baseline:
        if self.baseline is None or (self.begins_baseline and not self.baseline.exists()):
            return Baseline()
        return Baseline.read(self.baseline)

    def _suppress(
        self,
        findings: Sequence[Finding],
        remarks: Mapping[str, Remarks],
        rules: Mapping[str, RuleFacts],
    ) -> tuple[list[Finding], list[Accepted]]:
        """Take away by selection and comments; faults of comments are findings too."""
        judged = {name for name, its in rules.items() if self.selection.has(name, its.channel)}
        chosen = self.selection.filter(findings, self.policy)
        left, gone, faults = apply_comments(
            chosen, remarks, known=rules, today=self.today, judged=judged
        )
        left += assign_severities(faults, rules, self.policy, {})
        return sorted(left, key=lambda each: each.order), gone

    def accept(self, report: Report, reason: str) -> int:
        """Put all findings into the baseline for one reason; how many entries are new.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        assert self.baseline is not None, "the command has seen to it"
        before = self._read_baseline()
        after = before.accept(report.findings, reason, self.policy)
        after.write(self.baseline)
        return len(after.entries) - len(before.entries)

    def shrink(self, report: Report) -> int:
        """Take the stale entries out of the baseline; how many.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        before = self._read_baseline()
        after = before.without(each.fingerprint for each in report.stale)
        if after != before and self.baseline is not None:
            after.write(self.baseline)
        return len(before.entries) - len(after.entries)

    def fix(self, report: Report, *, unsafe: bool) -> dict[str, FixedFile]:
        """Give the files that fixes change, as they would be."""
        from twice.checker.fixes import apply_fixes

        by_path: dict[str, list[Finding]] = {}
        for each in report.shown:
            if each.found.fix is not None:
                by_path.setdefault(each.path, []).append(each)
        done = {}
        for path, findings in by_path.items():
            data = read_file(path).data
            if data is None:
                continue  # It has gone since; the next check says so.
            one = apply_fixes(data, findings, partial(self._check_again, path), unsafe=unsafe)
            if one.after != one.before:
                done[path] = one
        return done

    def _check_again(self, path: str, data: bytes) -> list[Finding]:
        """Check other bytes of a file, without facts of other files."""
        from twice.checker.analyzer import analyze_bytes, rule_table

        result = analyze_bytes(path, data, find_package(path), self.config, self.config.index())
        found = judge({path: replace(result, facts={})}, self.policy)
        left, _ = self._suppress(found, {path: result.remarks}, rule_table())
        left, _, _ = self._read_baseline().apply(left, lambda _: False)
        return [each for each in left if each.severity >= self.shown_from]

    @staticmethod
    def put(path: str, one: FixedFile) -> bool:
        """Write a file with its fixes, unless it has changed since it was read; whether it was.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        if read_file(path).data != one.before:
            return False
        write(Path(path), one.after)
        return True
