"""A project under check: what was promised, what is read, what is taken away; from files to a report.

Invariant: a report is a function of the files, the configuration and the date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from twice.checker.accepting.baselines import Baseline, Entry, stale_of
from twice.checker.accepting.comments import Remarks
from twice.checker.accepting.settling import suppressed
from twice.checker.caching import Cache
from twice.checker.checking import Checked, check, judge
from twice.checker.findings import Finding
from twice.checker.judging import weighed
from twice.checker.policy import Policy
from twice.checker.reader import Reader
from twice.checker.reading import package_of, read
from twice.checker.report import Report, Settled
from twice.checker.rule import RuleFacts
from twice.checker.selecting import Selection
from twice.foundation.severity import Severity
from twice.writing import write

if TYPE_CHECKING:
    from twice.checker.fixing import Mended


@dataclass(frozen=True, slots=True)
class Project:
    """A project under check.

    Args:
        policy: what was promised.
        today: as 2027-01-31.
        reader: how files are read.
        selection: which rules are looked with.
        baseline: the path of the baseline; None without one.
        begins_baseline: whether there may be none yet at that path.
        folder: the project's folder, to which the baseline's paths are relative.
        cache: what is known from before.
        jobs: how many processes read at most.
        fail_on: from which severity on the check fails.
        shown_from: from which severity on findings are shown.
    """

    policy: Policy
    today: str
    reader: Reader = field(default_factory=Reader)
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
        return check(paths, self.policy, reader=self.reader, jobs=self.jobs, cache=self.cache)

    def report(self, paths: Sequence[str], checked: Checked | None = None) -> Report:
        """Check files, unless they were, and take away what comments and the baseline say.

        Raises:
            ConfigError: E-CONFIG-001: a rule or a catalogue is none, or the baseline cannot be read.
        """
        baseline = Baseline() if self.baseline is None else self._accepted()
        checked = checked or self.check(paths)
        self.selection.require_known(checked.rules)
        standing, taken = self._settled(checked.findings, checked.remarks, checked.rules)
        judged = self.selection.rules(checked.rules) if self.reader.follows else frozenset()
        asked = frozenset(map(self.policy.placed, paths))

        def is_judged(entry: Entry) -> bool:
            gone = entry.path not in asked and not (self.folder / entry.path).exists()
            return (entry.path in asked or gone) and entry.rule in judged

        applied = baseline.apply(standing, is_judged)
        return Report(
            findings=applied.standing,
            files=checked.files,
            lines=checked.lines,
            policy=self.policy,
            rules=checked.rules,
            suppressed=taken,
            baselined=applied.taken,
            stale=stale_of(applied.stale),
            fail_on=self.fail_on,
            shown_from=self.shown_from,
            has_baseline=self.baseline is not None,
        )

    def _accepted(self) -> Baseline:
        assert self.baseline is not None, "asked for where there is one"
        if self.begins_baseline and not self.baseline.exists():
            return Baseline()
        return Baseline.read(self.baseline)

    def _settled(
        self,
        findings: Sequence[Finding],
        remarks: Mapping[str, Remarks],
        rules: Mapping[str, RuleFacts],
    ) -> tuple[tuple[Finding, ...], tuple[Settled, ...]]:
        done = suppressed(
            self.selection.selected(findings, self.policy),
            remarks,
            known=rules,
            today=self.today,
            judged=self.selection.rules(rules),
        )
        if not done.found:
            return done.standing, done.taken
        own = weighed(done.found, rules, self.policy, {})
        both = sorted([*done.standing, *own], key=_in_order)
        return tuple(both), done.taken

    def accept(self, report: Report, reason: str) -> int:
        """Put all that stands into the baseline for one reason; how many entries are new.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        assert self.baseline is not None, "the command has seen to it"
        before = self._accepted()
        after = before.accepting(report.findings, reason, self.policy)
        after.write(self.baseline)
        return len(after.entries) - len(before.entries)

    def shrink(self, report: Report) -> int:
        """Take the stale entries out of the baseline; how many.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        before = self._accepted()
        names = {each.fingerprint for each in report.stale}
        gone = [each for each in before.entries if each.fingerprint in names]
        if gone and self.baseline is not None:
            before.without(gone).write(self.baseline)
        return len(gone)

    def mended(self, report: Report, *, unsafe: bool) -> dict[str, Mended]:
        """Give the files that fixes change, as they would be."""
        from twice.checker.fixing import mended

        by_path: dict[str, list[Finding]] = {}
        for each in report.shown:
            if each.found.fix is not None:
                by_path.setdefault(each.path, []).append(each)
        done = {}
        for path, findings in by_path.items():
            data = read(path).data
            if data is None:
                continue  # It has gone since; the next look says so.
            one = mended(data, findings, partial(self._again, path), unsafe=unsafe)
            if one.after != one.before:
                done[path] = one
        return done

    def _again(self, path: str, data: bytes) -> tuple[Finding, ...]:
        """Check other bytes of a file, without facts of other files."""
        from twice.checker.looking import analyze_bytes, rule_table

        looked = analyze_bytes(path, data, package_of(path), self.reader, self.reader.index())
        found = judge({path: replace(looked, facts={})}, self.policy)
        standing, _ = self._settled(found, {path: looked.remarks}, rule_table())
        baseline = Baseline() if self.baseline is None else self._accepted()
        left = baseline.apply(standing, lambda _: False).standing
        return tuple(each for each in left if each.severity >= self.shown_from)

    @staticmethod
    def put(path: str, one: Mended) -> bool:
        """Write a file with its fixes, unless it has changed since it was read; whether it was.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        if read(path).data != one.before:
            return False
        write(Path(path), one.after)
        return True


def _in_order(finding: Finding) -> tuple[str, int, int, str, str]:
    place = finding.found.place
    return finding.path, place.line, place.column, finding.found.rule, finding.found.message
