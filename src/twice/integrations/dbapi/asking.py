"""One object of a driver, asked through the effects layer.

Invariant: the real object is touched by what is recorded live, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twice.errors import EffectRefused
from twice.integrations.dbapi.values import parameter, result
from twice.recording.effects.calls import governed_call
from twice.recording.effects.layer import EffectLayer


class Asked:
    """Asks a driver's object, or the record in its place.

    Args:
        layer: of the session.
        name: what the connection is called in the record.
        key: which object of the run it is, by who made it and in which order.

    Attributes:
        real: the driver's object; None in replay, where there is none.
    """

    def __init__(self, layer: EffectLayer, name: str, key: str) -> None:
        self._layer = layer
        self.name, self.key = name, key
        self.real: Any = None

    def call(
        self,
        method: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        shown: Any = None,
        then: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Call a method of the real object as one effect.

        Args:
            method: its name.
            args: for the driver, as the program gave them.
            kwargs: the same, by name.
            shown: what is compared instead of the arguments.
            then: turns what the driver returned into plain values; without it, ``result`` does.

        Raises:
            EffectRefused: E-EFFECT-002, for arguments or results without a plain form.
        """
        named = kwargs or {}
        where = f"{self.name}.{method}"
        asked = parameter((args, named), where) if shown is None else shown

        def live() -> Any:
            given = getattr(self.existing(where), method)(*args, **named)
            return result(given, where) if then is None else then(given)

        return self.ask(method, live, asked)

    def ask(self, what: str, live: Callable[[], Any], asked: Any = ()) -> Any:
        """Do something live as one effect; its result must be plain."""
        effect = f"{self.name}.{what}"
        return governed_call(self._layer, effect, lambda *_: live(), self.key, asked)

    def part(self, kind: str, number: int) -> Asked:
        """Another object, made by this one."""
        return Asked(self._layer, self.name, f"{self.key}/{kind}:{number}")

    def existing(self, where: str) -> Any:
        """The real object.

        Raises:
            EffectRefused: E-EFFECT-002, where a branch asks what was not recorded.
        """
        if self.real is None:
            raise EffectRefused(
                f"{where} would ask the database, and this execution has no connection to it.",
                "Expected what the record answers: its connections were served, not opened.",
                "Branch from the first tick, or record a new run: twice record",
                where=where,
            )
        return self.real
