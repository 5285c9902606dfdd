"""Analysing files with every rule, in any number of processes; the heavy half of a check.

It is imported when a file has to be read anew. The result of a file depends on its bytes, the rules and the catalogue
alone, and is cached.

Invariant: no text makes it fail: one that cannot be parsed is a finding. The number of processes does not change the
results.
"""

from __future__ import annotations

import ast
import json
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from twice.checker.analysis import links, project_names
from twice.checker.analysis.project_names import ProjectNames
from twice.checker.analysis.streams import StreamSeeding
from twice.checker.audits import facts as audit_facts
from twice.checker.audits.audit import FACTS
from twice.checker.catalogue import Catalogue
from twice.checker.config import AnalysisConfig
from twice.checker.files import SourceFile, decode, read_file
from twice.checker.findings import FileResult, Violation
from twice.checker.housekeeping import BANNED_NAME, HOUSEKEEPING, unreadable
from twice.checker.policy import Zone
from twice.checker.rule import ProjectFacts, Rule, RuleFacts
from twice.checker.rules.engine import Index, every_rule
from twice.checker.suppressions import read_comments
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.foundation.with_blocks import gc_paused

_DEPTH_MAX: Final = 5000  # Frames; well below what 8 MB of stack hold.
_FEW_BYTES: Final = 300_000  # Below, starting a process costs more than it saves.
_PIECES_PER_JOB: Final = 8


def analyze_file(
    path: str, text: str, *, package: str, index: Index, catalogue: Catalogue, follows: bool
) -> FileResult:
    """Read a file with every rule.

    Args:
        path: the file, as findings name it.
        text: its source.
        package: its dotted package; "" outside of any.
        index: the rules in force.
        catalogue: the API names in force.
        follows: whether values are followed to where they end.
    """
    lines = _count_lines(text)
    with gc_paused(), _deep_stack():
        try:
            tree = _parse(text)
        except SyntaxError as error:
            said = f"{error.msg or 'it is not Python'} (line {error.lineno or '?'})"
            return unreadable(said, error.lineno or 1, lines)
        except (ValueError, RecursionError, MemoryError) as error:
            said = f"it cannot be parsed: {str(error) or type(error).__name__}"
            return unreadable(said, lines=lines)
        try:
            module = Module(
                path,
                text,
                tree,
                package=package,
                catalogue=catalogue,
                wanted=index.wanted | audit_facts.WANTED,
                follows=follows,
            )
            found = _run_rules(module, index)
            gathering = {
                **index.gathering,
                FACTS: audit_facts.gather,
                project_names.FACTS: project_names.gather,
            }
            facts = {name: gather(module) for name, gather in gathering.items()}
            module.close()
        except RecursionError:
            return unreadable("its expressions are nested too deeply", lines=lines)
        return FileResult(
            tuple(_choose(found, index)),
            {name: its for name, its in facts.items() if its},
            lines,
            read_comments(text, tree),
        )


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in other people's strings
        return ast.parse(text)


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Let long sums of texts, each a level deeper than the one before, be followed."""
    was = sys.getrecursionlimit()
    sys.setrecursionlimit(max(was, _DEPTH_MAX))
    try:
        yield
    finally:
        sys.setrecursionlimit(was)


def _count_lines(text: str) -> int:
    """How many lines a text has, as the parser ends them; an unfinished one counts."""
    ends = text.count("\n")
    if "\r" in text:
        ends += text.count("\r") - text.count("\r\n")
    return ends + (text != "" and not text.endswith(("\n", "\r")))


def _run_rules(module: Module, index: Index) -> list[Violation]:
    found = _run_call_rules(module, index)
    silent = {rule.name for rule in index.conditional if rule.applies and not rule.applies(module)}
    for kind, rules in index.nodes.items():
        nodes = module.survey.nodes.get(kind)
        if nodes:
            for rule in rules:
                if rule.name not in silent:
                    found += _run_node_rule(module, rule, nodes)
    for kind, named in index.functions.items():
        for node, scope in module.survey.nodes.get(kind, ()):
            assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "the index says so"
            for rule in named.of(node.name):
                if rule.name not in silent:
                    found += _run_node_rule(module, rule, [(node, scope)])
    return found


def _run_call_rules(module: Module, index: Index) -> list[Violation]:
    """Run the rules that look at calls, by the called name."""
    found: list[Violation] = []
    calls, methods = index.calls, index.methods
    for node, scope, name in module.calls:
        rules: tuple[Rule, ...] = ()
        if name is not None:
            rules = calls.get(name, ())
        if not rules and (name is None or name[0] == "."):
            func = node.func
            if func.__class__ is ast.Attribute:
                rules = methods.get(func.attr, ())
        for rule in rules:
            assert rule.look is not None, "a rule that asks for calls looks at them"
            found += rule.look(Site(module, node, scope, rule.name))
    return found


def _run_node_rule(
    module: Module, rule: Rule, nodes: Sequence[tuple[ast.AST, Scope]]
) -> list[Violation]:
    look, suits, name = rule.look, rule.suits, rule.name
    assert look is not None, "a rule that asks for nodes looks at them"
    found: list[Violation] = []
    for node, scope in nodes:
        if suits is None or suits(node, scope):
            found += look(Site(module, node, scope, name))
    return found


def _choose(found: list[Violation], index: Index) -> Iterator[Violation]:
    """Yield each violation once, in source order, without those that another rule or another place stands for."""
    better = {(name, each.place) for each in found for name in index.superseded.get(each.rule, ())}
    said = set()
    found.sort(key=lambda each: (each.place.line, each.place.column, each.rule, each.message))
    for each in found:
        words: tuple[object, ...] = (each.rule, each.place, each.message)
        if each.rule in index.once:
            words = (each.rule, each.symbol, "")
        if words not in said and (each.rule, each.place) not in better:
            said.add(words)
            yield each


_Analyzed = tuple[SourceFile, tuple[str, FileResult]]


def analyze_files(
    files: Sequence[SourceFile], config: AnalysisConfig, jobs: int
) -> list[_Analyzed]:
    """Read files, in any order; for each the digest of the bytes that were read, and the result."""
    total = sum(each.size for each in files)
    workers = min(jobs, len(files), 1 + total // _FEW_BYTES)
    index = config.index()  # The rules are imported once, before processes are made.
    with gc_paused():
        if workers > 1:
            from concurrent.futures.process import BrokenProcessPool

            try:
                return _analyze_in_pool(files, config, workers)
            except BrokenProcessPool:
                pass  # A worker was killed, mostly for want of memory: one process needs less.
        return [(each, _read_and_analyze(each, config, index)) for each in files]


def _analyze_in_pool(
    files: Sequence[SourceFile], config: AnalysisConfig, workers: int
) -> list[_Analyzed]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # A fork copies no threads, and a lock that one of them holds stays locked for ever.
    is_alone = sys.platform.startswith("linux") and threading.active_count() == 1
    largest_first = sorted(files, key=lambda each: -each.size)
    count = min(len(files), workers * _PIECES_PER_JOB)
    pieces = [largest_first[at::count] for at in range(count)]
    context = get_context("fork" if is_alone else "spawn")
    with ProcessPoolExecutor(workers, context, _start_worker, (config,)) as pool:
        return [
            (each, (digest, FileResult.from_json(result, facts)))
            for piece, rows in zip(pieces, pool.map(_analyze_piece, pieces), strict=True)
            for each, (digest, result, facts) in zip(piece, rows, strict=True)
        ]


_WORKER: list[tuple[AnalysisConfig, Index]] = []


def _start_worker(config: AnalysisConfig) -> None:
    _WORKER[:] = [(config, config.index())]


def _analyze_piece(files: Sequence[SourceFile]) -> list[tuple[str, list[Any], dict[str, Any]]]:
    """Read several files in a worker; as plain values, which are sent faster than objects."""
    found = [_read_and_analyze(each, *_WORKER[0]) for each in files]
    return [(digest, result.to_json(), result.facts) for digest, result in found]


def _read_and_analyze(
    file: SourceFile, config: AnalysisConfig, index: Index
) -> tuple[str, FileResult]:
    raw = read_file(file.path)
    if raw.data is None:
        return "", unreadable(raw.reason)
    return raw.digest, analyze_bytes(file.path, raw.data, file.package, config, index)


def analyze_bytes(
    path: str, data: bytes, package: str, config: AnalysisConfig, index: Index
) -> FileResult:
    """Read one file's bytes."""
    try:
        text = decode(data)
    except ValueError as error:
        return unreadable(str(error))
    catalogue, follows = config.catalogue, config.follows
    result = analyze_file(
        path, text, package=package, index=index, catalogue=catalogue, follows=follows
    )
    if not result.facts:
        return result
    # As they come back from the cache, so that fresh facts and cached ones are alike.
    return replace(result, facts=json.loads(json.dumps(result.facts)))


def link(
    results: Mapping[str, FileResult],
    names: ProjectNames,
    marks: Mapping[str, tuple[str, str]],
    answers: dict[str, dict[str, Any]],
    zone: Callable[[str], Zone],
    config: AnalysisConfig,
) -> dict[str, FileResult]:
    """Follow values that leave their files; give the results that change by it.

    Args:
        results: what each file gave.
        names: finds the project's definitions.
        marks: the digest and package of each file.
        answers: what files answered before, for each digest and package; new answers are added.
        zone: gives the zone of a path.
        config: how files are analysed.
    """

    def ask(path: str, questions: Sequence[links.Question]) -> list[Any]:
        known = answers.setdefault("\0".join(marks[path]), {})
        texts = [json.dumps(each) for each in questions]
        missing = [each for each, text in zip(questions, texts, strict=True) if text not in known]
        if missing:
            found = _answer(path, marks[path], missing, config)
            known.update(zip(map(json.dumps, missing), found, strict=True))
        return [known[text] for text in texts]

    followed = links.Links(names, lambda path: zone(path) is Zone.TESTS, ask)
    followed.follow(
        (path, end) for path, one in results.items() for found in one.found for end in found.open
    )
    changed = {}
    for path, one in results.items():
        found = tuple([followed.close(path, each) if each.open else each for each in one.found])
        if found != one.found:
            changed[path] = replace(one, found=found)
    return changed


def _answer(
    path: str, mark: tuple[str, str], questions: Sequence[links.Question], config: AnalysisConfig
) -> list[Any]:
    """Read a file a second time, for questions alone; one that has changed since answers nothing."""
    raw = read_file(path)
    nothing = [None] * len(questions)
    if raw.data is None or raw.digest != mark[0]:
        return nothing
    with gc_paused(), _deep_stack():
        try:
            text = decode(raw.data)
            tree = _parse(text)
            module = Module(
                path,
                text,
                tree,
                package=mark[1],
                catalogue=config.catalogue,
                wanted=frozenset(),
                follows=True,
            )
            found = links.answer(module, questions)
            module.close()
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return nothing
    answers: list[Any] = json.loads(json.dumps(found))
    return answers


def conclude(
    facts: Mapping[str, Mapping[str, Any]], names: ProjectNames, zone: Callable[[str], Zone]
) -> tuple[list[tuple[str, Violation]], list[str]]:
    """Put the facts of all files together: the violations that they show, and the test files that the program imports."""
    by_name = ProjectFacts.by_name(facts, zone, names)
    found: list[tuple[str, Violation]] = []
    for rule in every_rule():
        if rule.conclude is not None:
            found.extend(rule.conclude(by_name[rule.fact_name]))
    return found, StreamSeeding(by_name["streams.gather"]).imported_tests()


def rule_table() -> dict[str, RuleFacts]:
    """Give the facts that judge the findings of every rule, by its name."""
    return {rule.name: rule.facts for rule in (*every_rule(), *HOUSEKEEPING, BANNED_NAME)}
