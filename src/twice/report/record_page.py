"""The sections about one record: what it is, what happened when, what it read and printed.

Invariant: everything on the page is in the record; nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.recording.runrecord import RunRecord
from twice.report.comparison import changes, events
from twice.report.overview import ending_text, overview, parent_text
from twice.report.page import (
    command,
    document,
    escape,
    facts,
    paragraphs,
    preformatted,
    section,
    table,
)
from twice.report.strips import figure
from twice.report.values import inline, mapping

_PRINTED_BYTES = 16 * 1024
_FILES_SHOWN = 12


def page_of_one(record: RunRecord) -> str:
    """A page about one record."""
    told = overview(record)
    title = f"{record.path.name}: {told['program']}"
    return document(title, [_header(record, told), *sections(record, told), _footer(record)])


def sections(record: RunRecord, told: Mapping[str, Any]) -> Iterator[str]:
    """Everything below the header."""
    yield section(
        "Timeline",
        figure(events(record), record.ticks, key=("few", "many")),
        note="What happened in which tick. Snapshots stand before their tick.",
    )
    yield section(
        "What changed when",
        figure(
            changes(record), record.ticks, key=("changed at some points", "changed at every point")
        ),
        note="Per component: where its digest is not the one of the point before.",
    )
    yield section("Identity", facts(identity_rows(record, told)))
    yield section("Random streams", streams_table(told))
    yield section(
        "Read from the world",
        world_table(told),
        note="The closed-world manifest: every read that went through the effects layer.",
    )
    yield section("Output", *_output(record))
    yield section("Size", _size(told))


def identity_rows(record: RunRecord, told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the run is a function of."""
    environment, code = told["environment"], told["code"]
    python, system = mapping(environment.get("python")), mapping(environment.get("os"))
    cpu, libraries = mapping(environment.get("cpu")), mapping(environment.get("libraries"))
    yield "program", told["program"]
    yield "seed", told["seed"]
    yield "config", inline(told["config"])
    yield "run", told["run_id"]
    if told["parent"] is not None:
        yield "made from", parent_text(record)
    yield "promise", record.setup.predicate.sentence()
    policies = (f"{name} {value}" for name, value in told["policies"].items() if value)
    yield "policies", ", ".join(policies)
    dirty = ", with uncommitted changes" if code.get("dirty") else ""
    yield "code", f"{code.get('commit') or 'no commit'}{dirty}"
    files = {**mapping(code.get("files")), **mapping(mapping(told["ending"]).get("files"))}
    for name, digest in sorted(files.items())[:_FILES_SHOWN]:
        yield "", f"{name} {digest}"
    if len(files) > _FILES_SHOWN:
        yield "", f"and {len(files) - _FILES_SHOWN} more files"
    yield "python", f"{python.get('version')} {python.get('implementation')}"
    yield "system", f"{system.get('system')} {system.get('release')}, {system.get('libc')}"
    yield "processor", f"{cpu.get('arch')} {cpu.get('model')}"
    yield "libraries", ", ".join(f"{name} {version}" for name, version in libraries.items())
    pinned = mapping(told["surroundings"]).get("variables")
    if isinstance(pinned, list):
        rows = (mapping(row) for row in pinned)
        shown = (f"{row.get('name')}={row.get('value', row.get('redacted'))}" for row in rows)
        yield "surroundings", " ".join(shown)


def streams_table(told: Mapping[str, Any]) -> str:
    """The streams and how far each was drawn from."""
    rows = [
        (name, mapping(entry).get("kind"), mapping(entry).get("draws"), mapping(entry).get("seed"))
        for name, entry in told["streams"].items()
    ]
    shown = [
        (name, kind, "-" if draws is None else draws, seed) for name, kind, draws, seed in rows
    ]
    return table(("stream", "kind", "draws", "sub-seed"), shown)


def world_table(told: Mapping[str, Any]) -> str:
    """How often which source was read."""
    rows = [
        (name, kind, count)
        for kind, reads in told["effects"].items()
        for name, count in mapping(reads).items()
    ]
    if rows:
        return table(
            ("source", "asked by", "reads"), [(n, _ASKED.get(k, k), c) for n, k, c in rows]
        )
    return paragraphs(["Nothing was read from the world."], "soft")


_ASKED = {
    "strict": "the program",
    "lenient": "libraries, for themselves",
    "ungoverned": "threads without an actor (not recorded)",
}


def _header(record: RunRecord, told: Mapping[str, Any]) -> str:
    ended = ending_text(record)
    kind = "good" if told["intact"] and ended == "completed" else "unsure"
    kind = kind if told["intact"] else "bad"
    state = "intact" if told["intact"] else "damaged or torn"
    lines = [
        f"{told['ticks']:,} ticks, {told['points']:,} compare-points",
        f"{len(told['snapshots']):,} snapshots, {told['size']['file_bytes']:,} bytes",
        f"{told['class']['class']}, scope {told['class']['scope']}",
    ]
    if told["damage"]:
        lines.append(told["damage"])
    exception = mapping(mapping(told["ending"]).get("exception"))
    if exception:
        lines.append(f"{exception.get('type')}: {exception.get('message')}")
    caveats = mapping(told["ending"]).get("caveats")
    lines += [f"caveat: {text}" for text in caveats] if isinstance(caveats, list) else []
    return (
        f'<header class="{kind}"><p class="verdict">run record, {escape(ended)}, {state}</p>'
        f"<h1>{escape(told['program'])}, seed {escape(told['seed'])}</h1>"
        f"{paragraphs([record.path.name, *lines])}</header>"
    )


def _output(record: RunRecord) -> Iterator[str]:
    for name, data in zip(("standard output", "standard error"), record.printed(), strict=True):
        if data:
            shown = data[:_PRINTED_BYTES].decode("utf-8", "backslashreplace")
            rest = f", the first {_PRINTED_BYTES:,} shown" if len(data) > _PRINTED_BYTES else ""
            yield f"<h3>{name}, {len(data):,} bytes{rest}</h3>"
            yield preformatted(shown)


def _size(told: Mapping[str, Any]) -> str:
    rows = [
        (kind, entry["count"], f"{entry['stored_bytes']:,}", f"{entry['raw_bytes']:,}")
        for kind, entry in told["size"]["blocks"].items()
        if entry["count"]
    ]
    return table(("blocks", "how many", "bytes stored", "bytes before compression"), rows)


def _footer(record: RunRecord) -> str:
    return command(f"twice verify {record.path}")
