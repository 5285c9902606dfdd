"""Environments one after the other, and each in a process of its own."""

import gymnasium
import numpy as np


def roll(mode):
    envs = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode=mode)
    seen = [envs.reset(seed=5)[0]]
    seen += [envs.step(np.full(2, step % 2))[0] for step in range(30)]
    envs.close()
    return np.array(seen)


if __name__ == "__main__":
    print("equal", bool(np.array_equal(roll("sync"), roll("async"))))
