"""What a file says of its making: values by JSON pointer, where each stood, what is open, and the rest.

Dialects tell a ``Reading`` what the chunks of one file say; it concludes with an ``Imported``. Two statements about one
field that differ make an ambiguity, never a winner. What a field takes is what the model of a log says.

Invariant: a pointer is in ``values``, with evidence, or ambiguous, never both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic_core import PydanticCustomError

from twice.assets.log.fields import FIELDS, find_pointer
from twice.assets.log.io import short
from twice.assets.log.kinds import (
    SEED,
    WHOLE_MAX,
    NumberKind,
    SettingKind,
    ValueKind,
    says_nothing,
)
from twice.assets.media.sniff import Damaged
from twice.foundation.printable import pluralize

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value]"

UNPARSED_MAX: Final = 256
CANDIDATES_MAX: Final = 64
NO_CHOICE: Final[Mapping[str, Value]] = MappingProxyType({})
NO_MODEL: Final = ("automatic", "default (model)", "none")
"""What generators write, in small letters, where no model was chosen beside the main one."""
_SEED: Final = "/seed/effective"
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
        generator_version: as the file says it; "" where it does not.
        values: by JSON pointer into a determinism log.
        evidence: where each of the values stood.
        ambiguities: sorted by pointer.
        not_understood: in the order of the file.
        other: what has no field in a log, by chunk, then key.
    """

    file: str
    sha256: str
    generator: str
    generator_version: str
    values: Mapping[str, Value]
    evidence: Mapping[str, Provenance]
    ambiguities: tuple[Ambiguity, ...]
    not_understood: tuple[Unparsed, ...]
    other: Mapping[str, Mapping[str, Value]]

    def find_values(self, pointer: str) -> Iterator[Value]:
        """Yield the value of a field, or each candidate of one that is ambiguous; none that the file does not say."""
        if pointer in self.values:
            yield self.values[pointer]
        for each in self.ambiguities:
            if each.pointer == pointer:
                yield from each.candidates


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
    _generators: dict[str, str] = field(default_factory=dict)
    _statements: dict[str, list[_Statement]] = field(default_factory=dict)
    _doubts: dict[str, tuple[list[Value], str]] = field(default_factory=dict)
    _other: dict[str, dict[str, Value]] = field(default_factory=dict)
    _unparsed: dict[Unparsed, None] = field(default_factory=dict)

    def begin(self, chunk: str) -> None:
        """Begin with another chunk."""
        self.chunk = chunk
        self._part += 1

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Note that a chunk is not understood where reading it ends in an error about its bytes."""
        try:
            yield
        except (Damaged, ValueError) as damage:
            self.add_unparsed("", str(damage))

    def name_generator(self, name: str, version: str | None = None) -> None:
        """Name the program that wrote the chunk."""
        self._generators[name] = version or self._generators.get(name, "")

    def name_provider(self, name: str, version: str | None = None) -> None:
        """Name the program or service that rendered, as generator and as provider."""
        self.name_generator(name, version)
        self.set("/provider/name", name)
        self.set(f"/environment/packages/{name}", version)

    def name_daw(self, generator: str, name: str | None, version: str | None) -> None:
        """Name the workstation whose project the file is."""
        self.name_generator(generator, version)
        self.set("/audio/daw/name", name)
        self.set("/audio/daw/version", version)
        self.set("/audio/daw/project_sha256", self.sha256)

    def set(self, pointer: str, value: Value | None) -> None:
        """State a value; ``None`` states nothing."""
        if value is not None:
            statement = _Statement(self._part, self.chunk, value)
            self._statements.setdefault(pointer, []).append(statement)

    def take_size(self, pattern: re.Pattern[str], raw: object, key: str) -> None:
        """State a width and a height that stand in one text, as the groups of a pattern."""
        match = pattern.fullmatch(str(raw))
        for pointer, group in (("/art/width_px", 1), ("/art/height_px", 2)):
            self.take(pointer, match[group] if match else raw, key)

    def take(self, pointer: str, raw: object, key: str) -> None:
        """State a value as the log takes it, or report the key whose value is none.

        A seed that is no seed makes the seed ambiguous: the program drew one, and it is not written down.
        """
        value = convert(pointer, raw)
        if value is not None:
            self.set(pointer, value)
        elif pointer == _SEED and raw is not None:
            why = f"{key}: {short(raw)} says nothing of the seed that was used"
            self.add_candidates(pointer, [], why)
        elif raw is not None and raw != "":
            self.add_unparsed(key, f"{short(raw)} is no value for {pointer}")

    def settle(self, pointer: str, raws: Iterable[object], key: str, why: str) -> None:
        """Take the one value that all say, or report several as ambiguous; ``None`` says nothing."""
        found: list[Value] = []
        for raw in list_distinct(each for each in raws if each is not None):
            if (value := convert(pointer, raw)) is not None:
                found.append(value)
            else:
                self.add_unparsed(key, f"{short(raw)} is no value for {pointer}")
        found = list_distinct(found)
        if len(found) == 1:
            self.set(pointer, found[0])
        elif found:
            self.add_candidates(pointer, found, f"{why}: {pluralize(len(found), 'value')}")

    def add_candidates(self, pointer: str, candidates: Iterable[Value], why: str) -> None:
        """Make a field ambiguous; values that are stated of it are candidates as well."""
        known, first = self._doubts.get(pointer, ([], why))
        self._doubts[pointer] = ([*known, *candidates], first)

    def doubt_stated(self, pointers: Iterable[str], why: str) -> None:
        """Make those of some fields ambiguous of which a value is stated."""
        for pointer in self._statements.keys() & set(pointers):
            self.add_candidates(pointer, [], why)

    def add_other(self, key: str, value: Value | None) -> None:
        """Keep what has no field in a log; of one key the first."""
        if value is not None:
            self._other.setdefault(self.chunk, {}).setdefault(key, value)

    def add_unparsed(self, place: str, why: str) -> None:
        """Note what was not understood, each once; "" is the chunk as a whole."""
        where = ": ".join(filter(None, (self.chunk or self.file, place)))
        if len(self._unparsed) < UNPARSED_MAX:
            self._unparsed[Unparsed(where, why)] = None

    def conclude(self, chosen: Mapping[str, Value]) -> Imported:
        """Join all statements: values on which they agree or of which one is chosen, and ambiguities."""
        values: dict[str, Value] = {}
        evidence: dict[str, Provenance] = {}
        ambiguities: list[Ambiguity] = []
        for pointer in dict.fromkeys([*self._statements, *self._doubts]):
            said = self._statements.get(pointer, [])
            doubted, why = self._doubts.get(pointer, ([], ""))
            if why := why or self._find_conflict(said):
                candidates = list_distinct([*(each.value for each in said), *doubted])
                if chosen.get(pointer) in candidates:
                    values[pointer] = chosen[pointer]
                    place = f"chosen among {len(candidates)}: {why}"
                    evidence[pointer] = Provenance(place, self.file, self.sha256)
                else:
                    few = tuple(candidates[:CANDIDATES_MAX])
                    ambiguities.append(Ambiguity(pointer, few, why))
            elif said[0].value != "":
                values[pointer] = said[0].value
                evidence[pointer] = Provenance(said[0].chunk, self.file, self.sha256)
        versions = set(filter(None, self._generators.values()))
        return Imported(
            file=self.file,
            sha256=self.sha256,
            generator=" + ".join(self._generators),
            generator_version=versions.pop() if len(versions) == 1 else "",
            values=values,
            evidence=evidence,
            ambiguities=tuple(sorted(ambiguities, key=lambda each: each.pointer)),
            not_understood=tuple(self._unparsed),
            other=self._other,
        )

    def _find_conflict(self, said: list[_Statement]) -> str:
        """Say why statements that nobody doubts give no value; empty where they do."""
        differing = next((each for each in said if each.value != said[0].value), None)
        if differing is not None:
            if differing.chunk == said[0].chunk:
                return f"{differing.chunk} says it twice, and differently"
            return f"{said[0].chunk} and {differing.chunk} differ"
        # Chunks with two seeds tell of two pictures: what one of them says alone may be of either.
        seeded = {each.part: each for each in self._statements.get(_SEED, [])}
        silent = seeded.keys() - {each.part for each in said}
        seeds = {each.value for each in seeded.values()}
        if len(seeds) > 1 and 0 < len(silent) < len(seeded):
            return f"{said[0].chunk} says it, and {seeded[min(silent)].chunk} has another seed"
        return ""


def list_distinct(values: Iterable[Any]) -> list[Any]:
    """Give each value once, in the order in which they came; 8 is 8.0."""
    return list({repr(v) if isinstance(v, list | dict) else v: v for v in values}.values())


def convert(pointer: str, raw: object) -> Any:
    """Convert what a file says to what a field of a log takes; None where it is no value of it.

    An empty prompt is given back as "", which fills no field and differs from another prompt.
    """
    kind = FIELDS[find_pointer(pointer.split("/")[1:])].shape
    if raw == "" and pointer.endswith("prompt"):
        return raw
    value: object = raw if isinstance(raw, str) else None
    if kind is SEED:
        value = to_seed(raw)
    elif isinstance(kind, NumberKind | SettingKind):
        value = to_number(raw)
    assert isinstance(kind, ValueKind), "a dialect takes single values"
    try:
        return kind.take(value)
    except PydanticCustomError:
        return None


def to_number(value: object) -> int | float | None:
    """Give a finite number that JSON keeps; one written as whole stays whole."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value) if set(value) & set(".eE") else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) <= WHOLE_MAX else None


def to_seed(value: object) -> str | None:
    """Give a seed as decimal digits; ``None`` for -1, words, floats (which lose digits) and more than 64 bits."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,20}", value.strip()):
        value = int(value)
    return str(value) if type(value) is int and 0 <= value < 2**64 else None


def to_text(value: object) -> str | None:
    """Give a text; ``None`` for what only says that nothing is known."""
    return value if isinstance(value, str) and not says_nothing(value) else None


def drop_none(**members: Value | None) -> dict[str, Value]:
    """Give a block of a log in which what is not known is left out."""
    return {key: value for key, value in members.items() if value is not None}
