"""From the options of ``twice check`` and a project's settings to the project that is checked.

Invariant: an option that was given comes before the setting of the same name.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from twice.checking.caching import Cache
from twice.checking.configuring import SEVERITIES, Settings, nearest, settings_of
from twice.checking.policy import TIERS, Policy
from twice.checking.project import Project
from twice.checking.reader import Reader
from twice.checking.selecting import Selection
from twice.checking.workspace import Workspace, workspace_beside
from twice.errors import ConfigError, UsageError
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.severity import Severity

_ROOTS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
FOR_PROGRAMS = ("json", "jsonl", "sarif", "junit")


def settings_for(config: Path | None, start: Path) -> Settings:
    """Read the settings of a file that was named, or of the nearest pyproject.toml."""
    if config is not None:
        return settings_of(config.absolute())
    folder = start.absolute()
    found = nearest(folder if folder.is_dir() else folder.parent)
    return Settings() if found is None else settings_of(found)


def refuse_nonsense(options: argparse.Namespace, settings: Settings) -> None:
    """Refuse options that make no sense together."""
    changes = options.baseline_accept is not None or options.baseline_update
    if changes and not (options.baseline or settings.baseline):
        raise UsageError(
            "The baseline was to be changed, and there is none.",
            "Expected --baseline FILE, or the key baseline in [tool.twice.check].",
            'For example: twice check --baseline twice.baseline --baseline-accept "before 1.0"',
        )
    if options.baseline_accept is not None and not options.baseline_accept.strip():
        raise UsageError(
            "--baseline-accept was given an empty reason.",
            "Expected a few words that say why these findings may stay.",
            'For example: --baseline-accept "legacy plots, replaced in 2.0"',
        )
    if options.diff and changes:
        raise UsageError(
            "--diff was given with --baseline-accept or --baseline-update.",
            "It says what would be changed in the source, and writes nothing.",
            "Leave one of them out.",
        )
    if options.json and options.format not in {"text", "json"}:
        raise UsageError(
            f"--json and --format {options.format} were both given.",
            "Expected one format.",
            "Leave one of them out.",
        )
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise UsageError(
            "--unsafe-fixes was given without --fix and --diff.",
            "It says which fixes these two apply.",
            "For example: twice check --diff --unsafe-fixes",
        )
    if options.jobs is not None and options.jobs < 1:
        raise UsageError(
            f"-j {options.jobs} was given.",
            "Expected how many processes may read files: 1 or more.",
            "Leave it out to use every processor.",
        )


def workspace_of(paths: Sequence[Path]) -> Workspace | None:
    """Give the specification beside the code that is checked."""
    return workspace_beside((*map(folder_of, paths), Path.cwd()))


def _promise(options: argparse.Namespace, settings: Settings, said: Mapping[str, str]) -> Policy:
    """What was promised: by an option, the settings or the specification, in this order."""
    kind = options.kind or settings.kind or said.get("class")
    scope = options.scope or settings.scope or said.get("scope")
    tier = options.tier or settings.tier or said.get("tier")
    known: tuple[tuple[str | None, Iterable[str]], ...]
    known = ((kind, DeterminismClass), (scope, Scope), (tier, TIERS))
    for word, words in known:
        if word is not None and word not in tuple(words):
            raise UsageError(
                f"The specification declares {word!r}.",
                f"Expected one of: {', '.join(words)}.",
                "Mend determinism-and-replay/01-determinism-class.md, or give the option.",
            )
    return Policy(
        kind=DeterminismClass(kind or DeterminismClass.BIT_EXACT),
        scope=Scope(scope or Scope.HOST),
        tier=tier,
        is_declared=kind is not None,
    )


def project_of(
    options: argparse.Namespace,
    settings: Settings,
    paths: Sequence[Path],
    workspace: Workspace | None,
) -> Project:
    """Give the project that is checked."""
    above, below = _placing(settings.folder or _root(paths[0]))
    policy = replace(
        _promise(options, settings, {} if workspace is None else workspace.said),
        zones=settings.zones,
        bans={each.name: each.severity for each in settings.bans},
        above=above,
        below=below,
    )
    reader = Reader(
        catalogues=tuple(_catalogue(path) for path in settings.catalogues),
        allowed=settings.allow,
        bans=settings.bans,
        follows=not options.no_follow,
    )
    folder = settings.folder or Path.cwd()
    baseline = options.baseline or settings.baseline
    fail_on = Severity.HIGH if settings.fail_on is None else settings.fail_on
    if options.fail_on:
        fail_on = SEVERITIES[options.fail_on]
    shown_from = SEVERITIES[options.min or _usually_shown(options)]
    return Project(
        policy=policy,
        today=datetime.now(UTC).date().isoformat(),
        reader=reader,
        selection=Selection(
            select=listed(options.select) or settings.select,
            ignore=(*settings.ignore, *listed(options.ignore)),
            per_file=settings.per_file_ignores,
        ),
        baseline=baseline,
        begins_baseline=options.baseline_accept is not None,
        folder=folder,
        cache=Cache(None if options.no_cache else folder, reader),
        jobs=options.jobs or len(os.sched_getaffinity(0)),
        fail_on=fail_on,
        shown_from=min(shown_from, fail_on),  # What fails is seen.
    )


def folder_of(path: Path) -> Path:
    """Give the folder that a path is, or that it is in."""
    return path if path.is_dir() else path.parent


def _root(path: Path) -> Path:
    """The folder of the project that a path is in: where that lies says nothing of its zones."""
    start = Path(os.path.normpath(folder_of(path).absolute()))
    for folder in (start, *start.parents):
        if any((folder / each).exists() for each in _ROOTS):
            return folder
    return Path.cwd() if start.is_relative_to(Path.cwd()) else start


def _placing(folder: Path) -> tuple[str, str]:
    """How a path from the working folder becomes one from the project's."""
    here = Path.cwd()
    if folder == here:
        return "", ""
    if here.is_relative_to(folder):  # A file of the project that is not below is named in full.
        return f"{here.relative_to(folder).as_posix()}/", f"{folder.as_posix()}/"
    below = folder.relative_to(here) if folder.is_relative_to(here) else folder
    return "", f"{below.as_posix()}/"


def listed(given: list[str]) -> tuple[str, ...]:
    """Give what stands between commas and in repeated options."""
    return tuple(each.strip() for one in given for each in one.split(",") if each.strip())


def _catalogue(path: Path) -> tuple[str, str]:
    try:
        return path.name, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(
            f"The catalogue {path} cannot be read: {said}.",
            "Expected a TOML file of API names; paths start at the folder of pyproject.toml.",
            "Correct the key catalogues in [tool.twice.check].",
        ) from error


def _usually_shown(options: argparse.Namespace) -> str:
    """People are shown what weighs; programs can choose for themselves."""
    return "low" if options.json or options.format in FOR_PROGRAMS else "medium"
