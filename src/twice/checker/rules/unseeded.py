"""The rules about generators that start without a seed: at once, at their first use, in a loader."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from twice.checker.analysis.generators import Generator
from twice.checker.analysis.seed_expressions import is_lazy
from twice.checker.analysis.stream_uses import StreamReader
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks
from twice.checker.rules.engine import rule
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.nodes import own_attribute, parameter_defaults
from twice.checker.syntax.uses.words import GENERATOR, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_FROM_ENTROPY: Final = frozenset({"numpy.random.seed", "random.seed"})
_LATE: Final = "It starts from the system's entropy unless somebody happened to seed it before."


def gather(module: Module) -> dict[str, Any] | None:
    """Give the generators that become attributes, and the attributes of other objects that are set."""
    kept = []
    for node, scope, called in module.calls:
        if module.catalogue.has("generators", called):
            site = module.site(node, scope)
            made = Generator.from_site(site)
            if made.attribute and made.is_unseeded and made.lazy is None:
                kept.append({"attribute": made.attribute, "found": _describe(site).to_json()})
    replaced = {
        target.attr
        for node, _ in module.survey.nodes.get(ast.Assign, ())
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute)
        and about(target.attr, GENERATOR)
        and not own_attribute(target)
    }
    return {"kept": kept, "replaced": sorted(replaced)} if kept or replaced else None


def _report_kept(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report the attributes; with doubt where the project puts another generator in such a place."""
    replaced = {name for one in facts.values() for name in one["replaced"]}
    for path, one in facts.items():
        for each in one["kept"]:
            found = replace(Violation.from_json(each["found"]), rule="unseeded-generator")
            if each["attribute"] in replaced:
                found = replace(found, reach=Reach.UNSEEN, confidence=0.5)
            yield path, found


def _describe(site: Site) -> Violation:
    return site.violation(
        f"{site.called}() is made without a seed.",
        "It starts from the system's entropy, so no second run has the same numbers.",
    )


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Give it a seed that comes from the run's own: run.rng(name), or SeedSequence.spawn.",
    calls=("generators", "seeding", "seeding-from-entropy"),
    gather=gather,
    conclude=_report_kept,
)
def unseeded_generator(site: Site) -> Iterator[Violation]:
    """A generator of random numbers is made without a seed."""
    made = Generator.from_site(site)
    if not made.is_unseeded or made.lazy is not None or made.attribute or _is_never_read(site):
        return
    if not site.catalogue.has("seeding", site.called):
        yield _describe(site)
    elif site.called in _FROM_ENTROPY:
        yield site.violation(
            f"{site.called}() is called without a seed.",
            "The process-wide stream then starts from the system's entropy.",
        )


def _is_never_read(site: Site) -> bool:
    """Whether it is the default of a parameter that the function never reads."""
    module = site.module
    arguments = module.survey.parents.get(site.node)
    if not isinstance(arguments, ast.arguments) or not module.follows:
        return False
    inner = (each for each in site.scope.inner if getattr(each.node, "args", None) is arguments)
    function = next(inner, None)
    return function is not None and any(
        default is site.node and not module.loads.of(name, function)
        for name, default in parameter_defaults(arguments).items()
    )


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Make it in the constructor from a seed that is required, or raise an error on use before seeding.",
    calls=("generators",),
    methods=("seeding",),
)
def lazy_unseeded(site: Site) -> Iterator[Violation]:
    """A generator is made without a seed when it is first asked for."""
    func, is_made = site.call.func, site.catalogue.has("generators", site.called)
    if not is_made and not (
        isinstance(func, ast.Attribute)
        and last_name(func.value) == "self"
        and all(map(is_none, site.call.args))
        and not site.call.keywords
    ):
        return  # ``self.seed()`` is the only other one.
    tested = is_lazy(site)
    if tested is None or (is_made and not Generator.from_site(site).is_unseeded):
        return
    name = last_name(tested) or "It"
    if is_made or about(name, GENERATOR):
        message = f"{name} is made without a seed when {site.scope.name} is first asked for it."
        yield site.violation(message, _LATE)


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Give it generator=torch.Generator().manual_seed(seed), and a worker_init_fn where workers draw.",
    calls=("loaders",),
)
def unseeded_worker(site: Site) -> Iterator[Violation]:
    """A data loader shuffles by torch's process-wide stream."""
    if StreamReader(site.module).process_draw(site, site.called):
        yield site.violation(
            f"{last_name(site.call.func)}() has no generator of its own for the order of samples.",
            "It draws from torch's process-wide stream, which everything else draws from too.",
            confidence=0.8,
        )
