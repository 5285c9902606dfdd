"""Generators of ``random`` and numpy as parts, and those that belong to the process.

The whole state: the second half of a Gaussian pair, the buffered half of a word, and how many children a seed sequence
has spawned, which decides the seeds of the next ones.

Not covered: generators that neither the process nor a target owns, such as one in a module's variable: pass it.

Invariant: a state is put into a scratch generator first, so that one that does not fit changes nothing.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np

from twice.foundation.encoding import encode
from twice.integrations.checkpoints.parts import Part, TargetPart, copy_tree

PROCESS = "generators"
_MISFITS = (TypeError, ValueError, KeyError, OverflowError, AttributeError, NotImplementedError)


class PythonGeneratorPart(TargetPart):
    """A ``random.Random``."""

    def read(self) -> object:
        """Return version, words and the waiting Gaussian."""
        version, words, gauss = self.target.getstate()
        return {"version": version, "words": np.array(words, np.uint32), "gauss": gauss}

    def write(self, state: object) -> None:
        """Put the state back."""
        try:
            plain: Any = state
            form = (plain["version"], tuple(plain["words"].tolist()), plain["gauss"])
            if not isinstance(form[2], float | None):
                raise TypeError("the Gaussian is not a number")
            scratch = random.Random()  # noqa: S311  # not for secrets
            scratch.setstate(form)
        except _MISFITS as error:
            raise self.refuse(
                f"is not one of a random.Random ({error})", "one of its getstate()"
            ) from error
        self.target.setstate(form)


class NumpyGeneratorPart(TargetPart):
    """A ``numpy.random.Generator``, a bit generator, or a ``RandomState``."""

    @property
    def kind(self) -> str:
        """The class, and that of its bit generator."""
        return f"{super().kind} of {type(_find_bits(self.target)).__name__}"

    def read(self) -> object:
        """Return the state, and how many children its seed sequence spawned."""
        return {"state": copy_tree(_read_bits(self.target)), "spawned": self._count_spawned()}

    def write(self, state: object) -> None:
        """Put the state back."""
        bits = _find_bits(self.target)
        scratch: Any = type(bits)(0)
        if isinstance(self.target, np.random.RandomState):
            scratch = np.random.RandomState(scratch)
        try:
            inner, spawned = state["state"], state["spawned"]  # type: ignore[index]
            _check_positions(inner)
            _write_bits(scratch, inner)
            # numpy casts what it is given; a state that is another one afterwards was none.
            if type(spawned) is not int or encode(_read_bits(scratch)) != encode(inner):
                raise ValueError("numpy reads it as another one")
        except _MISFITS as error:
            raise self.refuse(
                f"is not one of a {self.kind} ({error})", "one of its state"
            ) from error
        more = spawned - self._count_spawned()
        if more < 0:
            raise self.refuse(
                f"has {spawned} spawned children, and the generator has more", "a new generator"
            )
        _write_bits(self.target, inner)
        if more:
            bits.seed_seq.spawn(more)

    def _count_spawned(self) -> int:
        sequence = getattr(_find_bits(self.target), "seed_seq", None)
        return int(getattr(sequence, "n_children_spawned", 0))


def find_parts(name: str, target: object) -> dict[str, Part]:
    """Return the part of a generator; nothing for other objects of ``random`` and numpy."""
    if isinstance(target, random.Random) and not isinstance(target, random.SystemRandom):
        return {name: PythonGeneratorPart(name, target)}
    if isinstance(target, np.random.Generator | np.random.BitGenerator | np.random.RandomState):
        return {name: NumpyGeneratorPart(name, target)}
    return {}


def find_process_parts(names: frozenset[str] = frozenset()) -> dict[str, Part]:
    """Return the generators of the process, those of torch if it is loaded or a name asks for one of its generators."""
    parts: dict[str, Part] = {
        f"{PROCESS}.random": PythonGeneratorPart(f"{PROCESS}.random", random._inst),
        # mtrand's instance is what numpy.random.seed and the functions of numpy.random use.
        f"{PROCESS}.numpy": NumpyGeneratorPart(f"{PROCESS}.numpy", np.random.mtrand._rand),
    }
    if "torch" in sys.modules or any(name.startswith(f"{PROCESS}.torch") for name in names):
        from twice.integrations.checkpoints import torch_generators

        parts |= torch_generators.find_process_parts(PROCESS, names)
    return parts


def _find_bits(target: Any) -> Any:
    if isinstance(target, np.random.BitGenerator):
        return target
    if isinstance(target, np.random.RandomState):
        return target._bit_generator
    return target.bit_generator


def _read_bits(target: Any) -> Any:
    if isinstance(target, np.random.RandomState):
        return target.get_state(legacy=False)
    return _find_bits(target).state


def _write_bits(target: Any, state: Any) -> None:
    if isinstance(target, np.random.RandomState):
        target.set_state(state)
    else:
        _find_bits(target).state = state


def _check_positions(state: Any) -> None:
    """Refuse places outside of a buffer: numpy takes them, and reads beyond its memory at the next draw."""
    position = state["state"].get("pos", 0)
    in_buffer = state.get("buffer_pos", 0)
    if not 0 <= position <= 624 or not 0 <= in_buffer <= 4:
        raise ValueError("a place outside of its buffer")
