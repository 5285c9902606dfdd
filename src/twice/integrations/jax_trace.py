"""Traces the calls that JAX dispatches: a digest of what each one gives and, where asked, of what it reads.

A call is one compiled function: of ``jax.jit``, or of a primitive that is called by itself. Where one is captured, its
equations are evaluated one by one besides, so that the first of them that gives other results can be named. XLA fuses
equations, so what it names is what differs without fusion.

Not seen, and listed as notes: calls on other threads than the one that begins the trace, and the inside of ``pmap``.
Versions of JAX whose dispatch is another than this module knows are not traced. Loaded by ``diagnosis/operations`` when
JAX was imported.

Invariant: every call is executed as it was made; equations of calls with effects are not evaluated.
"""

from __future__ import annotations

import sys
import threading
from array import array
from collections.abc import Callable, Generator, Iterable, Sequence
from types import FrameType
from typing import Any, Final

import jax
import numpy as np
from jax._src import core, pjit, source_info_util
from xxhash import xxh3_64_intdigest

from twice.foundation.source_files import is_ours
from twice.recorder.audit.channels import is_users

BYTES_MAX: Final = 1 << 24
"""Bytes that are kept of one array."""
CALLS_MAX: Final = 5_000_000
_JAX: Final = (f"{jax.__path__[0]}/", "<")
_HOOKS: Final = ("_pjit_call_impl_python", "_get_fastpath_data")
_CACHES: Final = ("_cpp_pjit_cache_fun_only", "_cpp_pjit_cache_explicit_attributes")


class CallTrace:
    """Traces calls from its begin to its end, on the thread that begins it.

    Args:
        asked: numbers of calls that are captured, with values, equations and line. From the first of them on inputs
            have digests; without any, none has.
    """

    def __init__(self, asked: Sequence[int] = ()) -> None:
        self._names: dict[str, int] = {}
        self._rows, self._count = array("Q"), 0
        self._notes: dict[str, None] = {}
        self._asked, self._from = frozenset(asked), min(asked, default=CALLS_MAX)
        self._captured: list[dict[str, Any]] = []
        self._thread = threading.get_ident()
        self._is_evaluating = False
        self._replaced: dict[str, Callable[..., Any]] = {}

    def begin(self) -> None:
        """Take the place of what dispatches calls, and empty the caches that would go past it."""
        lacking = [name for name in (*_HOOKS, *_CACHES) if not hasattr(pjit, name)]
        if lacking:
            self._notes[
                f"calls of JAX {jax.__version__} were not traced: it has no {lacking[0]}"
            ] = None
            return
        self._replaced = {name: getattr(pjit, name) for name in _HOOKS}
        hooks = self._call, lambda *_args, **_named: None
        for name, hook in zip(_HOOKS, hooks, strict=True):
            setattr(pjit, name, hook)
        for name in _CACHES:
            getattr(pjit, name).clear()

    def end(self) -> None:
        """Put back what dispatches calls."""
        for name, original in self._replaced.items():
            setattr(pjit, name, original)

    def describe(self) -> dict[str, object]:
        """Return names, records, notes and captured calls, as plain data."""
        too_many = [f"only the first {CALLS_MAX:,} calls were traced"] * (self._count >= CALLS_MAX)
        return {
            "library": "JAX",
            "names": list(self._names),
            "rows": self._rows.tobytes(),
            "notes": [*self._notes, *too_many],
            "captured": self._captured,
        }

    def _call(self, *args: Any, **params: Any) -> Any:
        really_call = self._replaced[_HOOKS[0]]
        if self._is_evaluating:
            return really_call(*args, **params)
        if threading.get_ident() != self._thread:
            self._notes["calls of JAX on other threads were not traced"] = None
            return really_call(*args, **params)
        number, inputs = self._count, 0
        name = f"jit({params['name']})"
        if number >= self._from:
            inputs = _digest([*args, *params["jaxpr"].consts])
        if number in self._asked:  # before: a call may take the memory of what it is given
            self._capture(name, args, params["jaxpr"])
        given = really_call(*args, **params)
        outputs = list(given[0])
        if number in self._asked:
            self._captured[-1]["outputs"] = [_copy(each) for each in outputs]
        if number < CALLS_MAX:
            self._count += 1
            place = self._names.setdefault(name, len(self._names))
            self._rows.extend((place, inputs, _digest(outputs)))
        return given

    def _capture(self, name: str, args: Sequence[Any], closed: Any) -> None:
        inputs = [
            {
                "name": f"argument {at}",
                "form": f"{getattr(each, 'dtype', type(each).__name__)} {list(np.shape(each))}",
                "digest": f"{_digest([each]):016x}",
                "strides": [],
                "origin": "outside",
                "made": -1,
            }
            for at, each in enumerate(args)
        ]
        equations: list[dict[str, Any]] = []
        if not closed.effects:
            self._is_evaluating = True
            try:
                equations = list(_evaluate(closed, args))
            except Exception as error:  # noqa: BLE001  (of libraries: the call itself will tell)
                self._notes[f"equations of {name} were not evaluated: {type(error).__name__}"] = (
                    None
                )
            finally:
                self._is_evaluating = False
        place = _find_place()
        self._captured.append(
            {"number": self._count, "name": name, "inputs": inputs, "equations": equations, **place}
        )


def begin(asked: Sequence[int] = ()) -> CallTrace:
    """Begin a trace on this thread."""
    trace = CallTrace(asked)
    trace.begin()
    return trace


def _evaluate(closed: Any, args: Sequence[Any]) -> Generator[dict[str, Any], None, list[Any]]:
    """Evaluate the equations of a function one by one; yield name, line, and digests of inputs and results.

    Functions that it calls are opened, loops and branches are not.
    """
    known: dict[Any, Any] = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    known.update(zip(closed.jaxpr.invars, args, strict=True))

    def read(variables: Iterable[Any]) -> list[Any]:
        return [each.val if isinstance(each, core.Literal) else known[each] for each in variables]

    for equation in closed.jaxpr.eqns:
        primitive, given = equation.primitive, read(equation.invars)
        if primitive is pjit.jit_p:
            results = yield from _evaluate(equation.params["jaxpr"], given)
        else:
            with equation.ctx.manager:
                made = primitive.bind(*given, **primitive.get_bind_params(equation.params))
            results = made if primitive.multiple_results else [made]
            frame = source_info_util.user_frame(equation.source_info.traceback)
            yield {
                "name": primitive.name,
                "line": "" if frame is None else f"{frame.file_name}:{frame.start_line}",
                "inputs": _digest(given),
                "outputs": _digest(results),
                "results": [_copy(each) for each in results],
            }
        known.update(zip(equation.outvars, results, strict=True))
    return read(closed.jaxpr.outvars)


def _digest(values: Iterable[Any]) -> int:
    digest = 1
    for value in values:
        plain = _to_array(value)
        if plain is None:
            continue
        form = f"{digest} {plain.dtype} {plain.shape}".encode()
        flat = np.ascontiguousarray(plain).reshape(-1).view(np.uint8)
        digest = xxh3_64_intdigest(flat.data, xxh3_64_intdigest(form))
    return digest


def _to_array(value: Any) -> np.ndarray[Any, Any] | None:
    """Return an array's elements, of keys of generators their words; None for what has none here."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        value = value._base_array  # jax.random.key_data would be a call
    if isinstance(value, jax.Array) and not value.is_fully_addressable:
        return None
    try:
        return np.asarray(value)
    except (TypeError, RuntimeError):  # a token, or memory that was given away
        return None


def _copy(value: Any) -> dict[str, Any]:
    plain = _to_array(value)
    if plain is None:
        return {"dtype": "", "shape": [], "bytes": repr(value)[:200].encode()}
    raw = np.ascontiguousarray(plain).tobytes()
    return {"dtype": str(plain.dtype), "shape": list(plain.shape), "bytes": raw[:BYTES_MAX]}


def _find_place() -> dict[str, str]:
    """Return the user's line, and the innermost line outside of JAX."""
    frame: FrameType | None = sys._getframe(2)
    caller = line = ""
    while frame is not None and not line:
        file = frame.f_code.co_filename
        if is_users(frame):
            line = f"{file}:{frame.f_lineno}"
        if not caller and not file.startswith(_JAX) and not is_ours(file):
            caller = f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return {"line": line, "caller": caller, "module": ""}
