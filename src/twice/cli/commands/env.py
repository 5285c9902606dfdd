"""Print the environment that a run would have here, or compare it with a recorded one.

  twice env
  twice env --json
  twice env --against a.twice

--against takes a record, which is compared in its own surroundings, or a file that `twice env
--json` wrote, here or on another machine. Exit code 0 the same, 1 it differs.

The numeric probes run here each time. `record` and `verify` take their results from before, since the
machine was started, where the libraries, processor, variables and modes that they follow from are the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from twice.cli.options import AsJson, build_command, option
from twice.cli.output import align, tell
from twice.errors import ConfigError, RecordForeign
from twice.foundation.environment import EnvironmentDifference, Fingerprint, diff_fingerprints
from twice.foundation.printable import pluralize
from twice.recorder.environment.fingerprint import measure_in
from twice.recorder.environment.surroundings import Surroundings, for_recording
from twice.recorder.runrecord import RunRecord

_MEANING = {
    "numerics": "can change result bits",
    "identity": "can change what a program sees: order, text, versions",
    "note": "not known to change any result",
}


@build_command
def command(
    against: Annotated[Path | None, option("--against FILE", "a record, or twice env --json")],
    as_json: AsJson,
) -> int:
    """Measure, compare when asked to, and print."""
    if against is None:
        here = measure_in(for_recording(os.environ))
        return tell(here.to_json(), _describe(here), as_json=as_json)
    try:
        with RunRecord.open(against) as record:
            surroundings = Surroundings.from_json(record.identity["surroundings"])
            recorded = Fingerprint.from_json(record.identity["environment"])
    except RecordForeign as foreign:
        try:
            document = json.loads(against.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(
                f"{against} is neither a run record nor a description of an environment.",
                "Expected a record, or what `twice env --json` printed.",
                f"For example: twice env --json > {against.with_suffix('.json')}",
                path=str(against),
                record_says=foreign.happened,
            ) from error
        recorded, surroundings = Fingerprint.from_json(document), for_recording(os.environ)
    now = measure_in(surroundings)
    found = diff_fingerprints(recorded, now)
    compared = {
        "file": str(against),
        "same": not found,
        "numerics": any(one.affects == "numerics" for one in found),
        "differences": [one.to_json() for one in found],
    }
    document, lines = {**now.to_json(), "against": compared}, _compare(against, found)
    return tell(document, lines, as_json=as_json, code=1 if found else 0)


def _describe(fingerprint: Fingerprint) -> Iterator[str]:
    python, system, cpu = fingerprint.python, fingerprint.os, fingerprint.cpu
    yield f"{python.implementation} {python.version} on {system.system}, {cpu.arch}"
    blas = [
        (each.library, f"{each.internal_api} {each.version}, {each.architecture}, {pluralize(each.threads, 'thread')}")
        for each in fingerprint.blas
    ]  # fmt: skip
    rows = [
        ("python", f"{python.version}, {python.build}"),
        ("system", f"{system.system} {system.release}, {system.libc}"),
        ("processor", f"{cpu.model or cpu.arch}: {' '.join(cpu.features)}"),
        *(("library", f"{name} {version}") for name, version in fingerprint.libraries.items()),
        *blas,
        *(("dispatch", f"{name}: {value}") for name, value in fingerprint.dispatch.items()),
        *(("variable", f"{name}={value}") for name, value in fingerprint.variables.items()),
        (
            "probes",
            f"{pluralize(len(fingerprint.probes), 'short computation')}; --json prints their digests",
        ),
    ]
    yield from align(rows)
    yield "next: twice env --against RECORD"


def _compare(path: Path, found: Sequence[EnvironmentDifference]) -> Iterator[str]:
    if not found:
        yield f"same: this environment is that of {path}"
        return
    numeric = sum(one.affects == "numerics" for one in found)
    count = pluralize(len(found), "thing is", "things are")
    yield f"differs: {count} not as in {path}; {numeric or 'none'} of them can change result bits"
    for affects, meaning in _MEANING.items():
        rows = []
        for one in (each for each in found if each.affects == affects):
            was, now = (
                "(none)" if each is None else each or "(empty)" for each in (one.recorded, one.now)
            )
            rows.append((one.what, f"{was} -> {now}"))
        if rows:
            yield f"{affects}, {meaning}:"
            yield from align(rows)
    yield f"next: twice verify {path}" if path.suffix == ".twice" else "next: twice env --json"
