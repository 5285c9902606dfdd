"""What a tool is given: its only way to randomness, time, names, order and other tools.

A tool that asks for one of these anywhere else breaks its promise sooner or later; the runtime
watches for that while the tool runs.

Invariant: everything here is a function of contract, call and state.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from twice.errors import SeedNameRefused
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.seeds import Seed, derive_in, path_segments
from twice.recorder.streams.numpy_streams import NumpyStream, open_numpy
from twice.tools.canonical_json import NotPlain, canonical, plain
from twice.tools.errors import CallRefused, blame_tool

if TYPE_CHECKING:
    from twice.tools.call import Operation
    from twice.tools.declaration import Tool

NAME_BYTES_MAX: Final = 63
"""The longest name that every backend keeps whole."""

_HEX: Final = 12


class Context:
    """One running tool's view of the session; the runtime makes it.

    Args:
        operation: what is running.
    """

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._streams: dict[str, NumpyStream] = {}

    @property
    def backend(self) -> Any:
        """What the session's tools act on.

        Raises:
            CallRefused: ``capability_missing``, in a session without one.
        """
        backend = self._operation.session.backend
        if backend is None:
            raise CallRefused(
                "capability_missing",
                f"{self._operation.tool.name} acts on a backend, and this session has none.",
                "Expected a session that was opened with one.",
                "Open it so: Session(registry, backend).",
            )
        return backend

    @property
    def time(self) -> datetime:
        """Contract time: what the host said that it is.

        Raises:
            CallRefused: ``capability_missing``, when the contract has none.
        """
        time = self._operation.session.time
        if time is None:
            raise CallRefused(
                "capability_missing",
                f"{self._operation.tool.name} asks for the time, and the contract has none.",
                "Expected a contract time: tools see no other.",
                'Offer one: {"time": "2026-01-31T12:00:00Z"}.',
            )
        return time

    def rng(self, step: str) -> NumpyStream:
        """Return the random generator of a step, a numpy ``Generator``; the same object each time.

        Args:
            step: path of names joined by ``/``; draws depend on it, not on the order of calls.

        Raises:
            CallRefused: ``nondeterministic_refused``, in a tool that is not seeded.
        """
        found = self._streams.get(step)
        if found is None:
            name = f"{self._operation.tool.name}/{step}"
            found = self._streams[step] = open_numpy(name, self._step_seed(step))
            self._operation.note.draws.append(step)
        return found

    def seed(self, step: str, low: int = 0, high: int = 2**31) -> int:
        """Draw a number for a consumer that takes a seed of its own: ``low <= seed < high``.

        Consumers clamp and cut silently, so give the range that this one takes.

        Raises:
            CallRefused: ``nondeterministic_refused``, in a tool that is not seeded;
                ``execution_failed``, for an empty range.
        """
        if low >= high:
            raise self._misuse_error(f"seed({step!r}) has the empty range {low} to {high}")
        self._operation.note.draws.append(step)
        return low + self._step_seed(step).value % (high - low)

    @property
    def raw_seed(self) -> int:
        """The number that the call's seed and call key make."""
        return self._working("its seed").value

    def _step_seed(self, step: str) -> Seed:
        try:
            name = self._operation.tool.name
            return derive_in(self._working(step), "tool", name, *path_segments(step))
        except SeedNameRefused as error:
            raise self._misuse_error(error.happened) from error

    def _working(self, what: str) -> Seed:
        seeded = self._operation.seeded
        if seeded is None:
            tool = self._operation.tool
            raise CallRefused(
                "nondeterministic_refused",
                f"{tool.name} is declared {tool.determinism.value} and asks for {what!r:.60} at random.",
                "Expected randomness in seeded tools alone.",
                'Declare it so: determinism="seeded".',
                step=what,
                path=list(self._operation.path),
            )
        return seeded.working

    def name(self, prefix: str, params: object = None) -> str:
        """Make a name of ``prefix_`` and 12 hex digits of the parameters' digest.

        Args:
            prefix: text that describes the thing; at most 50 bytes.
            params: plain values that identify it; the call's arguments by default.

        Raises:
            CallRefused: ``conflict``, when the backend has that name already;
                ``execution_failed``, when prefix or parameters cannot make a name.
        """
        given = self._operation.arguments.plain if params is None else params
        try:
            form = canonical(["twice.name/1", plain(prefix), plain(given)])
        except NotPlain as error:
            raise self._misuse_error(f"name({prefix!r:.60}) cannot be made: {error}") from error
        name = f"{prefix}_{digest_bytes(form, Algorithm.SHA256).hex[:_HEX]}"
        if not prefix or len(name.encode()) > NAME_BYTES_MAX:
            raise self._misuse_error(f"the prefix {prefix!r:.80} is empty or too long for a name")
        backend = self._operation.session.backend
        if backend is not None and backend.holds(name):
            raise CallRefused(
                "conflict",
                f"The name {name} is taken.",
                "Expected each thing to be made once: equal parameters make equal names.",
                "Use what is there, remove it first, or give another parameter or name.",
                name=name,
            )
        return name

    def sorted(self, entities: Iterable[Any]) -> list[Any]:
        """Entities by type, then name, then id, each in code point order.

        Args:
            entities: maps with the keys ``type``, ``name`` and ``id``, or objects with such
                attributes; one that has none counts as empty text.

        Raises:
            CallRefused: ``execution_failed``, when two cannot be told apart.
        """
        found = sorted(entities, key=_find_sort_key)
        for one, other in pairwise(map(_find_sort_key, found)):
            if one == other:
                raise self._misuse_error(f"two entities are both {one}: no order is theirs")
        return found

    def listing(self, folder: str | os.PathLike[str]) -> list[str]:
        """List a folder's names, in code point order; the tool declares ``Needs(listing=True)``.

        Raises:
            CallRefused: ``capability_missing``, when the tool does not declare it.
            OSError: when the folder cannot be read.
        """
        if not self._operation.tool.needs.listing:
            raise CallRefused(
                "capability_missing",
                f"{self._operation.tool.name} lists {os.fspath(folder)!r:.80} and does not declare it.",
                "Expected the need to be declared.",
                "Declare it: needs=Needs(listing=True).",
                need="listing",
            )
        return self._operation.list_folder(folder)

    def call(
        self,
        tool: Tool | str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        step: str = "",
        **named: Any,
    ) -> Any:
        """Call another tool of the registry as a part of this one; its result.

        It has to promise at least what this tool promises. It uses this call's seed, or, where this
        tool derives by steps, one of its own by the step's path.

        Args:
            tool: the tool, or its name.
            arguments: by name; may be written as keywords as well.
            step: what this part is called; the tool's name by default.
            **named: more arguments.

        Raises:
            CallRefused: whatever the other tool is refused for, with the path to it.
        """
        given = {**(arguments or {}), **named}
        return self._operation.call_part(tool, given, step)

    def progress(self, fraction: float, text: str = "") -> None:
        """Tell the host how far this is; a good place to be cancelled.

        Args:
            fraction: from 0 to 1.
            text: what is being done.

        Raises:
            CallRefused: when the host has cancelled the call.
        """
        self._operation.report_progress(fraction, text)

    def _misuse_error(self, happened: str) -> CallRefused:
        return blame_tool(
            f"{self._operation.tool.name} failed: {happened}.",
            "Expected the context to be used as it is documented.",
        )


def _find_sort_key(entity: Any) -> tuple[str, ...]:
    keys = ("type", "name", "id")
    if isinstance(entity, Mapping):
        return tuple(str(entity.get(key, "")) for key in keys)
    return tuple(str(getattr(entity, key, "")) for key in keys)
