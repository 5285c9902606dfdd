"""The rules about streams that the whole process shares: who draws from them, and who seeds them anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from twice.checker.analysis.seed_expressions import (
    is_delay,
    is_generator,
    is_named_seed,
    is_none_branch,
    is_unseeded,
)
from twice.checker.analysis.stream_uses import GROUPS, StreamReader
from twice.checker.analysis.streams import Reseedings, StreamSeeding
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, ProjectFacts
from twice.checker.rules.engine import project_rule, rule
from twice.checker.rules.environments import reach_of
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import TIMING, about, last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_LINES_TOGETHER: Final = 2
"""Draws of a function that stand no farther below its first are one finding."""
_SHIFTS: Final = (
    "Whoever else draws from that stream, in any library, shifts every number that comes after."
)
_UNSEEDED: Final = (
    "Nothing in reach seeds that stream, so it starts from the system's entropy in each run."
)
_DELAYS_SHIFT: Final = (
    "Each one takes a number out of the stream, so the world's delays decide all later ones."
)
_OF_DELAYS: Final = TIMING | {"jitter", "noise", "network", "io"}
_QUIETER: Final = (Reach.LOUD, Reach.UNSEEN, Reach.QUIET)
_TENSORS: Final = frozenset({"cupy", "tensorflow", "torch"})
_SHOWN: Final = {"random": "the random module", "numpy": "numpy's legacy functions"}
_DISTRIBUTIONS: Final = frozenset(
    ["bernoulli", "categorical", "dist", "distrib", "distribution", "dists", "multinomial", "normal", "pi"]
)  # fmt: skip
_ACTIONS: Final = frozenset({"act", "action", "actions"})
_NAMES: Final = frozenset({"uuid", "guid", "nonce", "token"})
_RANDOM_ID: Final = frozenset({"random", "id"})
_TRIES: Final = frozenset({"test", "tests", "demo", "example", "selftest"})
_FITTING: Final = frozenset({"aug", "augment", "augmentation", "augmentations", "loss", "forward"})
_MADE_UP: Final = frozenset({"dummy", "fake", "mock", "placeholder", "stub"})
_BENCHMARKS: Final = frozenset({"bench", "benchmark", "benchmarks", "perf", "profiling"})


def gather(module: Module) -> dict[str, Any]:
    """Give what a file draws and seeds in process-wide streams, and what it imports."""
    catalogue, reader, reseedings = module.catalogue, StreamReader(module), Reseedings(module)
    seeds: list[str] = []
    waits: list[tuple[str, Site]] = []
    draws: dict[tuple[Any, ...], list[Site]] = {}
    asked = catalogue.together("restoring-stream", "jitter", *GROUPS) - catalogue.together(
        "layer-draws", "loaders", "draws-by-default"
    )
    for node, scope, name in module.calls:
        if name not in asked and last_name(node) not in {"sample", "rsample", "rvs"}:
            continue
        site = module.site(node, scope)
        if restored := catalogue.names("restoring-stream").get(name or ""):
            seeds += restored.split()
        elif catalogue.has("seeding", name):
            if not is_unseeded(site):
                seeds += catalogue.names("seeding")[name or ""].split()
        elif delays := catalogue.names("jitter").get(name or ""):
            stream, _, option = delays.partition(" unless ")
            if not option or site.keyword(option) is None:
                waits.append((stream, site))
        elif stream := _stream_of(reader, site, name):
            if is_none_branch(site):
                continue
            if is_delay(site):
                waits.append((stream, site))
                continue
            key = (stream, _assess(site, stream, reseedings), scope.method, _becomes_seed(site))
            together = draws.setdefault(key, [])
            if together and node.lineno > together[0].call.lineno + _LINES_TOGETHER:
                draws[*key, node.lineno] = together
                draws[key] = together = []
            together.append(site)
    return {
        "seeds": sorted(set(seeds)),
        "delays": [
            {"stream": each, "found": _describe([site], each, "a delay ").to_json()}
            for each, site in waits
        ],
        "draws": [
            {
                "stream": stream,
                "picks": any(_picks(each) for each in sites),
                "seed": is_seed,
                "imports": sites[0].scope.method is None,
                "found": replace(
                    _describe(sites, stream),
                    reach=reach,
                    confidence=0.9 if reach is Reach.LOUD else 0.5,
                ).to_json(),
            }
            for (stream, reach, _, is_seed, *_), sites in draws.items()
        ],
    }


def _stream_of(reader: StreamReader, site: Site, name: str | None) -> str:
    """Return the library whose process-wide stream a call draws from; "" for any other call."""
    func = site.call.func
    is_own = name is None or name[0] == "."
    if is_own and isinstance(func, ast.Attribute) and func.attr in {"sample", "rsample"}:
        is_torch = "torch" in site.module.imported and about(last_name(func.value), _DISTRIBUTIONS)
        return "torch" if is_torch and not _is_distribution(site.scope.owner) else ""
    return reader.process_draw(site, None if is_own else name).partition(".")[0]


def _is_distribution(owner: Scope | None) -> bool:
    """Whether a class is a distribution: whoever samples it, does it for something."""
    bases = getattr(owner.node, "bases", ()) if owner is not None else ()
    names = ["" if owner is None else owner.name, *(last_name(each) for each in bases)]
    return any(about(each, _DISTRIBUTIONS) for each in names)


def _becomes_seed(site: Site) -> bool:
    """Whether a drawn number becomes a seed, or is called one."""
    return is_named_seed(site) or any(each.use is Use.SEED for each in site.ends())


def _picks(site: Site) -> bool:
    """Whether plain numbers, an order, an index or an action are drawn, and no noise in a tensor."""
    if not site.catalogue.has("tensor-draws", site.called) and site.called is not None:
        return True
    return site.catalogue.has("tensor-picks", site.called) or _is_done(site)


def _is_done(site: Site) -> bool:
    """Whether what is drawn is an action, by where it goes or by its function."""
    function, statement = site.scope.method, site.module.survey.statement(site.node)
    words = [] if function is None else [function.name]
    words += [last_name(each) for each in site.call.args]
    if isinstance(statement, ast.Assign):
        words += [last_name(each) for each in statement.targets]
    return any(about(each, _ACTIONS) for each in words)


def _assess(site: Site, stream: str, reseedings: Reseedings) -> Reach:
    """Say how far a draw matters: not where it is a name or a try, in doubt where nobody can shift it."""
    function, owner = site.scope.method, site.scope.owner
    if _ends_quietly(site) or (
        function is not None and not _TRIES.isdisjoint(parts(function.name))
    ):
        return Reach.QUIET
    folder, _, stem = site.module.path.removesuffix(".py").rpartition("/")
    names = [stem, *("" if each is None else each.name for each in (function, owner))]
    is_apart = (
        reseedings.precede(site, stream)
        or _is_fitting_noise(site, stream)
        or reach_of(site) is not Reach.LOUD
        or any(about(each, _MADE_UP) for each in names)
        or about(stem, _BENCHMARKS)
        or (about(folder.replace("/", "_"), _BENCHMARKS) and _is_timed(site))
    )
    return Reach.UNSEEN if is_apart else Reach.LOUD


def _is_timed(site: Site) -> bool:
    """Whether a clock is read beside a draw, so that it is an operand of what is measured."""
    return any(
        scope.method is site.scope.method and site.catalogue.has("clock", called)
        for _, scope, called in site.module.calls
    )


def _is_fitting_noise(site: Site, stream: str) -> bool:
    """Whether it is noise in what a network learns from, which follows the one seed of the training."""
    function, owner = site.scope.method, site.scope.owner
    if function is None or "torch" not in site.module.imported or stream not in {"torch", "random"}:
        return False
    bases = {last_name(each) for each in getattr(getattr(owner, "node", None), "bases", ())}
    if "Transform" not in bases and not about(function.name, _FITTING):
        return False
    is_index = any(isinstance(each, ast.Subscript) for end in site.ends() for each in end.way)
    return not is_index and not _is_done(site)


def _ends_quietly(site: Site) -> bool:
    """Whether what is drawn ends in a name or a log. A delay is another rule's; ``rate`` is a chance here."""
    if last_name(site.call) == "shuffle":
        return False
    statement = site.module.survey.statement(site.node)
    if isinstance(statement, ast.Assign) and about(last_name(statement.targets[0]), _NAMES):
        return True
    function = site.scope.method
    if function is not None and isinstance(statement, ast.Return):
        words = parts(function.name)
        if words >= _RANDOM_ID or not words.isdisjoint(_NAMES):
            return True
    return site.value().use in {Use.LABEL, Use.TELEMETRY}


def _describe(sites: list[Site], stream: str, what: str = "") -> Violation:
    """Make the finding of draws that stand together, at the first of them; without the reason."""
    first = sites[0]
    shown = first.called or first.module.shown(first.call.func)
    more = f", and {len(sites) - 1} more here do" if len(sites) > 1 else ""
    whose = _SHOWN.get(stream, stream)
    message = f"{shown}() draws {what}from the process-wide stream of {whose}{more}."
    return first.violation(message, "")


_LAST: list[tuple[ProjectFacts, StreamSeeding]] = []


def _seeding(facts: ProjectFacts) -> StreamSeeding:
    """Return who seeds what; the rules that share the facts ask one after the other."""
    if not (_LAST and _LAST[0][0] is facts):
        _LAST[:] = [(facts, StreamSeeding(facts))]
    return _LAST[0][1]


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws that stand together, as a rule gets them when all files are known.

    Args:
        path: the file.
        found: the finding.
        picks: whether it is of plain numbers, or picks or orders things: no noise in a tensor.
        is_seed: whether what is drawn becomes a seed.
        starts: whether it is the first in a file that is in no package and that none imports.
    """

    path: str
    found: Violation
    picks: bool
    is_seed: bool
    starts: bool


def conclude(facts: ProjectFacts, *, seeded: bool) -> Iterator[Draw]:
    """Give the draws from streams that are seeded, or that are not.

    Noise that a tensor library draws in a library is taken for seeded by whoever uses that.
    """
    for path, one in facts.items():
        if not one["draws"]:
            continue
        seeding = _seeding(facts)
        known, is_script = seeding.seeded(path), seeding.is_script(path)
        started: set[str] = set()
        for draw in one["draws"]:
            stream, found = draw["stream"], Violation.from_json(draw["found"])
            is_seeded = stream in known or not (draw["picks"] or is_script)
            if draw["seed"] and stream in _TENSORS and not is_script:
                is_seeded = True
            elif draw["seed"] and draw["imports"]:
                is_seeded = stream in one["seeds"]  # Nobody else can have seeded it before.
            if is_seeded is seeded:
                starts = is_script and stream not in started
                yield Draw(path, found, draw["picks"], draw["seed"], starts)
                if found.reach is not Reach.QUIET:
                    started.add(stream)


def renamed(found: Violation, rule: str, why: str, reach: Reach) -> Violation:
    """Give a finding as one of another rule, no louder than it was."""
    return replace(found, rule=rule, why=why, reach=max(found.reach, reach, key=_QUIETER.index))


@project_rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Draw from a generator of its own: run.rng(name), np.random.default_rng(seed), random.Random(seed).",
    gather=gather,
)
def global_stream(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """A draw comes from the stream that the whole process shares."""
    for draw in conclude(facts, seeded=True):
        reach = Reach.LOUD if draw.picks else Reach.UNSEEN
        yield draw.path, renamed(draw.found, "global-stream", _SHIFTS, reach)


@project_rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Draw from a generator that is made with the run's seed: run.rng(name), np.random.default_rng(seed).",
    gather=gather,
)
def unseeded_global(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """A draw comes from the process-wide stream, and nothing in reach seeds it."""
    for draw in conclude(facts, seeded=False):
        if not (draw.is_seed and draw.picks):  # drawn-seed says so.
            reach = Reach.LOUD if draw.starts else Reach.UNSEEN
            yield draw.path, renamed(draw.found, "unseeded-global", _UNSEEDED, reach)


def _find_global_delays(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report the delays from process-wide streams; with doubt where nothing else draws from the stream or seeds it."""
    shared = {
        stream
        for one in facts.values()
        for stream in (*one["seeds"], *(each["stream"] for each in one["draws"]))
    }
    for path, one in facts.items():
        for each in one["delays"]:
            reach = Reach.LOUD if each["stream"] in shared else Reach.UNSEEN
            found = Violation.from_json(each["found"])
            yield path, renamed(found, "jitter-on-stream", _DELAYS_SHIFT, reach)


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Draw delays from a generator of their own that results never use: random.SystemRandom().",
    methods=("draws",),
    gather=gather,
    conclude=_find_global_delays,
)
def jitter_on_stream(site: Site) -> Iterator[Violation]:
    """The delay before a retry is drawn from a stream that results are drawn from."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    if about(last_name(func.value), _OF_DELAYS) or not is_generator(site, func.value):
        return
    kind = site.kind(func.value)
    if (kind is None or kind.origin != "random.SystemRandom") and is_delay(site):
        shown = site.module.shown(func.value)
        yield site.violation(f"A delay is drawn from {shown}.", _DELAYS_SHIFT)
