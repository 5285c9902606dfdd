"""The review as Markdown: the verdict first, then what to do, then why.

Invariant: text of the reviewed code stands in code spans, or is escaped; none steers a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from twice.checker.auditing.effects import Ask
from twice.checker.auditing.seeds import Draw, What
from twice.checker.auditing.streams import Stream
from twice.checker.reviewing.grouping import Group, grouped
from twice.checker.reviewing.review import ChannelGap, Review
from twice.checker.reviewing.sequence import Step
from twice.foundation.channels import Channel
from twice.foundation.markdown import escape_markdown, quote_markdown
from twice.foundation.printable import pluralize, printable
from twice.foundation.severity import Severity

PLACES_MAX: Final = 6
"""Places of one rule and severity that are written out; of the others the line is named."""
LINES_MAX: Final = 20
ROWS_MAX: Final = 25


def markdown(review: Review) -> str:
    """Write the review."""
    return "\n".join(map(printable, _lines(review))) + "\n"


def _lines(review: Review) -> Iterator[str]:
    yield "# Determinism review"
    yield ""
    yield f"**{review.verdict.text}** Confidence {review.verdict.confidence:.0%}."
    yield ""
    yield basis(review)
    yield ""
    yield from _steps(review)
    yield from _channels(review)
    yield from _patterns(review)
    yield from _findings(review)
    yield from _seeds(review)
    yield from _effects(review)
    yield from _unknowns(review)


def basis(review: Review) -> str:
    """Describe the basis of the review in one line."""
    said = "declared" if review.declared else "assumed"
    spec = "no specification"
    if review.workspace is not None:
        spec = f"a specification with {pluralize(len(review.workspace.artifacts), 'artifact')}"
    tier = f", tier {review.policy.tier}" if review.policy.tier else ""
    return (
        f"{pluralize(review.files, 'file')}, {pluralize(review.lines, 'line')}; class {review.policy.kind.value}, scope "
        f"{review.policy.scope.value}{tier} ({said}); {spec}."
    )


def _steps(review: Review) -> Iterator[str]:
    if not review.steps:
        return
    yield "## What to do, in this order"
    yield ""
    for number, step in enumerate(review.steps, start=1):
        run = f" `{step.command}`." if step.command else ""
        yield f"{number}. **{step.title}**{settles(step)}.{run} {step.reason}"
    yield ""


def settles(step: Step) -> str:
    """How many findings a step settles, and of which rules; "" when none."""
    if not step.findings:
        return ""
    rules = f"{', '.join(step.rules[:4])}{', …' if len(step.rules) > 4 else ''}"
    return f": {pluralize(step.findings, 'finding')} ({rules})"


def _channels(review: Review) -> Iterator[str]:
    yield "## The ten channels"
    yield ""
    yield "| channel | state | findings | touched | artifact |"
    yield "|---|---|---|---|---|"
    for each in review.channels:
        yield (
            f"| {each.channel.value} | {each.state} | {counts(each)} | {touched(each)} | "
            f"{artifact(each)} |"
        )
    yield ""


def counts(each: ChannelGap) -> str:
    """Count findings by severity in words, from medium upwards, the others together."""
    heavy = [f"{n} {severity.word}" for severity, n in each.findings if n and severity >= 2]
    light = sum(n for severity, n in each.findings if severity < 2)
    if light:
        heavy.append(f"{light} lesser")
    if each.audited:
        word = "raw read" if each.channel is Channel.EFFECTS else "orphan"
        heavy.append(pluralize(each.audited, word))
    return ", ".join(heavy) or "none"


def touched(each: ChannelGap) -> str:
    """Where it is touched."""
    if not each.places:
        return "nowhere seen"
    return f"{pluralize(each.places, 'place')}, first {quote_markdown(each.first)}"


def artifact(each: ChannelGap) -> str:
    """Which artifact settles it and whether it is there."""
    sheet = f"{each.channel.artifact}-{each.channel.facts.sheet}"
    if each.present:
        return each.present
    if each.places or each.state != "not touched":
        return f"{sheet} is missing"
    return f"{sheet} {_WANTED[each.channel]}" if each.channel in _WANTED else "not needed yet"


_WANTED: Final = {
    Channel.SNAPSHOT: "is needed to resume a run",
    Channel.DIVERGENCE: "is needed to distinguish runs",
    Channel.REPLAY: "is needed to replay one",
}
"""What is missing where nothing in the code is about it."""


def _patterns(review: Review) -> Iterator[str]:
    if not review.patterns:
        return
    yield "## What they make together"
    yield ""
    for each in review.patterns:
        more = f" (in {each.count} places)" if each.count > 1 else ""
        yield f"- **{each.pattern.title}**{more}. {each.pattern.why} {each.pattern.remedy}"
        for sign in each.signs:
            yield f"  - {place(sign.path, sign.line)} {quote_markdown(sign.what)}"
    yield ""


def _findings(review: Review) -> Iterator[str]:
    yield "## Findings"
    yield ""
    groups = grouped(review.findings, Severity.MEDIUM)
    if not groups:
        yield "None of medium severity or above."
        yield ""
    for group in groups:
        yield from _group(group)
    said = besides(review, sum(len(group.items) for group in groups))
    if said:
        yield said
        yield ""


def besides(review: Review, written: int) -> str:
    """Describe the findings that the document leaves out."""
    light = len(review.findings) - written
    parts = []
    if light:
        parts.append(f"{light:,} of low severity or informational are in the JSON document.")
    if review.set_aside:
        parts.append(f"{review.set_aside:,} set aside by comments in the source or the baseline.")
    return " ".join(parts)


def _group(group: Group) -> Iterator[str]:
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
        yield f"- {place(each.finding.path, found.place.line)}{where} ({found.confidence:.0%} sure):"
        yield f"  {escape_markdown(group.said(each))}"
        if found.statement:
            yield f"  {quote_markdown(found.statement)}"
    if len(group.items) > PLACES_MAX:
        rest = group.items[PLACES_MAX:]
        lines = [place(each.finding.path, each.finding.found.place.line) for each in rest]
        more = f" and {len(lines) - LINES_MAX:,} more" if len(lines) > LINES_MAX else ""
        yield f"- also {', '.join(lines[:LINES_MAX])}{more}"
    yield ""


def _seeds(review: Review) -> Iterator[str]:
    yield "## Seed audit"
    yield ""
    yield seeds_line(review.draws)
    yield ""
    yield from stream_rows(review.streams)


def seeds_line(draws: Sequence[Draw]) -> str:
    """Who owns what is drawn outside of tests, in one line."""
    counted: dict[str, int] = {}
    total = 0
    for each in draws:
        if each.what is What.DRAWS and each.zone != "tests":
            total += 1
            counted[each.origin.owner.value] = counted.get(each.origin.owner.value, 0) + 1
    if not total:
        return "No draw was found outside of tests."
    parts = [f"{count} {_OWNERS[owner]}" for owner, count in sorted(counted.items())]
    return f"{pluralize(total, 'draw')} outside of tests: {', '.join(parts)}."


_OWNERS: Final = {
    "named-stream": "from named streams",
    "generator": "from generators made here",
    "parameter": "from generators handed in",
    "passed": "from generators of other objects",
    "process-wide": "from process-wide streams that are seeded",
    "nobody": "owned by nobody",
}


def stream_rows(found: Sequence[Stream]) -> Iterator[str]:
    """Streams as a table, orphans first; those without a draw are only counted."""
    idle = sum(each.is_idle for each in found)
    found = [each for each in found if not each.is_idle]
    if idle:
        yield idle_line(idle)
        yield ""
    if not found:
        return
    yield "| stream | owner | made or seeded | draws | first |"
    yield "|---|---|---|---|---|"
    for each in found[:ROWS_MAX]:
        whose = f"**orphan**: {cell(each.whose)}" if each.is_orphan else cell(each.whose)
        made = quote_markdown(each.made) if each.made else "not seen"
        yield f"| {quote_markdown(each.name)} | {whose} | {made} | {each.draws} | {quote_markdown(each.first)} |"
    yield ""
    if len(found) > ROWS_MAX:
        yield f"And {len(found) - ROWS_MAX:,} more: `twice audit seeds`."
        yield ""


def idle_line(count: int) -> str:
    """Describe the generators without a visible draw."""
    made = pluralize(count, "generator is", "generators are")
    return f"Besides, {made} made from a seed and handed on, or made again elsewhere."


def _effects(review: Review) -> Iterator[str]:
    yield "## Effects audit"
    yield ""
    yield effects_line(review.asks)
    yield ""
    yield from gap_rows(review.gaps)


def effects_line(asks: Sequence[Ask]) -> str:
    """Count in one line the effects outside of tests, governed and raw."""
    shown = [each for each in asks if each.zone != "tests"]
    if not shown:
        return "Nothing outside of tests asks the world."
    governed = sum(each.governed for each in shown)
    gaps = sum(each.is_gap for each in shown)
    return (
        f"{pluralize(len(shown), 'question')} to the world outside of tests: {governed} through the effects "
        f"layer, {gaps} raw in the core, {len(shown) - governed - gaps} harmless or beside the core."
    )


def gap_rows(gaps: Sequence[Ask]) -> Iterator[str]:
    """Raw questions of the core as a table, those of one kind in one file in one row."""
    rows = list(gap_cells(gaps))
    if not rows:
        return
    yield "| raw in the core | what | call | what becomes of it |"
    yield "|---|---|---|---|"
    for where, kind, call, ends in rows[:ROWS_MAX]:
        yield f"| {cell(where)} | {kind} | {quote_markdown(call)} | {cell(ends)} |"
    yield ""
    if len(rows) > ROWS_MAX:
        yield f"And {pluralize(len(rows) - ROWS_MAX, 'more row')}: `twice audit effects`."
        yield ""


_GRAVITY: Final = (
    "entropy", "clock", "network", "processes", "input", "process", "listing", "host",
    "environment", "files",
)  # fmt: skip


def gap_cells(gaps: Sequence[Ask]) -> Iterator[tuple[str, str, str, str]]:
    """Place, kind, call and end of raw questions, the gravest first.

    Those of one kind in one file share a row, and so do files that ask the same in the same way; of
    those whose answer was not followed, all of one kind do.
    """
    groups: dict[tuple[str, ...], list[Ask]] = {}
    for each in gaps:
        if each.use == "unseen":
            groups.setdefault((each.kind, each.use), []).append(each)
        else:
            groups.setdefault((each.kind, each.use, each.path), []).append(each)
    merged: dict[tuple[str, ...], list[Ask]] = {}
    for group in groups.values():
        first = group[0]
        key = (first.kind, first.use, "" if first.use == "unseen" else first.call)
        merged.setdefault(key, []).extend(group)
    rows = sorted(
        merged.values(), key=lambda group: (group[0].use == "unseen", _GRAVITY.index(group[0].kind))
    )
    for group in rows:
        first = group[0]
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        yield f"{first.path}:{first.line}{more}", first.kind, first.call, first.ends


def _unknowns(review: Review) -> Iterator[str]:
    yield "## What this review does not know"
    yield ""
    for each in review.unknowns:
        yield f"- {escape_markdown(each.what)} To know: {_tells(each.tells)}."
        for where in each.places:
            yield f"  - {quote_markdown(where)}"


def _tells(text: str) -> str:
    return f"`{text}`" if text.startswith("twice ") else text


def place(path: str, line: int) -> str:
    """Write a place in a file as a code span."""
    return quote_markdown(f"{path}:{line}")


def cell(text: str) -> str:
    """Escape a text for a table, where a bar would end the cell."""
    return escape_markdown(text).replace("|", "\\|")
