"""List every place where code draws at random, or asks the world, and who owns it.

  twice audit seeds examples
  twice audit effects examples
  twice audit seeds examples --json

seeds: which stream owns each draw: a named stream of the run, a generator and the seed it was made
from, a process-wide stream, or nobody (an orphan). A generator whose seed is written into the
program, or is a default that a call relies on, is an orphan as well: the run's seed never reaches
it. effects: what is asked of the clock, entropy, environment, files, network, processes and host,
what becomes of it, and whether it goes through the effects layer; raw in the core, it is a gap.
Exit code 0 none, 1 orphans or gaps outside of tests, 2 wrong use, or none and a file that could not
be read.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from twice.foundation.printable import printable
from twice.surfaces.cli.auditing import add_paths, gathered
from twice.surfaces.cli.showing import add_json, aligned, print_json

if TYPE_CHECKING:
    from twice.checking.auditing.projects import Project
    from twice.checking.auditing.seeds import Draw

MIXES = True


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("what", choices=("seeds", "effects"), help="what to list")
    add_paths(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Read and list."""
    return _seeds(options) if options.what == "seeds" else _effects(options)


def _seeds(options: argparse.Namespace) -> int:
    from twice.checking.reviewing.document import seeds_json
    from twice.checking.reviewing.markdown import seeds_line

    project = gathered(options, findings=False).project
    draws = project.draws
    orphans = [each for each in draws if each.is_orphan and each.zone != "tests"]
    if options.json:
        unread = [{"path": each.path, "reason": each.what} for each in project.unread]
        print_json({"format": "twice.seed-audit/1", **seeds_json(draws), "unread": unread})
        return _code(project, found=bool(orphans))
    rows = [
        (
            f"{each.path}:{each.line}",
            _owner(each),
            each.what.value,
            each.call,
            _from(each.where, each.origin.seed, each.origin.note),
        )
        for each in draws
    ]
    _say(rows)
    print(seeds_line(draws))
    print(f"orphans outside of tests: {len(orphans)}")
    _say_unread(project)
    return _code(project, found=bool(orphans))


def _owner(each: Draw) -> str:
    """Who owns it; an orphan that a generator of the project draws keeps that beside the word."""
    owner = each.origin.owner.value
    if not each.is_orphan:
        return owner
    return f"ORPHAN {owner}" if each.origin.unreached else "ORPHAN"


def _from(where: str, seed: str, note: str) -> str:
    parts = [f"seed {seed}" if seed else "", f"made in {where}" if where else "", note]
    return "; ".join(part for part in parts if part)


def _effects(options: argparse.Namespace) -> int:
    from twice.checking.reviewing.document import effects_json
    from twice.checking.reviewing.markdown import effects_line

    project = gathered(options, findings=False).project
    gaps = [each for each in project.asks if each.is_gap]
    if options.json:
        unread = [{"path": each.path, "reason": each.what} for each in project.unread]
        told = effects_json(project.asks)
        print_json({"format": "twice.effects-audit/1", **told, "unread": unread})
        return _code(project, found=bool(gaps))
    rows = [
        (
            f"{each.path}:{each.line}",
            "GAP" if each.is_gap else "layer" if each.governed else each.zone,
            each.kind,
            each.call,
            each.ends,
        )
        for each in project.asks
    ]
    _say(rows)
    print(effects_line(project.asks))
    print(f"raw in the core: {len(gaps)}")
    _say_unread(project)
    return _code(project, found=bool(gaps))


def _say(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, a line each whatever is in them; nothing when there are none."""
    for line in aligned([[*map(printable, row)] for row in rows], indent=""):
        print(line)


def _say_unread(project: Project) -> None:
    for each in project.unread:
        print(printable(f"not read: {each.path}: {each.what}"))


def _code(project: Project, *, found: bool) -> int:
    """1 when something was found; 2 when nothing was, and a file could not be read."""
    return 1 if found else 2 if project.unread else 0
