"""A short training by PPO."""

from stable_baselines3 import PPO

model = PPO("MlpPolicy", "CartPole-v1", seed=1, n_steps=256, n_epochs=2, device="cpu")
model.learn(256)
parts = model.policy.state_dict().values()
print("weights", float(sum(part.double().sum() for part in parts)).hex())
