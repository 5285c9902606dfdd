"""Any function as an effect: a model call, a C library, a device.

Recording, the function runs and its result (or the exception it raised) is written down; replaying
it does not run. Arguments are compared by the digest of their canonical form, so a call with other
arguments is a divergence. Results must have a canonical form.

What the function itself reads from the world (the clock, other effects) is part of its result and
not recorded besides. What it does not cover: changes that the function makes to its arguments or to
the rest of the program; in replay they do not happen. A change of an argument is a caveat of the record.

Invariant: in replay the function is not called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twice.errors import EffectRefused, EncodingRefused
from twice.foundation.digests import Algorithm, digest_value
from twice.foundation.encoding import decode, encode, loaded_types
from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import RETURNED, given, outcome_of
from twice.recorder.kernel.confinement import current
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.states import apply_orders, find_orders


def governed_call(
    layer: EffectLayer, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """Call a function through the layer, or serve the recorded result.

    Raises:
        EffectRefused: E-EFFECT-002, when arguments or result have no canonical form.
        EffectMismatch: E-EFFECT-001, in replay, for another call or other arguments.
    """
    actor = layer.named(ops.CALL)
    arguments = (name, _arguments_digest(layer.redaction, name, args, kwargs))

    ran = False

    def live() -> tuple[Any, ...]:
        nonlocal ran
        ran = True
        # What it reads is part of its one result: in replay it does not run, so nobody would ask
        # for those reads again.
        looking = layer.descriptors
        with current().inside_effect():
            if looking is None:
                return outside(_outcome, name, function, args, kwargs)  # type: ignore[no-any-return]
            looking.look()
            try:
                return outside(_outcome, name, function, args, kwargs)  # type: ignore[no-any-return]
            finally:
                looking.adopt()

    outcome: Any = layer.read(actor, ops.CALL, live, arguments)
    if (
        ran
        and layer.writes
        and _arguments_digest(layer.redaction, name, args, kwargs) != arguments[1]
    ):
        remark = (
            f"the effect {name!r} changes what it is given, and a replay does not call it: the change is "
            "missing there; return it instead, and let the program make it"
        )
        if remark not in layer.remarks:
            layer.remarks.append(remark)
    if len(outcome) == 2:
        return given(outcome)
    return outcome[1] if ran else _in_order(outcome[1], outcome[2])


def _in_order(value: object, orders: Any) -> Any:
    """Restore the order of a recorded result's dicts, which canonical form sorts."""
    fresh: Any = decode(encode(value), resolve=loaded_types)
    return apply_orders(fresh, orders)


def _arguments_digest(
    redaction: Redaction, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str:
    try:
        return str(digest_value(redaction.digestible((args, kwargs)), Algorithm.BLAKE3))
    except EncodingRefused as error:
        raise EffectRefused(
            f"An argument of the effect {name!r} has no canonical form: {error.happened}",
            "Expected plain values and arrays, which can be compared in replay.",
            "Pass what identifies the call, and bind the rest in a closure or a method.",
            name=name,
        ) from error


def _outcome(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the outcome of the call, with the order of the returned dicts where it matters."""
    outcome = outcome_of(function, *args, **kwargs)
    if outcome[0] != RETURNED:
        return outcome
    try:
        digest_value(outcome[1], Algorithm.BLAKE3)
    except EncodingRefused as error:
        raise EffectRefused(
            f"The effect {name!r} returned something without a canonical form: {error.happened}",
            "Expected plain values and arrays, which can be written down and served again.",
            "Return the part that the program uses, as plain values.",
            name=name,
        ) from error
    orders = find_orders(outcome[1])
    return outcome if orders is None else (*outcome, orders)
