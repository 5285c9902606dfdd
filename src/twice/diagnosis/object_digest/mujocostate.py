"""What the state of a MuJoCo simulation is, field by field, named as ``MjData`` names it.

Inputs of ``mj_step`` are the fields that ``mjtState`` enumerates; two simulations that agree in all
of them take the same step, bit for bit. Everything else in ``MjData`` is output: overwritten by the
next step, but read by rewards and observations before it. Those outputs lag: after ``mj_step``
they belong to the state before the last substep, so ``mj_forward`` does not bring them back.

Not listed: contacts, constraint rows and islands (they live in an arena that is laid out anew at
every step) and factorised matrices (scratch). A restored simulation has them after its next step.

Invariant: every bit of ``mjSTATE_INTEGRATION`` that the loaded version knows is in ``mjdata_fields``.

Source: MuJoCo documentation, "Programming: Simulation: State and control"; ``mjtState``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from twice.foundation.object_attributes import class_facts

if TYPE_CHECKING:
    import numpy as np

# Bit of mjtState -> attribute of MjData.
STATE_ATTRIBUTES: dict[str, str] = {
    "TIME": "time",
    "QPOS": "qpos",
    "QVEL": "qvel",
    "ACT": "act",
    "HISTORY": "history",
    "WARMSTART": "qacc_warmstart",
    "CTRL": "ctrl",
    "QFRC_APPLIED": "qfrc_applied",
    "XFRC_APPLIED": "xfrc_applied",
    "EQ_ACTIVE": "eq_active",
    "MOCAP_POS": "mocap_pos",
    "MOCAP_QUAT": "mocap_quat",
    "USERDATA": "userdata",
    "PLUGIN": "plugin_state",
    "PLASTIC": "plastic",
}
_PREFIX = "mjSTATE_"

# What tasks read between two steps, in the order of mjdata.h.
OUTPUT_ATTRIBUTES: tuple[str, ...] = (
    "energy", "tree_asleep", "act_dot", "qacc", "sensordata", "xpos", "xquat", "xmat", "xipos",
    "ximat", "xiquat", "xanchor", "xaxis", "geom_xpos", "geom_xmat", "geom_xquat", "site_xpos",
    "site_xmat", "site_xquat", "cam_xpos", "cam_xmat", "light_xpos", "light_xdir", "subtree_com",
    "cdof", "cinert", "flexvert_xpos", "flexedge_length", "ten_length", "ten_velocity", "wrap_xpos",
    "actuator_length", "actuator_velocity", "actuator_force", "cvel", "cdof_dot", "qfrc_bias",
    "qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_fluid", "qfrc_passive", "subtree_linvel",
    "subtree_angmom", "qfrc_actuator", "qfrc_smooth", "qacc_smooth", "qfrc_constraint",
    "qfrc_inverse", "cacc", "cfrc_int", "cfrc_ext",
)  # fmt: skip


def is_mjdata(value: object) -> bool:
    """Whether a value is a MuJoCo ``MjData``; MuJoCo is not imported to find out."""
    package, _, name = class_facts(type(value)).name.partition(".")
    return package == "mujoco" and name.rpartition(".")[2] == "MjData"


def mjdata_fields(data: Any) -> dict[str, np.ndarray[Any, Any] | float]:
    """Every non-empty input of ``mj_step``, by its name in ``MjData``.

    Returns:
        Name to a live view of the simulation's memory (float64; ``eq_active`` bool), and ``time``
        to a float in seconds. A bit that this table does not name comes as a copy under its name
        in ``mjtState``, in lower case.
    """
    fields: dict[str, Any] = {}
    for bit in state_bits():
        attribute = STATE_ATTRIBUTES.get(bit, "")
        value = _read(data, attribute) if attribute else None
        if value is None:
            value = _by_bit(data, bit)
        if isinstance(value, float) or value.size:
            fields[attribute or bit.lower()] = value
    return fields


def mjdata_outputs(data: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Every non-empty output that tasks read between two steps, as live views, by name."""
    found = {name: _read(data, name) for name in OUTPUT_ATTRIBUTES}
    return {name: value for name, value in found.items() if value is not None and value.size}


def state_bits() -> list[str]:
    """Names of the single bits of ``mjSTATE_INTEGRATION`` in the loaded MuJoCo, in its order."""
    states = sys.modules["mujoco"].mjtState
    whole = int(states.mjSTATE_INTEGRATION)
    members = {
        name.removeprefix(_PREFIX): int(value)
        for name, value in states.__members__.items()
        if name.startswith(_PREFIX)
    }
    return [name for name, bit in members.items() if bit & whole and bit & (bit - 1) == 0]


def _read(data: Any, name: str) -> Any:
    """Read an attribute by MuJoCo's own class, or None where this version has none of the name."""
    own = getattr(sys.modules["mujoco"].MjData, name, None)
    return None if own is None else own.__get__(data)


def _by_bit(data: Any, bit: str) -> np.ndarray[Any, Any]:
    mujoco, numpy = sys.modules["mujoco"], sys.modules["numpy"]
    spec = getattr(mujoco.mjtState, _PREFIX + bit)
    values: np.ndarray[Any, Any] = numpy.empty(mujoco.mj_stateSize(_read(data, "model"), spec))
    mujoco.mj_getState(_read(data, "model"), data, values, spec)
    return values
