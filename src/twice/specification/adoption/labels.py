"""The words by which prose sheets name the keys of this schema, the columns of its tables and its closed values.

Invariant: only what a label or a word says without doubt stands here. A key that is not named here is never adopted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _split(said: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(words.split("; ")) for key, words in said.items()}


LABELS: Final = {
    number: _split({"owner": "owner", "component": "component", "version": "version", **said})
    for number, said in {
        "00": {
            "tier": "tier; determinism tier",
            "program": "program; entry point",
            "seed": "master seed; seed",
            "config": "configuration; config",
            "sources": "sources; source folders; code",
            "goals": "goals; goal",
            "out_of_scope": "non goals; out of scope",
            "traits": "traits; what the system has",
        },
        "01": {
            "tier": "tier; determinism tier",
            "class": "class; class chosen; determinism class",
            "scope": "scope",
            "axis": "axis; reproducibility axis",
            "predicate": "predicate; equivalence predicate",
            "contested": "contested",
            "measure": "measure; tolerance; tolerance epsilon",
            "epsilon": "epsilon; tolerance; tolerance epsilon",
            "summary": "summary; summary metric; distributional summary metric",
            "test": "test; statistical test",
            "seeds": "n; number of seeds; seeds",
            "power": "power",
            "alpha": "alpha",
            "subsystems": "subsystems",
            "vector": "test vector; test vectors; vector",
            "vector_digest": "vector digest",
            "closed_world": "closed world",
        },
        "02": {
            "surface": "seed surface; surface",
            "derivation": "derivation function; derivation; derivation rule",
            "names": "named sub seeds; sub seeds",
            "record_fields": "run record fields; record fields",
            "workers": "worker rule; workers",
            "audit": "audit procedure; audit; audited code",
            "vectors": "test vectors; test vector",
        },
        "03": {
            "library": "library choice; library",
            "slots": "ownership table; named slots; slots",
            "serialisation": "state serialisation; state serialization",
            "adding": "add a component procedure; adding a component",
            "vectors": "test vectors; test vector",
        },
        "04": {
            "strategy": "encoding choice; strategy; snapshot strategy",
            "cadence": "cadence; snapshot cadence",
            "state": "state enumeration",
            "components": "components",
            "ownership": "ownership; process ownership; snapshot ownership",
            "audit_encoding": "audit encoding; audit log encoding",
            "encoding": "byte format; encoding format",
            "versioning": "versioning rule; versioning",
        },
        "05": {
            "granularity": "compare point granularity; granularity",
            "projection": "state projection; projection",
            "hash": "hash function; hash",
            "emission": "emission discipline; emission",
            "procedure": "bisection procedure; drill down procedure; procedure",
            "retention": "retention",
            "cross_process": "cross worker coordination; cross process coordination",
        },
        "06": {
            "operations": "replay kinds supported; operations",
            "lifecycle": "lifecycle",
            "validation": "rehydration validation; validation",
            "replay_or_rerun": "replay vs re run; replay or re run",
            "throughput": "throughput budget; throughput",
            "branches": "concurrent branches; concurrent branches limit",
            "processes": "resource bounds",
        },
        "07": {
            "model": "concurrency model; model",
            "subsystems": "strategy chosen; strategies; subsystems",
            "sensitive": "schedule sensitive operations; schedule sensitive operations enumerated",
            "trace_format": "schedule trace format",
            "distributed": "cross process protocol",
        },
        "08": {
            "implication": "class implication",
            "pins": "library pinning; pins; pinned libraries",
            "reductions": "reduction policy; reductions",
            "fma": "fma policy; fma",
            "threads": "thread count caps; threads",
            "denormals": "denormal mode; denormals",
            "epsilon": "epsilon; tolerance; tolerance epsilon",
            "hash_policy": "hash policy",
        },
        "09": {
            "knobs": "framework knobs; knobs",
            "driver": "driver; driver version",
            "sku": "gpu skus; skus; sku",
            "atomics": "atomic float audit; atomics",
            "multi_gpu": "multi gpu policy",
        },
        "10": {
            "inventory": "external effect inventory; inventory",
            "manifest": "closed world assertion; manifest",
            "audit": "audit procedure; audit; audited code",
            "forbidden": "forbidden calls; forbidden",
        },
        "11": {
            "rule": "canonical form; encoding rule",
            "pins": "library pinning; pins; pinned libraries",
            "hashing": "per tick hashing pattern; hashing pattern; hashing",
            "hash": "state hash function; hash function",
            "delta": "delta encoding rule",
            "lazy": "lazy / derived field policy; lazy field policy",
            "tensors": "tensor canonicalisation; tensor canonicalization",
            "envelope": "snapshot envelope schema; snapshot envelope",
            "vectors": "test vectors; test vector",
        },
        "12": {
            "properties": "property catalog; properties",
            "tests": "test files; tests",
            "generators": "generator catalog; generators",
            "database": "database persistence; database",
            "stateful": "stateful test scope; stateful tests",
        },
        "13": {
            "rules": "per rule cost",
            "justification": "tier justification",
            "trades": "library trade record; trades",
            "boundary": "partial determinism boundary; boundary",
            "budget_percent": "budget; performance budget; perf budget",
            "breach": "cost budget breach response; breach response",
        },
        "99": {"rule": "versioning rule"},
    }.items()
}  # fmt: skip
"""By sheet and key: labels in their normal form, in which a hyphen is a space."""

COLUMNS: Final = _split({
    "answer": "answer; treatment; classification",
    "chosen": "chosen; used",
    "component": "component; owner",
    "crosses_as": "crosses as",
    "draws": "first draws; draws",
    "here": "present; here",
    "how": "how; where",
    "instead_of": "instead of; alternative",
    "kind": "kind; category; generator",
    "library": "library; package",
    "master": "master seed; master",
    "name": "name; trait; feature; subsystem; component; knob; switch",
    "ordered_by": "ordered by; order",
    "owner": "owner; component",
    "pattern": "pattern; substitution pattern",
    "seed": "sub seed; seed",
    "source": "source; category",
    "stream": "stream; sub seed; slot",
    "value": "value; document",
    "version": "version; pinned version",
    "what": "what; call; operation",
    "why": "why; reason",
    "workload": "workload; for",
})  # fmt: skip
"""By column: headers in their normal form; a column that is not named has its own name alone."""

WORDS: Final = _split({
    # classes, scopes, tolerances
    "bit-exact": "class 1; bit exact reproducibility",
    "logical": "class 2; logical equivalence",
    "statistical": "class 3; statistical reproducibility",
    "process": "one process; single process; same process",
    "host": "one machine; single machine; same machine; same host; single host",
    "cross-host": "cross machine; across machines; across hosts",
    "determinism": "determinism only",
    "reproducibility": "reproducibility only",
    "abs": "max abs; absolute",
    "rel": "max rel; relative",
    "ulp": "ulp distance",
    "quantum": "quantised; quantized",
    "ks": "kolmogorov smirnov",
    # seeds and streams
    "config": "config file; config field; configuration",
    "flag": "cli flag; command line",
    "environment": "environment variable; env var",
    "python": "stdlib random; standard library",
    # snapshots and compare-points
    "tick": "per tick; each tick; every tick",
    "decision": "per decision; each decision; every decision",
    "snapshot": "per snapshot; each snapshot; every snapshot",
    "episode": "per episode; each episode; every episode",
    "components": "component; domain",
    "streams": "rng; rngs; rng state",
    "effect-cursors": "external effect cursors; external effect bindings",
    "lazy-initialisation": "lazy init; lazy initialization",
    "scheduler": "schedule",
    "captured": "in the snapshot",
    "re-derived": "re derivable; rederived",
    "accepted": "accepted non replayable",
    "pinned": "pinned out of band",
    # concurrency, numbers, effects, bytes
    "lockstep": "strategy a",
    "recorded-schedule": "strategy b",
    "schedule-independent": "strategy c",
    "sequential": "sequential fold",
    "fixed-threads": "fixed thread count",
    "allowed": "forced on",
    "forbidden": "forced off",
    "as-compiled": "platform default",
    "kept": "ftz off; daz off; ftz/daz off",
    "flushed": "ftz on; daz on; ftz/daz on; flush to zero",
    "filesystem": "file system; files",
})  # fmt: skip
"""By value: phrases that say the same, in which a hyphen is a space."""

LETTERS: Final = {
    "strategy": {"A": "lockstep", "B": "recorded-schedule", "C": "schedule-independent"},
    "hashing": {"A": "incremental", "B": "merkle", "C": "projection"},
}
"""By key or column: the letters of the workflow's lists."""
