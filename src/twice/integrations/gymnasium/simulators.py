"""A MuJoCo simulation inside an environment: every input of its next step, and what it last gave.

The inputs of ``mj_step`` are kept by name, so a difference says ``simulator.qvel[3]``. The outputs
are kept as one array behind them: rewards read positions of bodies from before the next step, and
these lag one substep behind, so nothing computes them again.

Invariant: ``put(read())`` makes the next step, its observation and its reward the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twice.diagnosis.object_digest.mujocostate import is_mjdata, mjdata_fields, mjdata_outputs

State = dict[str, Any]


class Simulator:
    """An ``MjData`` held in an attribute of an environment.

    Args:
        owner: the environment.
        attribute: where it holds the simulation; read anew each time, as some replace it.
    """

    def __init__(self, owner: object, attribute: str) -> None:
        self._owner = owner
        self._attribute = attribute
        self._data: Any = None
        self._fields: State = {}
        self._outputs: list[np.ndarray[Any, Any]] = []
        self._flat = np.empty(0)

    def read(self) -> State:
        """Inputs by name, as live views; ``outputs``, 1-D float64, in the order of the table."""
        data = getattr(self._owner, self._attribute)
        if data is not self._data:
            self._look_at(data)
        self._fields["time"] = data.time
        np.concatenate(self._outputs, out=self._flat)
        return self._fields

    def put(self, state: Mapping[str, Any]) -> None:
        """Put everything back in place."""
        self._look_at(getattr(self._owner, self._attribute))
        fields, data = mjdata_fields(self._data), self._data
        for name, value in state.items():
            if name == "outputs":
                self._put_outputs(value)
            elif name == "time":
                data.time = value
            else:
                field: Any = fields[name]
                field[...] = value

    def _look_at(self, data: Any) -> None:
        self._data = data
        self._outputs = [view.reshape(-1) for view in mjdata_outputs(data).values()]
        self._flat = np.empty(sum(view.size for view in self._outputs))
        self._fields = {**mjdata_fields(data), "outputs": self._flat}

    def _put_outputs(self, flat: np.ndarray[Any, Any]) -> None:
        at = 0
        for view in self._outputs:
            view[...] = flat[at : at + view.size]
            at += view.size


def simulators_of(owner: object) -> dict[str, Simulator]:
    """The simulations that an environment holds, by attribute, sorted."""
    held = vars(owner)
    return {name: Simulator(owner, name) for name in sorted(held) if is_mjdata(held[name])}
