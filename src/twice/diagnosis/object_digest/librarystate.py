"""What the state of a value is when its class belongs to Python or to a known library.

For: numpy arrays and generators, ``random.Random``, functions, cells, collections, dates and paths. What keeps objects in C
(``carriers``) and what libraries compute with (``tables``) have their readers beside.

Not for: instances of the user's own classes; ``graphdigest`` reads those by attributes.

Invariant: a library is never imported here. A value of a library's class proves it is loaded, and the
class is known by its name and by the module in ``sys.modules``.
"""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import functools
import pathlib
import random
import sys
import types
from collections.abc import Callable
from typing import Any

from twice.diagnosis.object_digest import carriers, tables
from twice.diagnosis.object_digest.state import State, in_bytes, short_hash
from twice.foundation.object_attributes import (
    ClassFacts,
    attributes,
    class_facts,
    class_namespace,
    derives,
)

NAMED_TYPES = frozenset(
    {
        "builtins.function",
        "builtins.builtin_function_or_method",
        "builtins.module",
        "builtins.type",
        "abc.ABCMeta",
        "enum.EnumType",
    }
)
_OF_THE_SYSTEM = {
    "threading.Thread": {"_ident", "_native_id", "_tstate_lock", "_handle", "_os_thread_handle"},
    "asyncio.base_events.BaseEventLoop": {"_thread_id"},
}
"""Attributes of a class by which the system calls something: each execution has others."""
_CODE_MEMBERS = frozenset(
    {
        "builtins.function",
        "builtins.staticmethod",
        "builtins.classmethod",
        "builtins.property",
        "builtins.getset_descriptor",
        "builtins.member_descriptor",
        "builtins.wrapper_descriptor",
        "builtins.method_descriptor",
        "builtins.classmethod_descriptor",
        "builtins.builtin_function_or_method",
        "builtins.type",
        "functools.cached_property",
        "functools.partialmethod",
        "_abc._abc_data",
    }
)
_TIME = ("hour", "minute", "second", "microsecond", "fold")
_ZONED: dict[type, tuple[str, ...]] = {
    dt.datetime: ("year", "month", "day", *_TIME),
    dt.time: _TIME,
}
_CHUNK_MAX = 4096  # bytes of an array that are copied; a larger one is hashed where it lies


def state_attributes(value: object, facts: ClassFacts) -> list[tuple[str, object]]:
    """Return the attributes of a value that are state: of a thread, not what the system calls it."""
    held = attributes(value, facts)
    for name, left_out in _OF_THE_SYSTEM.items():
        if name in facts.lineage:
            held = [pair for pair in held if pair[0] not in left_out]
    return held


def knows(facts: ClassFacts) -> bool:
    """Whether values of the class have a reader here, by the name of the class or of a base."""
    return any(name in _READERS for name in facts.lineage) or _is_engine(facts)


def _is_engine(facts: ClassFacts) -> bool:
    """Our own objects, reached through a local of the program, are no part of its state."""
    return facts.name.startswith("twice.")


def read(value: object, facts: ClassFacts) -> State | None:
    """Read the state of a value of a known class, or return None for an unknown class."""
    for name in facts.lineage:
        reader = _READERS.get(name)
        if reader is not None:
            return reader(value, facts)
    if _is_engine(facts):
        return State()
    return None if facts.python_made else carriers.read_opaque(value, facts)


def is_code_member(value: object) -> bool:
    """Whether a member of a class is code, and so named by the class itself."""
    facts = class_facts(type(value))
    return facts.name in _CODE_MEMBERS or "builtins.type" in facts.lineage


def is_stream(value: object) -> bool:
    """Whether a value is a generator of random numbers: its state is a position in a stream."""
    return any(name in _STREAMS for name in class_facts(type(value)).lineage)


def _sympy(value: Any, facts: ClassFacts) -> State:
    """Read an expression by its parts; derived facts come in the order of sets."""
    held = attributes(value, facts)
    made = [each for name, each in held if name not in {"_assumptions", "_mhash", "_hash"}]
    return State(values=tuple(made))


def _function(value: Any, _: ClassFacts) -> State:
    code = value.__code__
    place = in_bytes(str(value.__module__), value.__qualname__, str(code.co_firstlineno))
    held = (value.__defaults__, value.__kwdefaults__, value.__closure__)
    return State(chunks=place, values=held, attributes=True)


def _wrapper(value: Any, _: ClassFacts) -> State:
    return State(values=(value.__func__,))


def _lock(_value: Any, _: ClassFacts) -> State:
    """Read a lock as empty: it has no data, and its owner changes from moment to moment."""
    return State()


def _cell(value: Any, _: ClassFacts) -> State:
    try:
        return State(values=(value.cell_contents,))
    except ValueError:
        return State()


def _method(value: Any, _: ClassFacts) -> State:
    return State(values=(value.__func__, value.__self__))


def _builtin(value: Any, _: ClassFacts) -> State:
    owner = value.__self__
    bound = () if owner is None or type(owner) is types.ModuleType else (owner,)
    return State(chunks=in_bytes(value.__qualname__), values=bound)


def _module(value: Any, _: ClassFacts) -> State:
    name = types.ModuleType.__getattribute__(value, "__dict__").get("__name__")
    return State(chunks=in_bytes(name if type(name) is str else "?"))


def _partial(value: Any, _: ClassFacts) -> State:
    kind: Any = functools.partial
    parts = tuple(kind.__dict__[name].__get__(value) for name in ("func", "args", "keywords"))
    return State(values=parts, attributes=True)


def _code(value: Any, _: ClassFacts) -> State:
    return State(chunks=in_bytes(value.co_qualname, str(value.co_firstlineno)))


def _dict(value: Any, facts: ClassFacts) -> State:
    pairs = list(dict.items(value))
    if derives(facts, collections.OrderedDict):  # its order lives outside the dict's
        held = {id(key): item for key, item in pairs}
        pairs = [(key, held.get(id(key))) for key in collections.OrderedDict.__iter__(value)]
    factory: tuple[object, ...] = ()
    if derives(facts, collections.defaultdict):
        factory = (collections.defaultdict.__dict__["default_factory"].__get__(value),)
    return State(pairs=pairs, values=factory, attributes=True)


def _list(value: Any, _: ClassFacts) -> State:
    return State(values=tuple(list.__iter__(value)), attributes=True)


def _tuple(value: Any, _: ClassFacts) -> State:
    return State(values=tuple(tuple.__iter__(value)), attributes=True)


def _set(value: Any, facts: ClassFacts) -> State:
    base: Any = set if derives(facts, set) else frozenset
    return State(members=list(base.__iter__(value)), attributes=True)


def _deque(value: Any, _: ClassFacts) -> State:
    kind: Any = collections.deque
    size = kind.__dict__["maxlen"].__get__(value)
    return State(values=(size, *kind.__iter__(value)), attributes=True)


def _int(value: Any, _: ClassFacts) -> State:
    return State(chunks=in_bytes(int.__repr__(value)), attributes=True)


def _float(value: Any, _: ClassFacts) -> State:
    return State(chunks=in_bytes(float.hex(value)), attributes=True)


def _str(value: Any, _: ClassFacts) -> State:
    return State(chunks=in_bytes(str.__str__(value)), attributes=True)


def _bytes(value: Any, _: ClassFacts) -> State:
    return State(chunks=(bytes.join(b"", (value,)),), attributes=True)


def _enum(value: Any, facts: ClassFacts) -> State:
    namespace = facts.dict_getter.__get__(value) if facts.dict_getter else {}
    return State(values=(namespace.get("_name_"), namespace.get("_value_")))


def _exception(value: Any, _: ClassFacts) -> State:
    args = BaseException.__dict__["args"].__get__(value)
    return State(values=(args,), attributes=True)


def _range(value: Any, _: ClassFacts) -> State:
    return State(values=(value.start, value.stop, value.step))


def _datetime(value: Any, facts: ClassFacts) -> State:
    for kind, names in _ZONED.items():
        if derives(facts, kind):
            # The zone's own text may come from a function of the user's; it is opened as any object is.
            parts = [getattr(kind, name).__get__(value) for name in names]
            zone = vars(kind)["tzinfo"].__get__(value)
            return State(chunks=in_bytes(repr(parts)), values=(zone,), attributes=True)
    for base in (dt.date, dt.timedelta):
        if derives(facts, base):
            return State(chunks=in_bytes(base.__repr__(value)), attributes=True)
    return State(chunks=in_bytes(dt.timezone.__repr__(value)))


def _path(value: Any, facts: ClassFacts) -> State:
    return State(chunks=in_bytes(read_path(value, facts)))


def read_path(value: Any, facts: ClassFacts) -> str:
    """Read the text of a path through a path of our own: the user's would cache it; "" if it was never made whole."""
    slots = dict(facts.slots)
    kept = slots.get("_raw_paths") or slots["_parts"]  # as of Python 3.12, and before
    try:
        texts = [str.__str__(each) for each in kept.__get__(value)]
    except AttributeError:
        return ""
    is_foreign = derives(facts, pathlib.PureWindowsPath)
    own = pathlib.PureWindowsPath if is_foreign else pathlib.PurePosixPath
    return str(own(*texts))


def _array(value: Any, _: ClassFacts) -> State:
    kind: Any = array.array
    return State(chunks=(*in_bytes(kind.__dict__["typecode"].__get__(value)), kind.tobytes(value)))


def _random(value: Any, facts: ClassFacts) -> State:
    if derives(facts, random.SystemRandom):
        return State(caveat="random.SystemRandom has no state to compare")
    internal = array.array("Q", super(random.Random, value).getstate())
    namespace = facts.dict_getter.__get__(value) if facts.dict_getter else {}
    return State(chunks=(internal.tobytes(),), values=(namespace.get("gauss_next"),))


def _ndarray(value: Any, _: ClassFacts) -> State:
    numpy: Any = sys.modules["numpy"]
    plain = numpy.ndarray.view(value, numpy.ndarray)
    shape = in_bytes(str(plain.dtype if plain.dtype.names else plain.dtype.str), str(plain.shape))
    if (
        plain.dtype.names
    ):  # field by field: the bytes between two fields hold whatever stood there before
        fields = tuple(plain[name] for name in plain.dtype.names)
        return State(chunks=shape, values=fields)
    if plain.dtype.hasobject:
        return State(chunks=shape, values=tuple(plain.ravel().tolist()))
    if plain.nbytes > _CHUNK_MAX:
        flat = numpy.ascontiguousarray(plain).reshape(-1).view(numpy.uint8)
        return State(chunks=(*shape, short_hash(flat.data)))
    return State(chunks=(*shape, plain.tobytes()))


def _npscalar(value: Any, _: ClassFacts) -> State:
    numpy: Any = sys.modules["numpy"]
    # By numpy's own descriptors here and below: a subclass of the user's may have a property of the name.
    dtype = numpy.generic.__dict__["dtype"].__get__(value)
    if dtype.names:
        fields = tuple(numpy.void.__getitem__(value, name) for name in dtype.names)
        return State(chunks=in_bytes(str(dtype)), values=fields)
    if dtype.hasobject:
        return State(chunks=in_bytes(dtype.str))
    return State(chunks=(*in_bytes(dtype.str), numpy.generic.tobytes(value)))


def _bit_generator(value: Any, facts: ClassFacts) -> State:
    named = (dict(class_namespace(base)).get("state") for base in facts.bases)
    state: Any = next(each for each in named if type(each) is types.GetSetDescriptorType)
    return State(values=(state.__get__(value),))


def _seed_sequence(value: Any, _: ClassFacts) -> State:
    numpy: Any = sys.modules["numpy"]
    # How many children were spawned is state: every later child is another one.
    names = ("entropy", "spawn_key", "pool_size", "n_children_spawned")
    own = numpy.random.SeedSequence.__dict__
    return State(values=tuple(own[name].__get__(value) for name in names))


def _generator(value: Any, _: ClassFacts) -> State:
    numpy: Any = sys.modules["numpy"]
    source = numpy.random.Generator.__dict__["bit_generator"].__get__(value)
    return State(values=(source,))


def _random_state(value: Any, _: ClassFacts) -> State:
    numpy: Any = sys.modules["numpy"]
    state = numpy.random.RandomState.get_state(value, legacy=False)
    return State(values=(state,))


def _c_data(value: Any, facts: ClassFacts) -> State:
    if not _ADDRESSES.isdisjoint(facts.lineage):
        return State(caveat=f"{facts.name} is an address; what stands there was not compared")
    return State(chunks=(memoryview(value).tobytes(),))


_READERS: dict[str, Callable[[Any, ClassFacts], State]] = {
    **carriers.READERS,
    **tables.READERS,
    "builtins.function": _function,
    "builtins.cell": _cell,
    "builtins.method": _method,
    "builtins.builtin_function_or_method": _builtin,
    "builtins.module": _module,
    "builtins.staticmethod": _wrapper,
    "builtins.classmethod": _wrapper,
    "_thread.lock": _lock,
    "_thread.RLock": _lock,
    "builtins.code": _code,
    "functools.partial": _partial,
    "enum.Enum": _enum,
    "builtins.dict": _dict,
    "builtins.list": _list,
    "builtins.tuple": _tuple,
    "builtins.set": _set,
    "builtins.frozenset": _set,
    "builtins.int": _int,
    "builtins.float": _float,
    "builtins.str": _str,
    "builtins.bytes": _bytes,
    "builtins.bytearray": _bytes,
    "builtins.BaseException": _exception,
    "builtins.range": _range,
    "builtins.slice": _range,
    "collections.deque": _deque,
    "array.array": _array,
    "_ctypes._CData": _c_data,
    "ctypes.CDLL": lambda _, facts: State(caveat=f"{facts.name}: a C library's state is not seen"),
    "datetime.date": _datetime,
    "datetime.time": _datetime,
    "datetime.timedelta": _datetime,
    "datetime.timezone": _datetime,
    "decimal.Decimal": lambda value, _: State(chunks=in_bytes(decimal.Decimal.__repr__(value))),
    "pathlib.PurePath": _path,
    "pathlib._local.PurePath": _path,
    "random.Random": _random,
    "numpy.ndarray": _ndarray,
    "sympy.core.basic.Basic": _sympy,
    "numpy.generic": _npscalar,
    "numpy.dtype": lambda value, _: State(chunks=in_bytes(value.str)),
    "numpy.random.bit_generator.BitGenerator": _bit_generator,
    "numpy.random.bit_generator.SeedSequence": _seed_sequence,
    "numpy.random._generator.Generator": _generator,
    "numpy.random.mtrand.RandomState": _random_state,
}
_ADDRESSES = frozenset(
    {"_ctypes._Pointer", "_ctypes.CFuncPtr"}
    | {f"ctypes.c_{name}_p" for name in ("void", "char", "wchar")}
)
_STREAMS = frozenset(
    {
        "random.Random",
        "numpy.random.bit_generator.BitGenerator",
        "numpy.random._generator.Generator",
        "numpy.random.mtrand.RandomState",
        "torch._C.Generator",
    }
)
