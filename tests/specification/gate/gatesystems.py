"""A small system with a specification that the gate passes, at three tiers, written into a folder."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twice.cli.code_facts import read_code
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.foundation.seeds import Seed, derive
from twice.recorder.cadence import parse_cadence
from twice.recorder.environment.libraries import measure_versions
from twice.recorder.program_spec import parse_program
from twice.recorder.recorder import record
from twice.specification.changes import to_lock_entry
from twice.specification.front_matter import format_entry
from twice.specification.gate.evidence.context import EvidenceContext
from twice.specification.gate.plan import list_sources, list_varied, plan_recording
from twice.specification.gate.runner import gather
from twice.specification.location import FOLDER
from twice.specification.lock import Lock
from twice.specification.record_traits import digest_vector, first_draws
from twice.specification.schema import SHEETS
from twice.specification.tiers import StateKind, Tier, Trait
from twice.specification.workspace import Workspace, open_workspace

SEED = 7
VECTOR = f"{FOLDER}/evidence/vector.twice"
COST = f"{FOLDER}/evidence/cost.json"
SENTENCE = (
    "two runs are equivalent iff on one host, the canonical bytes of their state are equal at every "
    "compare-point"
)

HERD = '''\
"""A herd that walks, and the wind that pushes it."""


class Herd:
    def __init__(self, n, rng):
        self.rng = rng
        self.places = [0.0] * n
        self.food = 100
        self.age = 0

    def step(self, push):
        self.places = [at + float(self.rng.random()) * push for at in self.places]
        self.food -= 1
        self.age += 1

    def state(self):
        return {"places": list(self.places), "food": self.food, "age": self.age}

    def restore(self, state):
        self.places = list(state["places"])
        self.food = state["food"]
        self.age = state["age"]


class Weather:
    def __init__(self, rng):
        self.rng = rng
        self.wind = 0

    def step(self):
        self.wind = self.rng.randrange(10)

    def state(self):
        return {"wind": self.wind}

    def restore(self, state):
        self.wind = state["wind"]


def lane(name):
    return hash(name) % 4


def main(run):
    herd = run.track("herd", Herd(run.config["n"], run.rng("herd")))
    weather = run.track("weather", Weather(run.streams.python("weather")))
    for _ in run.ticks(run.config["ticks"]):
        push = run.input("push", lambda: 1.0)
        begun = run.effects.clock.time()
        weather.step()
        herd.step(push if begun > 0 else 0.0)
'''

AT_ONCE = (
    (
        "        weather.step()\n        herd.step(push if begun > 0 else 0.0)\n",
        "        asyncio.run(both(weather, herd, push if begun > 0 else 0.0))\n",
    ),
    ('that pushes it."""\n', 'that pushes it."""\n\nimport asyncio\n'),
    (
        "def lane(name):\n",
        """async def both(weather, herd, push):
    async def blow():
        weather.step()

    async def walk():
        herd.step(push)

    await asyncio.gather(blow(), walk())


def lane(name):
""",
    ),
)
"""What makes of the herd and its wind two tasks, as at tier L."""

LAWS = '''\
"""The laws of the herd."""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from herd import Herd, Weather


def walked(seed, ticks, start=None):
    weather = Weather(random.Random(seed))
    if start is not None:
        weather.restore(start)
    for _ in range(ticks):
        weather.step()
    return weather.state()


def test_replay_equivalence():
    assert walked(3, 5) == walked(3, 5)


def test_seed_matters():
    assert random.Random(1).random() != random.Random(2).random()


def test_seed_isolation():
    alone, beside = random.Random(1), random.Random(1)
    Herd(2, random.Random(2)).step(1.0)
    assert alone.random() == beside.random()


def test_snapshot_round_trip():
    weather = Weather(random.Random(1))
    weather.step()
    other = Weather(random.Random(1))
    other.restore(weather.state())
    assert other.state() == weather.state()


def test_restore_idempotence():
    assert walked(1, 0, {"wind": 4}) == walked(1, 0, walked(1, 0, {"wind": 4}))


def test_fork_and_converge():
    assert walked(3, 5, {"wind": 1}) == walked(3, 5, {"wind": 2})


def test_schedule_independence():
    assert [walked(seed, 3) for seed in (1, 2)] == [walked(seed, 3) for seed in (2, 1)][::-1]
'''

Heads = dict[str, dict[str, Any]]


def _traits(here: set[Trait]) -> list[dict[str, Any]]:
    return [
        {"name": each.value, "here": each in here, "why": f"looked at: {each.value}"}
        for each in Trait
    ]


def _state(absent: set[StateKind]) -> list[dict[str, Any]]:
    answers = {
        StateKind.COMPONENTS: "captured",
        StateKind.STREAMS: "captured",
        StateKind.EFFECT_CURSORS: "captured",
        StateKind.SCHEDULER: "re-derived",
        StateKind.GPU_MEMORY: "re-derived",
        StateKind.ENVIRONMENT: "pinned",
    }
    return [
        {
            "kind": each.value,
            "answer": "absent" if each in absent else answers.get(each, "absent"),
            "how": "looked at",
        }
        for each in StateKind
    ]


def heads_at(tier: str) -> Heads:
    """Return the heads of every sheet at tier S, M or L."""
    large = tier == "L"
    traits = {Trait.FLOATING_POINT, Trait.EXTERNAL_EFFECTS, Trait.HASHED_SNAPSHOTS, Trait.BRANCHING}
    if large:
        traits |= {Trait.CONCURRENCY, Trait.GPU}
    absent = set() if large else {StateKind.SCHEDULER, StateKind.GPU_MEMORY}
    heads: Heads = {
        "00": {
            "tier": tier,
            "program": "src/herd.py:main",
            "seed": SEED,
            "config": ["n=2", "ticks=4"],
            "sources": ["src"],
            "goals": ["a bug that was seen comes back"],
            "traits": _traits(traits),
        },
        "01": {
            "tier": tier,
            "class": "bit-exact",
            "scope": "host",
            "axis": "determinism",
            "predicate": SENTENCE,
            "contested": False,
            "vector": VECTOR,
            "vector_digest": "?",
            "closed_world": True,
        },
        "02": {
            "surface": ["flag"],
            "derivation": "HMAC-SHA256 by name, rule 1",
            "names": [
                {"stream": "herd", "component": "herd"},
                {"stream": "weather", "component": "weather"},
            ],
            "record_fields": ["seed", "streams"],
            "audit": ["src"],
            "vectors": [{"master": SEED, "name": "herd", "seed": derive(Seed(SEED), "herd").hex}],
        },
        "03": {
            "library": "numpy PCG64 and random.Random",
            "slots": [
                {"stream": "herd", "owner": "herd", "kind": "numpy"},
                {"stream": "weather", "owner": "weather", "kind": "python"},
            ],
            "serialisation": "positions are states of generators",
            "adding": "a stream of its own name",
            "vectors": [
                {
                    "master": SEED,
                    "stream": "weather",
                    "draws": first_draws("python", Seed(SEED), "weather"),
                }
            ],
        },
        "04": {
            "strategy": "hybrid",
            "cadence": "every=3",
            "state": _state(absent),
            "encoding": "canonical form 1",
            "versioning": "old ones are read for ever",
        },
        "05": {
            "granularity": "tick",
            "projection": ["*"],
            "hash": "blake3 over the canonical form",
            "emission": "run.ticks",
            "procedure": ["compare-points", "binary-search", "re-execution", "operation-tracing"],
            "planted": [{"component": "herd", "field": "places[0]", "tick": "2"}],
            "retention": "a year",
        },
        "06": {
            "operations": [
                {"kind": "read-only", "operation": "step", "workload": "debugging"},
                {"kind": "read-only", "operation": "verify", "workload": "CI"},
                {"kind": "branching", "operation": "branch", "workload": "what if"},
            ],
            "lifecycle": "a context manager",
            "validation": "same code",
            "replay_or_rerun": "replay to look, rerun to measure",
            "throughput": "as fast as the run",
            "branches": 4,
            "processes": "one for each session",
        },
        "11": {
            "rule": "canonical form 1",
            "pins": [{"library": "blake3", "version": _installed("blake3")}],
            "hashing": "merkle",
            "hash": "blake3",
            "delta": "pages shared by digest",
            "lazy": "refused",
            "tensors": "little-endian, C-contiguous",
            "envelope": "version and tick",
            "vectors": [
                {"value": '{"a": [1, 2]}', "digest": str(digest_bytes(encode({"a": [1, 2]})))}
            ],
        },
        "13": {
            "rules": [
                {
                    "rule": "snapshots",
                    "library": "none",
                    "refactoring": "two methods a component",
                    "operations": "none",
                    "cognitive": "low",
                }
            ],
            "measured": COST,
            "justification": "others replay what it records",
            "trades": [{"chosen": "numpy", "instead_of": "a GPU", "why": "small"}],
            "boundary": [{"what": "the clock", "crosses_as": "effect", "why": "it is asked"}],
            "budget_percent": 50,
            "breach": "sheet 04 answers",
        },
        "99": {
            "sheets": [{"id": "00", "version": "0.9.0", "digest": "?"}],
            "gate": "?",
            "gate_digest": "?",
            "findings": [],
            "rule": "major when the class breaks",
        },
    }
    clock = {
        "source": "clock",
        "what": "the clock: clock.time",
        "pattern": "record-and-replay",
        "substitutable": True,
    }
    heads["10"] = {
        "inventory": [clock],
        "manifest": "in each record, compared in replay",
        "audit": ["src"],
    }
    if tier == "S":
        prices = {**clock, "source": "network", "what": "the price service", "substitutable": False}
        heads["10"]["inventory"] = [clock, prices]
        heads["01"]["closed_world"] = False
        heads["13"]["boundary"].append(
            {"what": "the price service", "crosses_as": "input", "why": "it cannot be recorded"}
        )
        return heads
    heads["04"]["ownership"] = "one process keeps all"
    heads["05"]["cross_process"] = "one process"
    heads["12"] = {
        "properties": [
            "replay-equivalence", "seed-matters", "seed-isolation", "snapshot-round-trip", "restore-idempotence",
            "fork-and-converge", *(["schedule-independence"] if large else []),
        ],
        "tests": ["tests/test_laws.py"],
        "generators": "seeds from 0 to 100",
        "database": "tests/examples",
    }  # fmt: skip
    if large:
        heads["02"]["workers"] = "rank"
        heads.update(_large())
    return heads


def _large() -> Heads:
    return {
        "07": {
            "model": ["tasks"],
            "subsystems": [
                {"name": "walkers", "strategy": "lockstep", "how": "a barrier each tick"}
            ],
            "sensitive": [{"operation": "who steps first", "ordered_by": "nothing that both read"}],
            "distributed": "one machine",
        },
        "08": {
            "implication": "every bit",
            "pins": _arithmetic(),
            "reductions": "sequential",
            "fma": "as-compiled",
            "threads": 1,
            "denormals": "kept",
            "hash_policy": "all bits",
        },
        "09": {
            "knobs": [
                {"name": "torch.use_deterministic_algorithms", "value": "true"},
                {"name": "torch.backends.cudnn.deterministic", "value": "true"},
                {"name": "torch.backends.cudnn.benchmark", "value": "false"},
                {"name": "CUBLAS_WORKSPACE_CONFIG", "value": ":4096:8"},
                {"name": "allow_tf32", "value": "false"},
            ],
            "driver": "570.1",
            "sku": "one card",
            "atomics": "none",
            "multi_gpu": "one card",
        },
    }


def _arithmetic() -> list[dict[str, str]]:
    here = measure_versions()
    return [{"library": each, "version": here.versions[each]} for each in here.arithmetic]


def _installed(name: str) -> str:
    from importlib.metadata import version

    return version(name)


def laid(project: Path, heads: Heads) -> None:
    """Write sheets, and nothing else."""
    folder = project / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for number, values in sorted(heads.items()):
        sheet = SHEETS[number]
        common = {
            "schema": "twice.sheet/1",
            "id": number,
            "title": sheet.title,
            "component": "herd",
            "version": "1.0.0",
            "status": "accepted",
            "owner": "herd team",
        }
        said = {**common, **values}
        head = "".join(format_entry(key, value) for key, value in said.items())
        (folder / sheet.file_name).write_text(
            f"---\n{head}---\n\n# {sheet.title}\n", encoding="utf-8"
        )


def locked(project: Path) -> None:
    """Lock every sheet as it is."""
    workspace = open_workspace(project)
    lock = Lock()
    for number, sheet in workspace.sheets.items():
        if number != "99":
            lock = lock.with_sheet(number, to_lock_entry(sheet))
    (project / FOLDER / "spec.lock").write_text(lock.text(), encoding="utf-8")


def recorded(project: Path, *, path: str = VECTOR, seed: int = SEED, **policies: Any) -> str:
    """Record the test vector; where its chain ends."""
    out = project / path
    out.parent.mkdir(parents=True, exist_ok=True)
    with record(
        parse_program("src/herd.py:main", cwd=project),
        seed=seed,
        config={"n": 2, "ticks": 4},
        out=out,
        force=True,
        cadence=parse_cadence("every=3"),
        **policies,
    ) as found:
        return digest_vector(found)


def costs(project: Path) -> dict[str, Any]:
    """Return the document that ``twice cost`` would have written."""
    source = (project / "src" / "herd.py").read_bytes()
    return {
        "format": "twice.cost/1",
        "result": "inside",
        "program": "src/herd.py:main",
        "rules": [{"rule": "snapshots", "performance": "4 %", "storage": "300 bytes a tick"}],
        "total_percent": 12.5,
        "code": {"src/herd.py": str(digest_bytes(source, Algorithm.SHA256))},
    }


def covered(project: Path) -> list[dict[str, Any]]:
    """Return the findings of ``twice check`` by sheet, as consolidating writes them."""
    with contextlib.chdir(project):
        reported = read_code(project, ["src"]).reported
    sheets = sorted({each.sheet for each in reported})
    return [
        {"sheet": number, "rules": sorted({each.rule for each in reported if each.sheet == number})}
        for number in sheets
    ]


@dataclass
class System:
    """A system in a folder, and what its sheets say."""

    project: Path
    heads: Heads = field(default_factory=dict)

    def rewritten(self) -> None:
        """Write its sheets anew, as an honest change: with a lock of what they say."""
        for each in (self.project / FOLDER).glob("*.md"):
            each.unlink()
        laid(self.project, self.heads)
        locked(self.project)


def build(project: Path, tier: str, edits: tuple[tuple[str, str], ...] = ()) -> System:
    """Write a system with its specification; ``edits`` change its code before anything is recorded."""
    source = HERD
    for old, new in (*(AT_ONCE if tier == "L" else ()), *edits):
        assert old in source, old
        source = source.replace(old, new)
    (project / "src").mkdir(parents=True)
    (project / "src" / "herd.py").write_text(source, encoding="utf-8")
    (project / "pyproject.toml").write_text('[project]\nname = "herd"\n', encoding="utf-8")
    (project / "tests" / "examples").mkdir(parents=True)
    (project / "tests" / "test_laws.py").write_text(LAWS, encoding="utf-8")
    heads = heads_at(tier)
    heads["01"]["vector_digest"] = recorded(project)
    heads["99"]["findings"] = covered(project)
    (project / COST).write_text(json.dumps(costs(project)), encoding="utf-8")
    system = System(project, heads)
    system.rewritten()
    return system


Change = Callable[[Heads], None]


class Kept:
    """Evidence and built systems that were made before in this process, so that each is made once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._evidence: dict[tuple[object, ...], object] = {}
        self._built: dict[tuple[object, ...], System] = {}

    def system(self, tier: str, edits: tuple[tuple[str, str], ...], place: Path) -> System:
        """Give a copy of a system as it was built."""
        key = (tier, edits)
        if key not in self._built:
            self._built[key] = build(self._root / f"built-{len(self._built)}", tier, edits)
        made = self._built[key]
        shutil.copytree(made.project, place)
        copied: Heads = json.loads(json.dumps(made.heads))
        return System(place, copied)

    def gather(self, kind: str, context: EvidenceContext) -> object:
        """Make evidence, or give what the same sheets and the same files gave before."""
        said = repr(_READS.get(kind, _read_run)(context.workspace))
        key = (kind, said, _files(context.project, ("src", *_BESIDE.get(kind, ()))))
        if key not in self._evidence:
            self._evidence[key] = gather(kind, context)
        return self._evidence[key]


def _read_run(spec: Workspace) -> tuple[object, ...]:
    how = {} if _has_no_config(spec) else plan_recording(spec)
    return spec.text("00", "program"), spec.value("00", "seed"), how


def _has_no_config(spec: Workspace) -> bool:
    return not all("=" in each for each in spec.strings("00", "config"))


_READS: dict[str, Callable[[Workspace], object]] = {
    "code": list_sources,
    "reseeded": lambda spec: (
        _read_run(spec),
        spec.situation().tier < Tier.S,
        spec.text("02", "seedless"),
    ),
    "varied": lambda spec: (_read_run(spec), *list_varied(spec)),
    "vector": lambda spec: spec.text("01", "vector"),
    "planted": lambda spec: (_read_run(spec), spec.rows("05", "planted")),
    "operations": lambda spec: (_read_run(spec), spec.column("06", "operations", "operation")),
    "encoded": lambda spec: (spec.rows("11", "vectors"), spec.rows("11", "pins")),
    "suite": lambda spec: (spec.strings("12", "tests"), spec.text("12", "database")),
    "costs": lambda spec: spec.text("13", "measured"),
    "handoff": lambda spec: (spec.text("04", "audit_encoding"), spec.sheets["04"].body),
    "laid": lambda _: (),
}
"""What of the sheets a kind of evidence depends on; that of a run where nothing else is named."""
_BESIDE = {
    "suite": ("tests",),
    "vector": (f"{FOLDER}/evidence",),
    "costs": (f"{FOLDER}/evidence",),
    "handoff": ("docs",),
}


def _files(project: Path, folders: tuple[str, ...]) -> tuple[tuple[str, bytes], ...]:
    """Return the files in some folders."""
    return tuple(
        (each.relative_to(project).as_posix(), each.read_bytes())
        for folder in folders
        for each in sorted((project / folder).rglob("*"))
        if each.is_file() and "__pycache__" not in each.parts
    )
