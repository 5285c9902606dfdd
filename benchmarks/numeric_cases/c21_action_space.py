"""The environment is seeded, its action space is not."""

import gymnasium

env = gymnasium.make("CartPole-v1")
observation, _ = env.reset(seed=0)
for _ in range(8):
    observation, *_ = env.step(env.action_space.sample())
print("observation", observation.tolist())
