"""Effects by name: any function as an effect, and ``run.effects``'s front for what is not a clock or entropy.

Recording, a declared function runs and its result (or the exception it raised) is written down; replaying
it does not run. Arguments are compared by the digest of their canonical form, so a call with other
arguments is a divergence. Results must have a canonical form. ``run.effects`` is for programs that say what they want
of the world instead of having it intercepted, and for sessions in the user's own process, where names may have been
bound before: each of its calls is one declared effect, asked by name and answered whole.

What the function itself reads from the world (the clock, other effects) is part of its result and
not recorded besides. What it changes in containers that it is given is served as well (``argument_changes``), and
where it left the streams that it drew from. Not covered: other changes that it makes to its arguments, which are a
caveat of the record, or to the rest of the program.
Not for: handles. A connection or a process that lives on between calls belongs to the standard library,
which is governed too.

Invariant: in replay the function is not called: nothing is read, started, fetched or written.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from twice.errors import EffectRefused, EncodingRefused
from twice.foundation.digests import Algorithm, new_hasher
from twice.foundation.encoding import decode, encode, encode_parts, loaded_types
from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.argument_changes import can_change, note_changes, repeat_changes
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import RETURNED, given, outcome_of
from twice.recorder.kernel.confinement import current
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.states import apply_orders, find_orders

_NUMBERS = frozenset({int, float, bool, type(None)})
"""Types whose values hold no secret."""
_PLAIN = _NUMBERS | {bytes}
"""Types whose every value has a canonical form, and that nobody changes."""
_UNCHANGING = _PLAIN | {str}
_LABEL = f"{Algorithm.BLAKE3}:"
_T = TypeVar("_T")


def governed_call(
    layer: EffectLayer, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """Call a function through the layer, or serve the recorded result; both have a canonical form, or are E-EFFECT-002."""
    actor = layer.require_actor(ops.CALL)
    digest = _digest_arguments(layer.redaction, name, args, kwargs)

    ran = False

    def live() -> tuple[Any, ...]:
        nonlocal ran
        ran = True
        # What it reads is part of its one result: in replay it does not run, so nobody would ask
        # for those reads again.
        looking, streams = layer.descriptors, layer.streams if layer.writes else None
        before = b"" if streams is None else streams.positions()
        with current().inside_effect():
            if looking is not None:
                looking.look()
            try:
                outcome: tuple[Any, ...] = outside(_outcome, name, function, args, kwargs)
            finally:
                if looking is not None:
                    looking.adopt()
        if layer.writes:
            outcome = _with_changes(layer, outcome, (name, args, kwargs), digest)
        if streams is not None and (moved := streams.moved_since(before)):
            outcome = (*outcome, *[None] * (4 - len(outcome)), moved)
        return outcome

    # Neither the name nor the digest holds a secret.
    asked, redaction = (name, digest), layer.redaction
    outcome: Any = live() if actor is None else actor.source.strict(ops.CALL, asked, live)
    if actor is not None:
        has_none = len(outcome) == 2 and type(outcome[1]) in _NUMBERS
        noted = outcome if has_none else redaction.value(outcome, ops.CALL.name)
        actor.note(ops.CALL.number, (asked, noted))
    orders, changed, moved = (*outcome[2:], None, None, None)[:3]
    if changed is not None and not ran:
        repeat_changes(args, kwargs, changed)
    if moved is not None and not ran and layer.streams is not None:
        layer.streams.move(moved)
    if ran or orders is None:
        return given(outcome[:2])
    # Canonical form sorts dicts: a recorded result's are put into their order again.
    return apply_orders(decode(encode(outcome[1]), resolve=loaded_types), orders)


def _with_changes(
    layer: EffectLayer,
    outcome: tuple[Any, ...],
    call: tuple[str, tuple[Any, ...], dict[str, Any]],
    digest: str,
) -> tuple[Any, ...]:
    """Return an outcome with what the call changed in its arguments, if that can be served again."""
    name, args, kwargs = call
    if _UNCHANGING.issuperset(map(type, (*args, *kwargs.values()))) or (
        _digest_arguments(layer.redaction, *call) == digest
    ):
        return outcome
    if can_change(args, kwargs):
        return (*outcome, *[None] * (3 - len(outcome)), note_changes(args, kwargs))
    remark = (
        f"the effect {name!r} changes what it is given, and a replay does not call it: the change is "
        "missing there; return it instead, and let the program make it"
    )
    if remark not in layer.remarks:
        layer.remarks.append(remark)
    return outcome


def _digest_arguments(
    redaction: Redaction, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str:
    whole: Any = (args, kwargs)
    try:
        if not _NUMBERS.issuperset(map(type, (*args, *kwargs.values()))):
            whole = redaction.digestible(whole)
        hasher = new_hasher(Algorithm.BLAKE3)
        for part in encode_parts(whole):
            hasher.update(part)
    except EncodingRefused as error:
        raise EffectRefused(
            f"An argument of the effect {name!r} has no canonical form: {error.happened}",
            "Expected plain values and arrays, which can be compared in replay.",
            "Pass what identifies the call, and bind the rest in a closure or a method.",
            name=name,
        ) from error
    return _LABEL + hasher.digest().hex()


def _outcome(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the outcome of the call, with the order of the returned dicts where it matters."""
    outcome = outcome_of(function, *args, **kwargs)
    if outcome[0] != RETURNED or type(outcome[1]) in _PLAIN:
        return outcome
    try:
        encode_parts(outcome[1])
    except EncodingRefused as error:
        raise EffectRefused(
            f"The effect {name!r} returned something without a canonical form: {error.happened}",
            "Expected plain values and arrays, which can be written down and served again.",
            "Return the part that the program uses, as plain values.",
            name=name,
        ) from error
    orders = find_orders(outcome[1])
    return outcome if orders is None else (*outcome, orders)


class _Asked:
    def __init__(self, layer: EffectLayer) -> None:
        self._layer = layer

    def _ask(self, name: str, function: Callable[..., _T], *args: Any) -> _T:
        answer: _T = governed_call(self._layer, name, function, *args)
        return answer


class Variables(_Asked):
    """``run.effects.env``: environment variables."""

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return a variable's value, or the default."""
        found = self._ask("env.get", os.environ.get, name)
        return default if found is None else found

    def __getitem__(self, name: str) -> str:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found


class Files(_Asked):
    """``run.effects.fs``: whole files."""

    def names(self, folder: str | os.PathLike[str]) -> list[str]:
        """Return the names in a folder, sorted."""
        # By text, as it was asked.
        names = lambda folder: sorted(os.listdir(folder))  # noqa: E731, PTH208
        return self._ask("fs.names", names, os.fspath(folder))

    def read(self, path: str | os.PathLike[str]) -> bytes:
        """Read a file's bytes, and store them in the record."""
        return self._ask("fs.read", lambda path: Path(path).read_bytes(), os.fspath(path))

    def write(self, path: str | os.PathLike[str], data: bytes) -> int:
        """Write a file, while recording alone; how many bytes were written."""
        write = lambda path, data: Path(path).write_bytes(data)  # noqa: E731
        return self._ask("fs.write", write, os.fspath(path), data)


class Response(NamedTuple):
    """What a server answered.

    Attributes:
        status: of HTTP, 200 and the like; of an error too.
        headers: name and value, in their order.
        body: its bytes.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Net(_Asked):
    """``run.effects.net``: whole requests."""

    def fetch(
        self,
        url: str,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = 30.0,
    ) -> Response:
        """Ask a server by HTTP: GET, or POST with data; ``timeout`` in seconds.

        Raises:
            OSError: no answer came (``urllib.error.URLError``); in replay the same.
        """
        import urllib.error  # noqa: F401  (loaded, so that its exceptions can be raised again)

        asked = (url, data, dict(headers or {}), timeout)
        return Response(*self._ask("net.fetch", _fetch, *asked))


class Finished(NamedTuple):
    """How a process ended.

    Attributes:
        code: its exit code; below zero the signal that ended it.
        out: what it wrote to standard output.
        err: what it wrote to standard error.
    """

    code: int
    out: bytes
    err: bytes


class Processes(_Asked):
    """``run.effects.process``: whole processes."""

    def run(self, command: Sequence[str], input: bytes = b"") -> Finished:  # noqa: A002  (as subprocess has it)
        """Run a command to its end, without a shell.

        Raises:
            OSError: it could not be started; in replay the same.
        """

        def run(command: list[str], data: bytes) -> tuple[int, bytes, bytes]:
            ended = subprocess.run(command, input=data, capture_output=True, check=False)
            return ended.returncode, ended.stdout, ended.stderr

        return Finished(*self._ask("process.run", run, list(command), input))


class Stdin(_Asked):
    """``run.effects.stdin``: what is typed or piped in."""

    def read(self) -> str:
        """Read the rest of standard input."""
        return str(self._ask("stdin.read", sys.stdin.read))

    def line(self) -> str:
        """Read the next line with its end; return an empty text after the last."""
        return str(self._ask("stdin.line", sys.stdin.readline))


def _fetch(
    url: str, data: bytes | None, headers: dict[str, str], timeout: float
) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, data=data, headers=headers), timeout=timeout) as answer:  # noqa: S310
            return answer.status, tuple(answer.headers.items()), answer.read()
    except HTTPError as answer:
        return answer.code, tuple(answer.headers.items()), answer.read()
