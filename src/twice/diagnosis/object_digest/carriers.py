"""What stands in an object that C code keeps: frames that wait, iterators, caches, files, tasks.

Data is parked in them and taken up again elsewhere: a difference that goes through one is followed, or the line
that takes it up would be blamed for it. What a class of C holds besides is found by what the garbage collector
visits, in its order; counters and buffers in C stay unseen, and that is said.

Not for: content of files on the disk.

Invariant: nothing is advanced, filled or flushed by reading it, and no code of the user's runs.
"""

from __future__ import annotations

import contextvars
import gc
import io
import itertools
import types
import weakref
from collections.abc import Callable
from typing import Any, cast

from twice.diagnosis.object_digest.state import State, in_bytes
from twice.foundation.object_attributes import ClassFacts, class_name, class_namespace

_AHEAD_MAX = 1 << 12
_OVER_COLLECTIONS = frozenset(
    f"builtins.{name}_iterator" for name in ("list", "tuple", "set", "str", "str_ascii", "bytes")
) | frozenset(f"builtins.dict_{name}iterator" for name in ("key", "value", "item"))
_NAMING = (type, types.ModuleType)
_LINK = "functools._lru_list_elem"


def read_opaque(value: object, facts: ClassFacts) -> State | None:
    """Read the contents of an object of a C class, or return None if nothing is known of it."""
    if facts.name == "builtins.object":
        return State()
    held = _read_referents(value)
    if any("__next__" in base.__dict__ for base in facts.bases):
        return State(
            values=held, caveat=f"{facts.name} is an iterator; its position was not compared"
        )
    if not held:
        return None
    return State(
        values=held,
        attributes=True,
        caveat=f"{facts.name} is opaque; only the objects that it holds were compared",
    )


def list_items_ahead(value: Any, facts: ClassFacts) -> list[object] | None:
    """List the items that an iterator over a collection has left; None for any other value."""
    if facts.name not in _OVER_COLLECTIONS:
        return None
    _, given, *position = value.__reduce__()
    held = given[0] if given else ()
    if type(held) not in {list, tuple, str, bytes} or len(held) > _AHEAD_MAX:
        return None
    return list(held[position[0] if position else 0 :])


def _read_referents(value: object) -> tuple[object, ...]:
    return tuple(each for each in gc.get_referents(value) if not issubclass(type(each), _NAMING))


def _read_suspended(value: Any, facts: ClassFacts) -> State:
    """Read a suspended generator or coroutine: its line, its locals, and the object it awaits."""
    prefix, awaited = {
        "builtins.generator": ("gi", "gi_yieldfrom"),
        "builtins.coroutine": ("cr", "cr_await"),
        "builtins.async_generator": ("ag", "ag_await"),
    }[facts.name]
    code, frame = getattr(value, f"{prefix}_code"), getattr(value, f"{prefix}_frame")
    place = in_bytes(code.co_qualname, str(code.co_firstlineno))
    if frame is None:
        return State(chunks=(*place, b"done"))
    chunks = (*place, str(frame.f_lineno).encode())
    if getattr(value, f"{prefix}_running"):
        return State(chunks=chunks)  # its locals are those of a frame that is looked at
    pairs: list[tuple[object, object]] = list(dict(frame.f_locals).items())
    return State(chunks=chunks, pairs=pairs, values=(getattr(value, awaited),))


def _read_cached(value: Any, facts: ClassFacts) -> State:
    """Read a cache: its keys and values, in the order of their last use if it is bounded."""
    counts = in_bytes(str(tuple(_find_own_base(facts).cache_info(value))))
    referents = gc.get_referents(value)
    at = next((at for at, each in enumerate(referents) if each is not type(value)), 0)
    entries: list[tuple[object, object]] = []
    while at + 2 < len(referents) and _is_link(referents[at + 2]):
        entries.append((referents[at], referents[at + 1]))
        at += 3
    if (
        not entries and type(referents[at]) is dict
    ):  # without a bound, the results stand in the dict itself
        entries = list(referents[at].items())
    return State(values=(value.__wrapped__,), chunks=counts, pairs=entries)


def _find_own_base(facts: ClassFacts) -> Any:
    """Return the class that a reader is for, to call no method of a user's subclass."""
    return next(base for base in facts.bases if class_name(base) in READERS)


def _is_link(value: object) -> bool:
    return issubclass(type(value), type) and class_name(cast("type", value)) == _LINK


def _read_reduced(value: Any, facts: ClassFacts) -> State:
    """Read an iterator of Python's own: its collection and its position."""
    try:
        parts = _find_own_base(facts).__reduce__(value)
    except RuntimeError:  # what it is over was changed meanwhile
        return State(values=_read_referents(value))
    return State(values=tuple(parts[1:]), attributes=facts.python_made)


def _read_count(value: Any, _: ClassFacts) -> State:
    held = _read_referents(value)
    # Its text holds where it is; that of numbers which are the user's would be written by the user's code.
    is_plain = all(type(each) in {int, float} for each in held)
    text = itertools.count.__repr__(value) if is_plain else ""
    return State(chunks=in_bytes(text), values=held)


def _read_repeat(value: Any, _: ClassFacts) -> State:
    try:
        left = itertools.repeat.__length_hint__(value)
    except TypeError:  # it has no end
        left = -1
    return State(chunks=in_bytes(str(left)), values=_read_referents(value))


def _read_bytes_buffer(value: Any, _: ClassFacts) -> State:
    return _read_at_position(value, io.BytesIO)


def _read_text_buffer(value: Any, _: ClassFacts) -> State:
    return _read_at_position(value, io.StringIO)


def _read_at_position(value: Any, kind: Any) -> State:
    try:
        content = kind.getvalue(value)
        return State(values=(content, kind.tell(value)), attributes=True)
    except ValueError:
        return State(chunks=(b"closed",), attributes=True)


def _read_held(value: Any, _: ClassFacts) -> State:
    """Read a file of text, or a step of a task, by the objects that it refers to."""
    return State(values=_read_referents(value))


def _read_binary_file(value: Any, facts: ClassFacts) -> State:
    try:
        position = str(_find_own_base(facts).tell(value))
    except (ValueError, OSError, RuntimeError):
        position = "closed, or without a position"
    return State(chunks=in_bytes(position), values=_read_referents(value), attributes=True)


def _read_future(value: Any, facts: ClassFacts) -> State:
    """Read a future or task: its result, its exception, and the coroutine that computes it."""
    own = [base for base in facts.bases if class_name(base).startswith("_asyncio.")]
    kinds: list[dict[str, Any]] = [dict(class_namespace(base)) for base in own]
    names = ("_state", "_result", "_exception", "_coro", "_fut_waiter")
    held = [(name, kind[name].__get__(value)) for name in names for kind in kinds if name in kind]
    return State(pairs=list(held), attributes=facts.python_made)


def _read_hash(value: Any, _: ClassFacts) -> State:
    try:
        return State(chunks=(*in_bytes(value.name), value.digest()))
    except TypeError:  # of a variable length
        return State(chunks=(*in_bytes(value.name), value.digest(32)))


def _read_reference(value: Any, facts: ClassFacts) -> State:
    target = weakref.ref.__call__(value)
    return State(values=(target,), attributes=facts.python_made)


def _read_context_variable(value: Any, _: ClassFacts) -> State:
    return State(chunks=in_bytes(value.name), values=(value.get(None),))


def _read_context(value: Any, _: ClassFacts) -> State:
    held = sorted(contextvars.Context.items(value), key=lambda pair: pair[0].name)
    return State(pairs=[(variable.name, each) for variable, each in held])


def _read_match(value: Any, _: ClassFacts) -> State:
    return State(chunks=in_bytes(str(value.regs)), values=(value.re.pattern, value.string))


def _read_standing(value: Any, _: ClassFacts) -> State:
    """Read a frame's line only; its locals are read when it runs or waits."""
    return State(chunks=in_bytes(value.f_code.co_qualname, str(value.f_lineno)))


def _read_traced_back(value: Any, _: ClassFacts) -> State:
    return State(chunks=in_bytes(value.tb_frame.f_code.co_qualname, str(value.tb_lineno)))


_Reader = Callable[[Any, ClassFacts], State]

READERS: dict[str, _Reader] = {
    **dict.fromkeys(
        ("builtins.generator", "builtins.coroutine", "builtins.async_generator"), _read_suspended
    ),
    "functools._lru_cache_wrapper": _read_cached,
    **{
        f"builtins.{name}": _read_reduced
        for name in (
            "list_iterator", "list_reverseiterator", "tuple_iterator", "str_iterator",
            "str_ascii_iterator", "bytes_iterator", "bytearray_iterator", "range_iterator",
            "longrange_iterator", "enumerate", "zip", "map", "filter", "reversed", "iterator",
            "dict_keyiterator", "dict_valueiterator", "dict_itemiterator",
            "dict_reversekeyiterator", "dict_reversevalueiterator", "dict_reverseitemiterator",
            "set_iterator", "callable_iterator",
        )
    },
    "collections.deque_iterator": _read_reduced,
    "_collections._deque_iterator": _read_reduced,
    "array.arrayiterator": _read_reduced,
    "itertools.count": _read_count,
    "itertools.repeat": _read_repeat,
    "_io.BytesIO": _read_bytes_buffer,
    "_io.StringIO": _read_text_buffer,
    "_io.TextIOWrapper": _read_held,
    **{
        f"{module}.{name}": _read_held
        for module in ("builtins", "_asyncio")
        for name in ("FutureIter", "TaskStepMethWrapper")
    },
    **dict.fromkeys(
        ("_io.BufferedReader", "_io.BufferedWriter", "_io.BufferedRandom", "_io.FileIO"),
        _read_binary_file,
    ),
    "_io.IncrementalNewlineDecoder": lambda *_: State(),
    "_asyncio.Future": _read_future,
    "_hashlib.HASH": _read_hash,
    "_blake2.blake2b": _read_hash,
    "_blake2.blake2s": _read_hash,
    "select.epoll": lambda *_: State(),
    "weakref.ReferenceType": _read_reference,
    "builtins.weakref": _read_reference,
    "_contextvars.Context": _read_context,
    "builtins.ContextVar": _read_context_variable,
    "_contextvars.ContextVar": _read_context_variable,
    "re.Match": _read_match,
    "builtins.frame": _read_standing,
    "builtins.traceback": _read_traced_back,
}  # fmt: skip
"""What is read of values of a class, or of a class derived from it, by its name."""
