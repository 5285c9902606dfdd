"""A training that is saved and loaded in the middle, against the one that was not."""

import io

import torch
from stable_baselines3 import DQN

torch.set_num_threads(1)


def weights(model):
    return float(sum(part.double().sum() for part in model.policy.state_dict().values())).hex()


def build():
    return DQN("MlpPolicy", "CartPole-v1", seed=3, learning_starts=50, device="cpu")


straight = build().learn(300)
half = build().learn(150)
kept = io.BytesIO()
half.save(kept)
kept.seek(0)
resumed = DQN.load(kept, env=half.get_env(), device="cpu")
resumed.learn(150, reset_num_timesteps=False)
print("equal", weights(straight) == weights(resumed))
