"""The review of a project as a page: the verdict, what to do, the ten channels, findings, audits.

Invariant: text of the reviewed code is escaped; the page says what the Markdown says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from twice.checking.auditing.streams import Stream
from twice.checking.reviewing.grouping import Group, grouped
from twice.checking.reviewing.markdown import (
    LINES_MAX,
    PLACES_MAX,
    ROWS_MAX,
    artifact,
    basis,
    besides,
    counts,
    effects_line,
    gap_cells,
    idle_line,
    seeds_line,
    settles,
)
from twice.checking.reviewing.review import Review
from twice.foundation.severity import Severity
from twice.report.page import document, escape, paragraphs, section, table

_VERDICTS = {"broken": "bad", "doubtful": "unsure", "nothing-found": "good"}
_STATES = {"broken": "bad", "doubtful": "unsure", "clear": "good", "not touched": "soft"}
_WEIGHTS = {Severity.CRITICAL: "bad", Severity.HIGH: "bad", Severity.MEDIUM: "unsure"}


def page_of_review(review: Review) -> str:
    """A page about the review of a project."""
    return document("Determinism review", [_header(review), *_sections(review)])


def _header(review: Review) -> str:
    verdict = review.verdict
    words = verdict.result.replace("-", " ")
    lines = paragraphs([basis(review), f"Confidence {verdict.confidence:.0%}."])
    return (
        f'<header class="{_VERDICTS[verdict.result]}"><p class="verdict">{escape(words)}</p>'
        f"<h1>{escape(verdict.text)}</h1>{lines}</header>"
    )


def _sections(review: Review) -> Iterator[str]:
    yield section("What to do, in this order", _steps(review))
    yield section("The ten channels", _channels(review))
    yield section("What they make together", _patterns(review))
    groups = grouped(review.findings, Severity.MEDIUM)
    said = besides(review, sum(len(group.items) for group in groups))
    if not groups:
        said = f"None of medium weight or above. {said}"
    yield section("Findings", *map(_group, groups), paragraphs([said] if said else [], "soft"))
    yield section("Seed audit", _streams(review.streams), note=seeds_line(review.draws))
    yield section("Effects audit", _gaps(review), note=effects_line(review.asks))
    yield section("What this review does not know", _unknowns(review))


def _steps(review: Review) -> str:
    items = []
    for step in review.steps:
        run = f" <code>{escape(step.command)}</code>" if step.command else ""
        items.append(
            f"<li><b>{escape(step.title)}</b>{escape(settles(step))}.{run} "
            f'<span class="soft">{escape(step.reason)}</span></li>'
        )
    return f"<ol>{''.join(items)}</ol>" if items else ""


def _tag(text: str, kind: str) -> str:
    return f'<span class="tag {kind}">{escape(text)}</span>'


def _channels(review: Review) -> str:
    rows = "".join(
        f"<tr><td>{escape(each.channel.value)}</td><td>{_tag(each.state, _STATES[each.state])}</td>"
        f"<td>{escape(counts(each))}</td><td>{each.places:,}</td>"
        f"<td><code>{escape(each.first)}</code></td><td>{escape(artifact(each))}</td></tr>"
        for each in review.channels
    )
    names = ("channel", "state", "findings", "places", "first", "artifact")
    head = "".join(f"<th>{name}</th>" for name in names)
    return f'<div class="wide"><table class="broad"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _patterns(review: Review) -> str:
    parts = []
    for each in review.patterns:
        more = f" (in {each.count} places)" if each.count > 1 else ""
        signs = "".join(
            f"<li><code>{escape(f'{sign.path}:{sign.line}')}</code> {escape(sign.what)}</li>"
            for sign in each.signs
        )
        parts.append(
            f"<h3>{escape(each.pattern.title)}{escape(more)}</h3>"
            f"{paragraphs([f'{each.pattern.why} {each.pattern.remedy}'])}<ul>{signs}</ul>"
        )
    return "".join(parts)


def _group(group: Group) -> str:
    count = f", {len(group.items)} places" if len(group.items) > 1 else ""
    places = []
    for each in group.items[:PLACES_MAX]:
        found = each.finding.found
        where = f" in {found.symbol}" if found.symbol else ""
        statement = f"<pre>{escape(found.statement)}</pre>" if found.statement else ""
        places.append(
            f"<li><code>{escape(f'{each.finding.path}:{found.place.line}')}</code>"
            f'<span class="soft">{escape(where)}, {found.confidence:.0%} sure</span><br>'
            f"{escape(group.said(each))}{statement}</li>"
        )
    rest = group.items[PLACES_MAX:]
    named = [f"{each.finding.path}:{each.finding.found.place.line}" for each in rest[:LINES_MAX]]
    if len(rest) > LINES_MAX:
        named.append(f"and {len(rest) - LINES_MAX:,} more")
    also = f"<p>also {', '.join(f'<code>{escape(one)}</code>' for one in named)}</p>"
    return (
        f"<h3>{_tag(group.severity.word, _WEIGHTS.get(group.severity, 'soft'))} "
        f'{escape(group.rule)} <span class="soft">{escape(group.first.finding.channel)}'
        f"{escape(count)}</span></h3>"
        f"{paragraphs([' '.join(filter(None, [group.why, group.risk, group.kind]))])}"
        f"<p><b>Do:</b> {escape(group.first.finding.remedy)}</p>"
        f"<ul>{''.join(places)}</ul>{also if named else ''}"
    )


def _streams(every: Sequence[Stream]) -> str:
    found = [each for each in every if not each.is_idle]
    idle = len(every) - len(found)
    rows = "".join(
        f"<tr><td><code>{escape(each.name)}</code></td>"
        f"<td>{_tag('orphan', 'bad') if each.is_orphan else ''} {escape(each.whose)}</td>"
        f"<td>{escape(each.made or 'not seen')}</td><td>{each.draws}</td>"
        f"<td>{escape(each.first)}</td></tr>"
        for each in found[:ROWS_MAX]
    )
    return (
        _table(("stream", "owner", "made or seeded", "draws", "first"), rows)
        + _more(len(found))
        + paragraphs([idle_line(idle)] if idle else [], "soft")
    )


def _gaps(review: Review) -> str:
    rows = list(gap_cells(review.gaps))
    head = ("raw in the core", "what", "call", "what becomes of it")
    return table(head, rows[:ROWS_MAX]) + _more(len(rows))


def _table(names: Sequence[str], rows: str) -> str:
    """A table whose rows are markup already; empty when there is none."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    return f'<div class="wide"><table class="broad"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _more(count: int) -> str:
    return paragraphs([f"And {count - ROWS_MAX:,} more."], "soft") if count > ROWS_MAX else ""


def _unknowns(review: Review) -> str:
    parts = []
    for each in review.unknowns:
        shown = "".join(f"<li><code>{escape(place)}</code></li>" for place in each.places)
        is_command = each.tells.startswith("twice ")
        tells = f"<code>{escape(each.tells)}</code>" if is_command else escape(each.tells)
        parts.append(
            f'<li>{escape(each.what)} <span class="soft">To know:</span> {tells}'
            f"{f'<ul>{shown}</ul>' if shown else ''}</li>"
        )
    return f"<ul>{''.join(parts)}</ul>"
