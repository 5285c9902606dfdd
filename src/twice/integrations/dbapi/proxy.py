"""One object of a driver, asked through the effects layer.

Invariant: the real object is touched by what is recorded live, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from twice.errors import EffectRefused
from twice.integrations.dbapi.values import parameter, result
from twice.recording.effects.calls import governed_call
from twice.recording.effects.layer import EffectLayer


class DriverProxy:
    """Asks a driver's object, or the record in its place."""

    def __init__(self, layer: EffectLayer, name: str, key: str) -> None:
        self._layer, self._key = layer, key
        self.name = name
        self.real: Any = None
        self._n_parts = 0

    def call(
        self,
        method: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        shown: Any = None,
        then: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Call a method of the real object as one effect."""
        named = kwargs or {}
        where = f"{self.name}.{method}"
        asked = parameter((args, named), where) if shown is None else shown

        def live() -> Any:
            given = getattr(self.require_real(where), method)(*args, **named)
            return result(given, where) if then is None else then(given)

        return self.ask(method, live, asked)

    def ask(self, what: str, live: Callable[[], Any], asked: Any = ()) -> Any:
        """Do something live as one effect; its result must be plain."""
        effect = f"{self.name}.{what}"
        return governed_call(self._layer, effect, lambda *_: live(), self._key, asked)

    def make(self, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DriverProxy:
        """Call a method that makes another object, and return its proxy."""
        proxy = DriverProxy(self._layer, self.name, f"{self._key}/{kind}:{self._n_parts}")
        self._n_parts += 1

        def keep(real: Any) -> None:
            proxy.real = real

        self.call(kind, args, kwargs, then=keep)
        return proxy

    def require_real(self, where: str) -> Any:
        """Return the real object."""
        if self.real is None:
            raise EffectRefused(
                f"{where} would ask the database, and this execution has no connection to it.",
                "Expected what the record answers: its connections were served, not opened.",
                "Branch from the first tick, or record a new run: twice record",
                where=where,
            )
        return self.real


class TransactionBlock:
    """A transaction block under a run."""

    _proxy: DriverProxy

    def __init__(self, proxy: DriverProxy) -> None:
        self.__dict__["_proxy"] = proxy

    def __enter__(self) -> Self:
        self._proxy.call("__enter__", then=lambda _: None)
        return self

    def __exit__(self, *raised: object) -> bool:
        """Let the driver end the block: it commits or rolls back, and may swallow what was raised."""
        kind = raised[0]
        shown = f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else ""
        is_swallowed: bool = self._proxy.call("__exit__", raised, shown=(shown,), then=bool)
        return is_swallowed
