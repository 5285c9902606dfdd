"""Write the agent pack into a project, bring it up to date, and remove it.

Three kinds of content are ours: whole files, a section between two marks, and one entry in JSON settings. The lock,
``twice-agent.lock``, stores a digest of each, so content that the user changed is recognised and left.

Invariant: everything is read and judged before the first byte is written, and a failed write is undone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from twice.agent.pack import LAYOUTS, SERVER, Target, render_pack, render_section
from twice.errors import ConfigError, OutputUnwritable, UsageError
from twice.foundation.digests import digest_bytes
from twice.writing import make_folder, write

LOCK: Final = "twice-agent.lock"
FORMAT: Final = "twice.agent-lock/1"
SECTION: Final = "AGENTS.md"
_SERVERS: Final = "mcpServers"
_NAME: Final = "twice"
_FOLDERS: Final = {
    Target.CLAUDE: (".claude", "CLAUDE.md"),
    Target.CODEX: (".codex", ".agents"),
    Target.CURSOR: (".cursor",),
    Target.GEMINI: (".gemini", "GEMINI.md"),
}


class InstallAction(StrEnum):
    """What happens to a file; ``edited`` is the user's content, which is left."""

    ADD = "add"
    UPDATE = "update"
    SAME = "same"
    EDITED = "edited"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class PackEntry:
    """Content of ours in a file: its digest, and whether the ``file``, its ``key`` of servers or neither is ours."""

    digest: str
    made: str


@dataclass(frozen=True, slots=True)
class InstallChange:
    """A file, before and after; None if it does not exist."""

    path: str
    action: InstallAction
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """Every change for the wanted targets, the last one of the lock, and the folders that are or will be ours."""

    project: Path
    targets: tuple[Target, ...]
    changes: tuple[InstallChange, ...]
    folders: frozenset[str]

    @property
    def is_changing(self) -> bool:
        """Return whether a file would be written or removed."""
        return any(each.before != each.after for each in self.changes)


def find_targets(project: Path) -> list[Target]:
    """Find the agents whose folders a project has; the generic one if there is none."""
    found = [
        target
        for target, names in _FOLDERS.items()
        if any((project / each).exists() for each in names)
    ]
    return found or [Target.GENERIC]


def plan_install(
    project: Path, asked: Iterable[Target], *, uninstalls: bool = False
) -> InstallPlan:
    """Plan the files of a project for more targets, or for fewer.

    Args:
        project: its folder.
        asked: the targets; none for those that are found, or to uninstall for all.
        uninstalls: whether they are removed.

    Raises:
        ConfigError: E-CONFIG-001: settings, marks or the lock cannot be read.
        UsageError: E-USE-001: a path leads outside of the project.
    """
    document = _read_lock(project)
    old = {Target(each) for each in document["targets"]}
    entries = {path: PackEntry(**each) for path, each in document["files"].items()}
    chosen = {*asked} or (old if uninstalls else {*find_targets(project)})
    targets = tuple(
        each for each in Target if each in (old - chosen if uninstalls else old | chosen)
    )
    wanted = {path: text for each in targets for path, text in render_pack(each).items()}
    for each in targets:
        if path := LAYOUTS[each].settings:
            wanted[path] = _SETTINGS_TOML if path.endswith(".toml") else _dump(SERVER)
    if targets:
        wanted[SECTION] = render_section([*targets])
    changes, left = [], {}
    for path in sorted({*wanted, *entries}):
        change, entry = _plan_path(project, path, wanted.get(path), entries.get(path))
        changes.append(change)
        if entry is not None:
            left[path] = entry
    folders = {*document["folders"]}
    for change in changes:
        if change.before is None and change.after is not None:
            above = [str(folder) for folder in PurePosixPath(change.path).parents][:-1]
            folders |= {folder for folder in above if not (project / folder).exists()}
    lock = None
    if targets:
        after = {"format": FORMAT, "targets": targets, "folders": sorted(folders)}
        lock = _dump(after | {"files": {path: asdict(each) for path, each in left.items()}}) + "\n"
    before = _read(project, LOCK)
    if before != lock:
        action = InstallAction.ADD if before is None else InstallAction.UPDATE
        changes.append(InstallChange(LOCK, action if lock else InstallAction.REMOVE, before, lock))
    return InstallPlan(project, targets, tuple(changes), frozenset(folders))


def apply_install(plan: InstallPlan) -> None:
    """Write and remove the files of a plan: all of them, or none.

    Raises:
        OutputUnwritable: E-OUTPUT-002.
    """
    done = []
    try:
        for each in plan.changes:
            if each.before != each.after:
                done.append(each)
                _put(plan, each.path, each.after)
    except OutputUnwritable:
        for each in reversed(done):
            with suppress(OutputUnwritable):
                _put(plan, each.path, each.before)
        raise


def _put(plan: InstallPlan, path: str, text: str | None) -> None:
    file = plan.project / path
    if text is not None:
        make_folder(file.parent)
        write(file, text.encode())
        return
    try:
        file.unlink(missing_ok=True)
    except NotADirectoryError:
        return
    except OSError as error:
        raise OutputUnwritable(
            f"{path} cannot be removed: {error.strerror or error}.",
            "Expected a folder that can be written.",
            "Change its permissions; nothing was changed.",
        ) from error
    for folder in PurePosixPath(path).parents:
        if str(folder) in plan.folders:
            with suppress(OSError):  # Files of the user are in it.
                (plan.project / folder).rmdir()


def _plan_path(
    project: Path, path: str, wanted: str | None, entry: PackEntry | None
) -> tuple[InstallChange, PackEntry | None]:
    """Compare a file with the wanted content; what happens to it, and its entry afterwards."""
    before = _read(project, path)
    content = _FORMS.get(PurePosixPath(path).name, _WholeFile)(path, before)
    current = content.current
    new = None if wanted is None else _digest(wanted)
    if current is None and wanted is None:
        return InstallChange(path, InstallAction.SAME, before, before), None
    if current is None:
        made = "file" if before is None else content.made
        change = InstallChange(path, InstallAction.ADD, before, content.insert(cast("str", wanted)))
        return change, PackEntry(cast("str", new), made)
    if _digest(current) == new:
        return InstallChange(path, InstallAction.SAME, before, before), entry or PackEntry(new, "")
    if entry is None or _digest(current) != entry.digest:
        kept = entry if wanted is not None else None
        return InstallChange(path, InstallAction.EDITED, before, before), kept
    if wanted is None:
        after = content.remove(entry.made)
        return InstallChange(path, InstallAction.REMOVE, before, after), None
    change = InstallChange(path, InstallAction.UPDATE, before, content.insert(wanted))
    return change, PackEntry(cast("str", new), entry.made)


class _WholeFile:
    """A file that is ours from its first byte to its last."""

    made = ""

    def __init__(self, path: str, text: str | None) -> None:
        self.path = path
        self.text = text or ""
        self.current: str | None = text

    def insert(self, content: str) -> str:
        return content

    def remove(self, made: str) -> str | None:
        del made
        return None


class _MarkedSection(_WholeFile):
    """A section between two marks in a text of the user."""

    begin, end = "<!-- twice: begin -->", "<!-- twice: end -->"

    def __init__(self, path: str, text: str | None) -> None:
        super().__init__(path, text)
        counts = self.text.count(self.begin), self.text.count(self.end)
        self.found = re.search(
            rf"{re.escape(self.begin)}\r?\n(.*?)\r?\n{re.escape(self.end)}(\r?\n|\Z)", self.text, re.DOTALL
        )  # fmt: skip
        if counts != (0, 0) and (counts != (1, 1) or self.found is None):
            raise ConfigError(
                f"{path} has {counts[0]} of the mark {self.begin!r} and {counts[1]} of {self.end!r}, or not in order.",
                "Expected both marks once, each on a line of its own, or neither.",
                f"Remove the marks from {path} and run the command again.",
            )
        self.current = self.found[1] if self.found else None

    def insert(self, content: str) -> str:
        block = f"{self.begin}\n{content}\n{self.end}\n"
        if self.found:
            return self.text[: self.found.start()] + block + self.text[self.found.end() :]
        gap = "" if not self.text else "\n" if self.text.endswith("\n") else "\n\n"
        return self.text + gap + block

    def remove(self, made: str) -> str | None:
        assert self.found is not None, "only a section that was found is removed"
        above, below = self.text[: self.found.start()], self.text[self.found.end() :]
        left = above.removesuffix("\n") + below if above.endswith("\n\n") else above + below
        return None if made == "file" and not left.strip() else left


class _TomlSection(_MarkedSection):
    """A table of a server in TOML settings; the marks are comments."""

    begin, end = "# twice: begin", "# twice: end"

    def __init__(self, path: str, text: str | None) -> None:
        super().__init__(path, text)
        document = _parse_toml(path, self.text)
        if self.current is None and _NAME in _as_object(path, document.get("mcp_servers", {})):
            self.current = ""  # The user has an entry of that name: it is left.

    def insert(self, content: str) -> str:
        text = super().insert(content)
        _parse_toml(self.path, text)
        return text


class _JsonEntry(_WholeFile):
    """The entry of the server in JSON settings."""

    def __init__(self, path: str, text: str | None) -> None:
        super().__init__(path, text)
        self.document: dict[str, Any] = {}
        if text is not None and text.strip():
            try:
                self.document = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise _refuse_settings(path, str(error)) from error
        servers = _as_object(path, _as_object(path, self.document).get(_SERVERS, {}))
        self.made = "" if _SERVERS in self.document else "key"
        self.current = _dump(servers[_NAME]) if _NAME in servers else None

    def insert(self, content: str) -> str:
        servers = {**self.document.get(_SERVERS, {}), _NAME: json.loads(content)}
        return self._write({**self.document, _SERVERS: servers})

    def remove(self, made: str) -> str | None:
        document = dict(self.document)
        servers = {name: each for name, each in document[_SERVERS].items() if name != _NAME}
        document[_SERVERS] = servers
        if made and not servers:
            del document[_SERVERS]
        return None if made == "file" and not document else self._write(document)

    def _write(self, document: Mapping[str, Any]) -> str:
        indent = re.search(r"\n([ \t]+)", self.text)
        return json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


_SETTINGS_TOML: Final = f"[mcp_servers.{_NAME}]\ncommand = {json.dumps(SERVER['command'])}\nargs = {json.dumps(SERVER['args'])}"
_FORMS: Final[Mapping[str, type[_WholeFile]]] = {
    SECTION: _MarkedSection,
    **{
        PurePosixPath(each.settings).name: _TomlSection if each.settings.endswith(".toml") else _JsonEntry
        for each in LAYOUTS.values() if each.settings
    },
}  # fmt: skip
"""How content of ours is part of a file, by the file's name."""


def _read(project: Path, path: str) -> str | None:
    """Read a file of the project; None if it does not exist."""
    file = project / path
    if not file.resolve().is_relative_to(project.resolve()):
        raise UsageError(
            f"{path} leads to {file.resolve()}, outside of the project.",
            f"Expected a path inside of {project.resolve()}.",
            "Replace the symbolic link by a file or folder of the project.",
        )
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}.",
            "Expected a file with UTF-8 text, or none.",
            "Move it away, and run the command again.",
        ) from error


def _read_lock(project: Path) -> dict[str, Any]:
    text = _read(project, LOCK)
    if text is None:
        return {"targets": [], "folders": [], "files": {}}
    try:
        document = json.loads(text)
        return _check_lock(document)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{LOCK} is not a lock of the agent pack: {type(error).__name__}: {error}.",
            f"Expected the JSON document that twice wrote, format {FORMAT!r}.",
            f"Take it from version control, or remove it: equal files are recognised without it: rm {LOCK}",
        ) from error


def _check_lock(document: dict[str, Any]) -> dict[str, Any]:
    """Return a lock whose paths, which may come from a stranger, stay in the project."""
    if document["format"] != FORMAT:
        raise ValueError(f"its format is {document['format']!r}")
    for path in (*document["files"], *document["folders"]):
        if path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise ValueError(f"the path {path!r} leaves the project")
    for each in document["files"].values():
        PackEntry(**each)
    return {**document, "targets": [Target(each) for each in document["targets"]]}


def _parse_toml(path: str, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refuse_settings(path, str(error)) from error


def _as_object(path: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refuse_settings(path, f"{value!r} is not an object")
    return value


def _refuse_settings(path: str, why: str) -> ConfigError:
    kind = "TOML" if path.endswith(".toml") else "JSON without comments"
    return ConfigError(
        f"The entry of twice cannot be added to {path}: {why}.",
        f"Expected settings in {kind}, with a table of servers or none.",
        f"Correct {path}, and run the command again; nothing was changed.",
    )


def _dump(document: object) -> str:
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)


def _digest(text: str) -> str:
    """Return the digest of a text; CRLF counts as LF, as version control may convert it."""
    return str(digest_bytes(text.replace("\r\n", "\n").encode()))
