"""An environment is made and reset, and never gets a seed.

The first ``reset()`` without a seed starts the environment from the system's entropy; those after it go
on from there. One ``reset(seed=...)`` before the others is enough.

Only environments are looked at that the same function made with a known maker, and that are given no
seed anywhere in it. One that came from elsewhere may have been seeded there.

Bad:
    import gymnasium as gym

    def evaluate(policy):
        env = gym.make("CartPole-v1")
        observation, info = env.reset()
        return policy(observation)

or:
    import gymnasium as gym

    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")])
    observations, infos = envs.reset()

Good:
    import gymnasium as gym

    def evaluate(policy, seed):
        env = gym.make("CartPole-v1")
        observation, info = env.reset(seed=seed)
        for episode in range(3):
            observation, info = env.reset()
        return policy(observation)

or:
    def evaluate(policy, env):
        observation, info = env.reset()
        return policy(observation)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.environments import calls_on, holder_of_made
from twice.checking.rules.showing import reach_of
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unseeded-reset"


def look(site: Site) -> Iterator[Found]:
    """Look at a call of ``reset``."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    if site.call.args or site.call.keywords:
        return
    holder = holder_of_made(site, func.value)
    if holder is None:
        return
    assert isinstance(func.value, ast.Name), "it has a holder"
    first = True
    for called, call in calls_on(site, func.value.id, holder):
        if called in {"seed", "unwrapped.seed", "set_state"}:
            return
        if called.rpartition(".")[2] == "reset":
            if any(each.arg != "options" for each in call.keywords) or call.args:
                return
            if first and call is not site.call:
                return
            first = False
    yield site.found(
        NAME,
        f"{func.value.id} is reset without a seed, and never gets one.",
        "Its first reset starts it from the system's entropy.",
        reach=reach_of(site),
        confidence=0.8,
    )


RULE = Rule(
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Give the first reset the run's seed: env.reset(seed=seed).",
    methods=("resetting",),
    look=look,
)
