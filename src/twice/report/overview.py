"""What a record says about itself, gathered for ``show``, ``ls`` and pages.

Everything comes from the record's own documents and logs; nothing is executed. A record from a
stranger may hold anything in them, so a member that has not the expected form is shown as missing.

Invariant: the document has the same members for every record that opens.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from twice.errors import TwiceError
from twice.foundation.printable import pluralize
from twice.recorder.effects.network.connection_summary import summarize_connections
from twice.recorder.record.prefix import Progress
from twice.recorder.record_form import describe_parent
from twice.recorder.runrecord import RunRecord
from twice.report.values import inline, mapping

FORMAT = "twice.record/1"
_FILES_SHOWN = 12


def overview(record: RunRecord, *, progress: Progress | None = None) -> dict[str, Any]:
    """Return a record as ``twice show --json`` prints it (``twice.record/1``).

    Args:
        record: open.
        progress: called with bytes done and bytes in all, while the file is checked.
    """
    reader, damage = record.reader, None
    if reader.tear is not None:
        damage = f"{reader.tear.reason}; the bytes before {reader.tear.offset} are intact"
    else:
        try:
            reader.check(progress)
        except TwiceError as error:
            damage = f"{error.id} {error.happened}"
    return {
        **describe_run(record),
        "intact": damage is None,
        "damage": damage,
        "snapshots": [entry._asdict() for entry in reader.snapshots],
        "connections": [one.to_json() for one in summarize_connections(record.connections())],
        "size": reader.summary(),
    }


def describe_run(record: RunRecord) -> dict[str, Any]:
    """Return what of that stands at a record's start and end, whatever lies between."""
    identity, reader = record.identity, record.reader
    ending, setup, tear = record.ending or {}, mapping(identity.get("setup")), reader.tear
    return {
        "format": FORMAT,
        "record": str(record.path),
        "run_id": record.run_id,
        "program": str(record.setup.program),
        "arguments": list(record.setup.program.arguments),
        "seed": str(record.seed.value),
        "seed_rule": setup.get("seed_rule"),
        "config": dict(record.config),
        "config_hash": identity.get("config_hash"),
        "class": record.setup.predicate.summary(),
        "policies": dict(mapping(setup.get("policies"))),
        **{
            name: dict(mapping(identity.get(name)))
            for name in ("code", "environment", "surroundings", "behaviours")
        },
        "parent": None if record.parent is None else dict(record.parent),
        "complete": record.complete,
        "tear": tear
        and {name: getattr(tear, name) for name in ("reason", "offset", "points", "damaged")},
        "ending": record.ending,
        "ticks": record.ticks,
        "points": len(reader.points),
        **{name: dict(mapping(ending.get(name))) for name in ("components", "streams", "effects")},
        "record_format": reader.format,
        "digest": str(reader.algorithm),
    }


def identity_rows(record: RunRecord, told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the run depends on, as names and texts; an unnamed row goes on with the last name."""
    environment, code = told["environment"], told["code"]
    python, system = mapping(environment.get("python")), mapping(environment.get("os"))
    cpu, libraries = mapping(environment.get("cpu")), mapping(environment.get("libraries"))
    yield "run", told["run_id"]
    if record.parent is not None:
        yield "parent", describe_parent(record.parent)
    if told["arguments"]:
        yield "arguments", shlex.join(told["arguments"])
    yield "config", inline(told["config"])
    yield "class", f"{told['class']['class']}, scope {told['class']['scope']}"
    yield "predicate", record.setup.predicate.sentence()
    yield (
        "policies",
        ", ".join(f"{key} {value}" for key, value in told["policies"].items() if value),
    )
    dirty = " with uncommitted changes" if code.get("dirty") else ""
    yield "code", f"{code.get('commit') or 'no commit'}{dirty}"
    files = {**mapping(code.get("files")), **mapping(mapping(told["ending"]).get("files"))}
    for name, digest in sorted(files.items())[:_FILES_SHOWN]:
        yield "", f"{name} {digest}"
    if len(files) > _FILES_SHOWN:
        yield "", f"and {pluralize(len(files) - _FILES_SHOWN, 'more file')}"
    yield "python", f"{python.get('version')} {python.get('implementation')}"
    yield "system", f"{system.get('system')} {system.get('release')}, {system.get('libc')}"
    yield "processor", f"{cpu.get('arch')} {cpu.get('model')}"
    yield "libraries", ", ".join(f"{name} {version}" for name, version in libraries.items())
    pinned = mapping(told["surroundings"]).get("variables")
    rows = [mapping(row) for row in pinned] if isinstance(pinned, list) else []
    values = [f"{row.get('name')}={row.get('value', row.get('redacted'))}" for row in rows]
    yield "variables", " ".join(values) or "none"


def state_text(told: Mapping[str, Any]) -> str:
    """Return whether an overview's file is intact, torn or damaged, in one word."""
    if told["intact"]:
        return "intact"
    return "damaged" if told["complete"] else "torn"


def no_reads_text(told: Mapping[str, Any]) -> str:
    """Return what it means that an overview lists no read of the world."""
    if told["ending"] is None:
        return "not known: the list of reads is at the end of a record, and this one is torn"
    return "the run read nothing from the world"
