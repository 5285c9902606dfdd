"""`dataclass` without generated source, for the classes that every start of an interpreter makes.

`dataclasses.dataclass` writes the source of up to eight methods and compiles it, 0.8 ms a class, in every interpreter anew.
Here the standard library makes fields and slots alone, and the methods are functions over the fields. `fields`, `replace`,
`asdict` and `is_dataclass` of `dataclasses` know these classes; type checkers see the standard library's decorator.

Not for values that are made at every tick, point, object or traced event: an instance takes up to 3 us longer. No `order`,
no `InitVar`, no field that `__init__` does not take, no base of a class that `dataclasses.dataclass` freezes.

Invariant: a class behaves as the standard library would have made it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, FrozenInstanceError, fields
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Never

from twice.foundation.printable import pluralize

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, slots=False, kw_only=False):  # noqa: ANN001, ANN201
        """Make a class a dataclass. The arguments are those of `dataclasses.dataclass`."""
        make = partial(_make, frozen=frozen, eq=eq, slots=slots, kw_only=kw_only)
        return make if cls is None else make(cls)


def _make(plain: type, *, frozen: bool, eq: bool, slots: bool, kw_only: bool) -> Any:
    written = set(vars(plain))
    if "__eq__" in written and vars(plain)["__hash__"] is None:  # which Python put there
        written.discard("__hash__")
    # Without a docstring the standard library would look up a signature to make one.
    plain.__doc__ = plain.__doc__ or plain.__name__
    bare = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    made: Any = bare(plain)
    methods: dict[str, object] = {
        "__init__": _initializer(made, frozen=frozen),
        "__repr__": _represent,
        "__signature__": _LazySignature(),
    }
    if eq:
        methods["__eq__"], compute_hash = _comparison(made)
        methods["__hash__"] = compute_hash if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if frozen and slots:  # what pickles and copies them
        methods |= {"__getstate__": _state, "__setstate__": _put_state}
    for name, method in methods.items():
        if name not in written:
            setattr(made, name, method)
    return made


def _initializer(cls: Any, *, frozen: bool) -> Callable[..., None]:
    every = fields(cls)
    assert all(each.init for each in every), f"{cls.__name__} has a field that nobody gives"
    names = tuple(each.name for each in every)
    positional = tuple(each.name for each in every if not each.kw_only)
    defaults = {each.name: each.default for each in every if each.default is not MISSING}
    factories = [
        (each.name, each.default_factory) for each in every if each.default_factory is not MISSING
    ]
    known = frozenset(names)
    at_once = len(names) if names == positional else -1
    put: Callable[[Any, str, object], None] = object.__setattr__ if frozen else setattr
    goes_on = hasattr(cls, "__post_init__")

    def arrange(given: Sequence[object], named: Mapping[str, object]) -> list[object]:
        """Return a value for each field, in the order of fields."""
        values = defaults.copy()
        values.update(zip(positional, given, strict=False))
        values.update(named)
        for name, make in factories:
            if name not in values:
                values[name] = make()
        twice_given = given and named and not named.keys().isdisjoint(positional[: len(given)])
        if len(given) <= len(positional) and values.keys() == known and not twice_given:
            return [values[name] for name in names]
        raise _misfit(cls, positional, given, named, [name for name in names if name not in values])

    def __init__(self: Any, /, *given: object, **named: object) -> None:  # noqa: N807
        values = given if len(given) == at_once and not named else arrange(given, named)
        for name, value in zip(names, values, strict=True):
            put(self, name, value)
        if goes_on:
            self.__post_init__()

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _misfit(
    cls: Any,
    positional: Sequence[str],
    given: Sequence[object],
    named: Mapping[str, object],
    missing: Sequence[str],
) -> TypeError:
    """Return the error for arguments that are not the values of the fields."""
    known = {each.name for each in fields(cls)}
    if len(given) > len(positional):
        wrong = (
            f"takes {pluralize(len(positional), 'positional argument')} but {len(given)} were given"
        )
    elif unknown := [name for name in named if name not in known]:
        wrong = f"got an unexpected keyword argument {unknown[0]!r}"
    elif missing:
        wrong = f"missing required arguments: {', '.join(map(repr, missing))}"
    else:
        second = [name for name in named if name in positional[: len(given)]]
        wrong = f"got multiple values for argument {second[0]!r}"
    return TypeError(f"{cls.__qualname__}.__init__() {wrong}")


def _comparison(cls: Any) -> tuple[Callable[..., object], Callable[[Any], int]]:
    compared = [each.name for each in fields(cls) if each.compare]
    if len(compared) > 1:
        values: Callable[[Any], Any] = attrgetter(*compared)
    else:  # a tuple as well: it finds a NaN equal to itself
        values = lambda value: tuple(getattr(value, name) for name in compared)  # noqa: E731

    def __eq__(self: Any, other: object) -> object:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))  # twice: ignore[salted-hash] it is ``__hash__``

    return __eq__, __hash__


@recursive_repr("...")
def _represent(self: Any) -> str:
    shown = ", ".join(
        f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr
    )
    return f"{self.__class__.__qualname__}({shown})"


def _refuse_to_set(_self: Any, name: str, _value: object, /) -> Never:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: Any, name: str, /) -> Never:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in fields(self)]


def _put_state(self: Any, state: Sequence[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


class _LazySignature:
    """The signature of a class, made when `inspect` or `help` asks for it."""

    def __get__(self, instance: object, cls: Any) -> object:
        from inspect import Parameter, Signature

        if instance is not None:
            return None
        places = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        parameters = [
            Parameter(
                each.name,
                places[each.kw_only is True],
                annotation=each.type,
                default=_default(each),
            )
            for each in fields(cls)
        ]
        parameters.sort(key=lambda parameter: parameter.kind)
        return Signature(parameters, return_annotation=None)


def _default(field: dataclasses.Field[Any]) -> object:
    from inspect import Parameter

    if field.default_factory is not MISSING:
        return field.default_factory
    return Parameter.empty if field.default is MISSING else field.default
