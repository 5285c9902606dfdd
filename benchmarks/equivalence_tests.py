"""How often the tests of the statistical class pass what they should not, and equal systems; and the same by scipy.

Usage: python benchmarks/equivalence_tests.py [--rounds N] [--small] [--output FILE.jsonl]

Two samples are drawn many times from systems that differ by exactly the margin, and from equal ones. The first must pass
as seldom as alpha says, here 0.05; the second as often as the declared power says, here 0.8. A figure is the median over
shapes of the values, with the lowest and the highest shape, and `shapes` names each. Margins are those that the sample
size is declared for. The peers are tests that estimate what these bound, on the values that mislead them, and scipy's
statistics of the same samples. Random numbers, no times: a figure is a share with an error of sqrt(share / rounds).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import measuring
import numpy as np

from twice.foundation.determinism_class import SampleTest, Summary
from twice.foundation.distributions import (
    binomial_tail,
    smirnov_tail,
    student_t_quantile,
    student_t_tail,
)
from twice.foundation.interquartile_mean import bootstrap_interval, interquartile_mean
from twice.foundation.sample_size import power_of
from twice.foundation.two_sample_tests import (
    iqm_within,
    ks_distance,
    ks_within,
    means_apart,
    means_within,
    rank_lead,
    ranks_within,
)

Shape = Callable[[np.random.Generator, int], np.ndarray]
ALPHA, POWER = 0.05, 0.8
SIZES = (5, 10, 30, 100)


def draw_returns(rng: np.random.Generator, n: int) -> np.ndarray:
    """Returns of a solved task: most runs reach the cap of 200, one in five fails early."""
    solved = np.minimum(rng.normal(200, 15, n), 200)
    return np.where(rng.random(n) < 0.2, rng.normal(50, 20, n), solved)


SHAPES: dict[str, Shape] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "bimodal": lambda rng, n: rng.normal(0, 0.3, n) + rng.choice([-2.0, 2.0], n),
    "ties": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "returns": draw_returns,
}


def declare(test: SampleTest, n: int, deviation: float = 1.0) -> Summary:
    """Return the summary with the smallest margin for which n seeds have the power."""
    low, high = 0.0, {SampleTest.KS: 1.0, SampleTest.MANN_WHITNEY: 0.5}.get(test, 40 * deviation)
    for _ in range(40):
        middle = (low + high) / 2
        one = Summary("x", test, middle, n, POWER, ALPHA)
        low, high = (
            (low, middle) if power_of(one, n, deviation=deviation) >= POWER else (middle, high)
        )
    return Summary("x", test, high, n, POWER, ALPHA)


def apart_everywhere(epsilon: float, chances: np.ndarray) -> np.ndarray:
    """Move uniform numbers so that their distribution is epsilon from the uniform one, in the middle (KS)."""
    edge = (1 - epsilon) / 2
    slope = (1 + epsilon) / (1 - epsilon)
    return np.where(chances < edge, chances * slope, 1 - (1 - chances) / slope)


def at_margin(
    test: SampleTest, shape: str, epsilon: float, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw two samples whose systems differ by epsilon."""
    first, last = rng.random(n), rng.random(n)
    if test in {SampleTest.MEAN, SampleTest.IQM}:
        return SHAPES[shape](rng, n), SHAPES[shape](rng, n) + epsilon
    if test is SampleTest.KS:
        last = apart_everywhere(epsilon, last)
        edge = (1 + epsilon) / 2
    elif shape == "continuous":
        last = last ** ((0.5 - epsilon) / (0.5 + epsilon))
    elif shape == "rare ties":
        return np.zeros(n), np.where(last < 2 * epsilon, 1.0, 0.0)
    else:  # the heaviest tail: one side is a constant
        return np.zeros(n), np.where(last < 0.5 + epsilon, 1.0, -1.0)
    if shape == "two values":
        first, last = (np.where(each < edge, 0.0, 1.0) for each in (first, last))
    return first, last


def at_equality(shape: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw two samples of one system."""
    draw = SHAPES.get(shape, lambda rng, n: rng.random(n))
    if shape == "two values":
        return rng.integers(0, 2, n).astype(float), rng.integers(0, 2, n).astype(float)
    return draw(rng, n), draw(rng, n)


TESTS = {
    SampleTest.IQM: iqm_within,
    SampleTest.MANN_WHITNEY: ranks_within,
    SampleTest.KS: ks_within,
}
LOCATIONS = (SampleTest.MEAN, SampleTest.IQM)
MARGIN_SHAPES = {
    SampleTest.KS: ("continuous", "two values"),
    SampleTest.MANN_WHITNEY: ("continuous", "rare ties", "constant side"),
}


def shares(test: SampleTest, n: int, trials: int) -> Iterator[dict[str, object]]:
    """Yield how often a test passes at the margin, and at equality; and how often it fails equal systems."""
    margin, passed, failed = {}, {}, {}
    shapes = tuple(SHAPES)
    deviations = {
        name: float(np.std(draw(np.random.default_rng(0), 100_000)))
        for name, draw in SHAPES.items()
    }
    for shape in shapes if test in LOCATIONS else MARGIN_SHAPES[test]:
        rng = np.random.default_rng(1)
        summary = declare(test, n, deviations.get(shape, 1.0))
        pairs = [at_margin(test, shape, summary.epsilon, n, rng) for _ in range(trials)]
        margin[shape] = answer(summary, pairs).count(True) / trials
    for shape in shapes if test in LOCATIONS else ("continuous", "two values", *shapes):
        rng = np.random.default_rng(2)
        summary = declare(test, n, deviations.get(shape, 1.0))
        found = answer(summary, [at_equality(shape, n, rng) for _ in range(trials)])
        passed[shape], failed[shape] = found.count(True) / trials, found.count(False) / trials
    name = f"{test.value}, {n} seeds"
    for what, by_shape in (
        ("passes at the margin", margin),
        ("passes equal systems", passed),
        ("fails equal systems", failed),
    ):
        values = measuring.spread([*by_shape.values()], 4)
        yield {"figure": f"{name}: {what}", "unit": "of pairs", "trials": trials} | values | {
            "shapes": {shape: round(value, 4) for shape, value in by_shape.items()}
        }  # fmt: skip


def answer(summary: Summary, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[bool | None]:
    """Return the answer to each pair of samples, without the power that a verdict adds to it."""
    epsilon = summary.epsilon
    found: list[bool | None] = []
    for one, two in pairs:
        first, last = one.tolist(), two.tolist()
        if summary.test is SampleTest.MEAN:
            agrees = means_within(first, last, epsilon=epsilon, alpha=ALPHA).agrees
            apart = means_apart(first, last, epsilon=epsilon, alpha=ALPHA)
            found.append(agrees or (False if apart else None))
        else:
            found.append(TESTS[summary.test](first, last, epsilon=epsilon, alpha=ALPHA).agrees)
    return found


def failures(trials: int) -> Iterator[dict[str, object]]:
    """Yield how often ``mean`` passes where one side fails in one run of 20, and so has a mean that is the margin away."""
    for n in SIZES:
        summary, rng, pairs = declare(SampleTest.MEAN, n), np.random.default_rng(1), []
        for _ in range(trials):
            lost = 20 * summary.epsilon * (rng.random(n) < 0.05)
            pairs.append((rng.normal(size=n), rng.normal(size=n) - lost))
        share = answer(summary, pairs).count(True) / trials
        name = f"mean, {n} seeds: passes a side that fails in one run of 20"
        yield {"figure": name, "unit": "of pairs", "trials": trials} | measuring.spread([share], 4)


def placements_pass(first: np.ndarray, last: np.ndarray, epsilon: float) -> bool:
    """Return whether two one-sided tests with the variance of Brunner and Munzel pass: the peer of mann-whitney."""
    from scipy import stats

    n, m = len(first), len(last)
    ranks = stats.rankdata(np.concatenate([first, last]))
    inner = stats.rankdata(first), stats.rankdata(last)
    chance = (ranks[n:].mean() - (m + 1) / 2) / n
    parts = [
        np.var((ranks[:n] - inner[0]) / m, ddof=1) / n,
        np.var((ranks[n:] - inner[1]) / n, ddof=1) / m,
    ]
    error = math.sqrt(sum(parts))
    if error == 0:
        return bool(abs(chance - 0.5) < epsilon)
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1))
    slack = (epsilon - abs(chance - 0.5)) / error
    return bool(stats.t.sf(slack, freedom) < ALPHA)


def peers(trials: int) -> Iterator[dict[str, object]]:
    """Yield how often the rules pass at the margin that estimate the variance, or take the distance as it is."""
    for n in SIZES:
        rng = np.random.default_rng(1)
        pairs = [
            at_margin(SampleTest.MANN_WHITNEY, "rare ties", 0.05, n, rng) for _ in range(trials)
        ]
        found = [sum(placements_pass(*pair, 0.05) for pair in pairs) / trials]
        name = f"Brunner-Munzel variance, {n} seeds: passes a rare value at the margin 0.05"
        yield {"figure": name, "unit": "of pairs", "trials": trials} | measuring.spread(found, 4)
        epsilon, found = declare(SampleTest.KS, n).epsilon, []
        for shape in MARGIN_SHAPES[SampleTest.KS]:
            rng = np.random.default_rng(1)
            pairs = [at_margin(SampleTest.KS, shape, epsilon, n, rng) for _ in range(trials)]
            found.append(
                sum(ks_distance(*map(np.ndarray.tolist, pair)) <= epsilon for pair in pairs)
                / trials
            )
        name = f"KS distance within the margin, {n} seeds: passes at the margin"
        yield {"figure": name, "unit": "of pairs", "trials": trials} | measuring.spread(found, 4)


def plain_interval(first: np.ndarray, last: np.ndarray, beyond: float) -> tuple[float, float]:
    """Return scipy's percentile interval of the difference of two interquartile means."""
    from scipy import stats

    def gap(one: np.ndarray, two: np.ndarray, axis: int) -> np.ndarray:
        return stats.trim_mean(two, 0.25, axis=axis) - stats.trim_mean(one, 0.25, axis=axis)

    found = stats.bootstrap(
        (first, last), gap, n_resamples=2000, confidence_level=1 - 2 * beyond,
        method="percentile", rng=np.random.default_rng(0),
    )  # fmt: skip
    return found.confidence_interval.low, found.confidence_interval.high


def differences(trials: int) -> Iterator[dict[str, object]]:
    """Yield the largest difference of each statistic from scipy's."""
    from scipy import stats

    rng = np.random.default_rng(3)
    far: dict[str, list[float]] = {}
    for at in range(trials):
        n, m = int(rng.integers(4, 60)), int(rng.integers(4, 60))
        draw = [*SHAPES.values()][at % len(SHAPES)]
        one, two, epsilon = draw(rng, n), draw(rng, m), float(rng.random())
        first, last = one.tolist(), two.tolist()
        welch = max(
            stats.ttest_ind(two, one - epsilon, equal_var=False, alternative="greater").pvalue,
            stats.ttest_ind(two, one + epsilon, equal_var=False, alternative="less").pvalue,
        )
        steps = int(rng.integers(2, n))  # of 1 scipy has no exact tail
        exact = stats.ks_2samp(np.arange(n), np.arange(n) + steps - 0.5, method="exact").pvalue
        count = int(rng.integers(0, n))
        alpha = float(rng.uniform(0.001, 0.5))
        for name, ours, theirs in (
            ("Welch's p-value", means_within(first, last, epsilon=epsilon).statistic, welch),
            ("Mann-Whitney's chance", rank_lead(first, last), stats.mannwhitneyu(two, one).statistic / n / m),
            ("KS distance", ks_distance(first, last), stats.ks_2samp(one, two).statistic),
            ("exact KS tail", smirnov_tail(steps, n), exact),
            ("interquartile mean", interquartile_mean(first), stats.trim_mean(one, 0.25)),
            ("binomial tail", binomial_tail(count, n, epsilon), stats.binom.cdf(count, n, epsilon)),
            ("Student's t tail", student_t_tail(epsilon, n), stats.t.sf(epsilon, n)),
            ("Student's t quantile", student_t_quantile(alpha, n), stats.t.isf(alpha, n)),
        ):  # fmt: skip
            assert ours is not None
            far.setdefault(name, []).append(
                abs(ours - float(theirs)) / max(abs(float(theirs)), 1e-9)
            )
    for name, values in far.items():
        largest = float(f"{max(values):.2g}")
        yield {"figure": f"{name}: largest relative difference from scipy", "unit": ""} | {
            "value": largest, "lowest": min(values), "highest": largest, "rounds": len(values)
        }  # fmt: skip
    ends = []
    for draw in SHAPES.values():
        one, two = draw(rng, 30), draw(rng, 30)
        reach = student_t_quantile(ALPHA, 29) * math.sqrt(30 / 29)
        theirs = plain_interval(one, two, beyond=math.erfc(reach / math.sqrt(2)) / 2)
        low, high, error = bootstrap_interval(one.tolist(), two.tolist(), alpha=ALPHA)
        ends += [abs(low - theirs[0]) / error, abs(high - theirs[1]) / error]
    name = "bootstrap interval: difference of an end from scipy"
    yield {"figure": name, "unit": "std errors"} | measuring.spread(ends)


def figures(trials: int) -> Iterator[dict[str, object]]:
    """Yield all figures."""
    for test in (SampleTest.MEAN, SampleTest.IQM, SampleTest.MANN_WHITNEY, SampleTest.KS):
        for n in SIZES:
            # A bootstrap is a hundred times the work of the others.
            fewer = 1 if test is not SampleTest.IQM else 10 if n <= 30 else 20
            yield from shares(test, n, max(trials // fewer, 1))
    yield from failures(trials)
    if find_spec("scipy"):
        yield from peers(trials)
        yield from differences(max(trials // 2, 5))


def main() -> None:
    """Simulate and print."""
    chosen = measuring.options("equivalence_tests", __doc__.splitlines()[0], rounds=2000)
    measuring.tell(
        "equivalence_tests", figures(8 if chosen.small else chosen.rounds), chosen.output
    )


if __name__ == "__main__":
    main()
