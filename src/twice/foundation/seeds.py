"""Sub-seeds by name: what a child's seed is, whoever asks, whenever, in whatever order.

A seed is a type, not an integer: it has no arithmetic, so ``seed + rank`` is refused by Python
itself. A child depends on its parent and its name alone, so adding, removing or reordering other
names never changes it. Random draws are not made here; streams live in ``recording``.

Rule 1, frozen in tests/vectors/seeds.json::

    child   = first 16 bytes, big-endian, of HMAC-SHA256(key, message)
    key     = the parent's value, 32 bytes, big-endian
    message = "twice/seed" u32(rule) field(domain) u32(number of fields) field ...
    field   = u8(kind) u32(length in bytes) bytes         kind: 1 text in UTF-8, 2 decimal integer

A path is one step per segment, so ``derive(derive(s, "env"), "3")`` is ``derive(s, "env/3")``: a
worker that was handed the seed of ``env`` derives what the whole run would have derived for it.
Ranks, sweeps, leagues, arms and the draws of tools are steps in domains of their own.

Invariant: two different (parent, domain, fields) never give the same message.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Final

from twice.errors import RecordVersion, SeedNameRefused, SeedRefused, StreamTaken
from twice.foundation.digests import Algorithm

RULE: Final = 1
"""The derivation rule of new records; old records are read under the rule they name."""

SEED_LIMIT: Final = 2**256
"""One more than the largest master seed."""

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


def path_segments(path: str) -> tuple[str, ...]:
    """Split a name into its segments, refusing what cannot be a name.

    Raises:
        SeedNameRefused: E-SEED-002, when a segment is empty, too long, or not Unicode text.
    """
    if not isinstance(path, str):
        raise _name_refused(path, f"is of type {type(path).__name__}")
    segments = tuple(path.split("/"))
    for segment in segments:
        _label_bytes(segment, whole=path)
    return segments


def worker_seed(parent: Seed, rank: int, *, rule: int = RULE) -> Seed:
    """Derive the seed of a worker from its rank; the number of workers plays no part.

    Args:
        parent: the run's seed, or the seed of one pool of workers.
        rank: 0 or more.
        rule: the derivation rule that the record names.

    Raises:
        SeedNameRefused: E-SEED-002, when the rank is negative or not an integer.
    """
    return _step(parent, "worker", (_number(rank, "rank"),), rule)


def sweep_seed(sweep: Seed, name_or_index: str | int, *, rule: int = RULE) -> Seed:
    """Derive the master seed of one member of a sweep from the sweep's own recorded seed.

    Raises:
        SeedNameRefused: E-SEED-002, for an unusable name or a negative index.
    """
    member = name_or_index if isinstance(name_or_index, str) else _number(name_or_index, "index")
    return _step(sweep, "sweep", (member,), rule)


def league_seed(league: Seed, round_: int, *players: str, rule: int = RULE) -> Seed:
    """Derive the seed of one match; the order of players is part of its name (who sits where).

    Raises:
        SeedNameRefused: E-SEED-002, for no players, an unusable name or a negative round.
    """
    if not players:
        raise _name_refused((), "names no player")
    return _step(league, "league", (_number(round_, "round"), *players), rule)


def arm_seed(experiment: Seed, arm: str, unit: str | int, *, rule: int = RULE) -> Seed:
    """Derive the seed of one unit (a user, an episode) in one arm of an experiment.

    Raises:
        SeedNameRefused: E-SEED-002, for an unusable name or a negative index.
    """
    member = unit if isinstance(unit, str) else _number(unit, "unit")
    return _step(experiment, "arm", (arm, member), rule)


def call_seed(seed: Seed, call_key: str, *, rule: int = RULE) -> Seed:
    """Derive the seed of one call among calls that are equal but for the key their caller gives.

    Raises:
        SeedNameRefused: E-SEED-002, when the key is empty, too long, or not Unicode text.
    """
    return _step(seed, "call", (call_key,), rule)


def tool_seed(seed: Seed, tool: str, path: str, *, rule: int = RULE) -> Seed:
    """Derive the seed of one step inside a tool: two tools' steps of one name share nothing.

    Args:
        seed: the seed that the call has.
        tool: the tool's name.
        path: segments joined by ``/``, as in ``derive``.
        rule: the derivation rule that the record names.

    Raises:
        SeedNameRefused: E-SEED-002, for an unusable name or path.
    """
    return _step(seed, "tool", (tool, *path_segments(path)), rule)


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
        """Give every taken name with its seed in hexadecimal, sorted by name."""
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
        raise _name_refused(label, f"is of type {type(label).__name__}")
    try:
        raw = label.encode("utf-8")
    except UnicodeEncodeError:
        raise _name_refused(whole, "holds a lone surrogate") from None
    if not raw:
        raise _name_refused(whole, "has an empty segment" if whole else "is empty")
    if len(raw) > _LABEL_BYTES_MAX:
        raise _name_refused(whole, f"has a segment of {len(raw)} bytes")
    return raw


def _number(value: int, what: str) -> int:
    if type(value) is not int or value < 0:
        raise _name_refused(value, f"is not a {what}")
    return value


def _name_refused(name: object, why: str) -> SeedNameRefused:
    return SeedNameRefused(
        f"The name {name!r} {why}.",
        "A name is segments joined by '/', each 1 to 255 bytes of UTF-8; a number is 0 or more.",
        "Give a short stable name, such as 'env/3/reset'.",
        name=name,
    )
