"""What `twice review` and `twice audit` share: which files, what was promised, and reading them.

The project's own settings (``[tool.twice.check]``), comments and baseline hold here as they do in
``twice check``.

Invariant: paths in outputs never begin at the root of a disk.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from twice.checking.policy import TIERS, Policy
from twice.errors import UsageError
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.surfaces.cli.checkedproject import folder_of, project_of, settings_for, workspace_of

if TYPE_CHECKING:
    from twice.checking.auditing.projects import Project
    from twice.checking.catalogue import Catalogue
    from twice.checking.report import Report
    from twice.checking.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was read.

    Args:
        report: of the checker; None when it was not asked for.
        project: what the audits saw.
        policy: what was promised.
        catalogue: the API names in force.
        workspace: the specification beside the code.
        declared: whether the promise was declared.
    """

    report: Report | None
    project: Project
    policy: Policy
    catalogue: Catalogue
    workspace: Workspace | None
    declared: bool


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Paths and the promise, the same for reviews and audits."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files and folders")
    parser.add_argument(
        "--class", dest="kind", choices=[each.value for each in DeterminismClass],
        help="what was promised; bit-exact by default",
    )  # fmt: skip
    parser.add_argument(
        "--scope", choices=[each.value for each in Scope], help="how far; host by default"
    )
    parser.add_argument("--tier", choices=TIERS, help="how much a replay is relied on")
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="PATTERN", help="paths to leave out"
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="not the nearest pyproject.toml"
    )


def gathered(options: argparse.Namespace, *, findings: bool) -> Gathered:
    """Read everything that the options name."""
    from twice.checking.auditing.projects import read_project
    from twice.checking.reading import files_below, require_there

    require_there(options.paths)
    settings = settings_for(options.config, options.paths[0])
    workspace = workspace_of(options.paths)
    checkable = project_of(_asked(options), settings, options.paths, workspace)
    policy = checkable.policy
    excluded = [*settings.exclude, *options.exclude]
    files = files_below(options.paths, excluded, policy.placed)
    if not files:
        raise UsageError(
            f"There is no Python file in {', '.join(map(str, options.paths))}.",
            "Expected folders with files that end in .py.",
            "For example: twice review src",
        )
    shown = _shown(options.paths)
    report = None
    if findings:
        report = checkable.report(files)
        renamed = tuple(replace(each, path=shown(each.path)) for each in report.findings)
        report = replace(report, findings=renamed)
    catalogue = checkable.reader.catalogue
    project = read_project(files, policy, catalogue, shown)
    return Gathered(report, project, policy, catalogue, workspace, policy.is_declared)


def _asked(options: argparse.Namespace) -> argparse.Namespace:
    """What a review leaves to the settings, of the options that a check has."""
    return argparse.Namespace(
        kind=options.kind, scope=options.scope, tier=options.tier, json=False, format="text",
        no_follow=False, baseline=None, baseline_accept=None, fail_on=None, min="low",
        select=[], ignore=[], no_cache=True, jobs=None,
    )  # fmt: skip


def _shown(paths: Sequence[Path]) -> Callable[[str], str]:
    """How paths are shown: from the folder that was asked for, when it is not below this one."""
    bases = [os.path.normpath(Path.cwd() / folder_of(each)) for each in paths]

    def shown(path: str) -> str:
        if not Path(path).is_absolute():
            return path
        for base in bases:
            if path.startswith(f"{base}/"):
                return path[len(base) + 1 :]
        return path.rpartition("/")[2]

    return shown
