"""The values in the run record of a render, by the pointers of a log: the gate holds "recorded" values against it.

The record of a Python program has seed, arguments, variables, machine, packages, code and digests of what it read and
wrote. Of any other program, version, arguments and the hashes of its outputs are known, and nothing of what it read.

Invariant: reading a record executes nothing of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

from twice.assets.log.io import escape, parse, read_bytes
from twice.assets.render.command import is_outside
from twice.assets.store.embed import remove_note
from twice.errors import TwiceError
from twice.foundation.digests import Algorithm, digest_bytes

WATCHED_FORMAT: Final = "twice.asset-render/1"
_FOLDER: Final = re.compile("^[{](program|folder)[}]/")
"""The folder of the command has a name of its own where the script lies in another."""
_DEVICE: Final = re.compile("/dev/(?:u?random|hwrng)")
_UNGOVERNED: Final = ("clock.", "entropy.", "process.start", "network.")


@dataclass(frozen=True, slots=True)
class RunValues:
    """What one record says.

    Args:
        values: what it has of a log, by JSON pointer; of the inputs it has the program's own code.
        written: digests of the files that the run wrote, by their path in its folder.
        read: digests of the files that it read there and did not write.
        reads: how often it read a clock, drew from the system's entropy, started a program or connected, by operation,
            and which files it read that no input names.
        libraries: those whose versions a record has if they are installed; none of a watched program.
        is_watched: whether the program was watched from outside alone.
        trouble: why the record cannot be read; "" where it can.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)
    read: Mapping[str, str] = field(default_factory=dict)
    reads: Mapping[str, int] = field(default_factory=dict)
    libraries: frozenset[str] = frozenset()
    is_watched: bool = False
    trouble: str = ""

    def has_written(self, output: str, path: Path) -> bool:
        """Whether the run wrote the bytes of a file, as they are or without a log's note in them."""
        wanted = self.written.get(output, "")
        if not wanted:
            return False
        data, algorithm = path.read_bytes(), Algorithm(wanted.partition(":")[0])
        return wanted in {str(digest_bytes(each, algorithm)) for each in (data, remove_note(data))}


def read_run(path: Path) -> RunValues:
    """Read the record of a render; one that cannot be read says so."""
    try:
        if path.suffix == ".twice":
            return _read_recorded(path)
        said = parse(read_bytes(path), path.name)
    except TwiceError as error:
        return RunValues(trouble=error.happened)
    if not isinstance(said, dict) or said.get("format") != WATCHED_FORMAT:
        return RunValues(trouble="it is no record of a render")
    argv, outputs = said.get("argv"), said.get("outputs")
    if not isinstance(argv, list) or not isinstance(outputs, dict):
        return RunValues(trouble="it lacks arguments or outputs")
    written = {name: f"sha256:{digest}" for name, digest in outputs.items()}
    values: dict[str, Any] = {"/recipe/argv": argv}
    program = said.get("program")
    if isinstance(program, dict) and program.get("version"):
        name = Path(str(argv[0])).name
        values |= {"/model/name": name, "/model/version": program["version"]}
        values |= {"/audio/export/encoder": name, "/audio/export/version": program["version"]}
        values[f"/environment/packages/{escape(name)}"] = program["version"]
    devices = Counter(f"the file {each}" for part in argv for each in _DEVICE.findall(str(part)))
    return RunValues(values, written, reads=devices, is_watched=True)


def _read_recorded(path: Path) -> RunValues:
    from twice.recorder.effects import ops
    from twice.recorder.environment.libraries import LIBRARIES
    from twice.recorder.runrecord import RunRecord

    program: Any
    with RunRecord.open(path) as run:
        if run.is_prefix:
            return RunValues(trouble="it ends before its run does")
        events = [*run.strict_reads(), *run.lenient_reads(), *chain(*run.actor_reads().values())]
        identity, program, seed = run.identity, run.recorded_program.to_json(), run.seed.value
    names = {each.number: each.name for each in vars(ops).values() if isinstance(each, ops.Op)}
    target = program["target"]
    is_script = program["kind"] == "script"
    beside = f"{Path(target).parent}/".removeprefix("./") if is_script else ""

    def to_own(path: str) -> str:
        return _FOLDER.sub(lambda found: beside if found[1] == "program" else "", path)

    written: dict[str, str] = {}
    read: dict[str, str] = {}
    reads: Counter[str] = Counter()
    for number, said in cast("list[tuple[int, Any]]", events):
        name = names.get(number, "")
        if name == "files.written":
            written[to_own(said[0])] = said[1][1]
        elif name == "files.read" and _FOLDER.match(said[0]) and said[1][0] == "read":
            at = to_own(said[0])
            read |= {} if at in written else {at: said[1][1]}
        elif name.startswith(_UNGOVERNED):  # Something but seed and inputs can decide a result.
            reads[name] += 1
        elif name == "files.read" and is_outside(str(said[0])):
            reads[f"the file {said[0]}"] += 1
    machine, code = identity["environment"], identity["code"]["files"]
    digests = {name: digest.removeprefix("sha256:") for name, digest in code.items()}
    system, cpu, variables = machine["os"], machine["cpu"], identity["surroundings"]["variables"]
    start = [target] if is_script else ["-m", target]
    versions = {"python": machine["python"]["version"], **machine["libraries"]}
    # Of a secret the record has the name alone.
    given = {e["name"]: e.get("value", "***") for e in variables if e["source"] == "explicit"}
    surroundings = {"/environment/locale": "LC_ALL", "/environment/timezone": "TZ"}
    values = {
        "/seed/effective": str(seed),
        "/recipe/argv": ["python", *start, *program["arguments"]],
        "/recipe/env": given,
        "/recipe/inputs": digests,
        "/model/name": target,
        **({"/model/sha256": digests[target]} if target in digests else {}),
        **({} if machine["gpu"] else {"/environment/gpu": {}}),
        "/environment/os": f"{system['system']} {system['release']}, {system['libc']}",
        **{at: given[name] for at, name in surroundings.items() if name in given},
        "/audio/export/encoder": "python",
        "/audio/export/version": machine["python"]["version"],
        "/environment/cpu/arch": cpu["arch"],
        **({"/environment/cpu/model": cpu["model"]} if cpu.get("model") else {}),
        "/environment/cpu/features": list(cpu["features"]),
        **{f"/environment/packages/{escape(name)}": version for name, version in versions.items()},
    }
    return RunValues(values, written, read, reads, LIBRARIES)
