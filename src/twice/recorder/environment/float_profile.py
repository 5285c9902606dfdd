"""Profiles of floating-point arithmetic: what each sets before the process begins.

``native`` holds what this processor's own kernels give, with the numbers of threads that are in force. ``x86-64-v3``
gives the same bits on every processor since Haswell and Zen, ``x86-64-v2`` on every one since Nehalem: kernels,
instruction sets and C library are those of the level, and every library computes in one thread. A number of threads
that ``--env`` gives is kept. Every value of a knob is in ``knobs.toml``.

Not promised: bits of other versions of a library. ``torch.sqrt`` of MKL on processors of another maker, and what a
program computes by instructions of its own, are out of reach of any variable.

Invariant: a process gets a profile only where the processor has its instructions.
"""

from __future__ import annotations

import platform
from typing import Final

from twice.errors import NumericPolicyRefused
from twice.recorder.environment.libraries import read_numpy_features
from twice.recorder.environment.policy_variables import contradict, decide_variables
from twice.recorder.environment.surroundings import Surroundings

NATIVE: Final = "native"
LOWEST: Final = "x86-64-v2"

_NEEDED: Final = {
    "x86-64-v3": ("AVX2", "FMA3", "F16C"),
    "x86-64-v2": ("SSE42", "POPCNT"),
}
"""What a processor must have, by numpy's names."""
_OPPOSITE: Final = "NPY_ENABLE_CPU_FEATURES"
"""numpy refuses to be loaded where both of its variables are set."""


def require_possible(profile: str) -> None:
    """Refuse a profile that this processor cannot give: E-POLICY-001.

    Its kernels would end the process with an illegal instruction.
    """
    if profile in ("", NATIVE):
        return
    machine, features = platform.machine(), read_numpy_features()
    lacks = [name for name in _NEEDED[profile] if name not in features]
    is_other = machine.lower() not in {"x86_64", "amd64"}
    if is_other or lacks:
        has = f"is {machine}" if is_other else f"has no {', '.join(lacks)}"
        raise NumericPolicyRefused(
            f"The profile {profile} is not possible here: the processor {has}.",
            "Expected a processor that has all instructions of the profile.",
            f"Choose {'--float-profile x86-64-v2 or ' if profile != LOWEST else ''}--float-profile {NATIVE}.",
            profile=profile,
        )


def apply_profile(surroundings: Surroundings, profile: str) -> Surroundings:
    """Copy surroundings with the variables of a profile; those of an empty name as they are.

    Raises:
        NumericPolicyRefused: E-POLICY-001, where ``--env`` contradicts it, or the processor lacks what it needs.
    """
    if not profile:
        return surroundings
    require_possible(profile)
    decided = decide_variables(surroundings, profile, "float")
    opposite = decided.get(_OPPOSITE)
    if opposite is not None and profile != NATIVE:
        if opposite.source == "explicit":
            raise contradict(_OPPOSITE, opposite.value or "", profile, "", "float")
        del decided[_OPPOSITE]
    return Surroundings(decided)
