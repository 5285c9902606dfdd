"""Make twice's sheets of those that another workflow wrote as prose, and say key by key what was adopted and what is open.

  twice spec adopt prose-sheets --dry-run
  twice spec adopt prose-sheets
  twice spec adopt prose-sheets --component kiln

It reads the files 00-scope-and-goals.md to 13-cost-of-determinism.md and 99-determinism-and-replay-specification.md in
FOLDER, or those in each folder of it, which is one component each. Your files stay as they are: the new sheets lie in
determinism-and-replay, or determinism-and-replay/COMPONENT, with a head over your text.

A key is adopted where the text states it without doubt, and the place is named. Every other key is "?", with the reason
where the text speaks of it. A sheet that is there and says something else is never replaced, and then none is written.

Exit code 0 nothing is open, 1 something is, 2 nothing was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from twice.cli.commands.spec.workspace import ProjectOptions, list_steps, shorten_path, tell_spec
from twice.cli.options import AsJson, argument, build_command, option
from twice.cli.output import pick
from twice.foundation.printable import pluralize
from twice.specification.adoption.adopt import Adoption, adopt_components
from twice.specification.front_matter import format_value
from twice.specification.gate.runner import EVIDENCE
from twice.specification.lock import NAME, read_lock
from twice.specification.workspace import save
from twice.writing import make_folder


@build_command
def command(
    folder: Annotated[Path, argument(metavar="FOLDER")],
    component: Annotated[str | None, option("--component NAME", "this one alone, or the name that the text lacks")],
    dry_run: Annotated[bool, option("--dry-run", "write nothing")],
    where: ProjectOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Adopt, write, and print."""
    project = where.folder()
    done = adopt_components(folder, project, component or "")
    locks = [read_lock(each.workspace.folder / NAME) for each in done]
    documents, lines = list[dict[str, object]](), list[str]()
    for each in done:
        written = () if dry_run else _write(each)
        document: dict[str, object] = {
            "component": each.workspace.component(),
            "folder": shorten_path(each.workspace, each.workspace.base),
            "wrote": [shorten_path(each.workspace, path) for path in written],
            "adopted": [pick(key, "sheet", "key", "value", "source") for key in each.adopted],
            "unknown": [pick(key, "sheet", "key", "source", "why") for key in each.unknown],
            "other": list(each.other),
        }
        documents.append(document)
        lines += _list_lines(each, dry_run=dry_run)
    steps = [
        step
        for each, lock in zip(done, locks, strict=True)
        for step in list_steps(each.workspace, lock)
    ]
    code = int(any(each.unknown for each in done))
    return tell_spec(
        {"components": documents, "next": steps}, lines, steps, as_json=as_json, code=code
    )


def _write(done: Adoption) -> tuple[str, ...]:
    make_folder(done.workspace.folder / EVIDENCE)
    return save(done.before, done.workspace)


def _list_lines(done: Adoption, *, dry_run: bool) -> Iterator[str]:
    nothing = " (nothing was written)" if dry_run else ""
    name = done.workspace.component() or "a component without a name"
    counts = f"{pluralize(len(done.adopted), 'key')} adopted, {len(done.unknown)} open"
    yield f"{name}: {counts}{nothing}"
    for number in done.numbers:
        yield shorten_path(done.workspace, done.workspace.sheets[number].path)
        for each in (each for each in done.adopted if each.sheet == number):
            value = format_value(each.value) if not _is_table(each.value) else "the table"
            yield f"  {each.key}: {value} ({each.source})"
        for key in (key for key in done.unknown if key.sheet == number):
            why = f": {key.why} ({key.source})" if key.why else ""
            yield f"  {key.key}: ?{why}"
    if done.other:
        yield f"left alone: {', '.join(done.other)}"


def _is_table(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)
