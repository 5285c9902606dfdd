"""The names in a folder are used in the order in which the file system gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Fix, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unsorted-listing"
_LISTS = {"os.listdir", "glob.glob"}
_OF_PYTHON = ("os.", "glob.", "pathlib.")
_WHOLE = {"list", "tuple", "enumerate"}
_METHODS_OF_PATHS_ALONE = {"glob", "rglob", "iterdir", "walk"}
_WALKS = {"walk", "fwalk"}
_SORTING = {"sorted", "natsorted"}
_FOLDERS = frozenset({"dir", "directory", "folder", "path", "root"})


def look(site: Site) -> Iterator[Violation]:
    """Look at a listing."""
    called = site.called
    known = site.catalogue.has("listing", called)
    if not known and not _is_path(site):
        return
    if last_name(site.call.func) in _WALKS:
        yield from _walk(site)
        return
    if _is_one_file(site):
        return
    outcome = site.order()
    if outcome.use is Use.ERASED:
        return
    yield site.found(
        NAME,
        f"{_shown(site)} gives names in the file system's order.",
        "Another machine or a copied folder lists the same files in another order.",
        outcome=outcome,
        confidence=_confidence(outcome),
        fix=_sorting(site),
    )


def _confidence(outcome: Outcome) -> float:
    """How sure it is that the order matters: code that was not followed mostly handles each file by itself."""
    return 0.5 if outcome.use is Use.UNSEEN else 0.9


def _sorting(site: Site) -> Fix | None:
    """Sort it where a list is given, or where an iterator is gone through at once: nothing else changes."""
    if not site.has_builtin("sorted") or site.called == "os.scandir":
        return None
    if site.called not in _LISTS and not _is_gone_through(site):
        return None
    return Fix(
        "Sort what is listed",
        safe=_has_an_order(site) and not site.module.survey.stars,  # A star may bring a ``sorted``.
        edits=site.wrapped(site.node, "sorted(", ")"),
    )


def _is_gone_through(site: Site) -> bool:
    """Whether nothing but a loop or a builtin sees the iterator."""
    parent = site.module.survey.parents.get(site.node)
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is site.node
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Name):
        return False
    return parent.func.id in _WHOLE and site.has_builtin(parent.func.id)


def _has_an_order(site: Site) -> bool:
    """Whether what is listed can be sorted: names and paths can, entries of an archive can not."""
    if site.called is not None and site.called.startswith(_OF_PYTHON):
        return True
    if not isinstance(site.call.func, ast.Attribute):
        return False  # A name that the project added: nobody knows what it lists.
    kind = site.kind(site.call.func.value)
    return kind is not None and kind.name == "path"


def _walk(site: Site) -> Iterator[Violation]:
    """Folders are walked: their names, and the order of the folders, are the file system's."""
    loop = site.module.survey.parents.get(site.node)
    if isinstance(loop, ast.Call) and last_name(loop) == "next":
        picked = site.module.survey.parents.get(loop)
        if isinstance(picked, ast.Subscript) and picked.value is loop:
            outcome = site.order(picked)
            if outcome.use > Use.UNSEEN:
                yield _of_walk(site, outcome)
        return
    if isinstance(loop, ast.comprehension):
        outcome = site.order()
    elif isinstance(loop, (ast.For, ast.AsyncFor)):
        if isinstance(loop.target, ast.Tuple) and _is_walked_in_order(site, loop, loop.target):
            return
        outcome = site.order()
    else:
        return
    if outcome.use > Use.UNSEEN:
        yield _of_walk(site, outcome)


def _is_walked_in_order(site: Site, loop: ast.For | ast.AsyncFor, target: ast.Tuple) -> bool:
    """Whether both names of folders are sorted in place, and names of files where they are used."""
    names = [each.id if isinstance(each, ast.Name) else "" for each in target.elts[1:3]]
    if len(names) < 2 or not _is_sorted_in(site, loop, names[0]):
        return False
    loads = [
        each
        for each, _ in site.module.loads.of(names[1], site.scope)
        if loop.lineno <= each.lineno <= (loop.end_lineno or loop.lineno)
    ]
    if _is_sorted_in(site, loop, names[1]):
        return True
    parents = site.module.survey.parents
    return all(
        isinstance(parent := parents.get(each), ast.Call) and last_name(parent.func) in _SORTING
        for each in loads
    )


def _is_sorted_in(site: Site, loop: ast.For | ast.AsyncFor, name: str) -> bool:
    """``names.sort()``, ``names[:] = sorted(names)`` in the body of a loop."""
    for each in loop.body:
        if (
            isinstance(each, ast.Expr)
            and isinstance(each.value, ast.Call)
            and isinstance(each.value.func, ast.Attribute)
            and each.value.func.attr == "sort"
            and last_name(each.value.func.value) == name
        ):
            return True
        if (
            isinstance(each, ast.Assign)
            and last_name(each.targets[0]) == name
            and any(word in site.module.source(each.value) for word in _SORTING)
        ):
            return True
    return False


def _of_walk(site: Site, outcome: Outcome) -> Violation:
    return site.found(
        NAME,
        f"{_shown(site)} goes through folders and their names in the file system's order.",
        "Another machine or a copied folder lists the same files in another order.",
        outcome=outcome,
        confidence=_confidence(outcome),
    )


def _is_one_file(site: Site) -> bool:
    """Whether ``glob`` is given a name without a pattern."""
    if not site.call.args or not (site.called or "").startswith("glob."):
        return False
    given: ast.AST = site.call.args[0]
    if isinstance(given, ast.Name):
        bindings = site.module.names.bindings(given.id, site.scope)
        if len(bindings) == 1 and bindings[0].kind == "assign":
            given = bindings[0].node
    return (
        isinstance(given, ast.Constant)
        and isinstance(given.value, str)
        and not any(each in given.value for each in "*?[")
    )


def _is_path(site: Site) -> bool:
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    if func.attr not in _METHODS_OF_PATHS_ALONE:
        return False
    kind = site.kind(func.value)
    if kind is not None:
        return kind.name == "path"
    if func.attr == "glob":
        return about(last_name(func.value), _FOLDERS) and _has_pattern(site)
    return func.attr in {"iterdir", "rglob"}


def _has_pattern(site: Site) -> bool:
    """Whether its one argument is a pattern that is plain to see."""
    given = site.call.args
    return (
        len(given) == 1
        and isinstance(given[0], ast.Constant)
        and isinstance(given[0].value, str)
        and "*" in given[0].value
    )


def _shown(site: Site) -> str:
    func = site.call.func
    if isinstance(func, ast.Attribute):
        return f"{func.attr}()"
    return f"{func.id}()" if isinstance(func, ast.Name) else "The listing"


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.BIT_EXACT,
        Severity.HIGH,
        "Sort what is listed: sorted(os.listdir(folder)), sorted(path.iterdir()).",
        __doc__ or "",
    ),
    calls=("listing",),
    methods=("listing",),
    look=look,
)
