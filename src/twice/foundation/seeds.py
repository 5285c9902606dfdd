"""Sub-seeds by name, and the schedules that follow from them, independent of caller, time and order.

A seed is a type, not an integer: it has no arithmetic, so ``seed + rank`` is refused by Python
itself. A child depends on its parent and its name alone, so adding, removing or reordering other
names never changes it. Streams, which draw random numbers, are part of ``recorder``.

Rule 1, frozen in tests/vectors/seeds.json::

    child   = first 16 bytes, big-endian, of HMAC-SHA256(key, message)
    key     = the parent's value, 32 bytes, big-endian
    message = "twice/seed" u32(rule) field(domain) u32(number of fields) field ...
    field   = u8(kind) u32(length in bytes) bytes         kind: 1 text in UTF-8, 2 decimal integer

A path is one step per segment, so ``derive(derive(s, "env"), "3")`` is ``derive(s, "env/3")``: a
worker that was handed the seed of ``env`` derives what the whole run would have derived for it.
Ranks, sweeps, leagues, arms, calls and the steps of tools are steps in domains of their own.

Invariant: two different (parent, domain, fields) never give the same message.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from typing import Final

from twice.errors import RecordVersion, SeedNameRefused, SeedRefused, StreamTaken
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm
from twice.foundation.printable import pluralize

RULE: Final = 1
"""The derivation rule of new records; old records are read under the rule they name."""

SEED_LIMIT: Final = 2**256
"""One more than the largest master seed."""

SHARED_BY_MODULES: Final = "global"
"""First segment of the names of the generators that a library has for everybody: ``global/numpy``."""

_LABEL_BYTES_MAX: Final = 255
_KIND_TEXT: Final = 1
_KIND_INTEGER: Final = 2
_WRITTEN: Final = re.compile(r"-?(0[xX][0-9a-fA-F]{1,65}|[0-9]{1,80})")


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed: 128 bits when derived, up to 256 when a person chose it. No arithmetic.

    Args:
        value: an integer, 0 <= value < 2**256; not a bool.

    Raises:
        SeedRefused: E-SEED-003, for any other type or range.
    """

    value: int

    def __post_init__(self) -> None:
        if type(self.value) is not int:
            raise SeedRefused(
                f"The seed {self.value!r} is of type {type(self.value).__name__}.",
                "A master seed is an integer from 0 to 2**256 - 1.",
                "Give an integer, for example --seed 42.",
                value=self.value,
            )
        if not 0 <= self.value < SEED_LIMIT:
            raise SeedRefused(
                f"The seed {self.value} is out of range.",
                "A master seed is an integer from 0 to 2**256 - 1.",
                "Give an integer in that range, for example --seed 42.",
                value=self.value,
            )

    @classmethod
    def parse(cls, text: str) -> Seed:
        """Read a master seed as people write it: ``42`` or ``0x2a``.

        Raises:
            SeedRefused: E-SEED-003, when the text is not such an integer.
        """
        written = _WRITTEN.fullmatch(text.strip())
        if written is None:
            raise SeedRefused(
                f"The seed {text!r} is not an integer.",
                "A master seed is a decimal integer or a hexadecimal one that starts with 0x.",
                "Give an integer, for example --seed 42.",
                value=text,
            )
        return cls(int(written[0], 16 if "x" in written[0].lower() else 10))

    @property
    def hex(self) -> str:
        """The value in hexadecimal, at least 32 digits: how a record writes it."""
        return format(self.value, "032x")

    def __repr__(self) -> str:
        return f"Seed(0x{self.hex})"


def derive(parent: Seed, path: str, *, rule: int = RULE) -> Seed:
    """Derive a child seed that depends on nothing but its parent and a name.

    Order of calls does not matter, so adding a stream never disturbs another. Deriving the same
    name twice returns the same seed; callers who want fresh numbers derive fresh names.

    Args:
        parent: the master seed or a derived one.
        path: segments joined by ``/``, each 1 to 255 bytes in UTF-8, compared byte by byte; no
            normalisation, and ``.`` and ``..`` mean nothing special.
        rule: the derivation rule that the record names.

    Returns:
        128-bit seed, independent of the parent for statistical purposes.

    Raises:
        SeedNameRefused: E-SEED-002, when a segment is empty, too long, or not Unicode text.
        RecordVersion: E-RECORD-001, when the rule is not known.

    Source:
        HMAC as a keyed derivation: RFC 5869, section 2.3. Vectors: tests/vectors/seeds.json.
    """
    seed = parent
    for segment in path_segments(path):
        seed = _step(seed, "name", (segment,), rule)
    return seed


def is_shared(name: str) -> bool:
    """Return whether a stream of this name is a generator that a library has for everybody."""
    return name.startswith(f"{SHARED_BY_MODULES}/")


def path_segments(path: str) -> tuple[str, ...]:
    """Split a name into its segments, and refuse an invalid one.

    Raises:
        SeedNameRefused: E-SEED-002, when a segment is empty, too long, or not Unicode text.
    """
    if not isinstance(path, str):
        raise _refuse_name(path, f"is of type {type(path).__name__}")
    segments = tuple(path.split("/"))
    for segment in segments:
        _label_bytes(segment, whole=path)
    return segments


_NUMBER: Final = (int,)
_NAME: Final = (str,)
_NAME_OR_NUMBER: Final = (str, int)
_DOMAINS: Final[dict[str, tuple[tuple[type, ...], ...]]] = {
    "worker": (_NUMBER,),
    "sweep": (_NAME_OR_NUMBER,),
    "league": (_NUMBER, _NAME),
    "arm": (_NAME, _NAME_OR_NUMBER),
    "call": (_NAME,),
    "tool": (_NAME, _NAME),
}
_OPEN_ENDED: Final = {"league", "tool"}  # the last field may be there several times


def derive_in(parent: Seed, domain: str, *fields: str | int, rule: int = RULE) -> Seed:
    """Derive the seed of a worker, a member of a sweep, a match, an arm, a call or a tool's step.

    Domains never meet: the worker of rank 3 and a stream named ``3`` share nothing. The number of
    workers, members or players plays no part.

    Args:
        parent: the run's seed; of a sweep, a league or an experiment, its own recorded seed.
        domain: ``worker``, ``sweep``, ``league``, ``arm``, ``call`` or ``tool``.
        *fields: texts of 1 to 255 bytes in UTF-8, and integers, 0 or more. ``worker``: the rank.
            ``sweep``: a name or an index. ``league``: the round, then the players, whose order is
            part of the name (who sits where). ``arm``: the arm, then the unit (a user, an episode)
            by name or index. ``call``: the key that tells equal calls apart. ``tool``: the tool,
            then the segments of the path of one of its steps.
        rule: the derivation rule that the record names.

    Returns:
        128-bit seed, independent of the parent for statistical purposes.

    Raises:
        SeedNameRefused: E-SEED-002, for an unknown domain, or fields that do not fit it.
        RecordVersion: E-RECORD-001, when the rule is not known.
    """
    form = _DOMAINS.get(domain, ())
    if domain in _OPEN_ENDED:
        form += form[-1:] * (len(fields) - len(form))
    if not form or len(fields) != len(form):
        raise _refuse_name((domain, *fields), "names no domain with so many fields")
    for field, kinds in zip(fields, form, strict=True):
        if type(field) not in kinds or (type(field) is int and field < 0):
            raise _refuse_name(field, f"does not fit the domain {domain!r}")
    return _step(parent, domain, fields, rule)


def assign_arm(experiment: Seed, unit: str | int, arms: Sequence[str], *, rule: int = RULE) -> str:
    """Return the arm of a unit: the one whose derived seed for that unit is the smallest.

    No generator is used, and the order of calls does not matter. A new arm moves only the units that it takes, and
    a removed arm moves only its own.

    Args:
        experiment: the experiment's recorded seed.
        unit: a user, an episode: a name or an index.
        arms: names of the arms, at least one, each once.
        rule: the derivation rule that the record names.

    Raises:
        SeedNameRefused: E-SEED-002, for no arms, an arm named twice, or an unusable name.

    Source: rendezvous hashing, Thaler and Ravishankar, IEEE/ACM Trans. Netw. 6 (1998) 1.
    """
    _check_roster(arms, "arms", least=1)
    return min(arms, key=lambda arm: derive_in(experiment, "arm", arm, unit, rule=rule).value)


def pair_players(
    league: Seed, round_: int, players: Sequence[str], *, rule: int = RULE
) -> list[tuple[str, str]]:
    """Pair the players of one round; with an odd number the last of the order sits out.

    Args:
        league: the league's recorded seed.
        round_: number of the round, 0 or more.
        players: names of the players, at least two, each once, in any order.
        rule: the derivation rule that the record names.

    Returns:
        Pairs in playing order; who is named first is part of the schedule.

    Raises:
        SeedNameRefused: E-SEED-002, for fewer than two players, or a name twice or unusable.
    """
    _check_roster(players, "players", least=2)
    order = sorted(
        players, key=lambda player: derive_in(league, "league", round_, player, rule=rule).value
    )
    return list(zip(order[::2], order[1::2], strict=False))


def _check_roster(names: Sequence[str], what: str, *, least: int) -> None:
    if isinstance(names, str) or len(names) < least or len({*names}) != len(names):
        raise SeedNameRefused(
            f"The {what} {names!r} cannot be scheduled.",
            f"A schedule takes a list of {what}, each named once; a round takes two players or more.",
            "Give each a name of its own, such as ['control', 'treated'].",
            names=names,
        )


class SeedLedger:
    """Which names a run has taken from its master seed, each once.

    Args:
        master: the run's master seed.
        rule: the derivation rule that the record names.
    """

    def __init__(self, master: Seed, *, rule: int = RULE) -> None:
        _check_rule(rule)
        self.master = master
        self.rule = rule
        self._taken: dict[str, Seed] = {}

    def take(self, path: str) -> Seed:
        """Derive the seed of a name and write the name down.

        Raises:
            StreamTaken: E-RNG-001, when the name was taken before.
            SeedNameRefused: E-SEED-002, when it cannot be a name.
        """
        if path in self._taken:
            raise StreamTaken(
                f"The name {path!r} was taken before.",
                "Each name has one owner, so that no component shifts another's draws.",
                f"Pass the generator you have, or take another path, such as {path + '/2'!r}.",
                name=path,
            )
        seed = derive(self.master, path, rule=self.rule)
        self._taken[path] = seed
        return seed

    def __contains__(self, path: object) -> bool:
        return path in self._taken

    def as_map(self) -> dict[str, str]:
        """Return every taken name with its seed in hexadecimal, sorted by name."""
        return {name: self._taken[name].hex for name in sorted(self._taken)}


def _step(parent: Seed, domain: str, fields: tuple[str | int, ...], rule: int) -> Seed:
    _check_rule(rule)
    message = b"".join(
        (
            b"twice/seed",
            rule.to_bytes(4, "big"),
            _field(domain),
            len(fields).to_bytes(4, "big"),
            *map(_field, fields),
        )
    )
    mac = hmac.digest(parent.value.to_bytes(32, "big"), message, Algorithm.SHA256.value)
    return Seed(int.from_bytes(mac[:16], "big"))


def _check_rule(rule: int) -> None:
    if rule != RULE:
        raise RecordVersion(
            f"Seed derivation rule {rule!r} is not known to this version.",
            f"This version derives by rule {RULE}.",
            "Install the version that made the record, or a newer one: pip install -U twice",
            rule=rule,
        )


def _field(value: str | int) -> bytes:
    if isinstance(value, str):
        kind, raw = _KIND_TEXT, _label_bytes(value, whole=value)
    else:
        kind, raw = _KIND_INTEGER, str(value).encode("ascii")
    return bytes((kind,)) + len(raw).to_bytes(4, "big") + raw


def _label_bytes(label: str, *, whole: str) -> bytes:
    if not isinstance(label, str):
        raise _refuse_name(label, f"is of type {type(label).__name__}")
    try:
        raw = label.encode("utf-8")
    except UnicodeEncodeError:
        raise _refuse_name(whole, "holds a lone surrogate") from None
    if not raw:
        raise _refuse_name(whole, "has an empty segment" if whole else "is empty")
    if len(raw) > _LABEL_BYTES_MAX:
        raise _refuse_name(whole, f"has a segment of {pluralize(len(raw), 'byte')}")
    return raw


def _refuse_name(name: object, why: str) -> SeedNameRefused:
    return SeedNameRefused(
        f"The name {name!r} {why}.",
        "A name is segments joined by '/', each 1 to 255 bytes of UTF-8; a number is 0 or more.",
        "Give a short stable name, such as 'env/3/reset'.",
        name=name,
    )
