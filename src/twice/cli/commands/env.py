"""Print the environment that a run would have here, or compare it with a recorded one.

  twice env
  twice env --json
  twice env --against a.twice
  twice env --float
  twice env --float --float-profile x86-64-v3 --against there.json
  twice env --gpu --gpu-policy deterministic

--float loads every numerical library that is installed and prints its knobs: what is wanted of each by a variable or the
profile (of FILE, if none is given), what the library says, and whether that holds; then the probes that differ from the
stored results of other machines, or from FILE.

--gpu does the same for the libraries that compute on a GPU, and prints driver, cards and versions. No device is
initialised.

--against takes a record, which is compared in its own surroundings, or a file that `twice env
--json` wrote, here or on another machine. Exit code 0 the same, 1 it differs, or a knob
does not hold.

It also says whether the compiled twin (`pip install 'twice[fast]'`) is in force. Results do not depend on it.

The numeric probes run here each time. `record` and `verify` take their results from before, since the
machine was started, where the libraries, processor, variables and modes that they follow from are the same.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from twice.cli.options import AsJson, build_command, option, refuse_together, refuse_without
from twice.cli.output import align, tell
from twice.errors import ConfigError, RecordForeign
from twice.foundation.compiled import load_twin
from twice.foundation.environment import EnvironmentDifference, Fingerprint, diff_fingerprints
from twice.foundation.printable import pluralize
from twice.recorder.environment.fingerprint import measure_in, measure_numbers_in
from twice.recorder.environment.float_profile import apply_profile
from twice.recorder.environment.gpu_policy import apply_gpu_policy
from twice.recorder.environment.knobs import KnobReading
from twice.recorder.environment.reference_probes import (
    ProbeComparison,
    compare_with,
    compare_with_reference,
)
from twice.recorder.environment.surroundings import Surroundings, for_recording
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import FLOAT_PROFILES, GPU_POLICIES, parse_profile

_MEANING = {
    "numerics": "can change result bits",
    "identity": "can change what a program sees: order, text, versions",
    "note": "not known to change any result",
}


@build_command
def command(
    against: Annotated[Path | None, option("--against FILE", "a record, or twice env --json")],
    numbers: Annotated[bool, option("--float", "the knobs of numerical libraries, and the probes that differ")],
    profile: Annotated[str | None, option(
        "--float-profile PROFILE", "with --float: the profile whose knobs are wanted", FLOAT_PROFILES)],
    device: Annotated[bool, option("--gpu", "the knobs of libraries that compute on a GPU, and the device")],
    policy: Annotated[str | None, option(
        "--gpu-policy POLICY", "with --gpu: the policy whose knobs are wanted", GPU_POLICIES)],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Measure, compare when asked to, and print."""
    refuse_without({"--float-profile": profile}, {"--float": numbers})
    refuse_without({"--gpu-policy": policy}, {"--gpu": device})
    refuse_together(
        {"--gpu": device, "--float": numbers, "--against": against if device else None},
        "one of them at a time",
    )
    if device:
        return _tell_gpu(policy or "", as_json=as_json)
    surroundings, recorded, other = for_recording(os.environ), None, ""
    if against is not None:
        surroundings, recorded, other = _read_other(against, surroundings)
    if numbers:
        profile = profile or other
        found, knobs, _ = measure_numbers_in(apply_profile(surroundings, profile), profile)
        probes = (
            compare_with_reference(found, profile)
            if recorded is None
            else compare_with(found, recorded, str(against))
        )
        document = {**found.to_json(), "float": _to_json(profile, knobs, found, probes)}
        broken = probes.differing or any(row.holds is False for row in knobs)
        lines = _describe_numbers(profile, knobs, found, probes)
        return tell(document, lines, as_json=as_json, code=1 if broken else 0)
    now, twin = measure_in(surroundings), load_twin()[1] or "in force"
    if against is None or recorded is None:
        document = {**now.to_json(), "compiled_twin": twin}
        return tell(document, _describe(now, twin), as_json=as_json)
    differences = diff_fingerprints(recorded, now)
    compared = {
        "file": str(against),
        "same": not differences,
        "numerics": any(one.affects == "numerics" for one in differences),
        "differences": [one.to_json() for one in differences],
    }
    document, lines = {**now.to_json(), "against": compared}, _compare(against, differences)
    return tell(document, lines, as_json=as_json, code=1 if differences else 0)


def _read_other(path: Path, here: Surroundings) -> tuple[Surroundings, Fingerprint, str]:
    """Read what a record or a file holds of an environment: surroundings to compare it in, and its profile."""
    try:
        with RunRecord.open(path) as record:
            surroundings = Surroundings.from_json(record.identity["surroundings"])
            measured = Fingerprint.from_json(record.identity["environment"])
            return surroundings, measured, record.setup.float_profile
    except RecordForeign as foreign:
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(
                f"{path} is neither a run record nor a description of an environment.",
                "Expected a record, or what `twice env --json` printed.",
                f"For example: twice env --json > {path.with_suffix('.json')}",
                path=str(path),
                record_says=foreign.happened,
            ) from error
        measured, told = Fingerprint.from_json(document), document.get("float")
        profile = told.get("profile") if isinstance(told, dict) else ""
        return here, measured, parse_profile(profile or "")


def _tell_gpu(policy: str, *, as_json: bool) -> int:
    surroundings = apply_gpu_policy(for_recording(os.environ), policy)
    found, knobs, device = measure_numbers_in(surroundings, policy, "gpu")
    rows = [row.to_json() for row in knobs]
    document = {
        **found.to_json(),
        "gpu_policy": {"policy": policy or None, "knobs": rows, "device": device},
    }
    broken = any(row.holds is False for row in knobs)
    lines = _describe_gpu(policy, knobs, device)
    return tell(document, lines, as_json=as_json, code=1 if broken else 0)


def _describe_gpu(
    policy: str, knobs: Sequence[KnobReading], device: Mapping[str, Any]
) -> Iterator[str]:
    yield _count_knobs(f"policy {policy}" if policy else "no policy", knobs)
    yield from align([(row.name, *_describe_knob(row)) for row in knobs])
    versions = [f"{name} {version}" for name, version in device["versions"].items()]
    if device["cards"]:
        driver = f"driver {device['driver'] or 'unknown'}"
        yield f"device: {', '.join([*device['cards'], driver, *versions])}"
    else:
        loaded = f"; loaded: {', '.join(versions)}" if versions else ""
        yield f"device: no GPU is here: knobs are read back, no device was asked{loaded}"
    yield f"next: twice record PROGRAM --seed N --gpu-policy {policy or GPU_POLICIES[0]}"


def _count_knobs(of: str, knobs: Sequence[KnobReading], *, differs: bool = False) -> str:
    counts = Counter(row.holds for row in knobs)
    answer = "differs" if counts[False] or differs else "holds"
    return f"{answer}: {of}; {pluralize(counts[True], 'knob holds', 'knobs hold')}, {counts[False] or 'none'} not"


def _to_json(
    profile: str, knobs: Sequence[KnobReading], found: Fingerprint, probes: ProbeComparison
) -> Mapping[str, Any]:
    return {
        "profile": profile or None,
        "knobs": [row.to_json() for row in knobs],
        "probes": {
            "n": len(found.probes),
            "reference": probes.reference or None,
            "compared": len(probes.compared),
            "differing": list(probes.differing),
        },
    }


def _describe_numbers(
    profile: str, knobs: Sequence[KnobReading], found: Fingerprint, probes: ProbeComparison
) -> Iterator[str]:
    of = f"profile {profile}" if profile else "no profile"
    yield _count_knobs(of, knobs, differs=bool(probes.differing))
    yield from align([(row.name, *_describe_knob(row)) for row in knobs])
    if not probes.reference:
        yield f"probes: {len(found.probes)} run; no stored results for {of}: compare with another machine by --against"
    else:
        differing = ", ".join(probes.differing) or "none"
        yield (
            f"probes: {len(found.probes)} run, {len(probes.compared)} compared with {probes.reference}; "
            f"differing: {differing}"
        )
    yield "next: twice record PROGRAM --seed N --float-profile x86-64-v3"


def _describe_knob(row: KnobReading) -> tuple[str, str]:
    if row.wanted is None:
        return "left alone", row.read_back or "nothing uses it"
    answer = {True: "holds", False: "DOES NOT HOLD", None: "not told"}[row.holds]
    read_back = "" if row.read_back is None else f", {row.read_back} in force"
    why = f": {row.why}" if row.why else ""
    return answer, f"{row.wanted or 'unset'} wanted{read_back}{why}"


def _describe(fingerprint: Fingerprint, twin: str) -> Iterator[str]:
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
        ("compiled twin", twin),
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
