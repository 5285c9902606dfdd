"""Gymnasium environments under a run: one call, and actions, outcomes, state and streams are in.

    from twice.integrations import gymnasium as tg
    env = tg.wrap(run, gymnasium.make("Ant-v5"), name="ant")

Actions are inputs (a branch may substitute them), observations, rewards and endings are decisions,
the whole state of simulator, environment and wrappers is a component, and every generator that the
environment draws from is a stream with a sub-seed of its own.

Invariant: a wrapped environment steps exactly as it would alone; what it holds that cannot be
captured is refused by name (E-TRACK-001).
"""

from __future__ import annotations

from twice.integrations.gymnasium.wrapper import wrap

__all__ = ["wrap"]
