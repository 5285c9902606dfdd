"""Weights of conformers, and averages under them."""

import math
import random
import statistics

from outputs import Conformer

HARTREE_KCAL = 627.509474
GAS_CONSTANT = 0.0019872041  # kcal / (mol K)


def weigh(conformers: list[Conformer], temperature: float) -> list[float]:
    """Return the share of each conformer at a temperature."""
    lowest = min(each.energy_hartree for each in conformers)
    factors = [
        math.exp(-(each.energy_hartree - lowest) * HARTREE_KCAL / (GAS_CONSTANT * temperature))
        for each in conformers
    ]
    total = math.fsum(factors)
    return [factor / total for factor in factors]


def average_shieldings(conformers: list[Conformer], temperature: float) -> dict[str, float]:
    """Return the weighted shielding of each atom."""
    weights = weigh(conformers, temperature)
    atoms = sorted({atom for each in conformers for atom in each.shieldings}, key=_position)
    return {
        atom: math.fsum(w * each.shieldings[atom] for w, each in zip(weights, conformers))
        for atom in atoms
    }


def estimate_errors(
    conformers: list[Conformer], temperature: float, resamples: int, seed: int
) -> dict[str, float]:
    """Return the spread of each average when conformers are drawn with repetition."""
    draw = random.Random(seed)
    samples = [
        average_shieldings(draw.choices(conformers, k=len(conformers)), temperature)
        for _ in range(resamples)
    ]
    return {atom: statistics.stdev(each[atom] for each in samples) for atom in samples[0]}


def _position(atom: str) -> int:
    return int(atom[1:])
