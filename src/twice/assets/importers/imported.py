"""What an importer hands back: values for a log, where each stood, and what stayed open.

A dialect fills a ``Reading`` from one chunk; ``together`` joins the readings of one file. Two chunks that
say different things about one field make an ambiguity, never a winner. What has no field in the log is
kept under ``other`` by chunk and key.

Invariant: a pointer is either in ``values``, with evidence, or ambiguous, never both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value]"

OTHER_MAX = 1024
PUZZLES_MAX = 256
CANDIDATES_MAX = 64
_SEED: Final = "/seed/effective"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value stood: a chunk of a file with its digest."""

    chunk: str
    file: str
    sha256: str

    def document(self) -> dict[str, Value]:
        """Give it as JSON."""
        return {"chunk": self.chunk, "file": self.file, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A field for which a file offers more than one value, or one that may not be the one used."""

    pointer: str
    candidates: tuple[Value, ...]
    why: str

    def document(self) -> dict[str, Value]:
        """Give it as JSON."""
        return {"pointer": self.pointer, "candidates": list(self.candidates), "why": self.why}


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A place of a file that says something that was not made a value, and why not."""

    place: str
    why: str

    def document(self) -> dict[str, Value]:
        """Give it as JSON."""
        return {"place": self.place, "why": self.why}


@dataclass(slots=True)
class Reading:
    """What one chunk says, while a dialect reads it.

    Args:
        chunk: how the chunk is called in evidence, like ``tEXt parameters``.
        generator: the program that wrote it; empty where nobody knows.
        places: the chunk that each value stood in; ``chunk`` may change while a dialect reads several.
    """

    chunk: str
    generator: str
    generator_version: str | None = None
    values: dict[str, Value] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    ambiguities: dict[str, Ambiguity] = field(default_factory=dict)
    other: dict[str, Value] = field(default_factory=dict)
    not_understood: list[NotUnderstood] = field(default_factory=list)

    def say(self, pointer: str, value: Value | None) -> None:
        """Take a value; nothing for ``None`` and empty text; a second, other value is ambiguous."""
        if value is None or value == "":
            return
        if pointer in self.ambiguities:
            self.doubt(pointer, [value], self.ambiguities[pointer].why)
        elif pointer in self.values and not same(self.values[pointer], value):
            self.doubt(pointer, [value], f"{self.chunk} says it twice, and differently")
        else:
            self.values[pointer] = value
            self.places.setdefault(pointer, self.chunk)

    def doubt(self, pointer: str, candidates: Iterable[Value], why: str) -> None:
        """Report a field as ambiguous; what was said of it before becomes a candidate."""
        known: list[Value] = []
        if pointer in self.values:
            known.append(self.values.pop(pointer))
        if pointer in self.ambiguities:
            known.extend(self.ambiguities[pointer].candidates)
        self.ambiguities[pointer] = Ambiguity(pointer, _few([*known, *candidates]), why)

    def keep(self, key: str, value: Value | None) -> None:
        """Keep what has no field in a log; of one key the first, and at most ``OTHER_MAX`` keys."""
        if value is None:
            return
        if len(self.other) < OTHER_MAX:
            self.other.setdefault(key, value)
        else:
            self.puzzle(self.chunk, f"it holds more than {OTHER_MAX} keys that are not a log's")

    def puzzle(self, place: str, why: str) -> None:
        """Note what was not understood, each once."""
        noted = NotUnderstood(place, why)
        if noted not in self.not_understood and len(self.not_understood) < PUZZLES_MAX:
            self.not_understood.append(noted)

    @property
    def empty(self) -> bool:
        """Whether the chunk said nothing at all."""
        return not (self.values or self.ambiguities or self.other or self.not_understood)


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file says about how it was made.

    Args:
        file: the name for evidence.
        sha256: of the file, in hexadecimal.
        generator: the program that wrote it; several are joined by `` + ``.
        generator_version: as the file says it, or nothing.
        values: by JSON pointer into a determinism log.
        evidence: where each of the values stood.
        other: what has no field in a log, by chunk, then key.
    """

    file: str
    sha256: str
    generator: str
    generator_version: str | None
    values: Mapping[str, Value]
    evidence: Mapping[str, Source]
    ambiguities: tuple[Ambiguity, ...]
    not_understood: tuple[NotUnderstood, ...]
    other: Mapping[str, Mapping[str, Value]]

    def document(self) -> dict[str, Value]:
        """Give it as JSON, without a format number of its own."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "generator": self.generator,
            "generator_version": self.generator_version or "",
            "values": dict(self.values),
            "evidence": {at: source.document() for at, source in self.evidence.items()},
            "ambiguities": [each.document() for each in self.ambiguities],
            "not_understood": [each.document() for each in self.not_understood],
            "other": {chunk: dict(kept) for chunk, kept in self.other.items()},
        }


def together(
    readings: Iterable[Reading], file: str, sha256: str, *, unread: Iterable[NotUnderstood] = ()
) -> Imported:
    """Join what the chunks of one file say.

    Args:
        readings: one for each chunk that a dialect knew, in the order of the file.
        file: the name for evidence.
        sha256: the file's digest in hexadecimal.
        unread: chunks that could not be read at all.
    """
    said = [each for each in readings if not each.empty]
    values: dict[str, Value] = {}
    evidence: dict[str, Source] = {}
    doubts: dict[str, Ambiguity] = {}
    for reading in said:
        for pointer, value in reading.values.items():
            if pointer not in values:
                values[pointer] = value
                evidence[pointer] = Source(reading.places[pointer], file, sha256)
            elif not same(values[pointer], value):
                why = f"{evidence[pointer].chunk} and {reading.places[pointer]} differ"
                _doubt(doubts, Ambiguity(pointer, (values[pointer], value), why))
        for doubt in reading.ambiguities.values():
            _doubt(doubts, doubt)
    for doubt in _torn(said, values):
        _doubt(doubts, doubt)
    for pointer, doubt in doubts.items():
        if pointer in values:
            _doubt(doubts, Ambiguity(pointer, (values.pop(pointer),), doubt.why))
            del evidence[pointer]
    versions = [each.generator_version for each in said if each.generator_version]
    return Imported(
        file=file,
        sha256=sha256,
        generator=" + ".join(dict.fromkeys(each.generator for each in said if each.generator)),
        generator_version=versions[0] if len(dict.fromkeys(versions)) == 1 else None,
        values=values,
        evidence=evidence,
        ambiguities=tuple(doubts[pointer] for pointer in sorted(doubts)),
        not_understood=(
            *(
                NotUnderstood(f"{r.chunk}: {n.place}", n.why)
                for r in said
                for n in r.not_understood
            ),
            *unread,
        ),
        other={reading.chunk: reading.other for reading in said if reading.other},
    )


def _torn(said: list[Reading], values: Mapping[str, Value]) -> Iterator[Ambiguity]:
    """Doubt what one of several chunks says alone, when their seeds tell of different pictures."""
    seeded = [each for each in said if _SEED in each.values]
    if len(distinct(each.values[_SEED] for each in seeded)) < 2:
        return
    for pointer in values:
        who = [each for each in seeded if pointer in each.values]
        if 0 < len(who) < len(seeded):
            other = next(each for each in seeded if pointer not in each.values)
            why = f"{who[0].places[pointer]} says it, and {other.chunk} has another seed"
            yield Ambiguity(pointer, (), why)


def _doubt(doubts: dict[str, Ambiguity], new: Ambiguity) -> None:
    known = doubts.get(new.pointer)
    before = known.candidates if known else ()
    why = known.why if known else new.why
    doubts[new.pointer] = Ambiguity(new.pointer, _few([*before, *new.candidates]), why)


def _few(values: Iterable[Value]) -> tuple[Value, ...]:
    """Give the first candidates, each once."""
    return distinct(values)[:CANDIDATES_MAX]


def distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    """Give each value once, in the order in which they came."""
    found: dict[object, Value] = {}
    blocks: list[Value] = []
    for value in values:
        if not isinstance(value, list | dict):
            found.setdefault((isinstance(value, bool), value), value)
        elif not any(same(value, known) for known in blocks):
            blocks.append(value)
            found[len(blocks), "block"] = value
    return tuple(found.values())


def same(a: Value, b: Value) -> bool:
    """Whether two values say the same; 8 and 8.0 do, 1 and true do not."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b
