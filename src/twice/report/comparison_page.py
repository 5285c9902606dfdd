"""The sections about two records: the verdict first, then where, what, why.

Invariant: the verdict is the one that the diagnosis gave, word for word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.diagnosis.divergence import Divergence, OperationFound
from twice.recording.runrecord import RunRecord
from twice.report.comparison import events, partings
from twice.report.excerpt import excerpt
from twice.report.overview import ending_text, overview
from twice.report.page import (
    command,
    document,
    escape,
    paragraphs,
    section,
    table,
)
from twice.report.record_page import identity_rows, streams_table, world_table
from twice.report.strips import figure

_VERDICTS = {
    "same": "good",
    "within-tolerance": "good",
    "extra-read": "good",
    "localised": "bad",
    "candidates": "bad",
    "unlocalised": "bad",
    "non-reproducing": "unsure",
    "not-same-input": "unsure",
}


def page_of_two(a: RunRecord, b: RunRecord, found: Divergence) -> str:
    """A page about two records and what the diagnosis found."""
    told = (overview(a), overview(b))
    return document(
        f"{found.result}: {a.path.name} and {b.path.name}",
        [_header(a, b, found), *_sections(a, b, found, told)],
    )


def _sections(
    a: RunRecord, b: RunRecord, found: Divergence, told: tuple[dict[str, Any], dict[str, Any]]
) -> Iterator[str]:
    if found.input_differences:
        rows = [(row.what, row.a, row.b) for row in found.input_differences]
        yield section("Not the same input", table(("what", a.path.name, b.path.name), rows))
    if found.operation is not None:
        yield section("First differing operation", _operation(found.operation, a, b))
    yield section("Fields", _fields(found, a, b))
    yield section("Why", _attribution(found))
    ticks = max(a.ticks, b.ticks)
    mark = found.compare_point.tick if found.compare_point is not None else None
    mark = None if mark is None else max(mark, 0)
    yield section(
        "Where they differ",
        figure(partings(a, b), ticks, mark=mark, key=("some points differ", "every point differs")),
        note="Per component, over the points that both runs have."
        + (" The runs come together again later." if found.reconverges else ""),
    )
    for record in (a, b):
        yield section(
            f"Timeline of {record.path.name}",
            figure(events(record), record.ticks, mark=_inside(mark, record), key=("few", "many")),
        )
    yield section("Surroundings and environment", _surroundings(found, a, b))
    yield section("Both runs", _identities(a, b, told))
    for record, one in zip((a, b), told, strict=True):
        yield section(
            f"Streams and world of {record.path.name}", streams_table(one), world_table(one)
        )
    said = [*(f"observed: {text}" for text in found.evidence), *_caveats(found)]
    yield section("Evidence and caveats", paragraphs(said))
    yield command(f"twice diagnose {a.path} {b.path}")


def _header(a: RunRecord, b: RunRecord, found: Divergence) -> str:
    title = found.headline().partition(": ")[2] or found.result
    lines = [
        f"{record.path.name}: {record.setup.program}, seed {record.seed.value}, "
        f"{record.ticks:,} ticks, {ending_text(record)}"
        for record in (a, b)
    ]
    if found.compare_point is not None:
        point = found.compare_point
        lines.append(
            f"first differing compare-point {point.index:,} ({point.name} of tick {point.tick:,}): "
            f"{', '.join(found.components)}"
        )
    return (
        f'<header class="{_VERDICTS[found.result]}"><p class="verdict">{escape(found.result)}</p>'
        f"<h1>{escape(title)}</h1>{paragraphs(lines)}</header>"
    )


def _operation(operation: OperationFound, a: RunRecord, b: RunRecord) -> str:
    """The line in its surroundings, what differs first, and both values."""
    values = "".join(
        f"<div><b>{escape(operation.name)} in {escape(record.path.name)}</b>"
        f"<code>{escape(value)}</code></div>"
        for record, value in ((a, operation.a), (b, operation.b))
    )
    place = f"{operation.file}:{operation.line}, in {operation.function}"
    return (
        f"<p><code>{escape(place)}</code></p>{excerpt(operation, a)}"
        f'<div class="values">{values}</div>'
    )


def _fields(found: Divergence, a: RunRecord, b: RunRecord) -> str:
    rows = [
        (
            one.path,
            one.kind if one.of <= 1 else f"{one.kind}, {one.differing:,} of {one.of:,}",
            one.a,
            one.b,
            "-" if one.ulps is None else f"{one.ulps:,}",
        )
        for one in found.fields
    ]
    return table(("field", "kind", a.path.name, b.path.name, "ulps"), rows)


def _attribution(found: Divergence) -> str:
    parts = []
    for entry in found.attribution:
        share = round(100 * entry.confidence)
        parts.append(
            f'<div class="channel"><b>{escape(entry.channel.value)}</b> {share} %'
            f'<svg viewBox="0 0 100 1" preserveAspectRatio="none" role="img" '
            f'aria-label="{share} percent"><rect class="v3" width="{share}" height="1"/></svg>'
            f"{paragraphs(entry.evidence)}"
            f'<p class="soft">settled in artifact {escape(entry.channel.artifact)}; to rule it out: '
            f"{escape(entry.channel.facts.rule_out)}</p></div>"
        )
    return "".join(parts)


def _surroundings(found: Divergence, a: RunRecord, b: RunRecord) -> str:
    rows: list[tuple[object, object, object]] = [*found.surroundings]
    rows += [
        (entry.get("what"), entry.get("recorded"), entry.get("now")) for entry in found.environment
    ]
    if not rows:
        return paragraphs(
            ["No difference: hash seed, threads, variables, libraries, probes."], "soft"
        )
    return table(("what", a.path.name, b.path.name), rows)


def _identities(
    a: RunRecord, b: RunRecord, told: tuple[Mapping[str, Any], Mapping[str, Any]]
) -> str:
    one, two = (_by_name(record, each) for record, each in zip((a, b), told, strict=True))
    names = [*one, *(name for name in two if name not in one)]
    rows = [
        (
            name,
            one.get(name, "-"),
            "the same" if one.get(name) == two.get(name) else two.get(name, "-"),
        )
        for name in names
    ]
    return table(("", a.path.name, b.path.name), rows)


def _by_name(record: RunRecord, told: Mapping[str, Any]) -> dict[str, str]:
    joined: dict[str, str] = {}
    last = ""
    for name, value in identity_rows(record, told):
        last = name or last
        joined[last] = value if name else f"{joined[last]}; {value}"
    return joined


def _caveats(found: Divergence) -> Iterator[str]:
    yield from (f"not in state(): {path}" for path in found.blind_spots)
    yield from (f"caveat: {text}" for text in found.caveats)


def _inside(mark: int | None, record: RunRecord) -> int | None:
    return mark if mark is not None and mark < record.ticks else None
