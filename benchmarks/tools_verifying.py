"""What it takes to try the declarations of tools: trials of one tool, and processes that serve all of them.

Usage: python benchmarks/tools_verifying.py [--rounds N] [--small] [--output FILE.jsonl]

The registries are the scene in memory, and the first and second set of lying and honest tools. Seconds of wall clock
for each tool's own trials; the processes that they are forked from are counted beside, for they serve every tool. CPU
seconds of all children together. An honest tool is tried in 6 to 10 runs a case; one that is exposed by a factor in two
more for each factor.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator

import measuring

from twice.tools.verification.report import RegistryVerification, ToolVerdict
from twice.tools.verification.verify import verify_tools

_TESTS = measuring.FOLDER.parent / "tests"
_REGISTRIES = {
    "memory": "memory",
    "lying": f"{_TESTS / 'corpora' / 'lying_tools' / 'liars.py'}:registry",
    "second lying": f"{_TESTS / 'corpora' / 'lying_tools_second' / 'liars.py'}:registry",
}


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def verified(registry: str, tool: str | None) -> tuple[RegistryVerification, float]:
    began = children_s()
    found = verify_tools(registry, tool)
    return found, children_s() - began


def figures(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    for name, registry in _REGISTRIES.items():
        if small and name != "memory":
            return
        found = [verified(registry, "scene.snapshot" if small else None) for _ in range(rounds)]
        tools = [each for verification, _ in found for each in verification.tools]
        for verdict in (ToolVerdict.NO_DIFFERENCE, ToolVerdict.EXPOSED):
            seconds = [each.seconds for each in tools if each.verdict == verdict]
            if seconds:
                figure = f"{name}: a tool's trials, {verdict.value}"
                yield {"figure": figure, "unit": "s wall", **measuring.spread(seconds)}
        counts = [each.processes for each, _ in found]
        starts = [each.seconds / max(each.started, 1) for each in counts]
        yield {"figure": f"{name}: a process", "unit": "s wall", **measuring.spread(starts)}
        started = [float(each.started) for each in counts]
        yield {"figure": f"{name}: processes", "unit": "processes", **measuring.spread(started)}
        cpu = [used / len(each.tools) for each, used in found]
        yield {"figure": f"{name}: a tool, all told", "unit": "s CPU", **measuring.spread(cpu)}


if __name__ == "__main__":
    chosen = measuring.options("tools_verifying", __doc__ or "", rounds=1)
    measuring.tell("tools_verifying", figures(chosen.rounds, small=chosen.small), chosen.output)
