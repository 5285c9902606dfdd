"""The policy of computation on a GPU: what it sets before the process begins.

``deterministic`` asks every library for the algorithms that give the same bits in every run on the same device with
the same software: PyTorch, JAX, TensorFlow, NCCL, Triton, TransformerEngine, Mamba. Every value is in
``gpu_knobs.toml``; switches of modules are set when the program has imported them (``switches``).

Not here: the device that a run computed on (``gpu_device``).

Not promised: bits of another device, driver, or version of a library, nor of kernels that the program brings. Whether
NCCL, cuBLAS and the others obey a variable, no interface tells.

Invariant: a policy is given on a machine without a GPU, too, and never against ``--env``.
"""

from __future__ import annotations

from typing import Final

from twice.errors import NumericPolicyRefused
from twice.recorder.environment.libraries import list_cards
from twice.recorder.environment.policy_variables import decide_variables
from twice.recorder.environment.surroundings import Surroundings

_CHOICE: Final = "CUDA_VISIBLE_DEVICES"


def apply_gpu_policy(surroundings: Surroundings, policy: str) -> Surroundings:
    """Copy surroundings with the variables of a policy; those of an empty name as they are.

    A machine without a GPU is allowed: what holds on the processor holds there.

    Raises:
        NumericPolicyRefused: E-POLICY-001, where ``--env`` contradicts the policy, or chooses a GPU that is not here.
    """
    if not policy:
        return surroundings
    _require_chosen(surroundings)
    return Surroundings(decide_variables(surroundings, policy, "gpu"))


def _require_chosen(surroundings: Surroundings) -> None:
    variable = surroundings.variables.get(_CHOICE)
    if variable is None or variable.source != "explicit":
        return
    cards = list_cards()
    if cards is None:  # this system does not list them
        return
    chosen = [part.strip() for part in (variable.value or "").split(",")]
    absent = [part for part in chosen if part.isdecimal() and int(part) >= len(cards)]
    if absent:
        here = ", ".join(f"{at} {card}" for at, card in enumerate(cards)) or "none"
        raise NumericPolicyRefused(
            f"--env {_CHOICE}={variable.value} chooses GPU {absent[0]}, which is not here. Here: {here}.",
            "Expected numbers of GPUs of this machine, from 0.",
            f"Leave out --env {_CHOICE}, or run where that GPU is.",
            variable=_CHOICE,
            cards=cards,
        )
