"""The results of files, kept from one check to the next in one file, by everything that they depend on.

A file's findings depend on its bytes, its path and package, the rules, the catalogue and the Python
that parses; all are digested. The pack is JSON: a head with the key and a digest of the rest, then
what is needed always, then what is needed when something changed. It is read whole or not at all.

Invariant: a pack that is damaged, foreign or of other rules is as good as none; without a folder
that can be written nothing is kept, and nothing is said about it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.checker.config import AnalysisConfig
from twice.checker.findings import FileResult, Violation
from twice.checker.rule import RuleFacts
from twice.foundation.digests import Algorithm, raw_digest

FOLDER: Final = ".twice_cache"
_FORMAT: Final = "twice.check-cache/3"
_SOURCES: Final = Path(__file__).parent


@dataclass(slots=True)
class Pack:
    """The results of the last check.

    Args:
        rules: what has to be known of each rule.
        files: for each path the digest of its bytes, its package, and its result as plain values.
        inputs: the digest of everything that ``concluded`` and ``imported_tests`` depend on.
        concluded: the violations that all files together show, each with its path.
        imported_tests: files among tests that the program itself imports.
        facts: the text of the facts of every file; parsed when they are asked for.
        linked: the results that other files change, for each path.
        answers: what files answered to questions of others, for their digest and package.
    """

    rules: Mapping[str, RuleFacts] = field(default_factory=dict)
    files: dict[str, tuple[str, str, Any]] = field(default_factory=dict)
    inputs: str = ""
    concluded: list[tuple[str, Violation]] = field(default_factory=list)
    imported_tests: list[str] = field(default_factory=list)
    facts: str = "{}"
    linked: dict[str, FileResult] = field(default_factory=dict)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    def find(self, path: str, digest: str, package: str) -> FileResult | None:
        """Give the result of a file without its facts, if the file did not change."""
        known = self.files.get(path)
        if known is None or known[0] != digest or known[1] != package:
            return None
        return FileResult.from_json(known[2])


class Cache:
    """The pack of one project and working folder.

    Args:
        root: the project's folder; None to keep nothing.
        config: how files are analysed.
    """

    def __init__(self, root: Path | None, config: AnalysisConfig) -> None:
        self._key = "" if root is None else _key(config)
        self._path = None if root is None else _path(root)

    def load(self) -> Pack:
        """Give what is known from before; an empty pack when nothing is."""
        if self._path is None:
            return Pack()
        try:
            head, always, facts = self._path.read_bytes().decode("utf-8").split("\n")[:3]
            if head == self._head(always, facts):
                return _unpack(json.loads(always), facts)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
        return Pack()

    def store(self, pack: Pack, facts: Mapping[str, Any]) -> None:
        """Keep results in place of the last ones; the facts as values, not as the pack's text."""
        if self._path is None:
            return
        always = json.dumps(
            {
                "rules": [each.to_json() for each in pack.rules.values()],
                "inputs": pack.inputs,
                "concluded": [[at, found.to_json()] for at, found in pack.concluded],
                "imported_tests": pack.imported_tests,
                "files": pack.files,
                "linked": {path: one.to_json() for path, one in pack.linked.items()},
                "answers": pack.answers,
            },
            separators=(",", ":"),
        )
        rest = json.dumps(facts, separators=(",", ":"))
        with suppress(OSError):
            folder = self._path.parent
            if not folder.is_dir():
                folder.mkdir(parents=True)
            ignoring = folder.parent / ".gitignore"
            if not ignoring.exists():
                ignoring.write_text("*\n", "ascii")
            aside = self._path.with_suffix(f".{os.getpid()}")
            aside.write_text("\n".join([self._head(always, rest), always, rest, ""]), "ascii")
            aside.replace(self._path)

    def _head(self, always: str, facts: str) -> str:
        return json.dumps([_FORMAT, self._key, digest_text(always + facts)])


def _unpack(data: Mapping[str, Any], facts: str) -> Pack:
    rules = [RuleFacts.from_json(each) for each in data["rules"]]
    return Pack(
        {each.name: each for each in rules},
        data["files"],
        data["inputs"],
        [(path, Violation.from_json(row)) for path, row in data["concluded"]],
        data["imported_tests"],
        facts,
        {path: FileResult.from_json(row) for path, row in data["linked"].items()},
        data["answers"],
    )


def digest_text(text: str) -> str:
    """Digest a text; hexadecimal."""
    return raw_digest(Algorithm.SHA256)(text.encode("utf-8", "surrogatepass")).hex()


def _key(config: AnalysisConfig) -> str:
    """Digest everything that reads: the sources of this room, the catalogues, the configuration.

    An installer may give every version the same times of change; when a file came here it cannot.
    """
    hashes = []
    for folder, names, files in os.walk(_SOURCES):
        names[:] = sorted(each for each in names if each != "__pycache__")
        for name in sorted(files):
            status = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118  (a hundred of them)
            times = f"{status.st_mtime_ns}:{status.st_ctime_ns}"
            hashes.append(f"{name}:{status.st_size}:{times}")
    return digest_text("\n".join([config.identity, str(_SOURCES), *hashes]))


def _path(root: Path) -> Path:
    """Return the pack's path for this working folder: findings carry paths relative to it."""
    return root / FOLDER / "check" / f"{digest_text(os.path.relpath(Path.cwd(), root))[:16]}.pack"
