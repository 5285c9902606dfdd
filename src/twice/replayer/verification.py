"""The report of a verification: the compared data, the predicate and the result.

One value in two forms: JSON for scripts, and Markdown for people. It is written next to the record under a free
number, and never overwrites another report.

Invariant: the exit code is a function of the result and of the user's options.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from twice.foundation.channels import Channel
from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import SampleTest
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize, printable
from twice.foundation.version import VERSION
from twice.recorder.audit.inventory import in_words, unsupported_rows
from twice.recorder.components import name_columns
from twice.recorder.states import Migration
from twice.replayer.file_report import suggest_file_policy
from twice.replayer.notes import SIMULATED
from twice.replayer.outcome import Failure
from twice.replayer.output_difference import suggest_ignored_output
from twice.replayer.statement_file import write_statement
from twice.replayer.verdict import SEAL, Decision, Evidence, Result, decide

FORMAT = "twice.verification/1"
_SETTLED = ("eliminated", "recorded")
_WRITTEN = re.compile(r"files\.written\('([^']+)'\)")
_OTHER_ORDERS = "other switch intervals of threads and on fewer cores"
_OTHER_ORDER = f"each after the first ran under {_OTHER_ORDERS}"


@dataclass(frozen=True, kw_only=True)
class Verification(Evidence):
    """The evidence of a verification, and the decision of the rules."""

    @cached_property
    def decision(self) -> Decision:
        """Return the decision of the rules on the evidence."""
        return decide(self)

    @property
    def result(self) -> Result:
        """PASS, PARTIAL, FAIL or UNKNOWN."""
        return self.decision.result

    @property
    def axis(self) -> Literal["determinism", "reproducibility"]:
        """``determinism`` in the recorded environment, ``reproducibility`` in another."""
        matters = any(difference.affects != "note" for difference in self.environment)
        return "reproducibility" if matters else "determinism"

    @property
    def last(self) -> int:
        """Index of the last compare-point that was judged."""
        return self.first + max(0, self.counts["evaluated"] - 1)

    @property
    def headline(self) -> list[str]:
        """Return the first facts for a reader: how little was compared, how the program ended."""
        quiet = () if self.result == "FAIL" else self.facts_of_equal_runs
        beside = self._describe_concurrency()
        return [*self.decision.headline, *self._describe_repeats(), *quiet, *beside, *self.facts]

    def _describe_concurrency(self) -> list[str]:
        if not self.beside:
            return []
        if self.differs:
            return [f"{self.beside}: it may be that their order alone differs"]
        more = f". To try others: twice verify {self.path} --repeat 5"
        return [f"{self.beside}: another one may give another result{'' if self.repeats else more}"]

    def _describe_repeats(self) -> list[str]:
        if self.repeats is None:
            return []
        planned, executed = self.repeats["planned"], self.repeats["executed"]
        if self.differs and executed > 1:
            before = "the one before it" if executed == 2 else f"the {executed - 1} before it"
            return [f"replay {executed} of {planned} differs, and {before} agreed: {_OTHER_ORDER}"]
        if self.differs or self.death or executed < planned:
            return []  # one that died agrees with nothing
        return [f"{pluralize(executed, 'replay agrees', 'replays agree')}, under {_OTHER_ORDERS}"]

    @property
    def caveats(self) -> list[str]:
        """The reasons for the result, and its limits."""
        changed = ", ".join(each.path for each in self.changed_code)
        informational = f"informational: the code differs from the recorded one: {changed}"
        return [
            *([informational] if changed else []),
            *self.decision.reasons,
            *self.notes,
            *(str(Migration.from_json(each)) for each in (self.restores or {}).get("migrated", ())),
            *self.files.passed_over,
            *(self.files.notes if self.differs else ()),
        ]

    @property
    def exit_code(self) -> int:
        """0 if the promise holds, 1 if it does not, 2 if that is unknown."""
        if self.result == "PASS":
            return 0
        if self.result == "FAIL":
            return 1
        return 0 if self.result == "PARTIAL" and self.is_segment and not self.is_torn else 2

    def list_next_steps(self) -> list[NextStep]:
        """List the steps that follow, the first one first."""
        path = shlex.quote(str(self.path))
        show = NextStep("look at the record", f"twice show {path}")
        if self.failure is not None and self.failure.name == SEAL:
            return [show]
        if self.failure is not None and self.divergence is None and self.result != "PARTIAL":
            informational = " --informational" if self.changed_code else ""
            command = f"twice verify {path}{informational} --diagnose"
            return [NextStep("find the line", command, Channel.DIVERGENCE)]
        if self.result == "PARTIAL" and self.is_torn:
            whole = self.path.with_suffix(f".closed{self.path.suffix}")
            return [
                NextStep(
                    "close the torn record", f"twice migrate {path} -o {shlex.quote(str(whole))}"
                ),
                show,
            ]
        if self.result == "PARTIAL" and self.is_segment:
            return [NextStep("verify all of it", f"twice verify {path}", Channel.REPLAY), show]
        return [show]

    def suggestions(self) -> list[str]:
        """Return options of ``twice record`` that leave out the parts that may differ here."""
        # A replay is served what was recorded, so only what is not recorded repeats in other numbers, and no order
        # that decides is a measurement: an option to leave it out would leave out the result.
        # On a machine that computes otherwise, such an option would hide just that.
        if any(row.affects == "numerics" for row in self.environment):
            return []
        # Code in C reads clocks that nobody sees, so a time may be one of them at any moment.
        is_open = any(row.get("class") not in _SETTLED for row in self.inventory)
        times_only = not is_open or bool(self.beside)
        output = suggest_ignored_output(self.failure, times_only=times_only)
        written = self.file_written_otherwise
        of_file = self.files.suggest_policy() or (suggest_file_policy(written) if written else "")
        return [text for text in (output, of_file) if text]

    @property
    def file_written_otherwise(self) -> str:
        """Return the file that Python wrote with other content, where that is the first difference; else nothing."""
        texts = () if self.failure is None else (self.failure.recorded, self.failure.replayed)
        paths = [found[1] for text in texts if (found := _WRITTEN.match(text))]
        if len(paths) < 2 or paths[0] != paths[1]:
            return ""
        return paths[0].removeprefix("{program}/")

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``twice verify --json`` prints."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "record": str(self.path),
            "run_id": self.run_id,
            "result": self.result,
            "classes": {
                name: self.predicate.for_subsystem(name).summary(self.within.get(name))
                for name in self.subsystems
            },
            "axis": self.axis,
            "scope": {"first": self.first, "last": self.last},
            "compare_points": dict(self.counts),
            "first_failure": None if self.failure is None else self.failure.to_json(),
            "environment": {
                "same": not self.environment,
                "differences": [difference.to_json() for difference in self.environment],
            },
            "effects": {
                "mode": "replay",
                "manifest_matches": self.manifest_matches is True,
                "manifest_judged": self.manifest_matches is not None,
                "seal": self.seal,
                "inventory": [dict(row) for row in self.inventory],
                "governed": self.files.list_governed(),
                "files": self.files.to_json(),
            },
            "concurrency": {name: dict(each) for name, each in self.concurrency.items()},
            "executed": self.executed,
            "specification": self.specification,
            "informational": bool(self.changed_code),
            "code": {"changed": [asdict(each) for each in self.changed_code]},
            "verifier": {
                "twice": VERSION,
                "python": ".".join(map(str, sys.version_info[:3])),
                "gpu": dict(self.gpu),
            },
            "issued_at": self.issued_at,
            "headline": list(self.headline),
            "caveats": list(self.caveats),
            "suggestions": self.suggestions(),
            "next": [step.to_json() for step in self.list_next_steps()],
        }
        asked = {
            "restores": self.restores,
            "repeats": self.repeats,
            "divergence": self.divergence,
            "samples": self.samples,
        }
        return document | {name: dict(value) for name, value in asked.items() if value is not None}

    def _cite_specification(self) -> str:
        """Name the specification, or say that the class was taken from the record."""
        cited = self.specification
        if cited is None:
            return "none was found: the class is the recorded one"
        if cited["unread"]:
            return f"{cited['path']} cannot be read: {cited['unread']}"
        whole = f"{cited['version']}, {cited['digest']}" if cited["version"] else "no sheet 99 yet"
        return f"{cited['component'] or cited['path']}: {whole}"

    def name_columns(self, failure: Failure) -> str:
        """Name the columns in which a replay differs."""
        return name_columns(failure.columns, is_simulated=SIMULATED in self.concurrency)

    def to_markdown(self) -> str:
        """Format the verification for people; the first line answers."""
        lines = [
            f"# {self.result}: {self.path.name}",
            "",
            *(f"- {sentence}" for sentence in self.headline),
            *([f"- executed: {self.executed}"] if self.executed else []),
            f"- predicate: {self._describe_predicate()}",
            f"- specification: {self._cite_specification()}",
            f"- axis: {self.axis}",
            f"- compare-points: {self._count_points()}",
        ]
        if self.failure is not None:
            failure = self.failure
            lines += [
                f"- first difference: {self.name_place(failure)}",
                *([f"    - at: {failure.at}"] if failure.at else []),
                f"    - recorded: `{failure.recorded}`",
                f"    - replayed: `{failure.replayed}`",
            ]
            if failure.traceback:
                lines += [
                    "    - the replay raised:",
                    "",
                    *(f"          {line}" for line in failure.traceback.splitlines()),
                    "",
                ]
        if self.samples is not None:
            samples = self.samples
            lines.append(f"- samples: {_describe_samples(samples)}")
            if samples["test"] != SampleTest.MULTISET:
                lines.append(f"- levels: {_name_levels(samples)}")
        if self.restores is not None:
            failed = self.restores["failed"]
            lines.append(f"- restores: {self.restores['tested']} tested, {len(failed)} failed")
            if self.restores.get("ticks") == [0]:
                lines.append(
                    "    - only the snapshot before tick 0 was there to try: record with --snapshots every=N"
                )
            lines += [f"    - {entry['reason']}" for entry in failed]
            missing = failed[0].get("missing", []) if failed else []
            lines += [f"    - not put back: `{path}`" for path in missing]
        lines += [
            f"- environment: {pluralize(len(self.environment), 'difference')} from the recorded one"
        ]
        lines += [f"    - {item.what}: {item.recorded} → {item.now}" for item in self.environment]
        lines += [f"- seal: {self.seal}"]
        lines += [f"- {name}: {text}" for name, text in self._list_limits()]
        lines += ["", f"Run `{self.list_next_steps()[0].command}` to see more.", ""]
        return "\n".join(map(printable, lines))

    def _describe_predicate(self) -> str:
        told = self.predicate.tolerance_of
        own = {name: within for name, within in self.within.items() if within != told(name)}
        return self.predicate.sentence(own)

    def _count_points(self) -> str:
        counts = self.counts
        return (
            f"{counts['evaluated']} judged ({self.first} to {self.last}), {counts['passed']} passed, "
            f"{counts['within_tolerance']} within tolerance, {counts['failed']} failed"
        )

    def name_place(self, failure: Failure) -> str:
        """Name the compare-point of a difference, and the columns that differ there."""
        where = f"compare-point {failure.index}, tick {failure.tick}, {failure.name}"
        return f"{where}: {self.name_columns(failure)}"

    def _list_limits(self) -> Iterator[tuple[str, str]]:
        """Yield the files that differ, proposed options, sources that are not supported, and caveats."""
        yield from (("file differs", text) for text in self.files.describe_differences())
        yield from (("to do", text) for text in self.suggestions())
        yield from (("unsupported", in_words(row)) for row in unsupported_rows(self.inventory))
        yield from (("caveat", text) for text in self.caveats)

    def __repr__(self) -> str:
        place = "" if self.failure is None else f", {self.name_place(self.failure)}"
        return printable(f"<{self.result}: {self.path.name}{place}>")

    def _repr_html_(self) -> str:
        from twice.foundation.html_summary import format_html  # for notebooks alone

        facts: list[tuple[str, ...]] = [("", sentence) for sentence in self.headline]
        if (failure := self.failure) is not None:
            facts.append(("first difference", self.name_place(failure)))
            facts += [("at", failure.at)] if failure.at else []
            if failure.has_values:
                facts.append(("recorded / replayed", failure.recorded, failure.replayed))
            facts += [("traceback", failure.traceback)] if failure.traceback else []
        facts += [] if self.samples is None else [("samples", _describe_samples(self.samples))]
        facts += [
            ("compare-points", self._count_points()),
            ("predicate", self._describe_predicate()),
        ]
        facts += [
            (each.what, each.recorded or "none", each.now or "none") for each in self.environment
        ]
        command = self.list_next_steps()[0].command
        facts += self._list_limits()
        return format_html(self.result, self.exit_code, self.path.name, facts, command)

    def to_text(self, *, whole: bool = False) -> str:
        """Format it for a terminal: a PASS is one line with its coverage and its limits.

        Args:
            whole: everything that the statement says, as for another verdict.
        """
        if whole or self.result != "PASS":
            return self.to_markdown().lstrip("# ").rstrip()
        counts = self.counts
        within = counts["within_tolerance"]
        covered = (
            f"{pluralize(counts['evaluated'], 'compare-point agrees', 'compare-points agree')}"
        )
        if within:
            covered += f", {within} of them within tolerance"
        if self.restores is not None:
            tested = self.restores["tested"]
            covered += f", {pluralize(tested, 'restored run')} too"
        if self.samples is not None:
            covered += f", {_name_sample(self.samples)} over {pluralize(self.samples['n'], 'seed')}"
        if self.environment:
            things = pluralize(len(self.environment), "thing differs", "things differ")
            covered += f", although {things} in the environment: {self.environment[0].what}"
            covered += " and others" if len(self.environment) > 1 else ""
        kind = self.predicate.determinism_class
        lines = [
            f"PASS: {self.path.name}: {covered}; {kind}, scope {self.predicate.scope}",
            *(f"- {sentence}" for sentence in self.headline),
            *(f"- unsupported: {in_words(row)}" for row in unsupported_rows(self.inventory)),
            *(f"- caveat: {caveat}" for caveat in self.caveats),
        ]
        return "\n".join(map(printable, lines))

    def write_beside(self) -> Path:
        """Write JSON and Markdown next to the record; return and errors are those of ``write_statement``."""
        return write_statement(self.path, self.to_json(), self.to_markdown())


def _name_sample(samples: Mapping[str, Any]) -> str:
    """Name the summary, and the component that it judges: ``reward of walk``."""
    part = samples.get("component")
    return f"{samples['summary']} of {part}" if part else str(samples["summary"])


def _describe_samples(samples: Mapping[str, Any]) -> str:
    seeds = pluralize(samples["n"], "seed")
    return f"{_name_sample(samples)} over {seeds}, {samples['test']}: {samples['reason']}"


def _name_levels(samples: Mapping[str, Any]) -> str:
    """Name the declared levels of a sample, and the power that it had."""
    reached = samples["power_reached"]
    had = (
        "" if reached is None else f"; equal systems of this spread pass with chance {reached:.2g}"
    )
    return (
        f"margin {samples['epsilon']:g}, alpha {samples['alpha']:g}, declared power {samples['power']:g}, "
        f"{pluralize(samples['n'], 'seed')} each{had}"
    )
