"""What a file says of its making: values by JSON pointer, where each stood, what is open, and the rest.

Dialects tell a ``Reading`` what the chunks of one file say; it concludes with an ``Imported``. Two statements about one
field that differ make an ambiguity, never a winner. Texts and numbers become values of a log here.

Invariant: a pointer is in ``values``, with evidence, or ambiguous, never both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from twice.assets.log.kinds import says_nothing
from twice.foundation.printable import pluralize

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value]"
_N = TypeVar("_N", int, float)

OTHER_MAX: Final = 1024
UNPARSED_MAX: Final = 256
CANDIDATES_MAX: Final = 64
_EXACT_MAX: Final = 2**53 - 1  # Beyond it, readers of JSON differ in the number that they take.
NO_MODEL: Final = ("automatic", "default (model)", "none")
"""What generators write, in small letters, where no model was chosen beside the main one."""
_SEED: Final = "/seed/effective"
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a value stood: a chunk of a file, and the file's sha256."""

    chunk: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A field for which a file offers more than one value, or one that may not be the one used."""

    pointer: str
    candidates: tuple[Value, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A place of a file that was not made a value, and why not."""

    place: str
    why: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file says of how it was made.

    Args:
        file: the name for evidence.
        sha256: of the file, in hexadecimal.
        generator: the program that wrote it; several are joined by `` + ``.
        generator_version: as the file says it, or nothing.
        values: by JSON pointer into a determinism log.
        evidence: where each of the values stood.
        ambiguities: sorted by pointer.
        not_understood: in the order of the file.
        other: what has no field in a log, by chunk, then key.
    """

    file: str
    sha256: str
    generator: str
    generator_version: str | None
    values: Mapping[str, Value]
    evidence: Mapping[str, Provenance]
    ambiguities: tuple[Ambiguity, ...]
    not_understood: tuple[Unparsed, ...]
    other: Mapping[str, Mapping[str, Value]]

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON, without a format number of its own."""
        return asdict(self) | {"generator_version": self.generator_version or ""}


class _Statement(NamedTuple):
    part: int  # Chunks may share a name; parts count them.
    chunk: str
    value: Value


@dataclass(slots=True)
class Reading:
    """What the chunks of one file say, before any of it counts as a value.

    Args:
        file: the name for evidence.
        sha256: of the file, in hexadecimal.
        chunk: how the chunk that is being read is called in evidence, like ``tEXt parameters``.
    """

    file: str
    sha256: str
    chunk: str = ""
    _part: int = 0
    _generators: list[str] = field(default_factory=list)
    _versions: list[str] = field(default_factory=list)
    _statements: dict[str, list[_Statement]] = field(default_factory=dict)
    _doubts: dict[str, tuple[list[Value], str]] = field(default_factory=dict)
    _other: dict[str, dict[str, Value]] = field(default_factory=dict)
    _unparsed: list[Unparsed] = field(default_factory=list)

    def begin(self, chunk: str) -> None:
        """Begin with another chunk."""
        self.chunk = chunk
        self._part += 1

    def name_generator(self, name: str, version: str | None = None) -> None:
        """Name the program that wrote the chunk."""
        self._generators.append(name)
        self._versions += [version] if version else []

    def set(self, pointer: str, value: Value | None) -> None:
        """State a value; ``None`` states nothing."""
        if value is not None:
            statement = _Statement(self._part, self.chunk, value)
            self._statements.setdefault(pointer, []).append(statement)

    def take(self, pointer: str, raw: object, key: str) -> None:
        """State a value as the log takes it, or report the key whose value is none.

        A seed that is no seed makes the seed ambiguous: the program drew one, and it is not written down.
        """
        value = CONVERTERS[pointer](raw)
        if value is not None:
            self.set(pointer, value)
        elif pointer == _SEED and raw is not None:
            why = f"{key}: {str(raw)[:80]!r} says nothing of the seed that was used"
            self.add_candidates(pointer, [], why)
        elif raw is not None and raw != "":
            self.add_unparsed(key, f"{describe(raw)} is no value for {pointer}")

    def settle(self, pointer: str, values: Iterable[Value | None], why: str) -> None:
        """State the one value that all say, or report several as ambiguous; ``None`` says nothing."""
        found = list_distinct(each for each in values if each is not None)
        if len(found) == 1:
            self.set(pointer, found[0])
        elif found:
            self.add_candidates(pointer, found, f"{why}: {pluralize(len(found), 'value')}")

    def add_candidates(self, pointer: str, candidates: Iterable[Value], why: str) -> None:
        """Make a field ambiguous; values that are stated of it are candidates as well."""
        known, first = self._doubts.get(pointer, ([], why))
        self._doubts[pointer] = ([*known, *candidates], first)

    def add_other(self, key: str, value: Value | None) -> None:
        """Keep what has no field in a log; of one key the first, and at most ``OTHER_MAX`` keys of a chunk."""
        kept = self._other.setdefault(self.chunk, {})
        if value is not None and len(kept) < OTHER_MAX:
            kept.setdefault(key, value)
        elif value is not None:
            self.add_unparsed(
                self.chunk, f"it holds more than {OTHER_MAX} keys that are not a log's"
            )

    def add_unparsed(self, place: str, why: str) -> None:
        """Note what was not understood, each once."""
        noted = Unparsed(f"{self.chunk}: {place}" if self.chunk else place, why)
        if len(self._unparsed) < UNPARSED_MAX and noted not in self._unparsed:
            self._unparsed.append(noted)

    def has_statement(self, pointer: str) -> bool:
        """Whether a value is stated."""
        return pointer in self._statements

    def conclude(self) -> Imported:
        """Join all statements: values on which they agree, and ambiguities."""
        values: dict[str, Value] = {}
        evidence: dict[str, Provenance] = {}
        ambiguities: list[Ambiguity] = []
        for pointer in dict.fromkeys([*self._statements, *self._doubts]):
            said = self._statements.get(pointer, [])
            doubted, why = self._doubts.get(pointer, ([], ""))
            candidates = list_distinct([*(each.value for each in said), *doubted])
            why = why or self._find_conflict(said)
            if why:
                few = tuple(candidates[:CANDIDATES_MAX])
                ambiguities.append(Ambiguity(pointer, few, why))
            elif said[0].value != "":
                values[pointer] = said[0].value
                evidence[pointer] = Provenance(said[0].chunk, self.file, self.sha256)
        versions = set(self._versions)
        return Imported(
            file=self.file,
            sha256=self.sha256,
            generator=" + ".join(dict.fromkeys(self._generators)),
            generator_version=self._versions[0] if len(versions) == 1 else None,
            values=values,
            evidence=evidence,
            ambiguities=tuple(sorted(ambiguities, key=lambda each: each.pointer)),
            not_understood=tuple(self._unparsed),
            other={chunk: kept for chunk, kept in self._other.items() if kept},
        )

    def _find_conflict(self, said: list[_Statement]) -> str:
        """Say why statements that nobody doubts give no value; empty where they do."""
        differing = next((each for each in said if not is_same(each.value, said[0].value)), None)
        if differing is not None:
            if differing.chunk == said[0].chunk:
                return f"{differing.chunk} says it twice, and differently"
            return f"{said[0].chunk} and {differing.chunk} differ"
        # Chunks with two seeds tell of two pictures: what one of them says alone may be of either.
        seeded = {each.part: each for each in self._statements.get(_SEED, [])}
        silent = [part for part in seeded if part not in {each.part for each in said}]
        seeds = list_distinct(each.value for each in seeded.values())
        if len(seeds) > 1 and 0 < len(silent) < len(seeded):
            return f"{said[0].chunk} says it, and {seeded[silent[0]].chunk} has another seed"
        return ""


def list_distinct(values: Iterable[Value]) -> list[Value]:
    """Give each value once, in the order in which they came; 8 is 8.0, and 1 is not true."""
    found: dict[object, Value] = {}
    for value in values:
        is_block = isinstance(value, list | dict)
        found.setdefault(repr(value) if is_block else (isinstance(value, bool), value), value)
    return list(found.values())


def is_same(a: Value, b: Value) -> bool:
    """Whether two values say the same."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def to_integer(value: object) -> int | None:
    """Give a whole number of at most 20 digits; a float only where it is one exactly."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_MAX:
        value = int(value)
    return value if isinstance(value, int) and abs(value) < 10**20 else None


def to_number(value: object) -> int | float | None:
    """Give a finite number that JSON keeps; one written as whole stays whole."""
    found: int | float | None = value if isinstance(value, float) else to_integer(value)
    if found is None and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        found = float(value)
    return found if found is not None and abs(found) <= _EXACT_MAX else None


def to_seed(value: object) -> str | None:
    """Give a seed as decimal digits; ``None`` for -1, words, fractions and more than 64 bits."""
    # A seed that went through a float may have lost its last digits.
    found = None if isinstance(value, float) else to_integer(value)
    return str(found) if found is not None and 0 <= found < 2**64 else None


def to_text(value: object) -> str | None:
    """Give a text; ``None`` for what only says that nothing is known."""
    return value if isinstance(value, str) and not says_nothing(value) else None


def _make_limited(
    convert: Callable[[object], _N | None], least: float, most: float
) -> Callable[[object], _N | None]:
    def convert_within(value: object) -> _N | None:
        found = convert(value)
        return found if found is not None and least <= found <= most else None

    return convert_within


to_count = _make_limited(to_integer, 1, 10**9)
"""Give a number of steps or pixels."""
to_weight = _make_limited(to_number, -1000, 1000)
"""Give an adapter's weight."""
to_tempo = _make_limited(to_number, 0.001, 10**6)
"""Give beats per minute."""


def to_meter(beats: object, unit: object) -> str | None:
    """Give a time signature such as ``6/8``."""
    parts = [to_count(beats), to_count(unit)]
    return f"{parts[0]}/{parts[1]}" if all(each and each < 10**4 for each in parts) else None


def _make_matcher(pattern: str) -> Callable[[object], str | None]:
    compiled = re.compile(pattern)
    return lambda value: value if isinstance(value, str) and compiled.fullmatch(value) else None


to_sha256 = _make_matcher("[0-9a-f]{64}")
"""Give a whole sha256 in hexadecimal; a short hash is none."""


def _to_prompt(value: object) -> str | None:
    return "" if value == "" else to_text(value)  # An empty prompt is one; it fills no field.


Converter: TypeAlias = Callable[[object], "Value | None"]
CONVERTERS: Final[Mapping[str, Converter]] = {
    "/model/name": to_text,
    "/seed/effective": to_seed,
    "/art/prompt": _to_prompt,
    "/art/negative_prompt": _to_prompt,
    "/art/width_px": to_count,
    "/art/height_px": to_count,
    "/art/aspect_ratio": _make_matcher("[1-9][0-9]{0,8}:[1-9][0-9]{0,8}"),
    "/art/steps": to_count,
    "/art/guidance": _make_limited(to_number, 0, 10**6),
    "/art/sampler": to_text,
    "/art/scheduler": to_text,
    "/art/denoise": _make_limited(to_number, 0, 1),
    "/art/rng_device": to_text,
    "/art/batch_size": to_count,
    "/art/batch_index": _make_limited(to_integer, 0, 10**9),
    "/art/settings/clip_skip": to_integer,
    "/art/settings/conditioning_guidance": _make_limited(to_number, 0, 10**6),
}
"""How a field of a log takes what a file says, for the fields that dialects name in tables."""


def drop_none(**members: Value | None) -> dict[str, Value]:
    """Give a block of a log in which what is not known is left out."""
    return {key: value for key, value in members.items() if value is not None}


def describe(value: object) -> str:
    """Show the beginning of a JSON value, for a reason that people read."""
    kinds = {dict: "an object", list: "a list", type(None): "null"}
    return kinds.get(type(value)) or repr(value)[:80]
