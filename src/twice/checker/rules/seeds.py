"""The rules about seeds: left out, None, chosen by the clock, written into the program, or never handed on.

Invariant: nothing is said of tests by the rules that look at all files: who tests may choose any seed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from twice.checker.analysis.seed_expressions import (
    default_of,
    is_entry,
    is_global_draw,
    is_named_seed,
    is_none_branch,
    is_seed_name,
    none_test,
    refuses_none,
    rules_out_none,
    seed_of,
)
from twice.checker.analysis.seed_facts import gather
from twice.checker.analysis.seed_flow import flow_of
from twice.checker.analysis.seeds import found_at
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, ProjectFacts, mentions
from twice.checker.rules import streams
from twice.checker.rules.engine import project_rule, rule
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import SEED, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.printable import pluralize
from twice.foundation.severity import Severity

_ESTIMATORS: Final = frozenset({"base_estimator", "estimator", "final_estimator"})
_ENSEMBLES: Final = ("Classifier", "Regressor")
_NAMES_OF_THINGS: Final = {"builtins.id", "builtins.hash"}
_SHOWN: Final = {Use.DROPPED, Use.LABEL, Use.TELEMETRY, Use.TIMING}
_TENSORS: Final = ("torch", "tensorflow", "cupy")
_NO_SEED: Final = "Who gives no seed gets another stream in each run, and nothing says so."


@project_rule(
    Channel.SEEDS,
    Breaks.STATISTICAL,
    Severity.LOW,
    "Pass the run's seed on, and give the parameter no default.",
    gather=gather,
)
def default_seed(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """A call leaves a seed out, and what it calls then seeds with a default."""
    flow, said = flow_of(facts), set()
    for seeded in flow.list_unreached():
        shown = seeded.at[-1]
        why = f"The run's seed never reaches {shown} in {seeded.path}:{seeded.at[0]}."
        for each in seeded.relied:
            if (each.path, *each.at[:2]) in said:
                continue
            said.add((each.path, *each.at[:2]))
            message = f"The seed is {each.text} where none is given."
            if each.name and each.at[-1] != shown:
                message = f"{each.at[-1]} leaves {each.name} out, which is then {each.text}."
            yield each.path, found_at(each.at, "default-seed", message, why)
    for path, function, name, at in flow.list_defaults():
        every = list(flow.list_calls(path, function, name))
        calls = [(where, call) for where, call, given in every if not given]
        # Two components share a stream, or a seed was at hand that never arrives.
        is_met = len(calls) > 1 or any("holds" in call for _, call in calls)
        if every and not is_met:
            continue
        shown = f"{name}={at[-1]} of {function.removesuffix('.__init__')} seeds a generator"
        why = "All who leave it out share one stream, whatever the run's seed."
        if calls:
            first = f"{calls[0][0]}:{calls[0][1]['at'][0]}"
            shown = f"{shown}, and {pluralize(len(calls), 'call')} of it take that: {first}"
        found = found_at(at, "default-seed", f"{shown}.", why)
        yield path, replace(found, severity=Severity.MEDIUM if is_met else None)


@rule(
    Channel.SEEDS,
    Breaks.STATISTICAL,
    Severity.LOW,
    "Take the seed as an argument, or derive it: run.rng(name).",
    calls=("generators", "seeding"),
)
def literal_seed(site: Site) -> Iterator[Violation]:
    """A library's function seeds with a number that is written into it."""
    given = seed_of(site)
    if not isinstance(given, ast.Constant) or type(given.value) not in {int, str, bytes}:
        return
    if not is_entry(site) and not isinstance(
        site.module.survey.parents.get(site.node), ast.arguments
    ):
        yield site.violation(
            f"{site.called}() is seeded with {given.value!r}, which no caller can change.",
            "Runs with different seeds share this stream.",
        )


@project_rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Write the seeds down, or derive them from one: SeedSequence(seed).generate_state(n).",
    gather=streams.gather,
)
def drawn_seed(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """A seed is drawn from a process-wide stream."""
    for seeded in (False, True):
        why = "Nothing in reach seeds that stream, so every run has other seeds, and nothing remembers which."
        if seeded:
            why = "The seed depends on who seeded that stream, and on how many draws others had made before."
        for draw in streams.conclude(facts, seeded=seeded):
            called = draw.found.message.partition(" ")[0]
            # A tensor library is seeded by whoever uses it, and a file that seeds its stream knows what it draws.
            is_known = seeded and (facts[draw.path]["seeds"] or called.startswith(_TENSORS))
            if draw.is_seed and draw.picks and not is_known:
                reach = Reach.UNSEEN if seeded else Reach.LOUD
                found = streams.renamed(draw.found, "drawn-seed", why, reach)
                yield draw.path, replace(found, message=f"{called} draws a seed.", confidence=0.8)


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Pass random_state (or seed, or rng) from the run's seed.",
    calls=("draws-by-default",),
)
def library_default_seed(site: Site) -> Iterator[Violation]:
    """A library's function draws at random, and its seed is left out."""
    assert site.called is not None, "names are asked for"
    takes, _, condition = site.catalogue.names("draws-by-default")[site.called].partition(" when ")
    given = [site.keyword(each) for each in takes.split()]
    if any(each is not None and not is_none(each) for each in given):
        return
    if site.has_star and not _hands_options_on(site):
        return
    if condition and not _is_constant(site.keyword(condition), value=True):
        return
    if site.called.endswith("train_test_split") and _is_constant(
        site.keyword("shuffle"), value=False
    ):
        return
    # An ensemble gives each of its estimators a seed of its own.
    parent = site.module.survey.parents.get(site.node)
    is_part = isinstance(parent, ast.keyword) and parent.arg in _ESTIMATORS
    if isinstance(parent, ast.Call):
        is_part = ast.unparse(parent.func) == "super().__init__" or last_name(parent.func).endswith(
            _ENSEMBLES
        )
    yield site.violation(
        f"{site.called}() draws at random, and {takes.split()[0]} is left out.",
        "It then draws from a process-wide stream or from the system's entropy.",
        reach=Reach.UNSEEN if is_part else Reach.LOUD,
    )


def _hands_options_on(site: Site) -> bool:
    """Whether all that comes by a star are options of the function's caller, which nothing else here touches."""
    function = site.scope.method
    arguments = None if function is None else getattr(function.node, "args", None)
    own = arguments.kwarg.arg if isinstance(arguments, ast.arguments) and arguments.kwarg else ""
    if function is None or any(isinstance(each, ast.Starred) for each in site.call.args):
        return False
    reads = [
        each for each in ast.walk(function.node) if isinstance(each, ast.Name) and each.id == own
    ]
    return reads == [each.value for each in site.call.keywords if each.arg is None]


def _is_constant(node: ast.expr | None, *, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _conclude_none(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report what seeds with a parameter that may be None, by its own default or a caller's."""
    flow = flow_of(facts)
    for path, made, is_default in flow.list_none():
        if "fresh" in made:
            continue  # unseeded-generator says it.
        function, name = made["none"]
        called, shown = made["said"]
        last = function.rpartition(".")[2]
        message = f"{shown} in {made['at'][4] or last} may be None, and {called}() then starts from entropy."
        is_seeding = about(made["at"][4].rpartition(".")[2], SEED)
        calls = [given for _, _, given in flow.list_calls(path, function, name)]
        is_private = (last[0] == "_" or last == "main") and last != "__init__"
        is_open = is_default and not (is_private and calls and all(calls))
        if is_open and not is_seeding:
            found = found_at(made["at"], "seed-none-fallback", message, _NO_SEED)
            yield path, replace(found, confidence=0.8)
        elif not is_open and (far := flow.find_none(path, function, name)) is not None:
            why = f"{far.where} hands on {far.name} of {far.text}, which is None by default: a stream of its own in each run."
            at, where = (far.at, far.path) if is_seeding else (made["at"], path)
            yield where, replace(found_at(at, "seed-none-fallback", message, why), confidence=0.8)
    for path, at, function in flow.list_choices():
        yield (
            path,
            found_at(
                at, "seed-none-fallback", f"A missing seed is drawn by {function}().", _NO_SEED
            ),
        )


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Require a seed, or take one from the run and record it.",
    calls=(
        "generators",
        "seeding",
        "clock",
        "entropy",
        "process-identity",
        "global-draws",
        "initial-seed",
    ),
    nodes=(ast.Assign,),
    applies=mentions("seed"),
    suits=lambda node, _: isinstance(node.value, (ast.ListComp, ast.BinOp)),
    gather=gather,
    conclude=_conclude_none,
)
def seed_none_fallback(site: Site) -> Iterator[Violation]:
    """A missing seed silently becomes the system's entropy."""
    node = site.node
    if isinstance(node, ast.Assign):
        inside = getattr(node.value, "elt", None)
        if isinstance(left := getattr(node.value, "left", None), ast.List) and left.elts:
            inside = left.elts[0]
        if is_none(inside) and is_seed_name(node.targets[0]) and is_none_branch(site):
            shown = site.module.shown(node.value)
            yield site.violation(
                f"A missing seed becomes {shown}: every part starts from entropy.", _NO_SEED
            )
    elif _is_looked_up(site):
        shown = site.module.shown(node)
        yield site.violation(f"{shown} may get None, and then starts from entropy.", _NO_SEED)
    elif site.catalogue.has("generators", site.called):
        return  # What becomes of a parameter is concluded over all files.
    elif site.catalogue.has("seeding", site.called):
        if (given := _find_skipped(site)) is not None:
            yield site.violation(
                f"{site.called}() is left out where {given} is None, which it is by default.",
                _NO_SEED,
                confidence=0.7,
            )
    elif is_none_branch(site) and (
        is_named_seed(site) or any(each.use is Use.SEED for each in site.ends())
    ):
        yield site.violation(f"A missing seed is chosen by {site.called}().", _NO_SEED)


def _is_looked_up(site: Site) -> bool:
    """Whether a stream gets what a look-up finds, which is None where nothing is there: ``config.get("seed")``."""
    given = seed_of(site) if isinstance(site.node, ast.Call) else None
    if not any(site.catalogue.has(each, site.called) for each in ("generators", "seeding")):
        return False
    if isinstance(given, ast.Name):
        bindings = site.module.names.bindings(given.id, site.scope)
        made: ast.AST | None = bindings[0].node if len(bindings) == 1 else None
    else:
        made = given
    if given is None or not isinstance(made, ast.Call) or rules_out_none(site, given):
        return False
    args, word = made.args, last_name(made)
    is_bare = (word == "get" and len(args) == 1) or (
        len(args) == (3 if word == "getattr" else 2)
        and word in {"get", "getattr", "pop"}
        and is_none(args[-1])
    )
    key = args[word == "getattr"] if is_bare else None
    is_seed = isinstance(key, ast.Constant) and about(str(key.value), SEED)
    return is_seed and not refuses_none(site, given) and ast.unparse(made.func) != "os.environ.get"


def _find_skipped(site: Site) -> str | None:
    """Return the parameter without which a stream is not seeded here, if nothing else is done then."""
    given, function = seed_of(site), site.scope.method
    branch = next((each for each in site.above() if isinstance(each, ast.If)), None)
    if branch is None or branch.orelse or function is None or not isinstance(given, ast.Name):
        return None
    tested = none_test(branch.test)
    arguments = getattr(function.node, "args", None)
    if (
        isinstance(branch.test, ast.Compare)  # zero-seed says the others.
        and tested is not None
        and not tested[1]
        and ast.dump(tested[0]) == ast.dump(given)
        and branch.body[0] is site.module.survey.statement(site.node)
        and not about(function.name, SEED | {"reset"})
        and isinstance(arguments, ast.arguments)
        and is_none(default_of(arguments, given.id))
    ):
        return given.id
    return None


@project_rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Pass the run's seed or generator on.",
    gather=gather,
)
def seed_not_passed(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """A function takes a seed, and is called without one."""
    flow, said = flow_of(facts), set()
    for path, made, is_default in flow.list_none():
        function, name = made["none"]
        calls = list(flow.list_calls(path, function, name)) if is_default else []
        is_late = any(given and call["to"].startswith(".") for _, call, given in calls)
        for where, call, given in calls:
            key = (where, *call["at"][:2])
            if given or key in said or "lazy" in call or call["at"][4] == function:
                continue
            if "holds" not in call and (where != path or not call["at"][4]):
                continue  # There is no seed to pass on: a library's convenience, or a script's start.
            said.add(key)
            message = f"{function.removesuffix('.__init__')} is called without its {name}."
            why = "It then starts from the system's entropy, whatever seed the run has."
            is_quiet = "unread" in made or (is_late and "begins" in call)
            found = found_at(call["at"], "seed-not-passed", message, why)
            yield where, replace(found, reach=Reach.UNSEEN if is_quiet else Reach.LOUD)


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Make None the default and ask for the seed in the body, when the function is called.",
    nodes=(ast.FunctionDef, ast.AsyncFunctionDef),
    applies=mentions("seed"),
)
def seed_taken_at_import(site: Site) -> Iterator[Violation]:
    """The default of a seed is taken when the file is imported, before anything is seeded."""
    node = site.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "functions are asked for"
    given = node.args
    for argument in [*given.posonlyargs, *given.args, *given.kwonlyargs]:
        default = default_of(given, argument.arg) if about(argument.arg, SEED) else None
        if isinstance(default, ast.Call) and (
            is_global_draw(site, default) or about(last_name(default), SEED)
        ):
            yield site.violation(
                f"{site.module.shown(default)} is the default of {argument.arg} in {node.name}(): it is asked once, at import.",
                "What is seeded after the import does not reach it: it stays None, or one number by chance.",
                node=default,
            )


@rule(
    Channel.SEEDS,
    Breaks.STATISTICAL,
    Severity.CRITICAL,
    "Take the seed as an argument of the run, and record it; derive others with run.rng(name).",
    calls=("clock", "entropy", "process-identity"),
)
def time_seed(site: Site) -> Iterator[Violation]:
    """A seed comes from the clock, from entropy or from the process."""
    if site.called in _NAMES_OF_THINGS or site.called == "random.SystemRandom":
        return  # identity-subseed looks at the former.
    outcome = site.value()
    is_seen = outcome.use is Use.SEED
    if not is_seen and not (is_named_seed(site) or _is_option(site)):
        return
    if is_none_branch(site) or (outcome.use in _SHOWN and not is_seen):
        return  # seed-none-fallback says the former.
    yield site.violation(
        f"{site.called}() becomes a seed.",
        "Every run has another seed, and nothing remembers which.",
        outcome=outcome if is_seen else None,
        reach=Reach.LOUD if is_seen else Reach.UNSEEN,
    )


def _is_option(site: Site) -> bool:
    """Whether it is the default of an option: ``add_argument("--seed", default=int(time()))``."""
    for each in site.above():
        if isinstance(each, ast.keyword) and each.arg in {"default", "default_factory"}:
            call = site.module.survey.parents.get(each)
            texts = (ast.unparse(one) for one in getattr(call, "args", ()))
            return any("--seed" in each for each in texts)
        if isinstance(each, ast.stmt):
            break
    return False
