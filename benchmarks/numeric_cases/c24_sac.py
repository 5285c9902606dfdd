"""A short training by SAC."""

from stable_baselines3 import SAC

model = SAC("MlpPolicy", "Pendulum-v1", seed=1, learning_starts=50, device="cpu")
model.learn(100)
parts = model.actor.state_dict().values()
print("weights", float(sum(part.double().sum() for part in parts)).hex())
