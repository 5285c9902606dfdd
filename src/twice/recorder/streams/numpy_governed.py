"""Any numpy generator under a name: its position by view where possible, its state, its way back.

Imported while ``numpy.random`` is still being imported, so no class here derives from numpy's.

Invariant: a state is put back in place, so whatever shares the bit generator rewinds with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twice.recorder.streams.governed import Governed
from twice.recorder.streams.memory import (
    bits_layout,
    bits_views,
    gauss_layout,
    gauss_view,
    mt19937_layout,
)
from twice.recorder.streams.numpy_states import bytes_of, lifted, plain
from twice.recorder.streams.refusals import state_refused


class GovernedBits(Governed):
    """Any numpy ``Generator`` or bit generator: PCG64 and MT19937 by view, others by state."""

    kind = "numpy"

    def __init__(self, generator: np.random.Generator | np.random.BitGenerator) -> None:
        self.generator = generator
        self.bits = (
            generator.bit_generator if isinstance(generator, np.random.Generator) else generator
        )
        views = bits_views(self.bits)
        if views is None:
            self.moving = self._whole
        else:
            self.views = views

    def source(self) -> object:
        """Return the bit generator, which two ``Generator`` objects may share."""
        return self.bits

    def _whole(self) -> bytes:
        state: Any = self.bits.state
        layout = bits_layout(self.bits)
        return bytes_of(plain(state)) if layout is None else layout(state)

    def read(self) -> dict[str, object]:
        """Return numpy's state, with arrays as labelled bytes."""
        return {"kind": self.kind, **plain(self.bits.state)}

    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back in place.

        Raises:
            StreamStateRefused: E-RNG-004, when the state does not fit.
        """
        self.bits.state = lifted(state, like=self.bits.state, kind=self.kind)


class GovernedRandomState(Governed):
    """A ``RandomState``, the global one among them: its bits and the Gaussian it keeps."""

    kind = "numpy-legacy"

    def __init__(self, generator: np.random.RandomState) -> None:
        self.generator = self._legacy = generator
        self._bits = generator._bit_generator  # its public getter is global
        views, gauss = bits_views(self._bits), gauss_view(generator)
        if views is None or gauss is None:
            self.moving = self._whole
        else:
            self.views = (*views, gauss)
            self.moving = self._replaced

    def source(self) -> object:
        """Return the bit generator, which a ``Generator`` may share."""
        return self._bits

    def _replaced(self) -> bytes:
        """Return the state if ``set_bit_generator`` has replaced the bits since, else nothing."""
        same = self._legacy._bit_generator is self._bits
        return b"" if same else bytes_of(self.read())

    def _whole(self) -> bytes:
        state: Any = self._legacy.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            return bytes_of(plain(state))
        return mt19937_layout(state) + gauss_layout(state["has_gauss"], state["gauss"])

    def read(self) -> dict[str, object]:
        """Return numpy's state, with arrays as labelled bytes."""
        state: Any = self._legacy.get_state(legacy=False)
        return {"kind": self.kind, **plain(state)}

    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back in place.

        Raises:
            StreamStateRefused: E-RNG-004, when the state does not fit.
        """
        current: Any = self._legacy.get_state(legacy=False)
        if type(state.get("gauss")) is not float:
            raise state_refused(f"holds the Gaussian {state.get('gauss')!r}", self.kind)
        self._legacy.set_state(lifted(state, like=current, kind=self.kind))
