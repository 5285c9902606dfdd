"""PPO, DQN or SAC. ``own`` is the library's callback for checkpoints and its ``load``."""

import glob
import re
import sys

import gymnasium
from stable_baselines3 import DQN, PPO, SAC
from stable_baselines3.common.callbacks import CheckpointCallback

OWN, NAME = "own" in sys.argv, sys.argv[1]
if NAME == "ppo":
    TOTAL, EVERY = 960, 80
    env = gymnasium.make("CartPole-v1")
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=2, seed=3)
elif NAME == "dqn":
    TOTAL, EVERY = 900, 75
    env = gymnasium.make("CartPole-v1")
    model = DQN(
        "MlpPolicy", env, seed=3, learning_starts=50, buffer_size=400, target_update_interval=60,
        exploration_fraction=0.8,
    )  # fmt: skip
else:
    TOTAL, EVERY = 300, 25
    env = gymnasium.make("Pendulum-v1")
    net = {"net_arch": [16, 16]}
    model = SAC("MlpPolicy", env, seed=3, learning_starts=40, batch_size=16, policy_kwargs=net)
if OWN:
    saved = sorted(
        glob.glob("ckpt/m_*_steps.zip"), key=lambda path: int(re.findall(r"_(\d+)_", path)[0])
    )
    if saved:
        model = type(model).load(saved[-1], env=env)
    model.learn(
        TOTAL - model.num_timesteps,
        callback=CheckpointCallback(EVERY, "ckpt", "m"),
        reset_num_timesteps=not saved,
    )
else:
    from twice.integrations.checkpoints import sb3

    sb3.learn(model, TOTAL, "training.ckpt", every=EVERY)
print("trained", model.num_timesteps)
