"""A short training by PPO, whose policy begins with orthogonal weights."""

from stable_baselines3 import PPO

model = PPO(
    "MlpPolicy", "CartPole-v1", seed=1, n_steps=64, batch_size=32, n_epochs=1, device="cpu"
)  # guilty
model.learn(128)
