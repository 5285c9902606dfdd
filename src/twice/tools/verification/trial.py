"""One trial, in a process that was forked for it: make the start, call, read what changed.

The call is made a second time in the state that it left: the laws ask what changes then, and which names a tool
makes then. Here are also the factors that no surroundings reach, which a process applies to itself.

Invariant: every trial has a backend, a session and a folder of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from twice.foundation.encoding import encode
from twice.tools import envelope as envelopes
from twice.tools.backend import Backend, Restorable
from twice.tools.call import Note
from twice.tools.canonical_json import canonical
from twice.tools.cases import Call, Case
from twice.tools.contract import negotiate
from twice.tools.deadlines import now_s
from twice.tools.errors import CallRefused
from twice.tools.registry import Registry
from twice.tools.seeds import seed_to_json
from twice.tools.session import Session

SEED: Final = 20_260_101
"""The session's seed in trials."""
_TIME: Final = "2026-01-31T12:00:00Z"
EARLIER_CALLS: Final = "earlier calls"
CREATION_ORDER: Final = "creation order"
NETWORK_DENIED: Final = "network denied"
INSIDE: Final = (EARLIER_CALLS, CREATION_ORDER, NETWORK_DENIED)
"""What a process does to itself: a past that the backend forgets, a start made backwards, no network."""
RESTORED_START: Final = "restored start"
"""Not varied with the others, which it would undo: a law of its own."""
_PAST_SEED: Final = SEED + 4
_PAST_CALLS_MAX: Final = 100
_PAST_S: Final = 0.5
"""After so many seconds a slow tool is not called again for its past."""
_STATE_BYTES_MAX: Final = 1 << 16
_INTERNET: Final = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


@dataclass(frozen=True)
class ToolTrial:
    """What is tried, and where: which factors vary, and which of several processes in equal surroundings.

    ``others`` are further cases, for the past of a process. With ``steps`` a tool's parts are called in its place.
    """

    tool: str
    case: Case
    others: tuple[Case, ...] = ()
    varied: tuple[str, ...] = ()
    process: int = 0
    seed: int = SEED
    watched: bool = False
    steps: tuple[Mapping[str, Any], ...] = ()

    def with_seed(self, seed: int) -> Self:
        """Return the same trial under another seed, also in the case's own arguments."""
        given = dict(self.case.arguments)
        if given.get("seed") is not None:
            given["seed"] = seed
        return replace(self, seed=seed, case=replace(self.case, arguments=given))


@dataclass(frozen=True)
class TrialPoint:
    """What came of a trial; ``before``, ``after`` and ``result_form`` are compared.

    ``again`` is the fingerprint of the state after a second equal call, ``made_again`` the names that this call made.
    """

    lost: str = ""
    unready: Mapping[str, Any] | None = None
    unable: Mapping[str, str] = field(default_factory=dict)
    before: str = ""
    after: str = ""
    state: Any = None
    envelope: Mapping[str, Any] = field(default_factory=dict)
    again: str | None = None
    made_again: Sequence[str] = ()
    parts: Sequence[Mapping[str, Any]] = ()
    steps: Sequence[Mapping[str, Any]] = ()
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the tool gave a result."""
        return not self.lost and self.unready is None and bool(self.envelope.get("ok"))

    @property
    def failure(self) -> str:
        """Why it gave none, in one line."""
        error = (self.unready or self.envelope).get("error") or {}
        text = f"{error.get('code')}: {error.get('message')}"
        return self.lost or (f"its start cannot be made: {text}" if self.unready else text)

    @property
    def refusal(self) -> Mapping[str, Any]:
        """The details of what enforcement refused: need, operation, place; empty when it did not."""
        error = self.envelope.get("error") or {}
        details = error.get("details") or {}
        is_refused = error.get("code") == "nondeterministic_refused"
        return details if is_refused and ("need" in details or "needs" in details) else {}

    @property
    def result_form(self) -> bytes:
        """The comparable part of the envelope: the result, or an error's code, whose message may name this machine."""
        error = self.envelope.get("error") or {}
        return canonical([self.envelope.get("ok"), self.envelope.get("result"), error.get("code")])


def run_trial(registry: Registry, trial: ToolTrial) -> TrialPoint:
    """Carry out a trial in this process."""
    backend, unable = registry.open_backend(), {}
    look = _Look(backend)
    if NETWORK_DENIED in trial.varied:
        sys.addaudithook(_deny_network)
    try:
        if EARLIER_CALLS in trial.varied and (why := _make_past(registry, backend, trial)):
            unable[EARLIER_CALLS] = why
        session = _open_session(registry, backend, trial, look)
    except CallRefused as error:
        return TrialPoint(unready=envelopes.failure(error))
    unready = _make_start(session, trial, unable)
    if unready is not None:
        return TrialPoint(unready=unready, unable=unable)
    before, names = look.fingerprint(), look.list_texts()
    if trial.steps:
        steps = [session.call(each["tool"], each["arguments"]) for each in trial.steps]
        return TrialPoint(unable=unable, before=before, after=look.fingerprint(), steps=steps)
    look.parts.clear()
    envelope, state = session.call(trial.tool, trial.case.arguments), None
    with suppress(Exception):  # A state that has no encoding, or a large one, is not shown.
        if backend is not None and len(encode(backend.state())) <= _STATE_BYTES_MAX:
            state = backend.state()
    point = TrialPoint(
        unable=unable,
        before=before,
        after=look.fingerprint(),
        state=state,
        envelope=envelope,
        parts=list(look.parts),
    )
    if trial.watched or not envelope["ok"]:
        return point
    names |= look.list_texts()
    session.call(trial.tool, trial.case.arguments)
    made = sorted(look.list_texts() - names)
    made = [each for each in made if backend is not None and backend.holds(each)]
    return replace(point, again=look.fingerprint(), made_again=made)


def _open_session(
    registry: Registry, backend: Backend | None, trial: ToolTrial, look: _Look | None = None
) -> Session:
    offer = {"session_seed": trial.seed, "time": _TIME, "limits": {"seconds": None}}
    contract = negotiate(offer, registry, backend)
    watched = trial.watched
    return Session(registry, backend, contract, observer=look, alarms=False, watched=watched)


def _make_past(registry: Registry, backend: Backend | None, trial: ToolTrial) -> str:
    """Call other cases, another seed and this call many times, and reset; why that is no past, if it is none.

    Other cases stand on both sides, for some tools keep what came first, and some what came last. Some begin to
    lie only after many calls.
    """
    look, began_s = _Look(backend), now_s()
    empty = look.fingerprint()
    others = [replace(trial, case=each) for each in trial.others]
    many = [trial] * (_PAST_CALLS_MAX - 2 * len(others) - 1)
    for number, past in enumerate((*others, trial.with_seed(_PAST_SEED), *many, *others)):
        if past is trial and number > len(others) + 1 and now_s() - began_s > _PAST_S:
            continue
        session = _open_session(registry, backend, past)
        _make_calls(session, past.case.start)
        session.call(past.tool, past.case.arguments)
        if backend is not None:
            backend.reset()
    is_empty = look.fingerprint() == empty
    return "" if is_empty else "the backend's reset does not lead back to its empty state"


def _make_start(
    session: Session, trial: ToolTrial, unable: dict[str, str]
) -> Mapping[str, Any] | None:
    """Make the start, straight or as a factor says; the envelope of a call that failed, if one did."""
    backend, start = session.backend, trial.case.start
    failed = _make_calls(session, start)
    way = next((each for each in (CREATION_ORDER, RESTORED_START) if each in trial.varied), "")
    if failed is not None or not way:
        return failed
    if backend is None:
        unable[way] = "these tools act on no backend"
        return None
    straight, state = backend.fingerprint(), backend.state()
    if way == CREATION_ORDER and len(start) > 1:
        backend.reset()
        if _make_calls(session, reversed(start)) is None and backend.fingerprint() == straight:
            return None
    backend.reset()
    if isinstance(backend, Restorable):
        backend.restore(_reverse_maps(state) if way == CREATION_ORDER else state)
        if backend.fingerprint() == straight:
            return None
        unable[way] = "the restored state is another one"
        backend.reset()
    else:
        unable[way] = "the backend cannot take over a state"
    return _make_calls(session, start)


def _make_calls(session: Session, calls: Iterable[Call]) -> Mapping[str, Any] | None:
    made = (session.call(each.tool, each.arguments) for each in calls)
    return next((each for each in made if not each["ok"]), None)


def _reverse_maps(value: Any) -> Any:
    """Reverse the order of every map in a state; lists stay, because their order matters."""
    if isinstance(value, Mapping):
        return {key: _reverse_maps(each) for key, each in reversed(list(value.items()))}
    return [_reverse_maps(each) for each in value] if isinstance(value, list) else value


class _Look:
    """Looks at a backend, where there is one, and writes down the parts of calls with the state around each."""

    def __init__(self, backend: Backend | None) -> None:
        self._backend = backend
        self._before: list[str] = []
        self.parts: list[dict[str, Any]] = []

    def fingerprint(self) -> str:
        """Return the state's fingerprint; an empty text without a backend."""
        return "" if self._backend is None else self._backend.fingerprint()

    def list_texts(self) -> set[str]:
        """Return every text in the state, keys too."""
        found: set[str] = set()
        left: list[Any] = [] if self._backend is None else [self._backend.state()]
        while left:
            value = left.pop()
            if isinstance(value, str):
                found.add(value)
            elif isinstance(value, Mapping):
                left += [*value, *value.values()]
            elif isinstance(value, list | tuple):
                left += value
        return found

    def on_begin(self, note: Note) -> None:
        """Read the state before a part."""
        if note.path:
            self._before.append(self.fingerprint())

    def on_end(self, note: Note) -> None:
        """Write a part down."""
        if not note.path:
            return
        arguments = dict(note.arguments)
        if note.seeded is not None:
            arguments["seed"] = seed_to_json(note.seeded.seed)
        self.parts.append(
            {
                "path": list(note.path),
                "call": {"tool": note.tool, "arguments": arguments},
                "seeded": note.seeded is not None,
                "before": self._before.pop(),
                "after": self.fingerprint(),
                "result": (note.envelope or {}).get("result"),
            }
        )


def _deny_network(event: str, args: tuple[Any, ...]) -> None:
    if event in _INTERNET or (event == "socket.connect" and isinstance(args[1], tuple)):
        raise PermissionError("the network is denied in this trial")
