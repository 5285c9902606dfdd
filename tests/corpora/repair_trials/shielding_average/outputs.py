"""Read the output files of a quantum chemistry program.

Every conformer has two files: ``NAME_freq.txt`` holds its free energy, and ``NAME_nmr.txt``
holds the isotropic shielding of each atom.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ENERGY = re.compile(r"Sum of electronic and thermal Free Energies=\s+(-?\d+\.\d+)")
SHIELDING = re.compile(r"^\s*(\d+)\s+([A-Z][a-z]?)\s+Isotropic =\s+(-?\d+\.\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Conformer:
    """One shape of the molecule.

    Attributes:
        energy_hartree: its free energy.
        shieldings: isotropic shieldings in ppm by atom, such as ``C1``.
    """

    energy_hartree: float
    shieldings: dict[str, float]


def read_energy(path: Path) -> float:
    """Return the free energy in a frequency calculation."""
    found = ENERGY.search(path.read_text(encoding="ascii"))
    if found is None:
        raise ValueError(f"{path.name}: the calculation has not ended")
    return float(found[1])


def read_shieldings(path: Path) -> dict[str, float]:
    """Return the shieldings of an NMR calculation by atom."""
    found = SHIELDING.findall(path.read_text(encoding="ascii"))
    return {f"{element}{number}": float(value) for number, element, value in found}


def read_conformers(folder: Path) -> list[Conformer]:
    """Read all conformers in a folder."""
    energies = [read_energy(path) for path in folder.glob("*_freq.txt")]
    shieldings = [read_shieldings(path) for path in folder.glob("*_nmr.txt")]
    if len(energies) != len(shieldings):
        raise ValueError(f"{len(energies)} energies, but {len(shieldings)} sets of shieldings")
    return [Conformer(*pair) for pair in zip(energies, shieldings)]
