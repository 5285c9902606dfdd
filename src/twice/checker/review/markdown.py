"""The review as Markdown: the verdict first, then what to do, then why.

Invariant: text of the reviewed code stands in code spans, or is escaped; none steers a terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from twice.checker.analysis.generators import StreamOwner, UseKind
from twice.checker.audits.audit import WorldRead
from twice.checker.audits.streams import RandomUse
from twice.checker.review.review import ChannelGap, Review, ReviewedFinding, SpecStatus
from twice.checker.review.risks import ReviewStep
from twice.foundation.channels import Channel
from twice.foundation.markdown import escape_markdown, quote_markdown
from twice.foundation.printable import pluralize, printable
from twice.foundation.severity import Severity

PLACES_MAX: Final = 6
"""Places of one rule and severity that are written out; of the others the line is named."""
LINES_MAX: Final = 20
ROWS_MAX: Final = 25
_WANTED: Final = {
    Channel.SNAPSHOT: "is needed to resume a run",
    Channel.DIVERGENCE: "is needed to distinguish runs",
    Channel.REPLAY: "is needed to replay one",
}
"""What is missing where nothing in the code is about it."""
_OWNERS: Final = {
    StreamOwner.GENERATOR: "from generators made here",
    StreamOwner.NAMED: "from named streams",
    StreamOwner.NOBODY: "owned by nobody",
    StreamOwner.PARAMETER: "from generators handed in",
    StreamOwner.PASSED: "from generators of other objects",
    StreamOwner.PROCESS: "from process-wide streams that are seeded",
}
_GRAVITY: Final = (
    "entropy", "clock", "network", "processes", "input", "process", "listing", "host",
    "environment", "files",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings of one rule and one severity: what they share is said once.

    Args:
        items: the findings, at least one.
    """

    items: tuple[ReviewedFinding, ...]

    @property
    def first(self) -> ReviewedFinding:
        """The one that speaks for all: rule, severity, kind, risk and remedy are theirs together."""
        return self.items[0]

    @property
    def severity(self) -> Severity:
        """How badly the class is broken."""
        return self.first.finding.severity

    @property
    def rule(self) -> str:
        """The rule's name."""
        return self.first.finding.found.rule

    @property
    def kind(self) -> str:
        """What kind of gap it is and how the specification stands to it, as a sentence."""
        number = self.first.finding.artifact
        words = {
            SpecStatus.NO_SPECIFICATION: f"belongs in artifact {number}",
            SpecStatus.UNSPECIFIED: f"unspecified channel: artifact {number} is missing",
            SpecStatus.MISMATCH: f"specification and code disagree: artifact {number} is there",
        }
        kind = self.first.risk.kind.value.replace("-", " ").capitalize()
        return f"{kind}; {words[self.first.status]}."

    @property
    def risk(self) -> str:
        """What no longer works, as a sentence."""
        return f"Breaks {self.first.risk.breaks.value}: {self.first.risk.text}"

    @property
    def why(self) -> str:
        """How runs come to differ, when it is the same for several; "" otherwise."""
        reasons = {_why(each)[0] for each in self.items}
        return f"{_why(self.first)[0]}." if len(reasons) == 1 and len(self.items) > 1 else ""

    def describe(self, each: ReviewedFinding) -> str:
        """Return the text of one finding, without the text that all findings share."""
        found = each.finding.found
        if not self.why:
            return f"{found.message} {found.why}"
        tail = _why(each)[1]
        return f"{found.message} {tail[:1].upper()}{tail[1:]}".rstrip()


def _why(each: ReviewedFinding) -> tuple[str, str]:
    """How runs come to differ, and what becomes of the value, which a rule says after a semicolon."""
    why, _, tail = each.finding.found.why.partition("; ")
    return why.rstrip("."), tail


def group_findings(review: Review) -> list[FindingGroup]:
    """Put findings of medium severity or above together by severity and rule, in their order."""
    groups: dict[tuple[Severity, str], list[ReviewedFinding]] = {}
    for each in review.findings:
        if each.finding.severity >= Severity.MEDIUM:
            key = (each.finding.severity, each.finding.found.rule)
            groups.setdefault(key, []).append(each)
    return [FindingGroup(tuple(items)) for items in groups.values()]


def render_markdown(review: Review) -> str:
    """Write the review."""
    confidence = f"Confidence {review.verdict.confidence:.0%}."
    lines = [
        "# Determinism review", "", f"**{review.verdict.text}** {confidence}", "", describe_basis(review), ""
    ]  # fmt: skip
    sections = (
        ("What to do, in this order", _steps(review)),
        ("The ten channels", _channels(review)),
        ("What they make together", _patterns(review)),
        ("Findings", _findings(review)),
        ("Seed audit", _seeds(review)),
        ("Effects audit", _effects(review)),
        ("What this review does not know", _unknowns(review)),
    )
    for title, section in sections:
        if body := list(section):
            lines += [f"## {title}", "", *body, ""]
    return "\n".join(map(printable, lines))


def describe_basis(review: Review) -> str:
    """Describe the basis of the review in one line."""
    policy = review.policy
    spec = "no specification"
    if review.workspace is not None:
        spec = f"a specification with {pluralize(len(review.workspace.artifacts), 'artifact')}"
    tier = f", tier {policy.tier}" if policy.tier else ""
    return (
        f"{pluralize(review.files, 'file')}, {pluralize(review.lines, 'line')}; "
        f"class {policy.kind.value}, scope {policy.scope.value}{tier} "
        f"({'declared' if policy.is_declared else 'assumed'}); {spec}."
    )


def _steps(review: Review) -> Iterator[str]:
    for number, step in enumerate(review.steps, start=1):
        run = f" `{step.command}`." if step.command else ""
        yield f"{number}. **{step.title}**{describe_settled(step)}.{run} {step.reason}"


def describe_settled(step: ReviewStep) -> str:
    """How many findings a step settles, and of which rules; "" when none."""
    if not step.findings:
        return ""
    rules = f"{', '.join(step.rules[:4])}{', …' if len(step.rules) > 4 else ''}"
    return f": {pluralize(step.findings, 'finding')} ({rules})"


def _channels(review: Review) -> Iterator[str]:
    yield from _table("channel", "state", "findings", "touched", "artifact")
    for each in review.channels:
        touched = "nowhere seen"
        if each.places:
            touched = f"{pluralize(each.places, 'place')}, first {quote_markdown(each.first)}"
        yield (
            f"| {each.channel.value} | {each.state} | {describe_counts(each)} | {touched} | "
            f"{describe_artifact(each)} |"
        )


def _table(*columns: str) -> tuple[str, str]:
    return f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"


def describe_counts(each: ChannelGap) -> str:
    """Count findings by severity in words, from medium upwards, the others together."""
    heavy = [
        f"{n} {severity.word}" for severity, n in each.findings if n and severity >= Severity.MEDIUM
    ]
    light = sum(n for severity, n in each.findings if severity < Severity.MEDIUM)
    if light:
        heavy.append(f"{light} lesser")
    if each.audited:
        word = "raw read" if each.channel is Channel.EFFECTS else "orphan"
        heavy.append(pluralize(each.audited, word))
    return ", ".join(heavy) or "none"


def describe_artifact(each: ChannelGap) -> str:
    """Which artifact settles it and whether it is there."""
    sheet = f"{each.channel.artifact}-{each.channel.facts.sheet}"
    if each.present:
        return each.present
    if each.places or each.state != "not touched":
        return f"{sheet} is missing"
    return f"{sheet} {_WANTED[each.channel]}" if each.channel in _WANTED else "not needed yet"


def _patterns(review: Review) -> Iterator[str]:
    for each in review.patterns:
        more = f" (in {each.count} places)" if each.count > 1 else ""
        yield f"- **{each.pattern.title}**{more}. {each.pattern.why} {each.pattern.remedy}"
        for sign in each.signs:
            yield f"  - {_place(sign.path, sign.line)} {quote_markdown(sign.what)}"


def _findings(review: Review) -> Iterator[str]:
    groups = group_findings(review)
    parts = [list(_group(group)) for group in groups] or [["None of medium severity or above."]]
    if said := describe_rest(review, groups):
        parts.append([said])
    for number, part in enumerate(parts):
        yield from [""] * (number > 0)
        yield from part


def describe_rest(review: Review, groups: Sequence[FindingGroup]) -> str:
    """Describe the findings that the document leaves out."""
    light = len(review.findings) - sum(len(group.items) for group in groups)
    parts = []
    if light:
        parts.append(f"{light:,} of low severity or informational are in the JSON document.")
    if review.set_aside:
        parts.append(f"{review.set_aside:,} set aside by comments in the source or the baseline.")
    return " ".join(parts)


def _group(group: FindingGroup) -> Iterator[str]:
    count = f", {pluralize(len(group.items), 'place')}" if len(group.items) > 1 else ""
    yield f"### {group.severity.word}: {group.rule} ({group.first.finding.channel}){count}"
    yield ""
    yield " ".join(filter(None, [escape_markdown(group.why), group.risk, group.kind]))
    yield ""
    yield f"**Do:** {escape_markdown(group.first.finding.remedy)}"
    yield ""
    for each in group.items[:PLACES_MAX]:
        found = each.finding.found
        where = f" in {quote_markdown(found.symbol)}" if found.symbol else ""
        yield f"- {_place(each.finding.path, found.place.line)}{where} ({found.confidence:.0%} sure):"
        yield f"  {escape_markdown(group.describe(each))}"
        if found.statement:
            yield f"  {quote_markdown(found.statement)}"
    lines = [
        _place(each.finding.path, each.finding.found.place.line)
        for each in group.items[PLACES_MAX:]
    ]
    if lines:
        more = f" and {len(lines) - LINES_MAX:,} more" if len(lines) > LINES_MAX else ""
        yield f"- also {', '.join(lines[:LINES_MAX])}{more}"


def _seeds(review: Review) -> Iterator[str]:
    yield describe_draws(review.audit.uses)
    shown = [each for each in review.streams if not each.is_idle]
    if idle := describe_idle(review):
        yield from ("", idle)
    if shown:
        yield from ("", *_table("stream", "owner", "made or seeded", "draws", "first"))
    for each in shown[:ROWS_MAX]:
        whose = f"{'**orphan**: ' if each.is_orphan else ''}{_cell(each.whose)}"
        made = quote_markdown(each.made) if each.made else "not seen"
        first = quote_markdown(each.first)
        yield f"| {quote_markdown(each.name)} | {whose} | {made} | {each.draws} | {first} |"
    if len(shown) > ROWS_MAX:
        yield from ("", f"And {len(shown) - ROWS_MAX:,} more: `twice audit seeds`.")


def describe_draws(draws: Iterable[RandomUse]) -> str:
    """Who owns what is drawn outside of tests, in one line."""
    drawn = (each for each in draws if each.kind is UseKind.DRAWS and each.zone != "tests")
    counted = Counter(each.origin.owner for each in drawn)
    if not counted:
        return "No draw was found outside of tests."
    parts = [f"{counted[owner]} {words}" for owner, words in _OWNERS.items() if counted[owner]]
    return f"{pluralize(counted.total(), 'draw')} outside of tests: {', '.join(parts)}."


def describe_idle(review: Review) -> str:
    """Describe the generators without a visible draw; "" without any."""
    idle = sum(each.is_idle for each in review.streams)
    made = pluralize(idle, "generator is", "generators are")
    return f"Besides, {made} made from a seed and handed on, or made again elsewhere." * (idle > 0)


def _effects(review: Review) -> Iterator[str]:
    yield describe_reads(review.audit.reads)
    rows = list_gaps(review.gaps)
    if rows:
        yield from ("", *_table("raw in the core", "what", "call", "what becomes of it"))
    for where, kind, call, ends in rows[:ROWS_MAX]:
        yield f"| {_cell(where)} | {kind} | {quote_markdown(call)} | {_cell(ends)} |"
    if len(rows) > ROWS_MAX:
        yield from (
            "",
            f"And {pluralize(len(rows) - ROWS_MAX, 'more row')}: `twice audit effects`.",
        )


def describe_reads(asks: Iterable[WorldRead]) -> str:
    """Count in one line the effects outside of tests, governed and raw."""
    shown = [each for each in asks if each.zone != "tests"]
    if not shown:
        return "Nothing outside of tests asks the world."
    governed = sum(each.is_recorded for each in shown)
    gaps = sum(each.is_gap for each in shown)
    return (
        f"{pluralize(len(shown), 'question')} to the world outside of tests: {governed} through the effects "
        f"layer, {gaps} raw in the core, {len(shown) - governed - gaps} harmless or beside the core."
    )


def list_gaps(gaps: Iterable[WorldRead]) -> list[tuple[str, str, str, str]]:
    """Give place, kind, call and end of raw questions, the gravest first.

    Those of one kind in one file share a row, and so do files that ask the same in the same way; of
    those whose answer was not followed, all of one kind do.
    """
    groups: dict[tuple[str, ...], list[WorldRead]] = {}
    calls: dict[tuple[str, ...], str] = {}  # The first call of a kind in a file names its row.
    for each in gaps:
        key: tuple[str, ...] = (each.kind, each.use)
        if each.use != "unseen":
            key = (*key, calls.setdefault((*key, each.path), each.call))
        groups.setdefault(key, []).append(each)
    rows = sorted(groups.values(), key=lambda group: _gravity(group[0]))
    more = [f" and {len(group) - 1} more" if len(group) > 1 else "" for group in rows]
    return [
        (f"{first.path}:{first.line}{others}", first.kind, first.call, first.ends)
        for (first, *_), others in zip(rows, more, strict=True)
    ]


def _gravity(ask: WorldRead) -> tuple[bool, int]:
    return ask.use == "unseen", _GRAVITY.index(ask.kind)


def _unknowns(review: Review) -> Iterator[str]:
    for each in review.unknowns:
        tells = f"`{each.tells}`" if each.tells.startswith("twice ") else each.tells
        yield f"- {escape_markdown(each.what)} To know: {tells}."
        for where in each.places:
            yield f"  - {quote_markdown(where)}"


def _place(path: str, line: int) -> str:
    return quote_markdown(f"{path}:{line}")


def _cell(text: str) -> str:
    """Escape a text for a table, where a bar would end the cell."""
    return escape_markdown(text).replace("|", "\\|")
