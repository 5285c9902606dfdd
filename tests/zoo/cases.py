"""The zoo: programs that differ on purpose in one way each, and how to make them differ.

Each program stands in ``tests/corpora/zoo``. The line that holds the first operation whose result stays
different ends in ``# ZOO: guilty``; a line that may be named as well ends in ``# ZOO: also``; a line
that must never be named ends in ``# ZOO: innocent``. Run A and run B have the same seed and the
same (empty) configuration; what makes them differ is named here.

Invariant: a case has exactly one guilty line, unless its two runs are the same.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import twice
from twice.recorder.cadence import parse_cadence
from twice.recorder.setup import parse_clock
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import branch

PROGRAMS = Path(__file__).parents[1] / "corpora" / "zoo"
SEED = 20260711
# What every run here is given, so that the caller's own surroundings play no part.
BASE: Mapping[str, str] = {
    "PYTHONHASHSEED": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TZ": "UTC",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
}
OTHER_HASH_SEED = {"PYTHONHASHSEED": "2"}
TWO_THREADS = {"OPENBLAS_NUM_THREADS": "2"}
LIBM_WITHOUT_FMA = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"}
# Names of both numpy 2.3 and earlier and of numpy 2.4 and later; a name it does not know is ignored.
NUMPY_WITHOUT_AVX512 = {
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL "
    "AVX512_SPR X86_V4"
}


@dataclass(frozen=True)
class Case:
    """One program of the zoo.

    Attributes:
        name: the program's file, without ``.py``.
        b: what run B is given besides ``BASE``.
        a: what run A is given besides ``BASE``.
        clocks: clock policies of A and B; None records the real clock.
        resume: run B is run A, put back from its snapshot before this tick.
        result: what ``diagnose`` must say.
        channel: the channel it must put first; None where nothing is to be attributed.
        also: channels that are as right as that one.
        tick: tick of the first differing compare-point, where it is always the same.
        reproduces: whether each run reproduces itself in its own surroundings.
        needs: names of the preconditions in ``PRECONDITIONS``.
    """

    name: str
    b: Mapping[str, str] = field(default_factory=dict)
    a: Mapping[str, str] = field(default_factory=dict)
    clocks: tuple[str, str] | None = None
    resume: int | None = None
    result: str = "localised"
    channel: str | None = None
    also: tuple[str, ...] = ()
    tick: int | None = None
    reproduces: bool = True
    needs: tuple[str, ...] = ()

    @property
    def program(self) -> Path:
        """The program's file."""
        return PROGRAMS / f"{self.name}.py"

    @property
    def is_canary(self) -> bool:
        """Whether the case is there for what must not be named."""
        return "canary" in self.name

    def lines(self, *marks: str) -> list[int]:
        """Numbers of the lines that carry one of these marks."""
        source = self.program.read_text(encoding="utf-8").splitlines()
        ends = tuple(f"# ZOO: {mark}" for mark in marks)
        return [number for number, line in enumerate(source, 1) if line.endswith(ends)]

    def record_a(self, folder: Path) -> Path:
        """Record run A into a folder."""
        return self._record(folder / "a.twice", self.a, 0)

    def record_b(self, folder: Path, a: Path) -> Path:
        """Record run B beside run A, or resume A."""
        out = folder / "b.twice"
        if self.resume is None:
            return self._record(out, self.b, 1)
        with branch(a, at=self.resume, out=out) as resumed:
            return resumed.path

    def _record(self, out: Path, given: Mapping[str, str], side: int) -> Path:
        policies: dict[str, Any] = {}
        if self.clocks is not None:
            policies["clock"] = parse_clock(self.clocks[side])
        if self.resume is not None:
            policies["cadence"] = parse_cadence(f"every={self.resume}")
        with twice.record(
            f"{self.program}:main", seed=SEED, out=out, env={**BASE, **given}, **policies
        ) as record:
            ended = record.ending
        assert ended is not None, "a recorded run has an ending"
        assert ended["how"] == "completed", ended
        return out


def two_cores() -> bool:
    """Whether a library that is given two threads can use them."""
    return len(os.sched_getaffinity(0)) >= 2


def several_kernels() -> bool:
    """Whether the processor has AVX-512, so that numpy and the C library have kernels to choose."""
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text(encoding="ascii")
    except OSError:
        return False


PRECONDITIONS = {"two cores": two_cores, "several kernels": several_kernels}

CLOCKS = ("ticks:1000,0.1", "ticks:2000,0.1")

CASES: tuple[Case, ...] = (
    Case("01_market_of_names", OTHER_HASH_SEED, channel="concurrency"),
    Case("02_fleet_of_objects", {"ZOO_HEAP": "1"}, channel="concurrency", tick=4),
    Case(
        "03_fleet_unpinned",
        result="non-reproducing",
        channel="concurrency",
        tick=6,
        reproduces=False,
    ),
    Case("04_shared_generator", {"ZOO_GRAPHICS": "high"}, channel="rng", tick=5),
    Case("05_extra_draw", {"ZOO_AUDIT": "1"}, channel="rng", tick=9),
    Case("06_unseeded_generator", channel="seeds", tick=3),
    Case("07_time_seed", clocks=CLOCKS, channel="seeds", tick=5),
    Case("08_positional_spawn", {"ZOO_AUGMENT": "1"}, channel="rng", also=("seeds",), tick=0),
    Case("09_counter_seeds", {"ZOO_PREVIEW": "1"}, channel="rng", also=("seeds",), tick=7),
    Case("10_clock_decision", clocks=("ticks:1000,0.1", "ticks:2003,0.1"), channel="effects"),
    Case(
        "11_blas_threads",
        TWO_THREADS,
        channel="floating-point",
        tick=0,
        needs=("two cores",),
    ),
    Case("12_summation_order", OTHER_HASH_SEED, channel="floating-point", also=("concurrency",)),
    Case("13_missing_cache", resume=12, channel="snapshot", tick=12),
    Case("14_restore_pollution", resume=15, channel="snapshot", tick=17),
    Case("15_reseeding_on_restore", resume=8, channel="replay", tick=8),
    Case("16_hash_of_name", OTHER_HASH_SEED, channel="encoding"),
    Case(
        "17_order_of_addresses",
        {"ZOO_HEAP": "1"},
        channel="concurrency",
        also=("encoding",),
        tick=5,
    ),
    Case("18_racing_threads", {"ZOO_SLOW": "0"}, channel="concurrency", tick=0),
    Case("19_environment_in_step", {"ZOO_TARGET": "12"}, channel="effects"),
    Case("20_pickled_identity", {"ZOO_INTERN": "1"}, channel="encoding", tick=4),
    Case("21_pickled_set", OTHER_HASH_SEED, channel="encoding"),
    Case("22_repr_as_digest", OTHER_HASH_SEED, channel="encoding", also=("concurrency",)),
    Case("23_within_tolerance", {"ZOO_DUST": "1e-11"}, result="within-tolerance"),
    Case("24_beyond_tolerance", {"ZOO_PULSE": "0.01"}, channel="effects", tick=11),
    Case("25_reordered_within_tolerance", OTHER_HASH_SEED, result="within-tolerance"),
    Case("26_hidden_attribute", clocks=CLOCKS, channel="effects", tick=15),
    Case("27_last_line_of_helper", {"ZOO_BEAM": "1"}, channel="effects", tick=7),
    Case("28_dict_from_set", OTHER_HASH_SEED, channel="concurrency", tick=5),
    Case("29_global_random", {"ZOO_WATCHED": "yes"}, channel="rng", tick=6),
    Case("30_lazy_baseline", resume=9, channel="snapshot", tick=9),
    Case("31_time_zone", {"TZ": "JST-9"}, channel="effects"),
    Case("32_uuid_as_working_value", channel="effects", tick=2),
    Case("33_entropy_in_backoff", channel="effects"),
    Case(
        "34_ties_in_argsort",
        NUMPY_WITHOUT_AVX512,
        channel="floating-point",
        also=("concurrency",),
        tick=3,
        needs=("several kernels",),
    ),
    Case(
        "35_sine_of_another_library",
        LIBM_WITHOUT_FMA,
        channel="floating-point",
        needs=("several kernels",),
    ),
    Case("36_policy_input", {"ZOO_CEILING": "3"}, channel="effects"),
    Case("37_printed_set", OTHER_HASH_SEED, channel="concurrency", also=("encoding",)),
    Case("38_class_level_generator", {"ZOO_BORED": "1"}, channel="rng"),
    Case(
        "39_kernel_entropy", result="non-reproducing", channel="effects", tick=5, reproduces=False
    ),
    Case("40_generator_outside_state", resume=8, channel="snapshot", tick=8),
    Case("41_equal_shards", OTHER_HASH_SEED, channel="encoding"),
    Case("42_equal_prey", {"ZOO_HEAP": "1"}, channel="concurrency", tick=6),
    Case("43_closure_of_seeds", {"ZOO_THUMB": "1"}, channel="rng", also=("seeds",), tick=8),
    Case("44_seed_made_elsewhere", clocks=CLOCKS, channel="seeds", tick=8),
    Case("45_subscribed_again", resume=6, channel="snapshot", tick=7),
    Case("46_reset_on_restore", resume=6, channel="replay", tick=6),
    Case("90_canary_quiet", OTHER_HASH_SEED, result="same"),
    Case(
        "91_canary_beside_matmul",
        {**OTHER_HASH_SEED, **TWO_THREADS},
        channel="floating-point",
        tick=3,
        needs=("two cores",),
    ),
    Case("92_canary_sorted_then_clock", OTHER_HASH_SEED, clocks=CLOCKS, channel="effects"),
    Case(
        "93_canary_beside_environment",
        {**OTHER_HASH_SEED, "ZOO_RAIN": "1.5"},
        channel="effects",
        tick=8,
    ),
)


def first_difference(a: RunRecord, b: RunRecord) -> tuple[int, list[str]] | None:
    """Tick and columns of the first compare-point with unequal digests, judged or not."""
    points_a, points_b = a.reader.points, b.reader.points
    for index in range(min(len(points_a), len(points_b))):
        one, two = points_a.point(index), points_b.point(index)
        names = sorted({*one.digests, *two.digests})
        unequal = [name for name in names if one.digests.get(name) != two.digests.get(name)]
        if unequal or (one.name, one.tick) != (two.name, two.tick):
            return one.tick, unequal or ["(order)"]
    if len(points_a) != len(points_b):
        return min(a.ticks, b.ticks), ["(end)"]
    return None


SAMPLE = {
    "01_market_of_names",
    "05_extra_draw",
    "10_clock_decision",
    "13_missing_cache",
    "90_canary_quiet",
    "93_canary_beside_environment",
}
"""Cases of the channels that other tests of CI touch least, and two canaries."""
