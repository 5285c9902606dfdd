"""Checks on where values come from, and that the store's own run record says the same.

A deterministic promise never rests on what a person said alone. A value that is said to be recorded has to be what the
record has, wherever the record has it.

Not covered: a record that somebody forged together with its log, and what a program that was watched from outside read.

Invariant: a "recorded" value that the record refutes, or that no record can hold, is never green.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from twice.assets.gate.facts import AssetFacts
from twice.assets.gate.report import GateRow, RowStatus
from twice.assets.gate.run_values import RunValues
from twice.assets.log.block import EXCUSE
from twice.assets.log.io import escape, resolve, short, to_document
from twice.assets.log.models import EvidenceLevel, LogEvidence, RerenderOutcome, find_evidence
from twice.assets.render.command import count_threads, find_renderer
from twice.foundation.printable import pluralize

_MAKING: Final = ("model", "seed", "art", "audio", "environment", "recipe")
_DECIDING: Final = ("seed", "model", "recipe")
_NEEDED: Final = {
    EvidenceLevel.RECORDED: ("record",),
    EvidenceLevel.IMPORTED: ("file", "sha256", "chunk"),
    EvidenceLevel.DECLARED: ("who", "when"),
}
_OF_RUNS: Final = re.compile(
    "/art/(?:width_px|height_px|aspect_ratio|workflow|batch_index|batch_size)"
    "|/audio/(?:source|production|export)"
)
"""What recording a render says of a picture or a sound besides reasons; a prompt is in no record."""
_RECORD_ANEW: Final = "record it anew: twice asset record; or declare what no run says"


def check_sources(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that evidence names its source."""
    for pointer, each in _list_evidence(facts):
        at = f"/evidence/{escape(pointer)}"
        needed = _NEEDED[each.level] if each.level is not None else ()
        lacking = [name for name in needed if getattr(each, name) is None]
        if lacking:
            wrong = f"{at} is {each.level} and does not say {', '.join(lacking)}"
            yield facts.red(f"evidence-source:{at}", wrong, f"set {at}/{lacking[0]}")


def _list_evidence(facts: AssetFacts) -> Iterable[tuple[str, LogEvidence]]:
    return () if facts.is_faulty("/evidence") else (facts.log.evidence or {}).items()


def check_strength(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that every value has evidence, and that more than a person's word stands behind what decides the result.

    A size or a steps count that was imported carries no seed that was typed in.
    """
    evidence = facts.log.evidence
    if not facts.log.deterministic or evidence is None or facts.is_faulty("/evidence"):
        return
    pointers: list[str] = []
    for name in (each for each in _MAKING if getattr(facts.log, each) is not None):
        if any(each.startswith(f"/{name}/") for each in evidence):
            leaves = _list_leaves(to_document(getattr(facts.log, name)), f"/{name}")
            pointers += [at for at, _ in leaves]
        else:  # No entry speaks of it piece by piece.
            pointers.append(f"/{name}")
    above = {each: find_evidence(facts.log, each) for each in pointers}
    bare = [each for each, found in above.items() if found is None]
    if bare:
        more = f" and {len(bare) - 3} more" if len(bare) > 3 else ""
        fix = f'say where it comes from: evidence["{bare[0]}"] = {{"level": …}}'
        yield facts.red("evidence", f"no evidence for {', '.join(bare[:3])}{more}", fix)
        return
    used = dict(found for found in above.values() if found is not None)
    yield facts.green("evidence", f"for every value, by {pluralize(len(used), 'entry', 'entries')}")
    strong = [at for at, each in used.items() if each.level is not EvidenceLevel.DECLARED]
    wrong = "every value is declared by a person alone"
    if strong:
        wrong = (
            f"seed, model and recipe are declared by a person alone; beyond that {strong[0]} alone"
        )
    is_strong = any(at == "" or at.split("/")[1] in _DECIDING for at in strong)
    right = " and ".join(sorted({str(each.level) for each in used.values()}))
    fix = "render it under a record: twice asset record, or import what the generator wrote"
    yield facts.judge("evidence-strength", right, "" if is_strong else wrong, fix)


def _list_leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    """List the values below a pointer; a reason is a value as well."""
    if isinstance(value, dict) and value and EXCUSE not in value:
        for name, part in value.items():
            yield from _list_leaves(part, f"{at}/{escape(name)}")
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            yield from _list_leaves(part, f"{at}/{number}")
    else:
        yield at, value


def check_records(facts: AssetFacts) -> Iterator[GateRow]:
    """Check a promised log against each run record that its evidence names."""
    recorded = [each for _, each in _list_evidence(facts) if each.level is EvidenceLevel.RECORDED]
    for name in dict.fromkeys(each.record for each in recorded if each.record):
        if facts.log.deterministic and name in facts.records:
            yield from _check_record(facts, name)
        elif facts.log.deterministic:
            fix = "put the record back into the store, or gate it where the record is"
            wrong = f"{name} is not in the store, so nothing recorded can be told"
            yield facts.yellow("record", wrong, fix)


def _check_record(facts: AssetFacts, name: str) -> Iterator[GateRow]:
    digest, run = facts.records[name]
    named = {each.sha256 for each in (facts.log.evidence or {}).values() if each.record == name}
    if run.trouble or named - {None, digest}:
        wrong = f"{name} cannot be read: {run.trouble}"
        if named - {None, digest}:
            wrong = f"{name} is another record than the one that was named"
        yield facts.red("record", wrong, _RECORD_ANEW)
        return
    last, rerender = (
        facts.log.last_verdict,
        f"render it again: twice asset rerender {facts.sidecar} --write",
    )
    is_reproduced = last is not None and last.outcome is RerenderOutcome.REPRODUCED
    refuted = list(_list_refuted(facts, to_document(facts.log), name, run))
    if refuted:
        more = f"; and {len(refuted) - 3} more" if len(refuted) > 3 else ""
        yield facts.red("record", f"{'; '.join(refuted[:3])}{more}", _RECORD_ANEW)
    else:
        argv = facts.log.get("/recipe/argv") or ("",)
        is_script = any(
            each.endswith(".py") and before[:1] != "-" for before, each in pairwise(argv)
        )
        is_script |= any(re.fullmatch(r"python[0-9.]*", Path(each).name) for each in argv)
        is_blind = run.is_watched and (is_script or Path(argv[0]).name.startswith("python"))
        is_blind &= not is_reproduced
        wrong = "a Python program was watched from outside: what it read is not known"
        fix = f"record it as python SCRIPT.py; or {rerender}"
        right = f"as {name} has it"
        yield facts.judge("record", right, wrong if is_blind else "", fix, RowStatus.YELLOW)
    if run.reads:
        reads = ", ".join(f"{each} ({count})" for each, count in sorted(run.reads.items()))
        wrong = f"the run depends on {reads}"
        fix = f"see whether they matter: {rerender}"
        if last is not None and is_reproduced:
            grade = last.grade or facts.log.get("/promise/grade")
            yield facts.green("record-reads", f"{wrong}; reproduced {last.when} at {grade}")
        else:
            yield facts.yellow("record-reads", wrong, fix)


def _list_refuted(
    facts: AssetFacts, document: dict[str, Any], name: str, run: RunValues
) -> Iterator[str]:
    """Say each "recorded" value that a record refutes or cannot hold."""

    def is_claimed(pointer: str) -> bool:
        evidence = find_evidence(facts.log, pointer)
        return evidence is not None and evidence[1].record == name

    yield from facts.other_files.get(name, ())
    inputs = {each.path: each.sha256 for each in facts.log.get("/recipe/inputs") or ()}
    for pointer, recorded in run.values.items():
        said, wanted = resolve(document, pointer), recorded
        if pointer == "/recipe/inputs":
            said = {path: inputs[path] for path in inputs if path in recorded}
            wanted = {path: recorded[path] for path in said}
        elif pointer == "/recipe/argv" and said and not run.is_watched:
            said = [said[0].partition("3")[0], *said[1:]]  # python3.11 is recorded as python.
        if said is None or (isinstance(said, dict) and EXCUSE in said):
            continue
        # A person may declare what a run says otherwise, but not which run it was.
        if not _is_same(said, wanted) and (is_claimed(pointer) or pointer.startswith("/recipe/")):
            yield f"{pointer} is {short(said)}, and the record has {short(wanted)}"
    for path in run.read:
        named = {*inputs, *run.values.get("/recipe/inputs", ())}
        if not any(f"/{each}".endswith(f"/{path}") for each in named):
            yield f"the run read {path}, which the recipe does not name"
    yield from _list_invented(document, run, is_claimed)
    if EXCUSE in (document.get("seed") or {}) and run.values.get("/seed/effective", "0") != "0":
        yield f"no seed applies, and the record has {run.values['/seed/effective']}"
    seed = resolve(document, "/seed/effective")
    if run.is_watched and isinstance(seed, str) and is_claimed("/seed/effective"):
        variables = resolve(document, "/recipe/env") or {}
        given = {each for called, each in variables.items() if "THREADS" not in called}
        for each in run.values["/recipe/argv"][1:]:
            given.update(re.findall("[0-9]+", each))
        if not {seed, resolve(document, "/seed/requested")} & given:
            yield f"seed {seed} stands in no argument of the run"
    for block in [each for each in ("art", "audio") if each in document]:
        for pointer, value in _list_leaves(document[block], f"/{block}"):
            is_reason = isinstance(value, dict) and EXCUSE in value
            is_said = not is_reason and value != []
            if is_said and not _OF_RUNS.match(pointer) and is_claimed(pointer):
                yield f"{pointer} is said to be recorded, and no run record holds it"


def _list_invented(
    document: dict[str, Any], run: RunValues, is_claimed: Callable[[str], bool]
) -> Iterator[str]:
    """Say each "recorded" value that neither the record nor the log's own recipe knows."""
    for name in resolve(document, "/environment/packages") or {}:
        pointer = f"/environment/packages/{escape(name)}"
        if name in run.libraries and pointer not in run.values and is_claimed(pointer):
            yield f"{pointer} is said to be recorded, and the record has no such package"
    inputs = resolve(document, "/recipe/inputs") or []
    # In a list: a digest that is not known is an object with the reason.
    sources = [*(each.get("sha256") for each in inputs), resolve(document, "/model/sha256")]
    source = resolve(document, "/audio/source/sha256")
    if source is not None and source not in sources and is_claimed("/audio/source/sha256"):
        yield f"/audio/source/sha256 is {short(source)}, and no input has it"
    threads, argv = resolve(document, "/environment/threads"), resolve(document, "/recipe/argv")
    if isinstance(threads, int) and argv and is_claimed("/environment/threads"):
        wanted = count_threads(argv, resolve(document, "/recipe/env") or {})
        # Without its own option, such a renderer takes every core of the machine that it ran on.
        if threads != wanted and not find_renderer(argv).threads:
            yield f"/environment/threads is {threads}, and the recipe gives {wanted}"


def check_imports(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that a file says what is said to be imported from it, and the asset itself nothing else."""
    document, wrong, count = to_document(facts.log), [], 0
    for pointer, each in _list_evidence(facts):
        said = resolve(document, pointer)
        source, own = facts.imports.get(each.file or ""), facts.imports.get(facts.own_name)
        if each.level is not EvidenceLevel.IMPORTED or isinstance(said, dict) or source is None:
            continue
        if each.sha256 != source.sha256:
            continue
        count += 1
        found = list(source.find_values(pointer))
        if not any(_is_same(said, value) for value in found):
            has = f"has {short(found[0])}" if found else "does not say it"
            wrong.append(f"{pointer} is {short(said)}, and {each.file} {has}")
        elif own is not None and (others := list(own.find_values(pointer))) and said not in others:
            wrong.append(f"{pointer} is {short(said)}, and the asset itself has {short(others[0])}")
    if count:
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        right = f"{pluralize(count, 'value')} as imported"
        fix = f"import it anew: twice asset import FILE --into {facts.sidecar}; or declare it"
        yield facts.judge("imported", right, "; ".join(wrong[:3]) + more, fix)


def _is_same(said: Any, recorded: Any) -> bool:
    """Whether a logged value is the recorded one; a secret that was blanked by stars is not compared."""
    if isinstance(said, dict) and isinstance(recorded, dict):
        return said.keys() == recorded.keys() and all(
            _is_same(part, recorded[key]) for key, part in said.items()
        )
    if isinstance(said, list) and isinstance(recorded, list):
        return len(said) == len(recorded) and all(map(_is_same, said, recorded))
    return said == recorded or (isinstance(said, str) and "***" in said)
