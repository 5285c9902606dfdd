"""Probe results of other machines, stored by profile: does this one compute the same?

``reference_probes.json`` holds results that are the same on every machine where a profile was tried, with the versions
of the libraries that gave them. A probe is compared where its libraries have those versions; of other versions the
table says nothing.

Invariant: a probe that was not compared is never told as the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from twice.foundation.dataclass import dataclass
from twice.foundation.environment import Fingerprint

_BELOW: Final = {
    "libm": ("glibc",), "python": ("glibc",), "numpy": ("numpy", "glibc"), "random": ("numpy", "glibc"),
    "blas": ("numpy", "openblas"), "lapack": ("numpy", "openblas"), "torch": ("torch", "glibc"), "float": (),
}  # fmt: skip
"""The libraries that a group of probes rests on."""


@dataclass(frozen=True, slots=True)
class ProbeComparison:
    """Probes of this machine beside others.

    Attributes:
        reference: what they were compared with; empty where there is nothing.
        compared: names of probes that both have, of the same versions of their libraries.
        differing: those of them with another result.
    """

    reference: str
    compared: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()


def compare_with_reference(found: Fingerprint, profile: str) -> ProbeComparison:
    """Compare the probes of a fingerprint that was measured under a profile with the stored ones."""
    table = _read_tables().get(profile)
    if table is None:
        return ProbeComparison("")
    versions = table["versions"]
    compared = [
        name
        for name in table["probes"]
        if name in found.probes
        and all(
            found.versions.get(each) == versions[each] for each in _BELOW[name.partition(".")[0]]
        )
    ]
    differing = [name for name in compared if found.probes[name] != table["probes"][name]]
    return ProbeComparison(f"the stored results of {profile}", tuple(compared), tuple(differing))


def compare_with(found: Fingerprint, other: Fingerprint, name: str) -> ProbeComparison:
    """Compare with another machine's fingerprint, whatever its versions."""
    compared = [each for each in found.probes if each in other.probes]
    differing = [each for each in compared if found.probes[each] != other.probes[each]]
    return ProbeComparison(name, tuple(compared), tuple(differing))


def make_table(found: Fingerprint) -> dict[str, Any]:
    """Return what is stored of a fingerprint: its probes of arithmetic, and the versions below them."""
    probes = {name: bits for name, bits in found.probes.items() if name.partition(".")[0] in _BELOW}
    used = {each for name in probes for each in _BELOW[name.partition(".")[0]]}
    return {"versions": {name: found.versions[name] for name in sorted(used)}, "probes": probes}


def _read_tables() -> Mapping[str, Any]:
    text = (
        resources.files(__package__).joinpath("reference_probes.json").read_text(encoding="utf-8")
    )
    found: Mapping[str, Any] = json.loads(text)
    return found
