"""Environment variables: how user code's reads of ``os.environ`` are recorded and served.

Covered: every way to read ``os.environ``, ``os.environb`` and ``os.getenv`` (all go through three
methods of one class, which are replaced on the class, so names bound early are governed too), and
what ``os.path`` and ``pathlib`` read for the caller. A missing name is a recorded result.

A variable that is or holds a secret (its name says so, the user does, a known secret stands in it)
is not written down: the record holds a slow digest of it, salted with its name, and its text with stars
in place of the secret. In replay the real one is given when it is the same; where it is another or
not there, the program is given the stars, and the result says so. What the program sets or deletes
itself is its own state: it reads that back, live.

Variables of terminals and proxies (``SHOWN``) are recorded and served to libraries as well.

Not covered: the standard library's and installed packages' reads of other variables (they read the real
ones, and nothing is written down), a read handed to a library to make (``pool.map(os.getenv, names)``),
C code, secrets under a name that does not say so. A program that sets a variable in
the middle of a run and is resumed after that has not set it. What ``os.putenv`` sets counts for processes that the
program starts, as it does without twice.

Invariant: no value of a variable with a secret name is in a record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from sys import _getframe
from types import CodeType
from typing import Any

from twice.foundation.digests import slow_digest
from twice.recorder.effects import ops
from twice.recorder.effects.actors import Actor, current
from twice.recorder.effects.environment import answer, asked_by
from twice.recorder.effects.events import RUN_READS_MAX
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch

_PROXIES = [f"{kind}_proxy" for kind in ("all", "ftp", "http", "https", "no")]
_TERMINAL = (
    "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR",
    "PY_COLORS", "PYTHON_COLORS", "TERM",
)  # fmt: skip
SHOWN = frozenset([*_TERMINAL, *_PROXIES, *map(str.upper, _PROXIES)])
"""Variables that libraries read on a program's behalf, and that are another place's, terminal's or shell's."""
_VALUE, _ABSENT, _SECRET = "value", "absent", "secret"
_UNTOLD = "********"  # Records made before the stars were written down hold the digest alone.
_CLASS: Any = type(os.environ)
_MAPPINGS, _OS = Mapping.get.__globals__, vars(os)
"""Globals of code that asks on behalf of its caller: ``os.environ.get``, ``os.getenv``."""
_Known = tuple[bytes, Any, int, tuple[object, object], str]
"""What is noted when a variable is read again: name and value as stored, secrets learned, entry, value."""


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patches of the methods of ``os.environ``'s class for a session."""
    read = _Variables(layer)
    layer.own_variables = read.list_own
    real_set, real_delete = _CLASS.__setitem__, _CLASS.__delitem__
    real_put, real_unset = os.putenv, os.unsetenv

    def names(self: Any) -> Iterator[Any]:
        found = read.names(self, asked_by(_getframe(1)))
        return iter([self.decodekey(name) for name in found])

    def length(self: Any) -> int:
        return len(read.names(self, asked_by(_getframe(1))))

    def written(self: Any) -> str:
        asker = asked_by(_getframe(1))
        pairs = [(name, read.one(self, name, asker)) for name in read.names(self, asker)]
        inner = ", ".join(
            f"{self.decodekey(name)!r}: {self.decodevalue(value)!r}"
            for name, value in pairs
            if value is not None
        )
        return f"environ({{{inner}}})"

    def setitem(self: Any, key: Any, value: Any) -> None:
        real_set(self, key, value)
        name = self.encodekey(key)
        read.owns(name, asked_by(_getframe(1)))
        layer.redaction.learn_variables({os.fsdecode(name): os.fsdecode(self._data[name])})

    def delitem(self: Any, key: Any) -> None:
        asker, name = asked_by(_getframe(1)), self.encodekey(key)
        if not read.governs(asker):
            real_delete(self, key)
            read.owns(name, asker)
            return
        there = read.one(self, name, asker) is not None
        read.owns(name, asker)
        if name in self._data:
            real_delete(self, key)
        if not there:
            raise KeyError(key)

    def putenv(name: Any, value: Any, /) -> None:
        real_put(name, value)
        if _getframe(1).f_globals is not _OS:
            read.put[os.fsencode(name)] = os.fsencode(value)

    def unsetenv(name: Any, /) -> None:
        real_unset(name)
        if _getframe(1).f_globals is not _OS:
            read.put[os.fsencode(name)] = b""

    return [
        Patch(os, "putenv", putenv),
        Patch(os, "unsetenv", unsetenv),
        Patch(_CLASS, "__getitem__", _governed_read(layer, read), lambda _: os.environ.get("PATH")),
        Patch(_CLASS, "__iter__", names, lambda _: iter(os.environ)),
        Patch(_CLASS, "__len__", length, lambda _: len(os.environ)),
        Patch(_CLASS, "__repr__", written, lambda _: repr(os.environ)),
        Patch(_CLASS, "__setitem__", setitem),
        Patch(_CLASS, "__delitem__", delitem),
    ]


def _governed_read(layer: EffectLayer, read: _Variables) -> Callable[[Any, Any], Any]:
    """Build a replacement for ``os.environ.__getitem__``.

    What user code asks once more is noted here as ``layer.read`` would, without a search for secrets in what
    was searched already.
    """
    real_get, redaction, is_live = _CLASS.__getitem__, layer.redaction, layer.live
    again, number = read.again, ops.VARIABLE.number
    last: dict[str, Any] | None = None
    libraries: dict[int, dict[str, Any]] = {}

    def getitem(self: Any, key: Any) -> Any:
        nonlocal last
        frame = caller = _getframe(1)
        module = caller.f_globals
        while (module is _MAPPINGS or module is _OS) and caller.f_back is not None:
            caller = caller.f_back
            module = caller.f_globals
        if module is last and (known := again.get(key)) and (actor := current()):
            name, stored, learned, noted, value = known
            if self._data.get(name) is stored and learned == redaction.learned:
                if is_live:
                    values = actor.values
                    if actor.number == number and len(values) < RUN_READS_MAX:
                        values.append(noted)
                    else:
                        actor.note(number, noted)
                    return value
                asked, clean = noted
                found: Any = actor.source.strict(
                    ops.VARIABLE, asked, lambda: read.look(name, stored)
                )
                if found == clean:
                    actor.note(number, (asked, found))
                    return value
                actor.note(number, (asked, redaction.value(found, ops.VARIABLE.name)))
                return read.decode(self, key, read.take(actor, self, name, found, key, learned))
        if id(module) in libraries and not (type(key) is str and key in SHOWN):
            return real_get(self, key)
        asker = asked_by(frame)
        if caller.f_code is asker and not layer.is_strict_in(module, asker):
            libraries[id(module)] = module
        own = caller.f_code is asker and layer.is_strict(asker) and not layer.probing
        last = module if own and layer.active else None
        return read.decode(self, key, read.one(self, self.encodekey(key), asker, key))

    return getitem


class _Variables:
    """The variables as the program sees them: recorded ones, and those that it set itself."""

    def __init__(self, layer: EffectLayer) -> None:
        self._layer = layer
        self._own: set[bytes] = set()
        self._library_own: set[bytes] = set()
        self.put: dict[bytes, bytes] = {}
        self._answers: dict[tuple[bytes, bytes], tuple[str, object]] = {}
        self.again: dict[str, _Known] = {}

    def governs(self, asker: CodeType) -> bool:
        """Return whether this code sees the recorded variables."""
        return self._layer.is_strict(asker) and self._layer.actor() is not None

    def owns(self, name: bytes, asker: CodeType) -> None:
        """Mark a name as the program's own from here on, or as a library's own, by the code that asks."""
        if self.governs(asker):
            self._own.add(name)
            self.put.pop(name, None)
            self.again.clear()
        else:
            self._library_own.add(name)

    def list_own(self) -> dict[bytes, bytes]:
        """Return the variables that the program set itself, as they are; an empty text for a deleted one."""
        there = os.environ._data  # type: ignore[attr-defined]
        return {**{name: there.get(name, b"") for name in self._own}, **self.put}

    def decode(self, environ: Any, key: Any, found: bytes | None) -> Any:
        """Return a variable's value as the program gets it."""
        if found is None:
            raise KeyError(key)
        return environ.decodevalue(found)

    def one(self, environ: Any, name: bytes, asker: CodeType, key: Any = None) -> bytes | None:
        """Return a variable's value as the system stores it, or None if it is not set."""
        real: bytes | None = environ._data.get(name)
        if name in self._own:
            return real
        if not self._layer.is_strict(asker):
            return self._serve_to_library(name, real)
        actor = self._layer.actor()
        if actor is None:
            self._layer.count_ungoverned(ops.VARIABLE)
            return real
        look = lambda: self.look(name, real)  # noqa: E731
        learned = self._layer.redaction.learned
        found = self._layer.read(actor, ops.VARIABLE, look, _to_plain(name))
        return self.take(actor, environ, name, found, key, learned)

    def look(self, name: bytes, value: bytes | None) -> tuple[str, object]:
        """Return the answer that is written down for a variable of this process."""
        if value is None:
            return (_ABSENT, None)
        known = self._answers.get((name, value))
        if known is None:
            plain = _to_plain(value)
            shown = self._layer.redaction.variable(os.fsdecode(name), plain)
            is_secret = shown != plain
            known = (_SECRET, (_slow_digest(name, value), shown)) if is_secret else (_VALUE, plain)
            self._answers[name, value] = known
        return known

    def take(
        self, actor: Actor, environ: Any, name: bytes, found: Any, key: Any, learned: int
    ) -> bytes | None:
        """Return the value that an answer stands for; of a secret, the real one where it is the same.

        ``learned`` is how many secrets were known before the answer was searched for them.
        """
        redaction = self._layer.redaction
        real: bytes | None = environ._data.get(name)
        how, told = found
        if how == _SECRET:
            digest, shown = told if isinstance(told, tuple) else (told, _UNTOLD)
            if real is not None and _slow_digest(name, real) == digest:
                return real
            redaction.stands_in(os.fsdecode(name))
            return _to_stored(shown)
        if how == _ABSENT:
            return None
        stored = _to_stored(told)
        # Not where another thread changed it meanwhile.
        fits = not self._layer.live or found is self._answers.get((name, real))  # type: ignore[arg-type]
        is_last = bool(actor.values) and actor.number == ops.VARIABLE.number
        if type(key) is str and environ is os.environ and fits and is_last:
            last: Any = actor.values[-1]
            asked, noted = last
            if noted is found:  # it was searched, and no secret stands in it
                entry = (asked, found)
                self.again[key] = (name, real, learned, entry, os.fsdecode(stored))
        return stored

    def _serve_to_library(self, name: bytes, real: bytes | None) -> bytes | None:
        """Serve a variable to a library: the recorded value, if it is one of ``SHOWN``."""
        layer, text = self._layer, os.fsdecode(name)
        if text not in SHOWN or name in self._library_own or layer.actor() is None:
            return real
        plain = None if real is None else _to_plain(real)
        if plain is not None and layer.redaction.variable(text, plain) != plain:
            return real  # a secret is not written down
        found = layer.fact(ops.SHOWN_VARIABLE, text, lambda: plain, needed=False)
        return None if found is None else _to_stored(found)

    def names(self, environ: Any, asker: CodeType) -> list[bytes]:
        """Return the names of all variables as the system stores them, in its order."""
        there = environ._data
        if not self.governs(asker):
            return self._list_for_library(environ)
        live = lambda: tuple(map(_to_plain, list(there)))  # noqa: E731
        told = map(_to_stored, answer(self._layer, ops.VARIABLE_NAMES, live, asker))
        own = self._own
        found = [name for name in told if name not in own or name in there]
        added = own.difference(found)
        return found + [name for name in list(there) if name in added]

    def _list_for_library(self, environ: Any) -> list[bytes]:
        found = list(environ._data)
        if self._layer.live or self._layer.actor() is None:
            return found
        there = [name for name in found if os.fsdecode(name) not in SHOWN]
        for text in sorted(SHOWN):
            name = environ.encodekey(text)
            known, value = self._layer.source.recorded(ops.SHOWN_VARIABLE, text)
            if (value is not None) if known else (name in environ._data):
                there.append(name)
        return there


def _to_plain(stored: bytes) -> str | bytes:
    """Return text where it is UTF-8, which a record can store; else the bytes."""
    try:
        return stored.decode("utf-8")
    except UnicodeDecodeError:
        return stored


def _to_stored(plain: str | bytes) -> bytes:
    return plain.encode("utf-8") if isinstance(plain, str) else plain


@lru_cache(maxsize=64)
def _slow_digest(name: bytes, value: bytes) -> bytes:
    return slow_digest(value, name)
