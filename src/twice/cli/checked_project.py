"""From the options of ``twice check`` and a project's settings to the sources that are read.

The same options, settings, comments and baseline hold for checks, reviews, audits and the gate.

Invariant: an option that was given comes before the setting of the same name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import click

from twice.cli.options import argument, option, split_commas
from twice.errors import UsageError
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.severity import SEVERITIES, Severity

if TYPE_CHECKING:  # Help needs none of it.
    from twice.checker.audits.audit import Audit
    from twice.checker.config import Settings
    from twice.checker.driver import Checked
    from twice.checker.policy import Policy
    from twice.checker.project import Project
    from twice.checker.review.review import Review
    from twice.checker.workspace import Workspace

_ROOTS: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Which sources are read, and what is promised of them."""

    # fmt: off
    paths: Annotated[tuple[Path, ...], argument(required=True, metavar="PATH...")]
    kind: Annotated[str | None, option(
        "--class", "the promise; default bit-exact", DeterminismClass)] = None
    scope: Annotated[str | None, option(
        "--scope", "how far it reaches; default host", Scope)] = None
    tier: Annotated[Literal["XS", "S", "M", "L", "XL"] | None, option(
        "--tier", "from L on, a value handed to unread code weighs in full")] = None
    exclude: Annotated[tuple[str, ...], option("--exclude PATTERN", "paths to leave out")] = ()
    config: Annotated[Path | None, option("--config FILE", "not the nearest pyproject.toml")] = None
    # fmt: on

    def to_policy(self, settings: Settings, said: Mapping[str, str]) -> Policy:
        """Read the promise: from an option, the settings or the specification, in this order.

        Raises:
            UsageError: E-USE-001, when the specification has an unknown word.
        """
        from twice.checker.policy import TIERS, Policy

        kind = self.kind or settings.kind or said.get("class")
        scope = self.scope or settings.scope or said.get("scope")
        tier = self.tier or settings.tier or said.get("tier")
        for word, words in ((kind, [*DeterminismClass]), (scope, [*Scope]), (tier, TIERS)):
            if word is not None and word not in words:
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


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """Which rules look at sources, and how."""

    # fmt: off
    select: Annotated[tuple[str, ...], option("--select RULE", "these rules or channels only, also with commas")] = ()
    ignore: Annotated[tuple[str, ...], option("--ignore RULE", "not these")] = ()
    fail_on: Annotated[str | None, option(
        "--fail-on", "from which severity on to exit 1; default high", SEVERITIES)] = None
    follow: Annotated[bool, option("--no-follow", "do not follow values: quicker, and less is known")] = True
    jobs: Annotated[int | None, option(
        "-j, --jobs N", "processes; default one for each processor", type=click.IntRange(1))] = None
    cache: Annotated[bool, option("--no-cache", "keep nothing in .twice_cache")] = True
    baseline: Annotated[Path | None, option("--baseline FILE", "findings that were accepted")] = None
    # fmt: on


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Sources with all that decides what is found in them."""

    paths: tuple[Path, ...]
    files: list[str]
    project: Project
    workspace: Workspace | None

    def audit(self, checked: Checked | None = None) -> Audit:
        """List every draw and every question to the world."""
        from twice.checker.audits.audit import Audit

        checked = checked or self.project.check(self.files)
        return Audit.from_check(checked, self.project.policy, self._show)

    def review(self) -> Review:
        """Check and audit, and say what both mean."""
        from twice.checker.review.review import build_review

        checked = self.project.check(self.files)
        report = self.project.report(self.files, checked)
        findings = tuple(replace(each, path=self._show(each.path)) for each in report.findings)
        report = replace(report, findings=findings)
        return build_review(
            report, self.audit(checked), self.project.config.catalogue, self.workspace
        )

    def _show(self, path: str) -> str:
        """Give a path as seen from the folder that was asked for, never from the root of a disk."""
        if not path.startswith("/"):
            return path
        bases = (os.path.normpath(Path.cwd() / _to_folder(each)) for each in self.paths)
        base = next(
            (each for each in bases if path.startswith(f"{each}/")), path.rpartition("/")[0]
        )
        return path[len(base) + 1 :]


def open_sources(
    options: SourceOptions,
    rules: RuleOptions = RuleOptions(),
    *,
    command: str = "twice check",
    project: Path | None = None,
    may_be_empty: bool = False,
) -> SourceTree:
    """Find the files, the settings and the specification.

    Args:
        options: of the sources.
        rules: that look at them.
        command: the command that was called, for the examples in errors.
        project: the folder with the settings and the specification, not the paths.
        may_be_empty: whether there may be no Python file.

    Raises:
        UsageError: E-USE-001: no such path, no Python file, or an unknown word in the promise.
        ConfigError: E-CONFIG-001. ConfigKeyUnused: E-CONFIG-003, for a key of the settings.
    """
    from twice.checker.cache import Cache
    from twice.checker.config import Settings, find_pyproject, read_settings
    from twice.checker.files import find_files, require_existing
    from twice.checker.project import Project
    from twice.checker.workspace import find_workspace

    require_existing(options.paths, command)
    starts = options.paths if project is None else (project,)
    found = options.config or find_pyproject(_to_folder(starts[0]).absolute())
    settings = Settings() if found is None else read_settings(found.absolute())
    workspace = find_workspace((*map(_to_folder, starts), Path.cwd()))
    above, below = _find_prefixes(settings.folder, starts[0])
    policy = replace(
        options.to_policy(settings, {} if workspace is None else workspace.said),
        zones=settings.zones,
        above=above,
        below=below,
    )
    excluded = [*settings.exclude, *split_commas(options.exclude)]
    files = find_files(options.paths, excluded, policy.to_project_path)
    if not files and not may_be_empty:
        raise UsageError(
            f"There is no Python file in {', '.join(map(str, options.paths))}.",
            "Expected files that end in .py, and that no pattern leaves out.",
            f"For example: {command} src",
        )
    config = replace(settings.analysis, follows=rules.follow)
    folder = settings.folder or Path.cwd()
    default = Severity.HIGH if settings.fail_on is None else settings.fail_on
    checked = Project(
        policy=policy,
        today=datetime.now(UTC).date().isoformat(),
        config=config,
        selection=replace(
            settings.selection,
            select=split_commas(rules.select) or settings.selection.select,
            ignore=(*settings.selection.ignore, *split_commas(rules.ignore)),
        ),
        baseline=rules.baseline or settings.baseline,
        folder=folder,
        cache=Cache(folder if rules.cache else None, config),
        jobs=rules.jobs or len(os.sched_getaffinity(0)),
        fail_on=SEVERITIES[rules.fail_on] if rules.fail_on else default,
    )
    return SourceTree(options.paths, files, checked, workspace)


def _to_folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _find_prefixes(folder: Path | None, start: Path) -> tuple[str, str]:
    """How a path from the working folder becomes one from the project's: of the settings, else around a path."""
    here = Path.cwd()
    if folder is None:  # The location of a path says nothing about zones, that of its project does.
        folder = Path(os.path.normpath(_to_folder(start).absolute()))
        default = here if folder.is_relative_to(here) else folder
        around = (folder, *folder.parents)
        marked = (each for each in around if any((each / name).exists() for name in _ROOTS))
        folder = next(marked, default)
    if folder == here:
        return "", ""
    if here.is_relative_to(folder):  # A file of the project that is not below is named in full.
        return f"{here.relative_to(folder).as_posix()}/", f"{folder.as_posix()}/"
    below = folder.relative_to(here) if folder.is_relative_to(here) else folder
    return "", f"{below.as_posix()}/"
