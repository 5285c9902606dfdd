"""A ledger of JAX keys: a key for each name and number, each handed out once.

JAX has no generators: a key that is passed to two draws gives the same numbers twice, and nothing says so. The ledger
derives a key from a name and a number alone, so that a resumed training has the keys of one that never stopped, and a
draw that is added elsewhere changes none of them.

Not covered: a key that the program itself passes to two draws after it took it once. ``jax_debug_key_reuse`` of JAX
finds that.

Invariant: no two calls of ``next`` return the same key.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from twice.errors import KeyUsedTwice
from twice.foundation.digests import digest_bytes
from twice.integrations.checkpoints.parts import TargetPart
from twice.integrations.checkpoints.trees import MISFITS

_NUMBER_MAX = 0xFFFF_FFFF


class KeyLedger(TargetPart):
    """Keys by name and number; itself a part of a checkpoint: ``Checkpoint(path, keys=KeyLedger(jax.random.key(0)))``.

    Args:
        key: the key from which all others are derived, of ``jax.random.key`` or ``jax.random.PRNGKey``. Do not use it
            elsewhere.
    """

    def __init__(self, key: Any) -> None:
        super().__init__("the key ledger", key)
        self._last: dict[str, int] = {}

    def next(self, name: str, number: int = 0) -> Any:
        """Return the key of a name and a number, such as ``next("dropout", step)``.

        Args:
            name: what the key is for.
            number: which one of the name, ascending from 0 to 4,294,967,295. Numbers may be left out.

        Returns:
            A key of the kind of the ledger's own. It depends on that one, the name and the number, and on nothing else.

        Raises:
            KeyUsedTwice: E-CHECKPOINT-007: the key, or one of the name with a higher number, was handed out before.
            ValueError: the number is out of range.
        """
        if not 0 <= number <= _NUMBER_MAX:
            raise ValueError(
                f"{name} was asked for with the number {number}, not 0 to {_NUMBER_MAX}"
            )
        last = self._last.get(name)
        if last is not None and number <= last:
            raise KeyUsedTwice(
                f"The key {name!r} number {number} was asked for after number {last}.",
                "Expected each key once, in ascending numbers: the same key gives the same draws again.",
                f"Pass the step, keys.next({name!r}, step), or use another name for another draw.",
                name=name,
                number=number,
            )
        self._last[name] = number
        # Two words of 32 bits: one is what fold_in takes, and two names of 65,000 would share one.
        digest = digest_bytes(name.encode()).raw
        key = self.target
        for word in (digest[:4], digest[4:8]):
            key = jax.random.fold_in(key, int.from_bytes(word, "little"))
        return jax.random.fold_in(key, number)

    def read(self) -> object:
        """Return the ledger's key and the last number of each name."""
        is_typed = jax.dtypes.issubdtype(self.target.dtype, jax.dtypes.prng_key)
        data = jax.random.key_data(self.target) if is_typed else self.target
        implementation = str(jax.random.key_impl(self.target)) if is_typed else ""
        return {"key": np.array(data), "implementation": implementation, "last": dict(self._last)}

    def write(self, state: object) -> None:
        """Put key and numbers back."""
        plain: Any = state
        try:
            key, last = jax.numpy.asarray(plain["key"]), dict(plain["last"])
            if plain["implementation"]:
                key = jax.random.wrap_key_data(key, impl=plain["implementation"])
            if (key.shape, key.dtype) != (self.target.shape, self.target.dtype):
                raise ValueError(f"its key is {key.dtype} of the shape {list(key.shape)}")
            if not all(type(name) is str and type(number) is int for name, number in last.items()):
                raise TypeError("its numbers are none")
        except MISFITS as error:
            raise self.refuse(
                f"is not one of this ledger ({error})", "a key of the same kind"
            ) from error
        self.target, self._last = key, last
